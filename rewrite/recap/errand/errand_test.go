package errand

import (
	"fmt"
	"strings"
	"testing"
)

func TestErrandsAreReadFromCommands(t *testing.T) {
	f := func(line string, want ...string) {
		t.Helper()
		var got []string
		for _, e := range new(Terminal).Run(line, "") {
			got = append(got, strings.Join(e.Words, " "))
			if e.Hidden {
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
	f("python3 - <<'EOF'\nx\nEOF", "python3 - <<x\n")
	f("python3 - <<'EOF'\nx\nEOF\ngit add -A && git rebase --continue", "python3 - <<x\n (hidden)", "git add -A",
		"git rebase --continue")
	f("")
	f("&& || ;;")
	f(strings.Repeat("|", 1000))
}

// steps is a command of so many steps.
func steps(n int) string {
	var s strings.Builder
	for k := range n {
		fmt.Fprintf(&s, "make a%d; ", k)
	}
	return s.String()
}

// Of a call that does very much, what it does is not told apart, and what is kept of each thing is short.
func TestWhatOneCallDoesIsBounded(t *testing.T) {
	p := new(Terminal)
	for k := range 100 { // settings
		p.Run(fmt.Sprintf("export A%d=%s", k, strings.Repeat("x", 2_000)), "")
	}
	for n, want := range map[int]int{1: 1, Most: Most, Most + 1: 1, 60: 1, 1_000: 1} {
		list := p.Run(steps(n), "")
		if len(list) != want || want == 1 && n > 1 && !list[0].Hidden {
			t.Errorf("%d steps: %d errands, want %d", n, len(list), want)
		}
		for _, one := range list {
			if len(one.Place) > 16 || len(one.Whole) > len(steps(n))+20 {
				t.Errorf("%d steps: %d and %d bytes are kept of one", n, len(one.Place), len(one.Whole))
			}
		}
	}
	if p.Run(steps(20)+"cd /shop", ""); p.lasting.Folder != "/shop" {
		t.Errorf("a call that does much leads to %q", p.lasting.Folder)
	}
}
