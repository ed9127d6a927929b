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
