"""Meterd: what the codes mean was shown once, by a machine that is gone since."""
import sys
from datetime import datetime, timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from play import Session, edit, read, sh, write

s = Session("meterd", """You are a coding agent in a terminal. The project is the Go module in /home/dev/meterd. You have the tools
bash, read_file, edit_file and write_file. Run tests before and after changes. When something fails, find out why before you go
on, and undo what did not work.""")
r = s.random

UNITS = """code  quantity        unit  len  order  sign  exp  absent    flag
0x04  energy-import   Wh    4    lsb    u      2  ffffffff  -
0x07  energy-export   Wh    4    msb    u      1  ffffffff  -
0x0b  voltage-l1      V     2    lsb    u     -1  ffff      -
0x0c  voltage-l2      V     2    lsb    u     -1  ffff      -
0x0d  voltage-l3      V     2    msb    u     -2  0000      -
0x13  current-sum     A     3    lsb    s     -3  7fffff    -
0x18  frequency       Hz    2    msb    u     -3  ffff      -
0x1c  power           W     3    msb    s      0  800000    -
0x1d  power-reactive  var   3    msb    s      1  800000    -
0x22  temperature     C     2    lsb    s     -1  8000      -
0x2a  flow            l/h   3    lsb    u      1  ffffff    -
0x31  pressure        kPa   2    lsb    u     -2  ffff      r
0x36  volume          m3    4    lsb    u     -3  fffffffe  -
0x3e  heat            Wh    4    msb    u      3  ffffffff  -
0x44  tariff          1     1    -      u      0  00        -
0x4f  phase-angle     deg   2    msb    s     -2  7fff      -
0x52  runtime         h     3    lsb    u      0  ffffff    r
17 codes. value = raw * 10^exp unit. lsb, msb: which byte comes first. sign s: two's complement.
absent: raw bits of "not measured". flag r: retired, meters still send it, value is of no use.
"""
CODES = {int(line.split()[0], 16): int(line.split()[3]) for line in UNITS.splitlines()[1:18]}
LOWEST_FIRST = {int(line.split()[0], 16) for line in UNITS.splitlines()[1:18] if "lsb" in line}


def frame(meter, at):
    body = int((at - datetime(2011, 1, 1)).total_seconds()).to_bytes(4, "little")
    for code in sorted(r.sample(sorted(CODES), r.randrange(3, 8))):
        size = CODES[code]
        value = b"\xff" * size if r.random() < .06 else bytes(size - 2) + r.randbytes(2) if size > 2 else r.randbytes(size)
        if code in LOWEST_FIRST:
            value = value[::-1]
        body += bytes([code, size]) + value
    core = bytes([meter, 0x72]) + body
    return bytes([0x68, len(body)]) + core + bytes([sum(core) & 255, 0x16])


def capture(begin, count):
    lines = []
    for n in range(count):
        at = begin + timedelta(seconds=20 * n)
        text = frame(r.randrange(3, 60), at)
        if r.random() < .08:
            text = r.randbytes(r.randrange(1, 5)) + text[:r.randrange(6, len(text))]
        lines.append(f"{at.isoformat()} port{r.randrange(1, 5)} | {text.hex(' ')}")
    return "\n".join(lines) + "\n"


def log(begin, count):
    lines, at = [], begin
    for n in range(count):
        at += timedelta(seconds=r.randrange(1, 40))
        meter = r.randrange(3, 60)
        lines.append(f"{at.isoformat()} gwd[{r.randrange(300, 340)}]: " + r.choice([
            f"poll meter {meter} on port{r.randrange(1, 5)}: {r.randrange(20, 70)} bytes in {r.randrange(30, 900)} ms",
            f"poll meter {meter}: no answer, try {r.randrange(1, 4)} of 3", f"meter {meter}: checksum {r.randrange(256):02x}, want {r.randrange(256):02x}",
            f"queue {r.randrange(1, 900)} readings, disk {r.randrange(40, 93)} %", f"meter {meter}: clock off by {r.randrange(-9, 10)} s, set",
            f"port{r.randrange(1, 5)}: {r.randrange(2, 40)} bytes without a start, dropped"]))
    return "\n".join(lines) + "\n"


def meters(count):
    return "\n".join(f"{n + 3};{r.choice(['Haus A', 'Haus B', 'Halle', 'Keller', 'Dach'])} {r.randrange(1, 30)};{r.choice(['LX4', 'LX4', 'LX6', 'Q3h', 'Q3w'])};"
                     f"serial {r.randrange(10**7, 10**8)};sealed {r.randrange(1, 29)}.{r.randrange(1, 13)}.20{r.randrange(12, 25)};{r.choice(['ok', 'ok', 'key with the caretaker', 'behind the ladder', 'display broken', 'new glass'])}"
                     for n in range(count))


def nightly(count):
    return "\n".join(f"{r.randrange(0, 6)}:{r.randrange(10, 60)}:{r.randrange(10, 60)} archive: batch {880 + n} {r.randrange(200, 4000)} lines, "
                     f"{r.choice(['stored', 'stored', 'stored', 'stored again', 'waits for batch ' + str(870 + n), 'line ' + str(r.randrange(5, 90)) + ' has no unit'])}, "
                     f"{r.randrange(90, 9000)} ms, free {r.randrange(100, 400)} GB" for n in range(count))


def visits(count):
    return "\n".join(f"- {r.randrange(1, 29)} March, meter {r.randrange(3, 60)}: {r.choice(['read off', 'cleaned', 'opened', 'only looked at', 'tightened the clamp of'])}, "
                     f"{r.choice(['lamp green', 'lamp off', 'lamp blinks twice', 'hums', 'nothing to see'])}, {r.choice(['tenant at home', 'nobody there', 'door stuck', 'took a photo, no. ' + str(r.randrange(100, 999))])}, "
                     f"{r.randrange(4, 55)} minutes with the way" for n in range(count))


s.file("captures/port-a.txt", capture(datetime(2026, 3, 17), 900))
s.file("captures/port-b.txt", capture(datetime(2026, 3, 18, 6), 700))
s.file(".machines/rack7/var/gwd.log", log(datetime(2026, 3, 16, 22), 900))
s.file(".machines/rack7/etc/gateway.conf", "[bus]\nports = 4\nbaud = 2400\nparity = even\npoll = 20s\nretries = 3\n\n[meters]\nepoch = 2011-01-01\n"
       "clock = utc\nfirst = 3\nlast = 59\n\n[archive]\nhost = archive.internal\nspool = /var/spool/gwd\nbatch = 4000\nkeep = 40d\n")
s.file(".machines/rack7/share/units.txt", UNITS)
s.file(".machines/rack7/bin/gwctl", """#!/bin/sh
case $1 in
units) cat share/units.txt ;;
log) tail -n "${2:-20}" var/gwd.log ;;
*) echo "usage: gwctl units | log [N] | version"; [ "$1" = version ] && echo "gwctl 1.9.2 (2014-02-11)" ;;
esac
""", 0o755)

s.user("""
meterd replaces the old gateway of our meters, rack7, which is 15 years old. It reads the meters' frames itself; captures of two
days are in /home/dev/captures. There is no documentation. TestCaptured has one frame for which I wrote down what the display
showed. Please make that test pass first, then we go through the captures.
""")
s.agent("What is there, and how it fails.", sh("find . -name '*.go' | xargs wc -l; go test ./... 2>&1 | head -30; ls -l ../captures"))
s.agent("The way from bytes to readings:", read("frame/frame.go"), read("record/record.go"), read("units/units.go"))
s.agent("The test and the first lines of a capture.", read("record/record_test.go"), sh("head -82 ../captures/port-a.txt"))
s.agent("The codes look like those of the M-Bus: 0x04 would be energy in units of ten watt hours, since its last three bits are an "
        "exponent behind an offset of three. First try: the exponent from the code.",
        edit("record/record.go", "\texp := unit.Exp + 6\n", "\texp := int(unit.Code&7) - 3 + 6\n"),
        edit("record/record.go", "micro(bits, unit),\n", "micro(bits, unit),\n"),
        edit("units/units.go", "type Unit struct {\n", "type Unit struct {\n\tCode     byte   // as in the M-Bus, its last three bits are an exponent\n"),
        edit("units/units.go", '0x04: {', '0x04: {Code: 0x04, '), sh("gofmt -w . && go test ./record"))
s.failed("failed-1")
s.agent("18342.7 kWh are 18342700 Wh and the raw number is 183427, so a factor of 100; the M-Bus would have 10. And power is missing "
        "entirely. I take this back.", sh("""cat > ../undo.py <<'E'
import re
p = 'record/record.go'; t = open(p).read()
open(p, 'w').write(t.replace('int(unit.Code&7) - 3 + 6', 'unit.Exp + 6'))
p = 'units/units.go'; t = open(p).read()
t = re.sub(r'\\tCode .*\\n', '', t).replace('Code: 0x04, ', '')
open(p, 'w').write(t)
E
python3 ../undo.py; gofmt -w .; git diff --no-index /dev/null units/units.go | tail -43"""))
s.agent("Second try: what the displays show decides. 0x04 counts hundreds of watt hours; 0x1c is then power in watts, three bytes like "
        "all others with the lowest byte first.",
        edit("units/units.go", "Bytes: 4, Exp: 0},\n", "Bytes: 4, Exp: 2},\n\t0x1c: {Quantity: \"power\", Unit: \"W\", Bytes: 3, Exp: 0},\n"),
        sh("go test ./record; go run ./cmd/meterd ../captures/port-a.txt | grep -w power | head -29"))
s.failed("failed-2")
s.user("""
Please stop guessing from one display. This is not the M-Bus and never was; the maker took what he liked, each code has its own
order of bytes and sign. rack7 knows them all: ssh rack7, there is a program gwctl. The electrician unplugs it at noon and it goes
to the scrap the same day, so look now at whatever you need from it.

And two rules for the archive: a value that was not measured is left out, it is never a zero; and codes that the gateway has
retired are not archived at all. Leave those out of units.All, so that they are counted as unknown.
""")
s.agent("I undo the second try and look at the gateway while it runs.",
        edit("units/units.go", "Bytes: 4, Exp: 2},\n\t0x1c: {Quantity: \"power\", Unit: \"W\", Bytes: 3, Exp: 0},\n", "Bytes: 4, Exp: 0},\n"),
        sh("ssh rack7 'gwctl; gwctl version; ls -l . etc share var'"))
s.agent("It has a list of units.", sh("ssh rack7 'gwctl units'"))
s.agent("That is all that we need of codes: orders, signs and powers as you said, and what absent looks like, which differs too. "
        "The configuration and the log, before it is gone:", sh("ssh rack7 'cat etc/gateway.conf'"), sh("ssh rack7 'gwctl log 110'"))
s.agent("The epoch of the meters fits ours. One more part of the log, around errors of checksums:",
        sh("ssh rack7 'grep -n checksum var/gwd.log | head -108'"))
s.agent("First the types: a unit says the order of its bytes, its sign, and what absent is. I enter the two codes of the test, the rest "
        "follows when the decoder is right.",
        write("units/units.go", (s.folder / "module/units/units.go").read_text()),
        write("record/record.go", (s.folder / "module/record/record.go").read_text()), sh("gofmt -l .; go vet ./... && go test ./record"))
s.agent("The frame of the test is right. A test for values that were not measured, beside it.",
        edit("record/record_test.go", "func TestShort", '''func TestAbsent(t *testing.T) {
	body := []byte{0, 0, 0, 0, 0x04, 4, 0xff, 0xff, 0xff, 0xff}
	readings, _, err := Decode(frame.Frame{Kind: frame.Readings, Body: body})
	if err != nil || len(readings) != 0 {
		t.Errorf("%+v, %v, want none", readings, err)
	}
}

func TestShort'''), sh("go test ./..."))
s.user("""
Good. The gateway is off now, as announced. Before you do the other codes: frames get lost. The nightly job of the archive showed
gaps when I tried meterd on port a. Its log:

""" + nightly(110))
s.agent("How many frames do we find, and how many bytes belong to none?",
        sh("wc -l ../captures/*.txt; go run ./cmd/meterd -unknown ../captures/port-a.txt; go run ./cmd/meterd -unknown ../captures/port-b.txt"),
        sh("ssh rack7 'gwctl log 5'"))
s.agent("Indeed gone. Lines of the capture that do not begin with 68:", sh("grep -nv '| 68' ../captures/port-a.txt | head -77"))
s.agent("Broken frames, then a good one. Split drops a whole frame's length when the checksum is wrong, and with it the beginning of "
        "the next one. It has to go on at the byte behind the false start.",
        edit("frame/frame.go", "\t\t\tlost += extra + int(stream[1])\n\t\t\tstream = stream[extra+int(stream[1]):]\n",
             "\t\t\tlost++ // the byte 0x68 of something else\n\t\t\tstream = stream[1:]\n"),
        sh("go test ./frame; for f in a b; do go run ./cmd/meterd -unknown ../captures/port-$f.txt | head -1; done"))
s.agent("More frames, fewer bytes lost. The test of Split for that:",
        write("frame/frame_test.go", (s.folder / "module/frame/frame_test.go").read_text()), sh("go test ./..."))
s.agent("A look at readings of a stretch with broken frames:", sh("go run ./cmd/meterd ../captures/port-a.txt | sed -n '120,230p'"))
s.user("""
That looks better. Which meters are silent? The caretaker's list is below: number; place; type; serial; seal; remark. Compare it
with both captures, please. His visits this month are under it, in case they explain something.

""" + meters(57) + "\n\n" + visits(85))
s.agent("How often each meter comes in the captures, by its address byte.", sh("""cat > ../seen.py <<'E'
import sys, collections
for path in sys.argv[1:]:
    seen = collections.Counter()
    for line in open(path):
        text = bytes.fromhex(line.split(' | ')[1])
        if text[0] == 0x68 and len(text) == text[1] + 6:
            seen[text[2]] += 1
    print(path, 'silent:', [n for n in range(3, 60) if n not in seen])
    print(*(f'{n}:{c}' for n, c in sorted(seen.items())))
E
python3 ../seen.py ../captures/port-a.txt ../captures/port-b.txt"""))
s.agent("All meters of the list answer on both days. The frames of meter 17 as a sample, and how its times go on:",
        sh("grep -E '\\| 68 .. 11 72' ../captures/port-a.txt | head -48"), sh("grep -E '\\| 68 .. 2a 72' ../captures/port-b.txt | head -43"))
s.agent("Since broken frames do not count there, the same for meters that have them: whose address stands in a broken line?",
        sh("grep -v '| 68' ../captures/port-b.txt | grep -oE '68 [0-9a-f]{2} [0-9a-f]{2} 72' | cut -d' ' -f3 | sort | uniq -c | sort -rn | head -12"),
        sh("grep -v '| 68' ../captures/port-b.txt | tail -34"))
s.agent("Nobody is silent, so the visits explain nothing; gaps came from lost frames alone.")
s.user("Then something else: is there a difference between the ports? The cable of port 3 was patched.")
s.agent("Lines by port, good and broken ones.",
        sh("for f in a b; do awk '{p=$2; bad=($4!=\"68\"); n[p]++; b[p]+=bad} END {for (p in n) print p, n[p], b[p]}' ../captures/port-$f.txt | sort; done"),
        sh("grep 'port3' ../captures/port-b.txt | grep -v '| 68' | head -58"))
s.agent("Port 3 has no more broken frames than the others. Sizes of frames by port, in case long ones suffer:",
        sh("for p in 1 2 3 4; do echo port$p; grep \"port$p\" ../captures/port-a.txt | awk '{print int((NF-3)/8)*8}' | sort -n | uniq -c; done"),
        sh("grep port3 ../captures/port-a.txt | tail -43"))
s.agent("No difference that I could see. The cable is fine.")
s.user("Good to know. One thing about times: do meters' clocks agree with ours? Print what you find, no code in meterd for that.")
s.agent("The seconds within frames against the time of the line.", sh("""cat > ../clock.py <<'E'
import sys, collections
from datetime import datetime, timedelta
off = collections.Counter()
shown = 0
for path in sys.argv[1:]:
    for line in open(path):
        head, digits = line.split(' | ')
        text = bytes.fromhex(digits)
        if text[0] == 0x68 and len(text) == text[1] + 6:
            at = datetime(2011, 1, 1) + timedelta(seconds=int.from_bytes(text[4:8], 'little'))
            off[(at - datetime.fromisoformat(head.split()[0])).total_seconds()] += 1
            if shown < 60 and text[2] % 7 == 0:
                shown += 1
                print(head, 'meter', text[2], 'says', at, text[4:8].hex(' '))
print(off)
E
python3 ../clock.py ../captures/port-b.txt ../captures/port-a.txt"""))
s.agent("They agree to the second; the gateway had set them. Since it is gone nobody sets them any more, which may matter in some months.")
s.user("Noted, I open a ticket for that. How does the output look for the whole of port b at the moment, is it sorted?")
s.agent("The end of it, and whether times ever go back.",
        sh("go run ./cmd/meterd ../captures/port-b.txt > ../b.csv; wc -l ../b.csv; tail -116 ../b.csv; cut -d';' -f1 ../b.csv | sort -c && echo sorted"))
s.agent("It is sorted. The raw lines behind these, to see whether any of them ends in the middle of a frame at the end of the capture:",
        sh("tail -62 ../captures/port-b.txt; grep -c 'port' ../captures/port-b.txt"))
s.agent("None does. It is sorted, as frames come in the order of time. Only two quantities so far, of course.", sh("go test -v ./... 2>&1 | grep -v 'no test files'"))
s.user("""
Then finish it: all the other codes into units.All, with the gateway's names of quantities and units, and by the two rules that I
gave for the archive. The archive compares with what rack7 stored in its last week, so each code has to be right, the absent
values, too. After that I try it tonight.
""")
s.agent("The codes that still come as unknown, and what a unit has:", sh("go run ./cmd/meterd -unknown ../captures/port-b.txt; cat units/units.go"))
s.end()
