"""Wmsimport: five small facts from five old places make one function."""
import sys
from datetime import date, timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from play import Session, edit, read, sh, write

s = Session("wmsimport", """You are a coding agent with a shell. The project is the Go module /home/dev/wmsimport, standard library only.
Use bash, read_file, edit_file and write_file. Say before each step what you want to find out. Tests have to be green before you
begin something else; what fails is undone.""")
r = s.random
THINGS = ["bolt", "nut", "washer", "cable drum", "oil", "grease", "hose", "valve", "sheet", "bracket", "filter", "belt", "bearing", "paint", "tape"]
KINDS = ["M8", "M10", "20 mm", "1/2\"", "type \"H\"", "zinc; 8.8", "blue", "long", "left", "with nut", "DIN 931", "heavy"]
FACTOR = {"PCS": 1, "KG": 1000, "M": 100, "L": 500, "ROL": 40}


def field(text):
    return '"' + text.replace('"', '""') + '"' if ";" in text or '"' in text else text


def export(count):
    lines = ["ARTNO;NAME;LOC;QTY;UOM;PRICE;CNT;ST;FL"]
    for n in range(count):
        unit = r.choice(["PCS"] * 6 + ["KG", "KG", "M", "M", "L", "ROL"])
        aisle = r.choice([*range(1, 25), *range(61, 80)])
        lines.append(";".join([f"{r.randrange(1, 9)}{r.randrange(10, 40)}{r.choice(['', '', '0', '00'])}{r.randrange(1, 999)}", field(f"{r.choice(THINGS)} {r.choice(KINDS)}"),
                               f"{aisle:02}{r.randrange(1, 30):02}", str(r.randrange(0, 300) * (FACTOR[unit] if r.random() < .7 else 1) + r.randrange(0, FACTOR[unit])),
                               unit, str(r.randrange(5, 90000)), str(r.choice([0, r.randrange(11000, 12530)])), r.choice("AAAAAABX"), r.choice(["", "", "", "R", "N", "NR", "F"])]))
    return "\n".join(lines) + "\n"


def counts(count):
    """Sheets of people who counted, with the day as they wrote it, and the row of the export that came of it."""
    lines = []
    for n in range(count):
        day = date(2025, 6, 1) + timedelta(days=r.randrange(290))
        lines.append(f"sheet {n + 210} {day.day}.{day.month}.{day.year} by {r.choice(['uwe', 'ana', 'piet'])}, stored as CNT {(day - date(1991, 12, 31)).days}, "
                     f"{r.randrange(3, 60)} lines, {r.randrange(0, 6)} differences")
    return "\n".join(lines) + "\n"


def source():
    lines = ["10 REM LOC.BAS  WHERE THINGS ARE  (C) 1993 LAGERTECHNIK", "20 DIM L$(9999): OPEN \"LOC.DAT\" FOR INPUT AS #1"]
    n = 30
    for what in ["PRINT LABELS", "SEARCH", "MOVE", "INVENTORY", "FREE PLACES", "FORKLIFT", "REPORT", "EXPORT"]:
        lines.append(f"{n} REM --- {what}")
        n += 10
        for k in range(15):
            lines.append(f"{n} " + r.choice([f"IF Q({r.randrange(1, 60)}) > {r.randrange(10, 900)} THEN GOSUB {r.randrange(100, 900) * 10}", f"PRINT #2, \"{what}\"; L$({r.randrange(1, 9999)})",
                                             f"A$ = MID$(L$(I), {r.randrange(1, 4)}, {r.randrange(1, 3)}): REM {r.choice(['TEXT', 'LAMP', 'SIDE', 'KEY'])}", f"FOR I = {r.randrange(1, 9)} TO {r.randrange(10, 99)}: T = T + P(I): NEXT I"]))
            n += 10
        if what == "FORKLIFT":
            lines += [f"{n} G = VAL(LEFT$(L$(I), 2)): F = VAL(RIGHT$(L$(I), 2)): REM GANG, FACH", f"{n + 10} H$ = \"A\": IF G > 60 THEN H$ = \"B\": G = G - 60: REM NEUE HALLE 1998",
                      f"{n + 20} PRINT \"FAHRE NACH HALLE \"; H$; \" GANG \"; G; \" FACH \"; F"]
            n += 30
    return "\n".join(lines) + "\n"


def orders(count):
    return "\n".join(f"{r.randrange(1, 29)}.3. {r.choice(['Moritz', 'Kraus', 'Sedlak', 'Nordbau', 'Hafen GmbH', 'Stadtwerke'])} orders {r.randrange(1, 90)} x {r.choice(THINGS)} {r.choice(KINDS)} "
                     f"(their no. {r.randrange(10**5, 10**6)}), {r.choice(['by lorry', 'collects it', 'urgent', 'after Easter', 'partial is fine'])}, {r.choice(['confirmed', 'asked for a price', 'waits', 'changed twice'])}" for n in range(count))


def suppliers(count):
    return "\n".join(f"S{r.randrange(100, 999)};{r.choice(['Adam', 'Brandt', 'Cramer', 'Dietz', 'Engel'])} & {r.choice(['Sons', 'Co', 'Partners', 'Hahn'])};{r.choice(THINGS)}, {r.choice(THINGS)};"
                     f"{r.randrange(2, 60)} days;{r.choice(['EUR', 'EUR', 'CHF', 'CZK'])};minimum {r.randrange(10, 900)};{r.choice(['good', 'late in winter', 'only by fax', 'new contact', 'ask for Eva'])}" for n in range(count))


def journal(count):
    return "\n".join(f"2026-03-{r.randrange(1, 29):02} {r.randrange(6, 18):02}:{r.randrange(60):02} lorry {r.choice('KLMN')}{r.randrange(100, 999)} gate {r.randrange(1, 7)}: "
                     f"{r.randrange(1, 34)} pallets {r.choice(['in', 'out'])}, {r.choice(['papers fine', 'one box wet', 'driver waits', 'seal broken', 'weighed twice'])}, {r.randrange(8, 95)} min" for n in range(count)) + "\n"


s.file("exports/main.csv", export(1400))
s.file("exports/annex.csv", export(900))
s.file("exports/gates.log", journal(700))
s.file(".machines/oldwms/counts.txt", counts(120))
s.file(".machines/oldwms/src/LOC.BAS", source())
s.file(".machines/oldwms/wms.ini", "[system]\nname = LAGER2000\nversion = 3.1b\nusers = 14\nlang = de\n\n[print]\nlabels = LPT2\ncols = 132\nff = yes\n\n[qty]\n; QTY counts parts of a unit\n"
       "PCS = 1\nKG = 1000\nM = 100\nL = 500\nROL = 40\n\n[export]\nsep = ;\nquote = \"\nnull =\n\n[lamps]\nport = 3\nblink = 400\n")

s.user("""
We move from the old warehouse system to a new one. wmsimport reads the exports in /home/dev/exports; the columns are there, legacy.Row is
not done. The old machine still runs for a few days: ssh oldwms. Nobody here knows its insides any more.

What I can say myself: rows with ST X were deleted and are not taken over. Exception: an X row whose FL has an R is reserved by a
customer; take it over with quantity 0. R in FL means reserved for all other rows as well, and they keep their quantity. Other
letters in ST and FL do not matter to us.

Find out the rest, and tell me what you think before you build much on it.
""")
s.agent("I want to know what the module has and which tests fail.", sh("find . -name '*.go' | xargs wc -l; go test ./... 2>&1 | tail -52"))
s.agent("The stub, its test, and what an article is.", read("legacy/legacy.go"), read("legacy/legacy_test.go"), read("article/article.go"))
s.agent("What do exports look like?", sh("wc -l ../exports/*; head -180 ../exports/main.csv"))
s.agent("How long are LOC and the numbers of articles, and which units are there?",
        sh("for f in main annex; do tail -n +2 ../exports/$f.csv | awk -F';' '{print length($1)}' | sort | uniq -c; grep -oE ';(PCS|KG|M|L|ROL);' ../exports/$f.csv | sort | uniq -c; done"))
STUB = (s.dir / "legacy/legacy.go").read_text()
OLD = '\treturn a, errors.New("legacy: not done yet")\n'
s.agent("First try: of LOC the first digit is the hall, the second the aisle, the rest the shelf, as the new system has three parts.",
        edit("legacy/legacy.go", OLD, """	loc, err := strconv.Atoi(row["LOC"])
	if err != nil {
		return a, err
	}
	a.Place = article.Place{Hall: string(rune('A' + loc/5000)), Aisle: loc / 1000, Shelf: loc % 1000}
	if a.Milli, err = strconv.ParseInt(row["QTY"], 10, 64); err != nil {
		return a, err
	}
	return a, nil
"""), edit("legacy/legacy.go", '\t"io"\n', '\t"io"\n\t"strconv"\n'), sh("gofmt -l .; go test ./legacy"))
s.failed("failed-1")
s.agent("0713 is aisle 7, shelf 13; so two digits each, and the hall must be somewhere else. I undo it.", write("legacy/legacy.go", STUB))
s.agent("Second try: two digits each, all in hall A for now, and QTY as thousandths, since many numbers end in 000.",
        edit("legacy/legacy.go", OLD, """	loc, err := strconv.Atoi(row["LOC"])
	if err != nil {
		return a, err
	}
	a.Place = article.Place{Hall: "A", Aisle: loc / 100, Shelf: loc % 100}
	if a.Milli, err = strconv.ParseInt(row["QTY"], 10, 64); err != nil {
		return a, err
	}
	a.Price, err = strconv.ParseInt(row["PRICE"], 10, 64)
	return a, err
"""), edit("legacy/legacy.go", '\t"io"\n', '\t"io"\n\t"strconv"\n'), sh("gofmt -l .; go test ./legacy; grep -E ';(KG|M|L|ROL);' ../exports/main.csv | head -88"))
s.failed("failed-2")
s.user("""
No. 24 drums are 24 drums and not 24 thousandths, the test says so. Undo that, and look into the old machine before you try anything else:
its wms.ini, its sources, whatever is there; what it stores depends on the unit as far as I remember. I was wrong about something, too, in
what I told the people of the new system: PRICE is in cents, but for articles of group 4 (their numbers begin with 4) it is the price of a
hundred units and not of one. All others are per unit. I asked purchasing, that is certain.
""")
s.agent("Undone. What is on the machine?", write("legacy/legacy.go", STUB), sh("ssh oldwms 'find . -type f | xargs wc -l; cat wms.ini'"))
s.agent("QTY counts parts of a unit, by the table there; the test fits, a piece has one part. Now where things are: the sources have a module for it.",
        sh("ssh oldwms 'cat src/LOC.BAS'"))
s.agent("The forklift's part says it: two digits aisle, two digits shelf, and the hall follows from the aisle, with the newer one counted from 1 again "
        "as the new system wants it. That leaves CNT. The sheets of those who count should have days beside it.", sh("ssh oldwms 'cat counts.txt'"))
s.agent("I work out which day is zero.", sh("""cat > ../day.py <<'E'
import re, sys, datetime, collections
zero = collections.Counter()
for line in sys.stdin:
    d, m, y, n = map(int, re.search(r'(\\d+)\\.(\\d+)\\.(\\d+) .*CNT (\\d+)', line).groups())
    zero[datetime.date(y, m, d) - datetime.timedelta(days=n)] += 1
print(zero)
E
ssh oldwms 'cat counts.txt' | python3 ../day.py"""), sh("cut -d';' -f7 ../exports/annex.csv | sort -n | uniq -c | head -4"))
s.agent("All sheets agree: CNT 0 would be 31 December 1991, so CNT 1 is 1 January 1992. But many rows have exactly 0; I would say that these were never "
        "counted, and leave the day empty (time.Time{}) for them. Is that right? Otherwise I have all for Row, and would first do the numbers of articles and "
        "the quotes, where the import stumbles anyway.")
s.user("""
Yes, 0 is never counted, leave it empty; UTC is fine for the days. And yes, do numbers and quotes first. The new system wants 410-00317 for 410317: three
digits, a dash, five digits. By the way, I let them switch off oldwms tonight, we have what we need.
""")
s.agent("Where do quotes make trouble? And I look at the reader.", sh("grep -n '\"' ../exports/main.csv | head -112"), read("csvx/csvx.go"))
NOW = (s.folder / "module/csvx/csvx.go").read_text()
s.agent("A doubled quote ends a field today. quoted has to go on behind it.",
        edit("csvx/csvx.go", (s.dir / "csvx/csvx.go").read_text()[(s.dir / "csvx/csvx.go").read_text().index("func quoted"):], NOW[NOW.index("func quoted"):]),
        write("csvx/csvx_test.go", (s.folder / "module/csvx/csvx_test.go").read_text()), sh("gofmt -l .; go test ./csvx"))
s.agent("Numbers of articles: which lengths and leading zeros are there behind the third digit?",
        sh("tail -n +2 ../exports/main.csv | cut -d';' -f1 | awk 'length($1) < 5 || substr($1,4,1) == \"0\"' | head -210 | paste -sd' '"))
s.agent("number does that, and refuses all else.",
        write("legacy/legacy.go", (s.folder / "module/legacy/legacy.go").read_text()),
        write("legacy/legacy_test.go", (s.folder / "module/legacy/legacy_test.go").read_text()), sh("gofmt -l .; go vet ./... && go test ./legacy"))
s.agent("Only TestRow is left there. Both exports through the reader, without Row, to see that no quote is lost:", sh("""mkdir -p ../try && cat > ../try/main_test.go <<'E'
package csvx

import ("os"; "testing")

func TestExports(t *testing.T) {
	for _, f := range []string{"main", "annex"} {
		r, _ := os.Open("../../exports/" + f + ".csv")
		n, quotes := 0, 0
		err := Read(r, func(row Row) error {
			n++
			for _, c := range row["NAME"] { if c == '"' { quotes++ } }
			if len(row["LOC"]) != 4 { t.Errorf("%v", row) }
			return nil
		})
		t.Log(f, n, quotes, err)
	}
}
E
cp ../try/main_test.go csvx/try_test.go; go test -v -run Exports ./csvx; rm csvx/try_test.go; grep -c '""' ../exports/*.csv"""))
s.agent("All rows are read. The annex has names that the main export does not; a look at them, in case of other characters.",
        sh("tail -n +2 ../exports/annex.csv | cut -d';' -f2 | sort | uniq -c | sort -rn | head -140"), sh("grep -nP '[^\\x00-\\x7F]' ../exports/annex.csv | head -5; file ../exports/annex.csv"))
s.user("""
Good. Sales asks whether names are unique enough for their search. They sent what customers ordered this month, in the customers' own words.
What do you think?

""" + orders(195))
s.agent("How many articles share a name?", sh("cat ../exports/main.csv ../exports/annex.csv | cut -d';' -f2 | sort | uniq -c | sort -rn | awk '{n[$1]++} END {for (k in n) print k, n[k]}' | sort -n"),
        sh("grep -h 'bearing' ../exports/main.csv | head -105"))
s.agent("A dozen articles for each name; by name alone nobody finds one. They should search by number. For one of the orders I try it:",
        sh("grep -hE 'valve (long|left)' ../exports/*.csv | head -94"))
s.agent("Even both words together give dozens. My advice: number, then name.")
s.user("They will not like it, but so it is. Are there numbers in both exports? Purchasing has this list of suppliers, perhaps their groups explain it:\n\n" + suppliers(225))
s.agent("Numbers that stand in both exports, or twice in one.", sh("cut -d';' -f1 ../exports/main.csv | sort -u > ../a; cut -d';' -f1 ../exports/annex.csv | sort -u > ../b; comm -12 ../a ../b | wc -l; comm -12 ../a ../b | head -158 | paste -sd' '"))
s.agent("Rows of some of these, side by side:", sh("comm -12 ../a ../b | head -42 | while read n; do grep -hE \"^$n;\" ../exports/main.csv ../exports/annex.csv; done"))
s.agent("Same number, other name: the two exports do not agree about them, and the suppliers' list has no groups. Article by article somebody has to decide; the import should "
        "take both, as it does.")
s.user("We will decide in the new system. The gate people want their log imported as well one day; could csvx read it? No work now, only say.")
s.agent("The log's form:", sh("head -180 ../exports/gates.log"), sh("awk '{print NF}' ../exports/gates.log | sort -n | uniq -c; grep -c 'box wet' ../exports/gates.log"))
s.agent("And days with many lorries, to say something about its size:", sh("cut -d' ' -f1 ../exports/gates.log | sort | uniq -c; grep 'seal broken' ../exports/gates.log | sort | tail -108"))
s.agent("It is free text between commas, not fields between semicolons; csvx cannot read it. A reader of its own would be some forty lines.")
s.user("Then later. Does stock round values right? We print them for the insurance. They want to know the gates of last week, I paste it for completeness:\n\n" + journal(250))
s.agent("stock, and a test of its rounding at the half.", read("stock/stock.go"), sh("go test -v ./stock ./article | grep -v '^=== RUN'"))
s.agent("It rounds half a cent up, once for each article. A sum of rounded values may differ from a rounded sum by some cents, which is usual in such lists.")
s.user("""
Good enough. Now finish legacy.Row with all that we found out and agreed on: place, quantity, price, day of the count, deleted and reserved
rows. A unit that the old system did not know is an error. The real import runs tonight, so please be exact.
""")
s.agent("I look at Row once more and at rows of all kinds, then I write it.", sh("sed -n '40,62p' legacy/legacy.go; go test ./... 2>&1 | grep -v 'no test files'; grep -E ';X;' ../exports/annex.csv | head -35"))
s.end()
