package recap

import (
	"strings"
	"testing"
)

func TestTasksAreReadFromCommands(t *testing.T) {
	f := func(line string, want ...string) {
		t.Helper()
		var got []string
		for _, task := range new(place).run(line, "") {
			got = append(got, strings.Join(task.words, " "))
			if task.hidden {
				got[len(got)-1] += " (hidden)"
			}
		}
		if strings.Join(got, "; ") != strings.Join(want, "; ") {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
	f("go test ./...", "go test ./...")
	f("cd /w && CGO_ENABLED=0 go test ./a 2>&1 | tail -5", "CGO_ENABLED=0 go test ./a (hidden)")
	f("make a && make b", "make a", "make b")
	f("make a; make b;", "make a (hidden)", "make b")
	f("make a || true", "make a (hidden)")
	f("make a &", "make a (hidden)")
	f("timeout 60 pytest -q tests/test_a.py -k refund", "pytest -q tests/test_a.py -k refund")
	f("grep -n x y; ls; echo done")
	f("make shop > build.log 2>&1", "make shop")
	f("make shop &>build.log", "make shop")
	f(`git commit -m "go test ./a && go test ./a now"`, "git commit -m go test ./a && go test ./a now")
	f("python3 - <<'EOF'\nx\nEOF", "python3 - <<'EOF'\nx\nEOF (hidden)")
	f("")
	f("&& || ;;")
	f(strings.Repeat("|", 1000))
}

func TestLinesOfEditsAreThoseThatCome(t *testing.T) {
	f := func(text, file, want string) {
		t.Helper()
		if got := strings.Join(addedLines(text, file), "|"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	f("*** Begin Patch\n*** Update File: a.go\n-x := 1\n+x := 2\n*** Add File: b.go\n+package b\n*** End Patch", "a.go", "+x := 2")
	f("--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@\n-old\n+new\n", "a.go", "+new")
	f("no patch", "a.go", "")
}
