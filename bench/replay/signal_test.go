package replay

import (
	"strings"
	"testing"
)

func TestLinesThatTellWhatWentWrong(t *testing.T) {
	for _, line := range []string{
		"--- FAIL: TestRound (0.00s)", "FAIL\tepitome/bench\t1.2s", "    round_test.go:33: got 3, want 4",
		"FAILED tests/test_a.py::test_b - assert 1 == 2", "E       assert 1 == 2", "  ✗ rounds up", "not ok 4 - rounds up",
		"test round ... FAILED", "test result: FAILED. 1 passed; 2 failed", "  ● suite › rounds up", "  Expected: 3",
		"Tests: 2 failed, 40 passed, 42 total", "1 failing", "Traceback (most recent call last):",
		"ValueError: invalid literal", "panic: runtime error: index out of range", "Caused by: java.io.IOException: gone",
		"thread 'main' panicked at src/main.rs:3:5:", "java.lang.NullPointerException: x", "TypeError: x is no function",
		"error[E0308]: mismatched types", "src/app.ts(12,5): error TS2322: Type 'a'", "./main.go:12:5: undefined: foo",
		"main.c:3:4: error: expected ';'", "  12:5  error  'x' is never used  no-unused-vars", "make: *** [all] Error 1",
		"npm ERR! code ELIFECYCLE", "main.o: undefined reference to `f'", "fatal: not a git repository",
		"Process exited with code 1", "exit status 2", "##[error]Process completed with exit code 1.",
		"bash: foo: command not found", "ls: cannot access 'x': No such file or directory",
		"2026-01-02T03:04:05Z ERROR cannot reach the database", "ts=1 level=error msg=\"no luck\"",
		"Error: connect ECONNREFUSED 127.0.0.1:80", "HTTP 502 Bad Gateway", "CONFLICT (content): Merge conflict in a.go",
		"found 3 errors in 2 files", "Segmentation fault (core dumped)", "AssertionError: expected 3",
	} {
		if !tells(line) {
			t.Errorf("%q does not tell", line)
		}
	}
}

func TestFalseFriendsTellNothing(t *testing.T) {
	for _, line := range []string{
		"", "ok  \tepitome/bench\t1.2s", "0 errors, 0 warnings", "errors: 0", "no error", "Found 0 errors.", "failed: 0",
		"Tests: 42 passed, 0 failed", "--- PASS: TestErrorHandling (0.00s)", "test error_handling ... ok",
		"  ✓ fails on bad input", "PASSED tests/test_error.py", "src/error.go", "compiling error.rs", "error handling",
		"The error handler retries three times.", "We discuss error codes below.", "return fmt.Errorf(\"x: %w\", err)",
		"    throw new Error('no luck')", "if err != nil {", "  12→\treturn errors.New(\"failed: 1\")", "# Error: how to read it",
		"- failed to do this: see below", "Process exited with code 0", "exit code: 0", "func TestFailure(t *testing.T) {",
		"\"error\": null,", "drwxr-xr-x 2 a a 4096 errors", strings.Repeat("x", 1000) + " error: far away",
	} {
		if tells(line) {
			t.Errorf("%q tells", line)
		}
	}
}

func TestReadsAndSearchesAreToldFromRuns(t *testing.T) {
	f := func(tool, command string, want bool) {
		t.Helper()
		arguments := `"{}"`
		if command != "" {
			arguments = `"{\"command\":\"` + strings.ReplaceAll(command, `"`, `\\\"`) + `\"}"`
		}
		if got := isReading(tool, arguments); got != want {
			t.Errorf("%s %s reads: %v", tool, command, got)
		}
	}
	f("Read", "", true)
	f("Grep", "", true)
	f("mcp__files__read_file", "", true)
	f("Edit", "", false)
	f("WebFetch", "", false)
	f("Bash", "cat a.go", true)
	f("Bash", "cd /x && sed -n 1,20p a.go | head", true)
	f("Bash", `rg -n "a|b && c" src; ls`, true)
	f("Bash", "git -C /x diff HEAD~1", true)
	f("Bash", "go test ./... | tail -20", false)
	f("Bash", "cat a.go && go build", false)
	f("Bash", "X=1 sudo find . -name '*.go' 2>/dev/null", true)
	f("Bash", "echo done", false)
	f("shell", "make 2>&1 | grep error", false)
}
