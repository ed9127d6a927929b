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
		for _, e := range new(Terminal).Run(line, "", End{}) {
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
		p.Run(fmt.Sprintf("export A%d=%s", k, strings.Repeat("x", 2_000)), "", End{})
	}
	for n, want := range map[int]int{1: 1, Most: Most, Most + 1: 1, 60: 1, 1_000: 1} {
		list := p.Run(steps(n), "", End{})
		if len(list) != want || want == 1 && n > 1 && !list[0].Hidden {
			t.Errorf("%d steps: %d errands, want %d", n, len(list), want)
		}
		for _, one := range list {
			if len(one.Place) > 16 || len(one.Whole) > len(steps(n))+20 {
				t.Errorf("%d steps: %d and %d bytes are kept of one", n, len(one.Place), len(one.Whole))
			}
		}
	}
	if p.Run(steps(20)+"cd /shop", "", End{}); p.lasting.Folder != "/shop" {
		t.Errorf("a call that does much leads to %q", p.lasting.Folder)
	}
}

// What stands before the step that failed has passed, where that would have said why it did not.
func TestTheStepThatFailedIsToldApart(t *testing.T) {
	f := func(line, output, want string) {
		t.Helper()
		_, failed := FailedPart(new(Terminal).Run(line, "", End{}), func() string { return output })
		var got []string
		for _, e := range failed {
			got = append(got, strings.Join(e.Words, " "))
		}
		if strings.Join(got, "; ") != want {
			t.Errorf("%q: %q failed, want %q", line, got, want)
		}
	}
	const branch = "git checkout -q -b fix/zones && "
	f(branch+"make zones", "make: *** [zones] Error 1", "make zones")
	f(branch+"make zones && make all", "make: *** [zones] Error 1", "make zones; make all")
	f(branch+"node --test test/zones.test.js", "not ok 1 - zones\n# pass 0\n# fail 1\n", "node --test test/zones.test.js")
	f("npm ci && node --test test/", "# pass 3\n# fail 1\n", "node --test test/")
	f("make db && python3 -m unittest -v a.b", "Ran 4 tests in 0.1s\n\nFAILED (failures=1)", "python3 -m unittest -v a.b")
	f("go test ./a && git push && gh pr create --fill", "ok  \ta\t0.1s\npull request create failed: GraphQL: no", "gh pr create --fill")
	f("git fetch origin && git add -A && make zones", "make: *** [zones] Error 1", "make zones")
	// git may be what failed
	f(branch+"make zones", "fatal: a branch named 'fix/zones' already exists", strings.ReplaceAll(branch, " && ", "; ")+"make zones")
	f("git checkout main 2>/dev/null && make zones", "", "git checkout main; make zones")
	f("git commit -m x && make zones", "nothing to commit", "git commit -m x; make zones")
	for _, complaint := range []string{"Fehler: Pfadspezifikation 'x' stimmt nicht überein", "bash: git: command not found",
		"zsh:1: command not found: git", `{"output":"fatal: not a git repository","metadata":{"exit_code":128}}`,
		"bash: line 1: cd: shop: No such file or directory", "Username for 'https://git.test': ", "致命错误：不是 git 仓库",
		"command timed out after 120 s", "[stderr] error: pathspec 'x' did not match"} {
		f("git checkout x && make zones", complaint, "git checkout x; make zones")
	}
	// what runs tests by another name may have left the sign
	f("npm test && node --test b.js", "# pass 3\n# fail 1\n", "npm test; node --test b.js")
	f("make check && go test ./...", "--- FAIL: TestPay (0.00s)", "make check; go test ./...")
	f("./scripts/verify && python3 -m unittest a.b", "FAILED (failures=1)", "./scripts/verify; python3 -m unittest a.b")
	f("make zones && git checkout main", "make: *** [zones] Error 1", "make zones; git checkout main")
}
