#!/usr/bin/env python3
"""Measures what the documents say of epitome, writes the rows of their tables, and holds the figures agreed last.

    bench/figures.py                  write the tables between <!-- figures: NAME --> and <!-- end -->
    bench/figures.py --agree          write bench/figures.json, too
    bench/figures.py --check          write nothing; fail if a figure is worse than agreed, or is not that of a document
    bench/figures.py --print EPITOME  only print the figures of this program

Numbers between the marks of "quoted", which has sentences, have to stand in a table. An error leaves all files as they
were. Rows whose data is not in the repository stay as they are, unless a variable below names it.
"""
import datetime, json, os, platform, re, subprocess, sys, tempfile
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase
from pathlib import Path

FIGURES = os.environ.get("FIGURES", "")    # a folder with survive (questions and orders) and corpus (sessions)
RECALL = os.environ.get("RECALL", "")      # the questions of product-defaults, as docs/benchmarks.md says
SESSIONS = os.environ.get("SESSIONS", "")  # the recorded sessions that docs/benchmarks.md names: half an hour
LOAD = os.environ.get("LOAD", "")          # any text: latency, CPU and memory of this machine, four minutes

DOCUMENTS = "README.md", "docs/benchmarks.md", "docs/comparison.md"
AGREED, VERSION = "bench/figures.json", 1  # another version if a figure is measured in another way
# By how much a figure may fall, or below zero may rise; of SHARES, a share. Others are not held.
ALLOWED = {"visible": .5, "recall": .5, "older": .5, "lines": .5, "seen": .5, "first": .5, "orders": 1, "turns": 0,
           "cost": -.003, "tokens": -.02, "allocations": -.25, "kilobytes": -.2}
SHARES = "tokens", "allocations", "kilobytes"

# What no commit may agree to fall below.
LEAST = {"6 conversations 32k, one compaction: visible": 90, "6 conversations 64k, one compaction: visible": 100,
         "played 32k: work orders": 15, "played 64k: work orders": 15,
         **{f"played {w}: {kind} orders": least for w, least in (("32k", 13), ("64k", 14))
            for kind in ("talk", "long", "pasted")},
         **{f"one compaction {w}: {n} turns, orders": 20 for w in ("32k", "64k") for n in (60, 120, 240)}}

# Columns: names of figures, where they stand in a report, and their formats in a row of a document, if they are there.
DEMO = [("alone", "alone", ",.0f"), ("turns", "turns", ",.0f"), ("largest alone", "raw_largest", ",.0f"),
        ("largest", "sent_largest", ",.0f"), ("all alone", "raw", ",.0f"), ("tokens", "sent", ",.0f")]
QUIZ = [("tokens", "tokens", ",.0f"), ("visible", "visible", ".1f")]
REPLAY = [("died", "died", ",.0f"), ("cost", "cost", ".3f"), ("breaks", "breaks_per_100", ".2f")] + [
    (name, key, ".1f") for name, key in (("recall", "recall"), ("older", "recall_older"), ("lines", "recall_lines"),
                                         ("signal", "signal"), ("first", "signal_first"))] + [("seen", "seen", "")]
COSTS = [(name, name, "") for kb in (2, 100, 800) for kind in ("passing", "growing", "repeated", "rewritten")
         for name in (f"{kb} KB {kind}: allocations", f"{kb} KB {kind}: kilobytes")]
VALUES = [("", "epitome", ",.0f"), ("", "bare fasthttp", ",.0f")]
POLICIES = "send everything", "truncate oldest to 50 %", "clear all but three at 50 %", "epitome, balanced"
# The six smallest sessions of the corpus, and four of middle size.
CORPUS = """webresearch-179 tau-airline-33 tau-airline-52 webresearch-187 web-map-route claudecode-box-playwright-uat
    claudecode-box-playwright-mcp claudecode-box-bash-heavy claudecode-cli-wingman-status
    claudecode-cli-summary-cases"""

MARKED = re.compile(r"<!-- figures: (\w+) -->\n(.*?)(<!-- end -->|(?=<!-- figures: )|\Z)", re.S)
STAMP = re.compile(r"\d{4}-\d\d-\d\d(, \S+/\S+, \d+ CPUs)?")
NUMBER = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)*k?\b")


class Fault(Exception):
    pass


def measurements(loads):
    """Returns commands, names of their figures, tables, rows of these, columns, and the parts of reports with them. A
    figure without a name is not held."""
    def part(rows, **want):
        return lambda r: next(x for x in r[rows] if all(fnmatchcase(str(x[k]), v) for k, v in want.items()))
    for w in "32k", "64k", "128k":
        yield f"EPITOME demo --json --window {w}", f"demo {w}", "demo", f"| {w} |", DEMO, lambda r: r
    yield "python3 bench/requests.py EPITOME", "a request of", "", "", COSTS, lambda r: r
    for w in "32k", "64k":
        window, survive = f"--json --window {w}", f"{FIGURES}/survive"
        for n, paths in (8, RECALL), (6, FIGURES and f"{survive}/fixtures.json"):
            for how, flag in ("one compaction", "--once "), ("as they grew", ""):
                if paths and (flag or n == 8 or w == "32k"):
                    yield (f"EPITOME bench recall {flag}{window} {paths}", f"{n} conversations {w}, {how}:", "recall",
                           f"| {n} | epitome, {how}, {w} |", QUIZ, part("rows", method="intent"))
        if FIGURES:
            yield (f"python3 {survive}/orders.py EPITOME {window}", f"played {w}:", "", "",
                   [(f"{k} orders", k, "") for k in ("work", "talk", "long", "pasted")],
                   lambda r: {k: x["kept"] for k, x in r.items()})
            yield (f"python3 {survive}/score.py EPITOME {window}", f"one compaction {w}:", "", "",
                   [(f"{k} turns, orders", k, "") for k in ("60", "120", "240")], lambda r: r["rules"])
            paths = " ".join(f"{FIGURES}/corpus/{name}.json" for name in CORPUS.split())
            yield (f"EPITOME bench replay {window} {paths}", f"10 sessions {w}:", "", "", REPLAY,
                   part("rows", policy="epitome*"))
    for w, policy in [(w, p) for w in ("64", "128") for p in POLICIES] if SESSIONS else ():
        yield (f"EPITOME bench replay --json --window 64k,128k {SESSIONS}", "", "sessions", f"| {w}k | {policy} |",
               REPLAY, part("rows", window=w + "000", policy=policy))
    for name in loads if LOAD else ():
        figure = part("figures", name=name)
        yield ("EPITOME bench load --json", "", "load", f"| {name} |", VALUES,
               lambda r, figure=figure: figure(r)["values"])


def run(command, program, folder):
    """Returns the report of a command without the user's own configuration."""
    done = subprocess.run(command.replace("EPITOME", program).split(), capture_output=True, text=True,
                          env=dict(os.environ, XDG_CONFIG_HOME=folder, XDG_DATA_HOME=folder))
    try:
        assert done.returncode == 0
        return json.loads(done.stdout)
    except (AssertionError, ValueError):
        raise Fault(f"{command} prints no report, status {done.returncode}: {done.stdout[:200]}{done.stderr[-2000:]}")


def measure(program, loads):
    """Returns the figures of a program by name, and its rows by table and beginning."""
    figures, rows = {}, {}
    wanted = [w for w in measurements(loads) if w[4] and (w[1] or not program)]
    commands = sorted(dict.fromkeys(w[0] for w in wanted), key=lambda c: "orders.py" not in c)  # as it is long
    for path in " ".join(commands).split():
        if FIGURES and path.startswith(FIGURES) and not os.path.exists(path):
            raise Fault(f"FIGURES={FIGURES} has no {path[len(FIGURES) + 1:]}")
    at_once = 1 if LOAD else 4  # the plays of orders mostly wait
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(at_once) as pool:
        if not program:
            program = folder + "/program"
            built = subprocess.run(["go", "build", "-o", program, "."], capture_output=True, text=True)
            if built.returncode:
                raise Fault(f"cannot build epitome: {built.stderr}")
        jobs = {command: pool.submit(run, command, program, folder) for command in commands}
        for command, name, table, row, columns, part in wanted:
            report = jobs[command].result()
            cells = []
            for title, key, form in columns:
                try:
                    value = part(report)[key]
                    if isinstance(value, str):  # such as "13, then error 400"
                        value = float(re.match(r"[\d.]+", value)[0])
                except (LookupError, StopIteration, TypeError):
                    raise Fault(f"{command} prints no {key}{row and ' for ' + row}")
                if name and value is not None:
                    figures[f"{name} {title}"] = round(value, 4)
                if form:
                    cells.append("—" if value is None else format(value, form))
            if table:
                rows[table, row] = f"{row} {' | '.join(cells)} |"
    return figures, rows


def fill(texts, rows, stamp):
    """Writes rows into the tables of texts, and returns what has changed. A table that changes gets another date."""
    changed, unused = [], dict(rows)
    def table(match):
        name, text, end = match.groups()
        if not end:
            raise Fault(f"{path}: the mark figures: {name} has no end")
        lines = text.split("\n")
        for i, line in enumerate(lines):
            for key in [k for k in rows if k[0] == name and line.startswith(k[1])]:
                unused.pop(key, None)
                if line != rows[key]:
                    changed.append(f"{path} does not have: {rows[key]}")
                    lines[i] = rows[key]
        if lines != text.split("\n"):
            text = STAMP.sub(lambda m: stamp if m[1] else stamp[:10], "\n".join(lines))
        return f"<!-- figures: {name} -->\n{text}{end}"
    for path in texts:
        texts[path] = MARKED.sub(table, texts[path])
    if unused:
        raise Fault(f"no table of the documents has the row {' '.join(next(iter(unused)))}")
    return changed


def unfounded(texts):
    """Returns the numbers of sentences that stand in no table."""
    tables = [(path, *m.groups()) for path, text in texts.items() for m in MARKED.finditer(text)]
    known = {n for _, name, text, _ in tables if name != "quoted" for n in NUMBER.findall(text)}
    return [f"{path}: no table has {n}" for path, name, text, _ in tables if name == "quoted"
            for n in NUMBER.findall(text) if n not in known]


def agreed(text):
    try:
        a = json.loads(text)
    except ValueError as e:
        raise Fault(f"cannot read {AGREED}: {e}")
    if a["version"] != VERSION:
        raise Fault(f"{AGREED} is of version {a['version']}, and this program writes {VERSION}")
    return a["figures"]


def worse(before, after):
    """Returns the figures that are worse than before by more than is allowed."""
    out = []
    for name in sorted(before.keys() & after.keys()):
        kind = name.split()[-1]
        most, fall = ALLOWED.get(kind), before[name] - after[name]
        if kind in SHARES:
            fall /= before[name]
        if most is not None and (fall > most + 1e-9 if most >= 0 else fall < most - 1e-9):
            out.append(f"worse: {name} was {before[name]:,.10g} and is {after[name]:,.10g}")
    return out


def low(figures):
    """Returns the figures that are below LEAST."""
    return [f"{name} is {figures[name]:,.10g}, and has to be {least} or more" for name, least in LEAST.items()
            if figures.get(name, least) < least - 1e-9]


def git(*args):
    return subprocess.run(("git",) + args, capture_output=True, text=True).stdout


def hidden():
    """Returns the commits that agree to a worse figure and have no title that says so, or other changes."""
    def at(commit):
        try:
            return agreed(git("show", f"{commit}:{AGREED}"))
        except Fault:
            return {}  # there was none, it was of another version, or the clone is shallow
    out = []
    for line in git("log", "--format=%h %s", "--", AGREED).splitlines():
        commit, title = line.split(" ", 1)
        found = worse(at(commit + "^"), at(commit))
        files = git("show", "--format=", "--name-only", commit).split()
        if found and not (title.startswith("figure: ") and all(f == AGREED or f.endswith(".md") for f in files)):
            out.append(f"commit {commit} has to be one of its own, titled figure: …: {found[0]}")
    return out


def main(check=False, agree=False, program=""):
    """Returns faults after all is measured; those before it are raised."""
    texts = {path: Path(path).read_text("utf-8") for path in DOCUMENTS}
    fill(texts, {}, "")
    before = agreed(Path(AGREED).read_text())
    tables = {m[1]: m[2] for text in texts.values() for m in MARKED.finditer(text)}
    figures, rows = measure(program, re.findall(r"(?m)^\| (\w.*?) \| [\d—]", tables.get("load", "")))
    for name, value in figures.items():
        last = "" if program or before.get(name) == value else f"  agreed: {before.get(name)}"
        print(f"{name:50} {value:14,.10g}{last}")
    if program:
        return []
    stamp = f"{datetime.date.today()}, {platform.system().lower()}/{platform.machine()}, {os.cpu_count()} CPUs"
    changed = fill(texts, rows, stamp)
    if check:
        return low(figures) + worse(before, figures) + [f"{c} (run make figures)" for c in changed] + unfounded(texts) + hidden()
    if low(figures):
        raise Fault("; ".join(low(figures)))
    if agree:
        Path(AGREED).write_text(json.dumps({"version": VERSION, "figures": {**before, **figures}}, indent=1) + "\n")
    for path, text in texts.items():
        Path(path).write_text(text, "utf-8")
    return unfounded(texts)


if __name__ == "__main__":
    os.chdir(Path(__file__).resolve().parent.parent)
    try:
        faults = main("--check" in sys.argv, "--agree" in sys.argv, sys.argv[-1] if "--print" in sys.argv else "")
    except Fault as f:
        faults = [str(f)]
    sys.exit("\n".join(f"figures: {f}" for f in faults) or 0)
