#!/usr/bin/env python3
"""Whether a task is still solved by somebody who sees only what a method leaves of its conversation.

    e2e/tasks.py requests [TASK...]     write each session as the methods send it, and say how many tokens these are
    e2e/tasks.py try DIR TASK METHOD    make a folder in which somebody goes on: REQUEST.txt, work, artifacts if any
    e2e/tasks.py collect DIR            keep what came of it, as patches/TASK-METHOD-N.patch
    e2e/tasks.py table                  apply each patch, add the hidden test, run go test, print the table
    e2e/tasks.py check                  the reference passes the hidden tests, failed attempts and guesses do not

The methods:

    whole     the conversation, more than any window of 32,000 tokens holds
    epitome   what epitome sends for it at 32,000 tokens, summaries by code, each turn sent as the session grew
    newest    the system message and the newest messages that fit, a result never without its call

Sessions lie in testdata/tasks/TASK/requests/whole.json.gz; testdata/tasks/TASK/session.py made them. EPITOME names a
program to use; otherwise one is built.
"""
import contextlib, gzip, http.client, io, json, os, re, shutil, subprocess, sys, tarfile, tempfile, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

HERE = Path(__file__).resolve().parent
TASKS = HERE / "testdata" / "tasks"
NAMES = "dunning", "meterd", "paygate", "wmsimport"
METHODS = "whole", "epitome", "newest"
WINDOW, ANSWER = 32_000, 4_000
LARGE = 100_000           # bytes; a larger request is kept compressed
HOME = "/home/dev"        # where sessions were played
FOLDER = HOME + "/.local/share/epitome/artifacts"  # where a kept request says that artifacts lie

CONFIG = """
[window]
probe = false
models = { "gpt-4.1*" = %d }
[summarize]
mode = "intent"
""" % WINDOW


class Upstream(BaseHTTPRequestHandler):
    """A provider that keeps the last body it got, and answers what its server was told to."""
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.server.last = self.rfile.read(int(self.headers["Content-Length"]))
        choice = {"index": 0, "message": self.server.answer, "finish_reason": "stop"}
        body = json.dumps({"id": "chatcmpl-1", "object": "chat.completion", "created": 1772442000, "model": "gpt-4.1",
                           "choices": [choice]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.send_error(404)

    def log_message(self, *_):
        pass


class Proxy:
    """An epitome with a folder of its own in front of an Upstream."""

    def __init__(self, program, folder):
        self.folder = Path(folder)
        self.upstream = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
        threading.Thread(target=self.upstream.serve_forever, daemon=True).start()
        (self.folder / "config.toml").write_text(CONFIG)
        self.log = open(self.folder / "log", "w+")
        self.process = subprocess.Popen(
            [program, "--config", self.folder / "config.toml", "--data", self.data, "--listen", "127.0.0.1:0",
             "--upstream", f"http://127.0.0.1:{self.upstream.server_port}/v1"],
            stdout=subprocess.PIPE, stderr=self.log, text=True)
        self.port = self.find_port()

    @property
    def data(self):
        return self.folder / "data"

    def find_port(self):
        for _ in range(300):
            text = (self.folder / "log").read_text()
            found = re.search(r"127\.0\.0\.1:(\d+)", text.replace(f":{self.upstream.server_port}", ""))
            if found:
                return int(found[1])
            if self.process.poll() is not None:
                break
            time.sleep(.1)
        raise SystemExit(f"epitome did not start:\n{text}")

    def send(self, body, answer, **headers):
        """Returns the tokens of a request as it came and as it was sent on."""
        self.upstream.answer = answer
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        connection.request("POST", "/v1/chat/completions", json.dumps(body, ensure_ascii=False).encode(),
                           {"Content-Type": "application/json", "Authorization": "Bearer none", **headers})
        response = connection.getresponse()
        text = response.read()
        tokens = response.headers["x-epitome-tokens"]
        if response.status != 200 or not tokens:
            raise SystemExit(f"{response.status} {text[:500]} {dict(response.headers)}")
        self.action = response.headers["x-epitome-action"]
        return tuple(int(n) for n in tokens.replace("~", "").split(">"))

    def close(self):
        self.process.terminate()
        self.process.wait(20)
        self.upstream.shutdown()
        self.log.close()


@contextlib.contextmanager
def proxy(program):
    with tempfile.TemporaryDirectory(prefix="tasks-") as folder:
        p = Proxy(program, folder)
        try:
            yield p
        finally:
            p.close()


SOME = {"role": "assistant", "content": "Yes."}


def count(p, body):
    return p.send(body, SOME, **{"x-epitome-mode": "observe"})[0]


def load(path):
    if path.suffix == ".gz":
        return json.loads(gzip.decompress(path.read_bytes()))
    return json.loads(path.read_text())


def session(task):
    return load(TASKS / task / "requests" / "whole.json.gz")


def kept(task, method):
    folder = TASKS / task / "requests"
    for path in folder / f"{method}.json", folder / f"{method}.json.gz":
        if path.exists():
            return path
    raise SystemExit(f"{task} has no request of {method}: e2e/tasks.py requests {task}")


def keep(task, method, body):
    folder = TASKS / task / "requests"
    for path in folder.glob(f"{method}.json*"):
        path.unlink()
    text = (json.dumps(body, ensure_ascii=False, indent=1) + "\n").encode()
    if len(text) > LARGE:
        (folder / f"{method}.json.gz").write_bytes(gzip.compress(text, mtime=0))
    else:
        (folder / f"{method}.json").write_bytes(text)


def newest(p, body):
    """Cuts the oldest messages behind the system message, until the rest fits."""
    messages = body["messages"]
    fits = len(messages) - 1
    low, high = 1, fits  # the first message to be sent is in this range
    while low < high:
        middle = (low + high) // 2
        if count(p, {**body, "messages": messages[:1] + messages[middle:]}) <= WINDOW - ANSWER:
            high = middle
        else:
            low = middle + 1
    while messages[low]["role"] == "tool":
        low += 1
    return {**body, "messages": messages[:1] + messages[low:]}


def begins(messages, before):
    return messages[:len(before)] == before


def through(p, body):
    """Plays a session as it grew; returns the last body that reached the upstream, and how history was rewritten."""
    messages, steps = body["messages"], []
    for n, message in enumerate(messages):
        if message["role"] == "assistant":
            p.send({**body, "messages": messages[:n]}, message)
            steps.append((p.action, p.upstream.last))
    p.send(body, SOME)
    steps.append((p.action, p.upstream.last))
    # What was sent before begins what is sent now, unless history was rewritten in between.
    rewritten = [action for (_, before), (action, now) in zip(steps, steps[1:])
                 if not begins(json.loads(now)["messages"], json.loads(before)["messages"])]
    return json.loads(p.upstream.last), " ".join(rewritten) or "never"


def requests(names):
    program = os.environ.get("EPITOME")
    with tempfile.TemporaryDirectory() as folder:
        if not program:
            program = f"{folder}/epitome"
            subprocess.run(["go", "build", "-o", program, "."], cwd=HERE.parent, check=True)
        for task in names or NAMES:
            body, sizes = session(task), {}
            with proxy(program) as p:
                sizes["whole"] = count(p, body)
                cut = newest(p, body)
                sizes["newest"] = count(p, cut)
                keep(task, "newest", cut)
            with proxy(program) as p:
                short, rewritten = through(p, body)
                here = str(p.data / "artifacts")
                keep(task, "epitome", json.loads(json.dumps(short).replace(here, FOLDER)))
                artifacts(p.data / "artifacts", TASKS / task / "requests" / "epitome-artifacts.tar.gz", here)
            with proxy(program) as p:
                sizes["epitome"] = count(p, load(kept(task, "epitome")))
            print(task, *(f"{method} {sizes[method]:,}" for method in METHODS),
                  f"(epitome rewrote its history: {rewritten})", flush=True)


def artifacts(folder, into, here):
    """Keeps the artifacts of a play, under the paths that the kept request names."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and not path.name.startswith("."):
                text = path.read_bytes().replace(here.encode(), FOLDER.encode())
                info = tarfile.TarInfo(str(path.relative_to(folder)))
                info.size = len(text)
                tar.addfile(info, io.BytesIO(text))
    into.write_bytes(gzip.compress(packed.getvalue(), mtime=0))


def readable(body):
    """Returns a request as text: role by role, a call as what it does."""
    parts = []
    calls = {}
    for message in body["messages"]:
        head = message["role"]
        if head == "tool":
            head = f"result of {calls.get(message['tool_call_id'], 'a call')}"
        text = message.get("content") or ""
        if isinstance(text, list):
            text = "\n".join(part.get("text", "") for part in text)
        parts.append(f"=== {head} ===\n{text}".rstrip())
        for call in message.get("tool_calls", []):
            name, given = call["function"]["name"], call["function"]["arguments"]
            calls[call["id"]] = f"{name} ({call['id']})"
            with contextlib.suppress(ValueError):
                given = "\n".join(f"{key}: {value}" for key, value in json.loads(given).items())
            parts.append(f"--- call of {name} ({call['id']}) ---\n{given}".rstrip())
    return "\n\n".join(parts) + "\n"


def fresh(task, into):
    shutil.copytree(TASKS / task / "module", into)


def git(folder, *words, **more):
    return subprocess.run(["git", "-c", "user.name=dev", "-c", "user.email=dev@example.com", *words], cwd=folder,
                          check=True, stdout=subprocess.PIPE, **more).stdout


def attempt(folder, task, method):
    folder = Path(folder).resolve()
    folder.mkdir(parents=True)
    work = folder / "work"
    fresh(task, work)
    git(work, "init", "-q")
    git(work, "add", "-A")
    git(work, "commit", "-q", "-m", "where the conversation ends")
    git(work, "config", "tasks.try", f"{task}-{method}")
    text = readable(load(kept(task, method)))
    if method == "epitome":
        text = text.replace(FOLDER, str(folder / "artifacts"))
        with tarfile.open(TASKS / task / "requests" / "epitome-artifacts.tar.gz") as tar:
            tar.extractall(folder / "artifacts", filter="data")
        for path in (folder / "artifacts").rglob("*"):
            if path.is_file():
                path.write_bytes(path.read_bytes().replace(FOLDER.encode(), str(folder / "artifacts").encode())
                                 .replace(f"{HOME}/{task}".encode(), str(work).encode()))
    (folder / "REQUEST.txt").write_text(text.replace(f"{HOME}/{task}", str(work)))
    print(folder)


def collect(folder):
    work = Path(folder) / "work"
    name = git(work, "config", "tasks.try", text=True).strip()
    git(work, "add", "-A")
    patch = git(work, "diff", "--cached", "--binary", "HEAD")
    patches = TASKS / "patches"
    patches.mkdir(exist_ok=True)
    number = len(list(patches.glob(f"{name}-*.patch"))) + 1
    (patches / f"{name}-{number}.patch").write_bytes(patch)
    print(patches / f"{name}-{number}.patch", f"{len(patch):,} bytes")


def solved(task, patch):
    """Returns whether all tests pass with a patch, and what go test said."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder) / task
        fresh(task, work)
        if patch.stat().st_size:
            subprocess.run(["git", "apply", "--whitespace=nowarn", patch.resolve()], cwd=work, check=True)
        shutil.copytree(TASKS / task / "hidden", work, dirs_exist_ok=True)
        try:
            done = subprocess.run(["go", "test", "./..."], cwd=work, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True, timeout=180, env={**os.environ, "GOFLAGS": "", "GOWORK": "off"})
        except subprocess.TimeoutExpired:
            return False, "no end within three minutes"
        return done.returncode == 0, done.stdout


def table():
    print("| task |" + "".join(f" {method} |" for method in METHODS))
    print("|---|" + "---|" * len(METHODS))
    sums = dict.fromkeys(METHODS, (0, 0))
    failures = []
    for task in NAMES:
        cells = []
        for method in METHODS:
            good = tries = 0
            for patch in sorted((TASKS / "patches").glob(f"{task}-{method}-*.patch")):
                passes, text = solved(task, patch)
                tries += 1
                good += passes
                if not passes:
                    failures.append((patch.stem, text))
            cells.append(f"{good} of {tries}")
            sums[method] = sums[method][0] + good, sums[method][1] + tries
        print(f"| {task} |" + "".join(f" {cell} |" for cell in cells), flush=True)
    print("| all |" + "".join(f" {good} of {tries} |" for good, tries in sums.values()))
    for name, text in failures:
        said = [line.strip() for line in text.splitlines() if not line.startswith(("ok ", "?", "FAIL", "---"))]
        print(f"\n{name} failed:", *said[:12], sep="\n    ")


def check():
    bad = 0
    for task in NAMES:
        for patch in sorted((TASKS / task).glob("*.patch")):
            if patch.stem == "progress":
                continue
            passes, text = solved(task, patch)
            right = passes == (patch.stem == "reference")
            bad += not right
            print(f"{task} {patch.stem}: {'passes' if passes else 'fails'}{'' if right else ', which is wrong'}")
            if not right or os.environ.get("VERBOSE"):
                print("    " + "\n    ".join(line for line in text.splitlines() if not line.startswith(("ok", "?"))))
    return bad


def main(words):
    match words:
        case ["requests", *names]:
            requests(names)
        case ["try", folder, task, method] if task in NAMES and method in METHODS:
            attempt(folder, task, method)
        case ["collect", folder]:
            collect(folder)
        case ["table"]:
            table()
        case ["check"]:
            return check()
        case _:
            print(__doc__.strip(), file=sys.stderr)
            return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
