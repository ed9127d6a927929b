"""Dunning: the user's exact requirement stands in the first message, and he corrects it once."""
import json, sys
from datetime import date, timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from play import Session, edit, read, sh, write

s = Session("dunning", """You are a coding agent. You work in /home/dev/dunning, a Go module, with the tools bash, read_file,
edit_file and write_file. Keep changes small, run the tests after each change, and say shortly what you do and why. If a
test fails because of a wrong idea, take the change back before you try another one.""")
r = s.random

CUSTOMERS = [(f"C{n}", r.choice(["private"] * 5 + ["trade"] * 4 + ["gov"])) for n in r.sample(range(1000, 9999), 90)]
NOTES = ["asks for a copy", "paid by instalments", "moved", "delivery incomplete", "wrong cost centre", "price not as offered",
         "goods returned in part", "calls back on Monday", "bank details changed", "second address on file"]


def ledger(month, count, start):
    lines = []
    for n in range(count):
        customer, kind = r.choice(CUSTOMERS)
        due = date(2026, month, 1) + timedelta(days=r.randrange(28))
        total = round(r.lognormvariate(5.5, 1.3), 2)
        line = {"no": f"R-{start + n}", "customer": customer, "class": kind, "due": str(due), "total": f"{total:.2f}",
                "payments": [], "disputes": []}
        for _ in range(r.choice([0, 0, 0, 1, 1, 2])):
            line["payments"].append({"day": str(due + timedelta(days=r.randrange(-5, 40))),
                                     "amount": f"{total * r.choice([.2, .25, .5, .8, 1]):.2f}"})
        for _ in range(r.choice([0] * 7 + [1, 2])):
            begin = due + timedelta(days=r.randrange(1, 30))
            line["disputes"].append([str(begin), str(begin + timedelta(days=r.randrange(2, 16)))])
        if r.random() < .3:
            line["note"] = r.choice(NOTES)
        lines.append(json.dumps(line))
    return "\n".join(lines) + "\n"


def calls(count):
    lines = []
    for n in range(count):
        customer, kind = r.choice(CUSTOMERS)
        lines.append(f"2026-0{r.choice([1, 2, 3])}-{r.randrange(1, 29):02} {r.randrange(8, 18):02}:{r.randrange(60):02} "
                     f"clerk={r.choice(['ida', 'tom', 'ruth', 'olaf'])} customer={customer} ({kind}) about R-{r.randrange(41000, 43300)}: "
                     f"{r.choice(NOTES)}; {r.choice(['promised to pay', 'wants a letter', 'will not pay the fee', 'no answer', 'sends proof'])}")
    return "\n".join(sorted(lines)) + "\n"


def erp():
    lines = ["-- DUNRUN.SQL  nightly, old ERP, last changed 2011-08-19 by HK", ""]
    for n, name in enumerate(["OPEN_ITEMS", "DISPUTED", "LEVELS", "TEXTS", "ADDRESSES", "HISTORY", "PRINTQUEUE", "EXPORT_GL"]):
        lines += [f"PROCEDURE STEP_{n + 1}_{name} IS", f"  CURSOR c{n} IS SELECT item_no, cust_no, due_dt, open_amt, lvl_{r.randrange(9)}",
                  f"    FROM {name} WHERE client = '{r.randrange(100, 400)}' AND status IN ('{r.choice('ABC')}','{r.choice('DEF')}')",
                  f"    ORDER BY cust_no, due_dt;", "BEGIN", f"  FOR row IN c{n} LOOP"]
        for k in range(6):
            lines.append(f"    IF row.open_amt > {r.randrange(5, 900)} AND SYSDATE - row.due_dt > {r.randrange(5, 90)} THEN "
                         f"move_to({r.randrange(1, 6)}, 'TXT{r.randrange(100, 999)}', row.item_no); END IF;")
        lines += [f"    log_line('{name}', row.item_no, row.open_amt);", "  END LOOP;", "END;", ""]
    return "\n".join(lines)



def letters(count):
    lines = []
    for n in range(count):
        customer, kind = r.choice(CUSTOMERS)
        lines.append(f"{7000 + n};{customer};{r.choice(['Level 1', 'Level 1', 'Level 2', 'Level 3', 'court'])};R-{r.randrange(41000, 42600)};"
                     f"{r.lognormvariate(5.5, 1.1):.2f};{r.choice(['post', 'fax', 'mail', 'collected'])};{r.choice(NOTES)};page {r.randrange(1, 5)} of 4")
    return "\n".join(lines)


def balances(count):
    lines = []
    for customer, kind in r.sample(CUSTOMERS, count):
        opening, moved = r.uniform(-300, 9000), r.uniform(-2000, 2000)
        lines.append(f"{customer}  {r.choice(['1400', '1405', '1410', '1490'])}  {opening:10.2f}  {moved:10.2f}  {opening + moved:10.2f}  "
                     f"{r.choice(['reconciled', 'reconciled', 'difference ' + format(r.uniform(.01, 4), '.2f'), 'asked the bank'])}, {r.choice(NOTES)}")
    return "\n".join(lines)


def mails(count):
    lines = []
    for n in range(count):
        customer, kind = r.choice(CUSTOMERS)
        lines.append(f"From: {customer.lower()}@customers.example\nDate: {r.randrange(1, 28)} March 2026 {r.randrange(8, 19)}:{r.randrange(10, 60)}\n"
                     f"> {r.choice(['Dear all', 'Hello', 'Good morning', 'To whom it may concern'])}, your letter {r.randrange(7000, 7400)} about R-{r.randrange(41000, 42600)} "
                     f"over {r.lognormvariate(5.5, 1):.2f} {r.choice(['reached us only today', 'is wrong', 'was paid long ago', 'names our old address', 'has no cost centre'])}; "
                     f"{r.choice(NOTES)}. {r.choice(['Please call us.', 'We pay on Friday.', 'Please send the delivery note.', 'We paid what we owe.', 'Who is in charge?'])}")
    return "\n".join(lines)


def printer(count):
    lines = []
    for n in range(count):
        lines.append(f"job {5100 + n} {r.choice(['LASER2', 'LASER2', 'POSTROOM'])} {r.choice(['letters', 'report', 'labels', 'envelopes'])} "
                     f"{r.randrange(1, 60)} pages, {r.randrange(2, 190)} s, {r.choice(['done', 'done', 'done', 'paper jam at page ' + str(r.randrange(2, 20)), 'toner low', 'held by ' + r.choice(['ida', 'tom', 'ruth'])])}")
    return "\n".join(lines)


s.file("exports/ledger-2026-01.jsonl", ledger(1, 700, 41000))
s.file("exports/ledger-2026-02.jsonl", ledger(2, 900, 41700))
s.file("exports/calls-q1.log", calls(600))
s.file("old-erp/DUNRUN.SQL", erp())

s.user("""
On 1 April this program takes over dunning from the old ERP. Reading the ledger and the report exist, package fee has only a
stub. This is what accounting and I agreed on; it has to be right to the cent, since customers do check:

- A fee exists from the 13th day after the due date on; for the first 12 days there is none.
- It is 0.75 % of what is open for each started period of 28 days. Periods count from the due date, not from the end of
  the 12 days.
- Once there is a fee it is at least 4.50, and it never exceeds 62.00 for an invoice.
- Nothing is charged if less than 35.00 is open.
- Days within a dispute (both ends) do not count as days late.
- Exception: authorities (class gov) pay no percentage. Nothing for 40 days; from day 41 on 38.00, once, whatever is open,
  so also below 35.00.
- Round once, at the end: down to whole 10 cents, in favour of the customer.

The exports are in /home/dev/exports, the ERP's old job in /home/dev/old-erp. Its rules are not ours, look at it only for what
is in the data. Have a look around first, and tell me if anything in the data contradicts this.
""")
s.agent("I begin with the layout of the module and its tests as they are.",
        sh("find . -name '*.go' | xargs wc -l; cat go.mod; go test ./... 2>&1 | tail -20"))
s.agent("Only the examples of package fee fail, as expected of a stub. The types first.",
        read("money/money.go"), read("calendar/calendar.go"), read("fee/fee.go"))
s.agent("Now how invoices come in, and who calls fee.Late.", read("invoice/invoice.go"), read("report/report.go"))
s.agent("The January export: its shape, and some lines.",
        sh("ls -l ../exports ../old-erp; head -36 ../exports/ledger-2026-01.jsonl"))
s.agent("The classes, and how many invoices have disputes or several payments.",
        sh("for f in ../exports/ledger-*.jsonl; do echo $f; grep -o '\"class\": \"[a-z]*\"' $f | sort | uniq -c; "
           "grep -c '\"disputes\": \\[\\[' $f; grep -c '}, {\"day\"' $f; done"),
        sh("grep '\"disputes\": \\[\\[' ../exports/ledger-2026-02.jsonl | head -34"))
s.agent("Some invoices have two disputes; they may overlap, so days have to be counted and not subtracted. The examples of "
        "accounting:", read("fee/fee_test.go"))
s.agent("The old job, for what it reads.", read("/home/dev/old-erp/DUNRUN.SQL"))
s.agent("It works in levels and says nothing about the data that the exports do not have. What I see so far does not contradict "
        "your list. First try: the fee by itself, with the days after the free days divided into periods.",
        edit("fee/fee.go", "\treturn 0 // not done yet\n", """\tlate := int(today - i.Due)
	if late <= 12 || i.Open() < 3500 {
		return 0
	}
	periods := (late - 12 + 27) / 28
	return i.Open().Times(money.Percent(75 * int64(periods))).Floor(10)
"""), sh("go test ./fee ./report"))
s.failed("failed-1")
s.agent("Both long examples have a period too few: I divided what is behind the free days, and your list says that periods count "
        "from the due date. Back to the stub before I go on.",
        sh("cat > fee/fee.go <<'E'\n" + (s.folder / "module/fee/fee.go").read_text() + "E\ngo test ./fee 2>&1 | head -5"))
s.agent("Second try, period by period, so that each period's amount can be shown in the report later.",
        edit("fee/fee.go", "\treturn 0 // not done yet\n", """\tlate := int(today - i.Due)
	if late <= 12 || i.Open() < 3500 {
		return 0
	}
	var total money.Amount
	for day := 1; day <= late; day += 28 {
		total += i.Open().Times(money.Percent(75)).Floor(10)
	}
	return min(max(total, 450), 6200)
"""), sh("go test ./fee ./report"))
s.failed("failed-2")
s.user("""
No, stop. You round in each period, and that loses money; once, at the end, was what I wrote. Take that back, and leave the fee
until the days are right. And I have to correct myself, I just had accounting on the phone about my list:

- The cap of 62.00 is for private customers only. For trade the cap is 9 % of what is open, also where that is more than 62.00.
- Where the minimum and a cap contradict each other, the cap counts. A cap is rounded down like everything else.
- For authorities disputes do not stop the clock: their 40 days are plain days since the due date. For the others it stays as I
  wrote.
- So that it is clear: day 28 still belongs to the first period, day 29 begins the second.

All else on the list stands.
""")
s.agent("Understood. I take the second try back, and do the days with disputes first, in calendar, where they belong.",
        sh("cat > fee/fee.go <<'E'\n" + (s.folder / "module/fee/fee.go").read_text() + "E\ngit diff --no-index --stat fee/fee.go fee/fee.go; go vet ./..."))
s.agent("How do disputes look that overlap or go on beyond the end of a month?",
        sh("grep '\"disputes\": \\[\\[' ../exports/ledger-2026-01.jsonl | head -26"))
LATE = """// Late returns the number of days by which today is behind due.
func Late(due, today Day) int {
	return max(0, int(today-due))
}
"""
NOW = (s.folder / "module/calendar/calendar.go").read_text()
s.agent("Late gets the spans. A day counts once, however many disputes it lies in.",
        edit("calendar/calendar.go", LATE, NOW[NOW.index("// Late"):]),
        sh("go build ./... ; go vet ./..."))
s.agent("The report and the test of the ledger call it; they pass the invoice's disputes now.",
        edit("report/report.go", "calendar.Late(i.Due, today)", "calendar.Late(i.Due, today, i.Disputes)"),
        edit("invoice/invoice_test.go", 'calendar.Must("2026-02-26")); late != 16 {\n\t\tt.Errorf("late: %d, want 16"',
             'calendar.Must("2026-02-26"), all[0].Disputes); late != 10 {\n\t\tt.Errorf("late: %d, want 10"'),
        sh("go vet ./..."))
TEST = (s.folder / "module/calendar/calendar_test.go").read_text()
s.agent("And its own test, with spans that overlap.", write("calendar/calendar_test.go", TEST),
        sh("gofmt -l .; go test ./calendar ./invoice ./report"))
s.agent("The days are right. Before the fee I check the report on real data: does it read both exports?",
        sh("go run ./cmd/dunning -today 2026-04-01 ../exports/ledger-2026-01.jsonl | head -45"))
s.agent("It does. February as well, from the end of the list, where small sums are.",
        sh("go run ./cmd/dunning -today 2026-04-01 ../exports/ledger-2026-02.jsonl | tail -40"))
s.user("""
Fine. While you are at the data: the clerks say that some payments were booked before the invoice was due and again afterwards.
Please find out whether Open is wrong for these. Look at what they wrote in calls-q1.log, too, I have not read it. What they
forwarded to me from customers is this:

""" + mails(55))
s.agent("Payments of the same amount twice in one invoice:",
        sh("grep -E '\"amount\": \"([0-9.]+)\"\\}, \\{\"day\": \"[0-9-]+\", \"amount\": \"\\1\"' ../exports/ledger-2026-0*.jsonl | "
           "cut -d: -f2- | head -22"))
s.agent("And invoices whose payments exceed the total, with what is paid too much.", sh("""cat > ../over.py <<'E'
import json, sys
for path in sys.argv[1:]:
    n = 0
    for line in open(path):
        i = json.loads(line)
        paid = sum(float(p["amount"]) for p in i["payments"])
        if paid > float(i["total"]) + .004:
            n += 1
            if n <= 18:
                print(i["no"], i["customer"], i["class"], i["total"], f"{paid:.2f}", [p["day"] for p in i["payments"]])
    print(path, n)
E
python3 ../over.py ../exports/ledger-2026-0*.jsonl"""))
s.agent("Open treats them as paid, which is right for dunning; what was paid too much is a matter of the ledger. The clerks' log:",
        sh("wc -l ../exports/calls-q1.log; head -50 ../exports/calls-q1.log"))
s.agent("What do they write of those who were said to have paid twice?",
        sh("grep -E 'sends proof' ../exports/calls-q1.log | head -45"))
s.agent("Is there a pattern by clerk or by month?",
        sh("awk '{split($1,d,\"-\"); print d[2], $3}' ../exports/calls-q1.log | sort | uniq -c"),
        sh("grep -E 'bank details changed' ../exports/calls-q1.log | sed -n '1,48p'"))
s.agent("No pattern. Open is right: it never goes below zero, and a payment counts on whatever day it was booked. Nothing in the "
        "calls says otherwise.")
s.user("Good, then we leave it. Next: the bookkeepers want to know how many customers have invoices in both months, and which. Just "
       "print it here, no code. Their balances of this week, account by account, if that helps:\n\n" + balances(80))
s.agent("Customers with open invoices in both exports.", sh("""cat > ../both.py <<'E'
import json, sys
seen = []
for path in sys.argv[1:]:
    have = {}
    for line in open(path):
        i = json.loads(line)
        left = float(i["total"]) - sum(float(p["amount"]) for p in i["payments"])
        if left > 0:
            have.setdefault((i["customer"], i["class"]), []).append((i["no"], i["due"], round(left, 2)))
    seen.append(have)
both = sorted(set(seen[0]) & set(seen[1]))
print(len(both), "customers")
for key in both[:28]:
    print(*key, len(seen[0][key]), len(seen[1][key]), "oldest", min(seen[0][key], key=lambda x: x[1]))
E
python3 ../both.py ../exports/ledger-2026-0*.jsonl"""))
s.agent("And for the first of them the invoices themselves, as a sample for the bookkeepers.",
        sh("grep -hE '\"customer\": \"C1[0-9]{3}\"' ../exports/ledger-2026-0*.jsonl | head -36"))
s.agent("The authorities, since they are few and are written to by hand:",
        sh("grep -h '\"class\": \"gov\"' ../exports/ledger-2026-0*.jsonl | grep '\"payments\": \\[\\]' | head -32"))
s.agent("Both lists are above. Almost all customers occur in both months, which fits a wholesaler.")
s.user("Thanks, passed on. One of them asks why R-41733 and its neighbours were never dunned. Can you see that? "
       "This is from the old system's list of letters, number; customer; level; invoice; amount; way; note; page:\n\n" + letters(135))
s.agent("The neighbourhood of that invoice in the export, and the calls about these numbers.",
        sh("grep -nE '\"no\": \"R-417[2-5][0-9]\"' ../exports/ledger-2026-02.jsonl | head -40"),
        sh("grep -E 'R-417[0-9]{2}' ../exports/calls-q1.log"))
s.agent("By customer: what else do they owe?", sh("""for c in $(grep -E '"no": "R-4173[0-5]"' ../exports/ledger-2026-02.jsonl | grep -o 'C[0-9]*' | sort -u)
do echo "== $c"; grep -h "\\"$c\\"" ../exports/ledger-2026-01.jsonl | head -6; done"""))
s.agent("Most of them were paid in part right around the due date, and the old job moved an item to a level only if nothing had been "
        "paid on it, as far as I can tell from STEP_3. I look at that part once more to be sure.",
        read("/home/dev/old-erp/DUNRUN.SQL", 30, 62))
s.agent("The SQL does not show it clearly: the status letters come from a table that is not here. I would tell the customer only that "
        "the old job had levels, and that invoices with part payments stayed on the first.")
s.user("That is enough for them. How large is the report, can people still print it? And does Write align if a sum has seven digits? "
       "The post room says long jobs jam, their list of this month:\n\n" + printer(90))
s.agent("The length of the report, and its widest lines.",
        sh("cat ../exports/ledger-2026-0*.jsonl > ../both.jsonl; go run ./cmd/dunning -today 2026-04-01 ../both.jsonl > ../report.txt; "
           "wc ../report.txt; awk '{print length($0)}' ../report.txt | sort -n | uniq -c; head -60 ../report.txt"))
s.agent("All lines have the same width; the amount has room for nine digits and the point. A check with a large sum:",
        sh("""head -3 ../both.jsonl | sed 's/"total": "[0-9.]*"/"total": "1234567.89"/' > ../large.jsonl
go run ./cmd/dunning -today 2026-04-01 ../large.jsonl"""), sh("go test -v ./report ./calendar ./money"))
s.agent("It aligns. At 70 lines on a page the report takes two pages for both months.")
s.user("""
Very good. Now finish it: fee.Late, exactly by my list from the beginning together with my correction. The days are done, so that
should be quick. Accounting will run its own cases against it, and they will try the edges. Do not change signatures.
""")
s.agent("I read the stub and what it can use now, then I write it.", sh("cat fee/fee.go; go doc ./money; go doc ./calendar Late; go test ./fee"))
s.end()
