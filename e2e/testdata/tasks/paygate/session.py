"""Paygate: two ways that suggest themselves were tried, and must not be used for reasons that only the old part tells."""
import json, sys, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from play import Session, edit, read, sh, write

s = Session("paygate", """You are a coding agent working in /home/dev/paygate, a Go module that charges cards. Tools: bash, read_file,
edit_file, write_file. This is money: understand before you change, test after each change, and take back what fails.""")
r = s.random
SPEED = 100
booked, posts, notes, guard, begin = [], {}, [], threading.Lock(), time.monotonic()


class Sandbox(BaseHTTPRequestHandler):
    """The gateway's sandbox: it answers 503 to some charges, of which it has booked every other one."""

    def answer(self, status, value, **headers):
        text = json.dumps(value).encode()
        self.send_response(status)
        for key, header in headers.items():
            self.send_header(key.replace("_", "-"), header)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_POST(self):
        given = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or "{}")
        with guard:
            now = (time.monotonic() - begin) * SPEED
            if self.path == "/reset":
                booked.clear(), posts.clear(), notes.clear()
                return self.answer(200, {})
            ref, key = given["merchant_ref"], self.headers.get("Idempotency-Key")
            posts[ref] = posts.get(ref, 0) + 1
            number = int(ref.split("-")[1])
            status = 201
            if posts[ref] == 1 and number % 5 < 2:
                status = 503
            if posts[ref] == 1 and number % 7 == 0:
                status = 429
            entry = "not booked"
            if status == 201 or status == 503 and number % 5 == 0:
                late = 31 + number * 37 % 120 / 10
                booked.append({"id": f"ch_{len(booked) + 1:04}", "merchant_ref": ref, "cents": given["cents"], "visible": now + late})
                entry = f"booked {booked[-1]['id']}, in lists after {late:.1f} s"
            notes.append(f"{now:8.1f} POST {ref} cents={given['cents']} key={key or '-'} answer={status} {entry}")
        self.answer(status, {k: v for k, v in booked[-1].items() if k != "visible"} if status == 201 else {"error": status}, Retry_After="4")

    def do_GET(self):
        with guard:
            now = (time.monotonic() - begin) * SPEED
            if self.path == "/log":
                text = "\n".join(notes).encode() + b"\n"
                self.send_response(200)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                return self.wfile.write(text)
            ref = self.path.partition("merchant_ref=")[2]
            found = [{k: v for k, v in b.items() if k != "visible"} for b in booked if b["merchant_ref"] == ref and b["visible"] < now]
            if ref:
                notes.append(f"{now:8.1f} GET  {ref} found={len(found)}")
            else:
                found = [{k: v for k, v in b.items() if k != "visible"} for b in booked]
        self.answer(200, found)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Sandbox)
threading.Thread(target=server.serve_forever, daemon=True).start()
s.file("drill/orders.txt", "".join(f"D-{n} {r.randrange(500, 90000)}\n" for n in range(100, 160)))
s.file("drill/run.sh", f"""#!/bin/sh
# Charges 60 orders at the sandbox, whose clock runs {SPEED} times as fast, and fails if one is booked twice or never.
set -e
sandbox=http://127.0.0.1:{server.server_port}
curl -s -X POST $sandbox/reset >/dev/null
go run ./cmd/settle -gateway $sandbox -speed {SPEED} ../drill/orders.txt > ../drill/journal.txt 2> ../drill/errors.txt || true
sleep 1
curl -s $sandbox/log > ../drill/sandbox.log
curl -s $sandbox/v2/charges | grep -o '"merchant_ref": "[^"]*"' | sort | uniq -c | awk '{{print $1, $3}}' > ../drill/booked.txt
awk '$1 > 1 {{print "TWICE", $2; bad++}} END {{print NR, "orders booked,", bad + 0, "of them twice"; exit bad > 0}}' ../drill/booked.txt
""", 0o755)


def production(day, count):
    lines = []
    for n in range(count):
        lines.append(f"2026-03-{day:02}T{r.randrange(1, 5):02}:{r.randrange(60):02}:{r.randrange(60):02}Z settle[{r.randrange(2000, 2009)}] " + r.choice([
            f"order N-{r.randrange(40000, 47000)} {r.randrange(300, 90000)} cents: status 201 in {r.randrange(80, 900)} ms",
            f"order N-{r.randrange(40000, 47000)} {r.randrange(300, 90000)} cents: status 201 in {r.randrange(80, 900)} ms",
            f"order N-{r.randrange(40000, 47000)} {r.randrange(300, 90000)} cents: status {r.choice([503, 503, 504, 500])} in {r.randrange(3000, 19000)} ms, open",
            f"order N-{r.randrange(40000, 47000)}: status 402 {r.choice(['card declined', 'card expired', 'limit', 'stolen card'])}",
            f"pool {r.randrange(2, 40)} connections, {r.randrange(0, 9)} waiting", f"order N-{r.randrange(40000, 47000)}: status 429, waited 1s"]))
    return "\n".join(sorted(lines)) + "\n"


def statement(count):
    return "date;id;ref;cents;scheme;fee;batch\n" + "".join(
        f"2026-03-0{r.randrange(1, 9)};ch_{r.randrange(10**5, 10**6)};N-{r.randrange(40000, 47000)};{r.randrange(300, 90000)};"
        f"{r.choice(['visa', 'mc', 'girocard', 'amex'])};{r.randrange(3, 300)};{r.choice('ABCDEF')}{r.randrange(100, 400)}\n" for n in range(count))


def complaints(count):
    return "\n".join(f"#{3100 + n} {r.choice(['Frau', 'Herr', 'Firma'])} {r.choice(['Adler', 'Busch', 'Conrad', 'Dorn', 'Ebert', 'Falk', 'Gries', 'Horn'])}, order N-{r.randrange(40000, 47000)}: "
                     f"{r.choice(['was charged on two days', 'sees a sum she does not know', 'got no mail', 'wants it by transfer', 'card was replaced'])}, {r.randrange(300, 90000)} cents, "
                     f"{r.choice(['answered', 'waits for the bank', 'refunded by hand', 'sent a picture', 'called twice'])}, agent {r.choice(['kim', 'lou', 'max', 'noa'])}" for n in range(count))


def oncall(count):
    return "\n".join(f"[{r.randrange(0, 24):02}:{r.randrange(60):02}] {r.choice(['kim', 'lou', 'max', 'noa', 'bot'])}: " + r.choice([
        f"batch {r.choice('ABCDEF')}{r.randrange(100, 400)} is through, {r.randrange(90, 900)} orders", f"latency of the gateway at {r.randrange(200, 9000)} ms again",
        f"restarted settle on pay-{r.randrange(1, 6)}, it had {r.randrange(3, 90)} connections", f"who looks at N-{r.randrange(40000, 47000)}? the shop says paid",
        f"disk of pay-{r.randrange(1, 6)} at {r.randrange(60, 98)} %", f"statement came {r.randrange(2, 50)} minutes late"]) for n in range(count))


s.file("logs/settle-0301.log", production(1, 800))
s.file("logs/settle-0302.log", production(2, 800))
s.file("logs/statement.csv", statement(900))
s.file("logs/oncall.txt", oncall(200) + "\n")

s.user("""
Orders are charged twice now and then, or not at all, when the gateway answers 503. Today charge.Service posts once and leaves the
order open. It should try again by itself, up to three posts in all, and an order must never be booked twice. There is a drill
against the gateway's sandbox, ../drill/run.sh, which takes a few seconds; production logs of two nights are in /home/dev/logs.
Please look at the code and the logs, then propose something and try it in the drill.
""")
s.agent("The code first.", sh("find . -name '*.go' | xargs wc -l; go test ./..."), read("charge/charge.go"), read("gateway/gateway.go"))
s.agent("How answers become errors, and the drill.", read("gateway/client.go"), sh("cat ../drill/run.sh; head -5 ../drill/orders.txt"))
s.agent("The drill as it is, to have a base line.", sh("../drill/run.sh; wc -l ../drill/*.txt; cat ../drill/sandbox.log; sort ../drill/errors.txt | head -24"))
s.agent("No order twice, but 503 and 429 leave some open. How often does that happen at night?",
        sh("ls -l ../logs; for f in ../logs/settle-*.log; do grep -o 'status [0-9]*' $f | sort | uniq -c; done; grep 503 ../logs/settle-0301.log | head -130"))
BOOK = (s.dir / "charge/charge.go").read_text()
BOOK = BOOK[BOOK.index("// book charges"):]
s.agent("First try: what the field Key is for. The same Idempotency-Key on each post of an order, so that the gateway knows a repetition.",
        edit("charge/charge.go", BOOK, '''// book charges an order. Each post has the same key, by which the gateway knows that it is the same charge.
func (s Service) book(ctx context.Context, o Order) (receipt gateway.Receipt, err error) {
	for range 3 {
		receipt, err = s.Gateway.Post(ctx, gateway.Charge{Ref: o.Ref, Cents: o.Cents, Currency: "EUR", Key: o.Ref})
		if err == nil || errors.Is(err, gateway.ErrRefused) {
			return receipt, err
		}
		if slept := s.Clock.Sleep(ctx, 4*time.Second); slept != nil {
			break
		}
	}
	return receipt, fmt.Errorf("%w: %w", ErrOpen, err)
}
'''), edit("charge/charge.go", '\t"fmt"\n', '\t"fmt"\n\t"time"\n'), sh("go test ./charge && ../drill/run.sh; grep -E 'answer=503' -A0 ../drill/sandbox.log | head -40"))
s.failed("failed-1")
s.agent("Booked twice, although the key was the same. What does the sandbox say of such an order?",
        sh("for n in 100 105 110 115 120; do grep -w \"D-$n\" ../drill/sandbox.log; done"))
UNDO = "cat > charge/charge.go <<'E'\n" + (s.folder / "module/charge/charge.go").read_text() + "E\ngo test ./charge"
s.agent("The key does nothing for charges behind a 503. I take it out.", sh(UNDO))
s.agent("Second try: ask before each repetition. Find knows charges by our reference.",
        edit("charge/charge.go", BOOK, '''// book charges an order, and looks it up before it posts again.
func (s Service) book(ctx context.Context, o Order) (receipt gateway.Receipt, err error) {
	for range 3 {
		receipt, err = s.Gateway.Post(ctx, gateway.Charge{Ref: o.Ref, Cents: o.Cents, Currency: "EUR"})
		if err == nil || errors.Is(err, gateway.ErrRefused) {
			return receipt, err
		}
		if found, ok, failed := s.Gateway.Find(ctx, o.Ref); failed == nil && ok {
			return found, nil
		}
		if slept := s.Clock.Sleep(ctx, 4*time.Second); slept != nil {
			break
		}
	}
	return receipt, fmt.Errorf("%w: %w", ErrOpen, err)
}
'''), edit("charge/charge.go", '\t"fmt"\n', '\t"fmt"\n\t"time"\n'), sh("go test ./charge && ../drill/run.sh; for n in 105 110 120 125; do grep -w \"D-$n\" ../drill/sandbox.log; done"))
s.failed("failed-2")
s.user("""
Stop here, please, and take that back as well; I asked the gateway's people meanwhile, and they answered at last. What counts:

- Idempotency-Key: never send it, on no post, not even as an extra. Behind an unclear answer a second post with the same key is
  booked again, as your drill shows, and what was booked with a key twice can only be refunded by letter. They will not repair it this year. The field
  stays in gateway.Charge for another client.
- What they booked is not in their lists at once, as you saw. They guarantee 45 seconds from the end of the post. So after each
  unclear answer, the third included: wait 45 seconds, then look it up once. Only if it is not there, post again.
- If that look-up itself fails, do not post again, whatever the reason: the order is open, and the nightly run takes it.
- Busy (429) is clear: they took no notice. Wait as long as they say, no look-up, post again. It counts among the three posts. If
  the third is busy or not to be found either, the order is open.

You said the sandbox answers 429 with Retry-After 4? We wait a second there in production, I think we do not even read it. Look at
that first, and leave charge.go alone until the client is right.
""")
s.agent("Taken back. The client, then.", sh(UNDO), read("gateway/client_test.go"))
s.agent("Indeed, a 429 always means a second. And an answer of 201 whose body breaks off comes as an error of JSON, though the card may "
        "have been charged; that is unclear, too.",
        write("gateway/client.go", (s.folder / "module/gateway/client.go").read_text()),
        write("gateway/client_test.go", (s.folder / "module/gateway/client_test.go").read_text()), sh("gofmt -l .; go test ./..."))
s.user("""
Good. Before you go on: support sent me what customers wrote this week. How many of these were really booked twice? The statement of
the acquirer is in /home/dev/logs/statement.csv.

""" + complaints(110))
s.agent("References that stand twice in the statement, and its form.", sh("head -90 ../logs/statement.csv; echo; cut -d';' -f3 ../logs/statement.csv | sort | uniq -d | wc -l"))
s.agent("The lines of references that stand twice:", sh("cut -d';' -f3 ../logs/statement.csv | sort | uniq -d | head -48 | while read x; do grep \";$x;\" ../logs/statement.csv; done"))
s.agent("The same reference with different sums on different days cannot be a repetition. Same reference and same sum?",
        sh("cut -d';' -f3,4 ../logs/statement.csv | sort | uniq -d | wc -l; grep -E 'N-4(1|2)[0-9]{3}' ../logs/statement.csv | sort -t';' -k3 | head -96"))
s.agent("None with the same sum in this statement. So this week's complaints are other things: several parts of an order, as it seems.")
s.user("Then support can answer that. The people on call wrote this last night, is there something for us in it?\n\n" + oncall(175))
s.agent("They speak of connections. What do our logs have about the pool, and when?",
        sh("grep -h pool ../logs/settle-0302.log | head -96"), sh("awk '/pool/ {print substr($1,12,2), ($6 > 3)}' ../logs/settle-0301.log | sort | uniq -c"))
s.agent("Slow answers, to see whether they come with a full pool:", sh("grep -E 'in [0-9]{5} ms' ../logs/settle-0302.log | head -92"))
s.agent("The same for the night before, and what stands right around one of them.",
        sh("grep -E 'in 1[5-9][0-9]{3} ms' ../logs/settle-0301.log | head -60; grep -n 'in 18' ../logs/settle-0301.log | head -1"),
        sh("sed -n '290,430p' ../logs/settle-0301.log"))
s.agent("And the people's notes of the nights before, as they lie in the folder.", sh("sed -n '1,110p' ../logs/oncall.txt"))
s.agent("I see no relation: the pool is small when answers are slow as well. Nothing for this module.")
s.user("OK. How long may a night become? If many orders wait, all of them wait at the same time, don't they? Check settle for that.")
s.agent("How settle starts its orders, and its journal.", read("cmd/settle/main.go"), read("journal/journal.go"))
s.agent("Each order has a goroutine, so waits go on side by side, and the journal has a lock. One thing in the journal: Read keeps the "
        "first state of a reference, but an order that was open and then booked should read as booked.",
        edit("journal/journal.go", "// Read returns the first state of each reference.", "// Read returns the last state of each reference."),
        edit("journal/journal.go", "\t\tif _, known := states[words[1]]; !known {\n\t\t\tstates[words[1]] = words[2]\n\t\t}\n", "\t\tstates[words[1]] = words[2]\n"),
        write("journal/journal_test.go", (s.folder / "module/journal/journal_test.go").read_text()), sh("gofmt -l .; go vet ./...; go test ./journal"))
s.agent("And the drill once more with the client as it is now, with the journal that it writes.",
        sh("../drill/run.sh; head -120 ../drill/journal.txt; grep -c open ../drill/journal.txt"))
s.user("Fine. For the review I need a list of where open orders came from in both nights, by hour, and some examples. Support's second "
       "list is here, too, if you need more references:\n\n" + complaints(190))
s.agent("Open orders by hour and status.", sh("grep -h ', open' ../logs/settle-*.log | awk '{print substr($1,1,13), $7, $8}' | sort | uniq -c"))
s.agent("Examples of each status:", sh("for x in 500 503 504; do grep -h \"status $x\" ../logs/settle-0302.log | head -44; done"))
s.agent("Do any of them stand in the statement?", sh("grep -h ', open' ../logs/settle-*.log | grep -o 'N-[0-9]*' | sort -u | while read x; do grep \";$x;\" ../logs/statement.csv; done | head -100"))
s.agent("Some do, so they were booked in spite of the answer, and some do not. Both kinds exist in production, as in the sandbox.")
s.user("""
That is what I need for the review. Now please finish charge.book, the way the gateway's people and I want it, every point of it;
I will go through it line by line. The sandbox is down for maintenance from now on, so write tests with a gateway of your own, and
a clock that does not wait.
""")
s.agent("I look at what book has now, and at the interfaces, then I write it.", sh("sed -n '28,80p' charge/charge.go; go doc ./clock Clock; cat charge/charge_test.go"))
server.shutdown()
s.end()
