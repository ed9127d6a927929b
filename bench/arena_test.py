#!/usr/bin/env python3
"""Tests of reader.py against a scripted model, and of the check in questions.py."""
import contextlib, copy, io, json, sys, tempfile, threading, time, unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

sys.dont_write_bytecode = True
import questions, reader


class Model(BaseHTTPRequestHandler):
    """Answers the last question as its server's script says: a text, a status, or a word to find first."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(body)
        messages = body["messages"]
        said = self.server.script[messages[2]["content"]]
        if "find " in str(said):
            if messages[-1]["role"] == "tool":
                said = messages[-1]["content"].split("= ")[-1]
            elif "tools" not in body:
                said = "unknown"
        if said == "slow":
            time.sleep(1)
        status = said if isinstance(said, int) else 200
        message = {"role": "assistant", "content": said}
        if "find " in str(said):
            arguments = json.dumps({"word": said.removeprefix("find ")})
            message = {"role": "assistant", "content": None, "tool_calls": [
                {"id": "1", "type": "function", "function": {"name": "find", "arguments": arguments}}]}
        usage = {"prompt_tokens": 100, "completion_tokens": 2}
        answer = json.dumps({"choices": [{"message": message}], "usage": usage})
        with contextlib.suppress(OSError):  # the reader has gone
            self.send_response(status)
            self.end_headers()
            self.wfile.write(answer.encode() if status == 200 else b"no such key")

    def log_message(self, *_):
        pass


def last(method, expected, artifacts=(), tokens=900):
    return {"conversation": "a.json, conversation 1", "method": method, "window": 1000, "tokens": tokens,
            "text": method, "artifacts": dict(artifacts), "questions": [{"question": q, "expected": e} for q, e in expected.items()]}


class Readers(unittest.TestCase):
    def setUp(self):
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
        self.server.asked = []
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.folder = tempfile.TemporaryDirectory()

    def tearDown(self):
        self.server.shutdown()
        self.server.server_close()
        self.folder.cleanup()

    def read(self, *lasts, answers="answers"):
        """Returns the rows of a run, by method and find, and what it says of itself."""
        report = Path(self.folder.name, "last.json")
        report.write_text(json.dumps({"last": lasts}))
        out, progress = io.StringIO(), io.StringIO()
        reader.main([str(report), "--url", f"http://127.0.0.1:{self.server.server_port}/v1", "--model", "gpt-4.1",
                     "--answers", str(Path(self.folder.name, answers)), "--wait", ".3", "--pause", "0"], out, progress)
        lines = [line.split() for line in out.getvalue().splitlines()[1:] if line[0] == " "]
        rows = {tuple(line[1:3]): line[3:] for line in lines}
        return rows, out.getvalue(), progress.getvalue()

    def test_answers_are_counted(self):
        self.server.script = {"a?": ' "Amber.\n', "b?": "blue", "c?": "Unknown.", "d?": "slow", "e?": 401}
        rows, out, progress = self.read(last("low", {"a?": "amber", "b?": "red", "c?": "7", "d?": "8", "e?": "9"}),
                                        last("everything", {"a?": "amber"}, tokens=1001))
        self.assertEqual(rows["low", "no"][:4], ["1", "1", "1", "2"])  # answered, wrong, unknown, failed
        self.assertEqual(rows["everything", "no"][:4], ["0", "0", "0", "1"])
        self.assertIn("FAILED 1 times: TimeoutError: timed out", out)
        self.assertIn("FAILED 1 times: status 401: no such key", out)
        self.assertRegex(progress, r"^reader: 5 requests with about 4,\d+ tokens, \$0.01; .*; 0 answers are known\n")
        self.assertEqual(len(self.server.asked), 3 + 3 + 1)  # the slow one three times

    def test_find(self):
        self.server.script = {"a?": "find AMBER"}
        rows, _, _ = self.read(last("intent", {"a?": "7"}, {"x": "blue = 8\namber = 7"}))
        self.assertEqual(rows, {("intent", "no"): ["0", "0", "1", "0", "102", "$0.00"],
                                ("intent", "yes"): ["1", "0", "0", "0", "204", "$0.00"]})
        self.assertEqual(self.server.asked[-1]["tool_choice"], "none")

    def test_an_interrupted_run_goes_on(self):
        self.server.script = {"a?": "7", "b?": 503}
        exam = last("low", {"a?": "7", "b?": "8"})
        self.read(exam)
        answers = Path(self.folder.name, "answers")
        answers.write_text(answers.read_text() + '{"key": "cu')
        self.server.asked.clear()
        self.server.script["b?"] = "8"
        rows, _, progress = self.read(exam)
        self.assertEqual((rows["low", "no"][0], len(self.server.asked)), ("2", 1))
        self.assertIn("1 answers are known", progress)
        self.read(exam)
        self.assertEqual(len(self.server.asked), 1)


class Questions(unittest.TestCase):
    def test_sets_are_sound_and_equal(self):
        sound = questions.Session("7", 3).play()
        self.assertEqual(sound, questions.Session("7", 3).play())
        self.assertEqual(list(questions.faults(3, sound)), [])
        for change, fault in (
                (lambda q: q.update(expected="nowhere"), "its answer stands nowhere"),
                (lambda q: q.update(question=q["question"] + q["expected"]), "it holds its answer"),
                (lambda q: q.update(question="Which one?"), "it names not one key")):
            broken = copy.deepcopy(sound)
            change(broken["questions"][0])
            self.assertIn(fault, "\n".join(questions.faults(3, broken)))
        key = questions.KEY.findall(sound["questions"][0]["question"])[0]
        sound["request"]["messages"][-1]["content"] = f"No, {key} is 123456 now."
        self.assertIn("is not what is said last", "\n".join(questions.faults(3, sound)))


if __name__ == "__main__":
    unittest.main()
