#!/usr/bin/env python3
"""Tests of figures.py: the marks of documents, the comparison, and what it refuses."""
import contextlib, io, os, sys, tempfile, unittest
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
import figures

TABLE = "Text.\n<!-- figures: demo -->\n| 32k | 1 | 2 |\n| 64k | 3 |\n\n2026-01-02\n<!-- end -->\nMore.\n"
ROWS = {("demo", "| 32k |"): "| 32k | 5 | 6 |"}


class Figures(unittest.TestCase):
    def fails(self, text, call, *args):
        with self.assertRaises(figures.Fault) as caught:
            call(*args)
        self.assertIn(text, str(caught.exception))

    def test_rows_are_written(self):
        texts = {"a.md": TABLE}
        self.assertEqual(figures.fill(texts, ROWS, "2026-03-04"), ["a.md does not have: | 32k | 5 | 6 |"])
        self.assertEqual(texts["a.md"], TABLE.replace("1 | 2", "5 | 6").replace("2026-01-02", "2026-03-04"))
        self.assertEqual(figures.fill(texts, ROWS, "2027-01-01"), [])
        self.assertIn("2026-03-04", texts["a.md"])

    def test_marks_are_whole(self):
        self.fails("a.md: the mark figures: demo has no end", figures.fill, {"a.md": TABLE[:60]}, ROWS, "")
        self.fails("a.md: the mark figures: demo has no end", figures.fill, {"a.md": TABLE[:60] + TABLE}, ROWS, "")
        self.fails("no table of the documents has the row demo | 32k |", figures.fill, {"a.md": "Text."}, ROWS, "")

    def test_sentences_have_figures_of_tables(self):
        quoted = "<!-- figures: quoted -->\n3 of the 64k at 4.5.\n<!-- end -->"
        self.assertEqual(figures.unfounded({"a.md": TABLE, "b.md": quoted}), ["b.md: no table has 4.5"])

    def test_comparison(self):
        for name, after, is_worse in (
                ("a: visible", 99.5, False), ("a: visible", 99.4, True), ("a: visible", 200, False),
                ("a: work orders", 99, False), ("a: work orders", 98, True), ("demo turns", 99, True),
                ("a: cost", 100.003, False), ("a: cost", 100.004, True), ("a: cost", 1, False),
                ("a: tokens", 102, False), ("a: tokens", 102.1, True), ("a: tokens", 1, False),
                ("a: kilobytes", 120, False), ("a: kilobytes", 120.1, True), ("a: allocations", 125.1, True)):
            want = [f"worse: {name} was 100 and is {after}"] if is_worse else []
            self.assertEqual(figures.worse({name: 100, "b: cost": 1}, {name: after}), want)

    def test_reports(self):
        with tempfile.TemporaryDirectory() as folder:
            with mock.patch("figures.FIGURES", folder):
                self.fails(f"FIGURES={folder} has no survive/orders.py", figures.measure, "", [])
            self.fails("false prints no report, status 1", figures.run, "false", "", folder)
            self.fails("echo hello prints no report, status 0: hello", figures.run, "echo hello", "", folder)
            program = Path(folder, "program")
            program.write_text("#!/bin/sh\necho '{\"alone\": \"13, then error\", \"turns\": null}'\n")
            program.chmod(0o700)
            with mock.patch("figures.FIGURES", ""), mock.patch("figures.RECALL", ""), mock.patch("figures.COSTS", []):
                self.fails("--window 32k prints no raw_largest for | 32k |", figures.measure, str(program), [])
                with mock.patch("figures.DEMO", figures.DEMO[:2]):
                    found, rows = figures.measure(str(program), [])
                    self.assertEqual((found["demo 64k alone"], rows["demo", "| 64k |"]), (13, "| 64k | 13 | — |"))

    def test_no_commit_agrees_to_less_than_the_least(self):
        self.assertEqual(figures.low({"played 32k: work orders": 14, "played 64k: work orders": 15}),
                         ["played 32k: work orders is 14, and has to be 15 or more"])

    def test_errors_leave_the_documents(self):
        self.fails("bench/figures.json is of version 2, and this program writes 1", figures.agreed, '{"version": 2}')
        other = TABLE.replace("| 32k", "| 16k")
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), mock.patch(
                "figures.DOCUMENTS", ("a.md", "b.md")), mock.patch("figures.measure", lambda *_: ({}, ROWS)):
            os.mkdir("bench")
            good = '{"version": 1, "figures": {}}'
            for text, agreed in (TABLE, "{"), (TABLE, '{"version": 2}'), (TABLE[:60], good), ("None", good):
                for name, content in ("a.md", other), ("b.md", text), (figures.AGREED, agreed):
                    Path(name).write_text(content)
                with self.assertRaises(figures.Fault), contextlib.redirect_stdout(io.StringIO()):
                    figures.main(agree=True)
                self.assertEqual([Path(n).read_text() for n in ("a.md", "b.md")], [other, text])


if __name__ == "__main__":
    unittest.main()
