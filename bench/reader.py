#!/usr/bin/env python3
"""Has a model answer the questions of epitome bench recall from what each method sends last.

    epitome bench recall FILE... --method intent,newest --json --last > last.json
    bench/reader.py last.json --url http://127.0.0.1:8080/v1 --model NAME [--key-env VARIABLE] [--answers FILE]

The model is at any endpoint of Chat Completions. It gets the last request as text, and a question, and says a value or
"unknown". Where a method keeps what it takes out, it answers each question a second time with the tool find, which it
can call once: the newest 20 lines with a word in these artifacts. An answer is right if it is the expected text but for
case, white space, quotes and a final dot.

How many requests, tokens and dollars this takes is said first. Answers are kept in FILE, a JSON object a line, so that
an interrupted run goes on where it was. A reader that refuses or is too slow is asked three times; then the question
counts as failed. A request over the window would be refused by its provider: its questions count as failed, too.
"""
import argparse, collections, fnmatch, hashlib, json, os, sys, threading, time, urllib.error, urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PRICES = Path(__file__).resolve().parent.parent / "event/prices/prices.json"

TASK = """You see what is left of a conversation between a user and an agent, and a question about it. Answer with the
exact value alone and no other word. If you cannot know it, answer: unknown"""
FIND = {"type": "function", "function": {
    "name": "find", "description": "Find a word in all that was taken out of the conversation. You can call it once.",
    "parameters": {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}}}


class Failure(Exception):
    """A question has no answer; the text says why."""


class Reader:
    def __init__(self, a):
        url = a.url.rstrip("/")
        self.url = url if url.endswith("/chat/completions") else url + "/chat/completions"
        self.model, self.wait, self.pause = a.model, a.wait, a.pause
        self.headers = {"content-type": "application/json"}
        if a.key_env:
            self.headers["authorization"] = "Bearer " + os.environ[a.key_env]
        self.lock = threading.Lock()
        self.kept = {}  # answers by their keys
        self.file = None
        if a.answers:
            self.file = open(a.answers, "a+")
            self.file.seek(0)
            text = self.file.read()
            for line in text.splitlines():
                try:
                    said = json.loads(line)
                    self.kept[said["key"]] = said
                except (ValueError, LookupError):
                    pass  # the run ended within this line
            if text and not text.endswith("\n"):
                self.file.write("\n")

    def key(self, job):
        parts = self.model, TASK, job.last["text"], job.question, str(job.find)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def send(self, body):
        """Returns the message that the model answers, and its usage."""
        request = urllib.request.Request(self.url, json.dumps(body).encode(), self.headers)
        for left in 2, 1, 0:
            try:
                with urllib.request.urlopen(request, timeout=self.wait) as answer:
                    report = json.load(answer)
                return report["choices"][0]["message"], report.get("usage") or {}
            except urllib.error.HTTPError as e:
                problem = f"status {e.code}: {e.read(200).decode(errors='replace')}"
                if e.code != 429 and e.code < 500:
                    left = 0
            except (OSError, ValueError, LookupError, TypeError) as e:
                problem = f"{type(e).__name__}: {e}"
            if not left:
                raise Failure(problem)
            time.sleep(self.pause)

    def ask(self, job):
        """Returns what the reader says: from before, or asks it."""
        key = self.key(job)
        with self.lock:
            if key in self.kept:
                return self.kept[key]
        messages = [{"role": "system", "content": TASK}, {"role": "user", "content": job.last["text"]},
                    {"role": "user", "content": job.question}]
        body = {"model": self.model, "messages": messages}
        if job.find:
            body["tools"] = [FIND]
        message, usage = self.send(body)
        tokens = collections.Counter(usage_of(usage))
        calls = message.get("tool_calls") if job.find else None
        if calls:
            messages.append(message)
            for n, call in enumerate(calls):
                found = find(job.last["artifacts"], call) if n == 0 else "Only one call is answered."
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": found})
            body["tool_choice"] = "none"
            message, usage = self.send(body)
            tokens.update(usage_of(usage))
        said = {"key": key, "answer": message.get("content") or "", **tokens}
        with self.lock:
            self.kept[key] = said
            if self.file:
                self.file.write(json.dumps(said) + "\n")
                self.file.flush()
        return said


Job = collections.namedtuple("Job", "last question expected find")


def usage_of(usage):
    return {"input": usage.get("prompt_tokens") or 0, "output": usage.get("completion_tokens") or 0}


def find(artifacts, call):
    """Returns what the tool of epitome's that has this name would: the newest 20 lines with a word."""
    try:
        word = str(json.loads(call["function"]["arguments"])["word"]).lower()
    except (ValueError, LookupError, TypeError):
        return "The call has no word."
    hits = []
    for name, text in artifacts.items():
        for n, line in enumerate(text.splitlines(), 1):
            at = line.lower().find(word)
            if at >= 0:
                hits.append(f"line {n} of artifact {name}: {line[max(0, at - 60):at + 120]}")
    return "\n".join(hits[-20:]) or f"Nothing that was taken out has {word}."


def plain(text):
    return " ".join(text.lower().split()).strip("\"'`“”‘’").removesuffix(".").strip("\"'`“”‘’")


def price_of(model):
    """Returns dollars for a token of input and of output by epitome's table; None if the model is not in it."""
    if not PRICES.exists():
        return None
    name = model.lower().split("/")[-1]
    for provider in json.loads(PRICES.read_text()):
        for m in provider["models"]:
            price = m["prices"][-1].get("price") or {}
            if any(fnmatch.fnmatchcase(name, like) for like in m["match"].get("like") or ()):
                rates = [price.get(kind, {}).get("base") for kind in ("input_mtok", "output_mtok")]
                return None if None in rates else [rate / 1e6 for rate in rates]


def dollars(price, tokens, output):
    return f"${tokens * price[0] + output * price[1]:.2f}" if price else "of unknown price"


def main(arguments, out=sys.stdout, progress=sys.stderr):
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("report")
    p.add_argument("--url", required=True)
    p.add_argument("--model", required=True)
    p.add_argument("--key-env", help="the environment variable with the key")
    p.add_argument("--answers", help="the file of the answers so far")
    p.add_argument("--estimate", action="store_true", help="only say how much there is to ask")
    p.add_argument("--wait", type=float, default=120, help="seconds for one answer")
    p.add_argument("--pause", type=float, default=2, help="seconds before the same is asked again")
    p.add_argument("--at-once", type=int, default=4, help="requests")
    a = p.parse_args(arguments)
    with open(a.report) as file:
        report = json.load(file)
    reader, price = Reader(a), price_of(a.model)
    tallies = collections.defaultdict(collections.Counter)  # by window, method, and whether it has find
    failures = collections.Counter()
    jobs = []
    for last in report.get("last") or ():
        for has_find in (False, True) if last["artifacts"] else (False,):
            for q in last["questions"]:
                job = Job(last, q["question"], q["expected"], has_find)
                if last["tokens"] <= last["window"]:
                    jobs.append(job)
                else:
                    tallies[last["window"], last["method"], has_find]["failed"] += 1
    new = [j for j in jobs if reader.key(j) not in reader.kept]
    tokens = sum(j.last["tokens"] + len(TASK) // 4 for j in new)
    print(f"reader: {len(new)} requests with about {tokens:,} tokens, {dollars(price, tokens, 10 * len(new))}; as much "
          f"again where find is called; {len(jobs) - len(new)} answers are known", file=progress)
    if a.estimate:
        return

    def answer(job):
        try:
            return reader.ask(job)
        except Failure as e:
            return e

    pool = ThreadPoolExecutor(a.at_once)
    try:
        for n, (job, said) in enumerate(zip(jobs, pool.map(answer, jobs)), 1):
            tally = tallies[job.last["window"], job.last["method"], job.find]
            if isinstance(said, Failure):
                failures[str(said)] += 1
                tally["failed"] += 1
            else:
                right, unknown = plain(said["answer"]) == plain(job.expected), plain(said["answer"]) == "unknown"
                tally["answered" if right else "unknown" if unknown else "wrong"] += 1
                tally.update(input=said["input"], output=said["output"])
            if n % 20 == 0 or n == len(jobs):
                print(f"reader: {n} of {len(jobs)}", file=progress)
    finally:
        pool.shutdown(cancel_futures=True)
        if reader.file:
            reader.file.close()
    print(f"{'window':>7} {'method':12} {'find':4} {'answered':>8} {'wrong':>6} {'unknown':>7} {'failed':>6} "
          f"{'tokens':>12}  cost", file=out)
    for (window, method, has_find), t in sorted(tallies.items()):
        cost = dollars(price, t["input"], t["output"])
        print(f"{window:7} {method:12} {'yes' if has_find else 'no':4} {t['answered']:8} {t['wrong']:6} "
              f"{t['unknown']:7} {t['failed']:6} {t['input'] + t['output']:12,}  {cost}", file=out)
    for problem, count in failures.most_common():
        print(f"FAILED {count} times: {problem}", file=out)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit("reader: interrupted; the same command goes on")
