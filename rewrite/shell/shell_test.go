package shell

import (
	"strings"
	"testing"
)

// effectsOf returns what a shell does with a command in a folder that is not known.
func effectsOf(command string) Effects { return EffectsOf("", nil, []string{command}) }

// files writes what is read, then > and what is written.
func (e Effects) files() string {
	return strings.TrimSpace(strings.Join(e.Reads, " ") + " > " + strings.Join(e.Writes, " "))
}

// holdFiles returns a test of which files a command reads and writes.
func holdFiles(t *testing.T) func(command, files string) {
	return func(command, files string) {
		t.Helper()
		if got := effectsOf(command).files(); got != files {
			t.Errorf("%s\ngot  %q\nwant %q", command, got, files)
		}
	}
}

// holdForm holds what is promised of the effects of any command.
func holdForm(t *testing.T, command string) {
	t.Helper()
	e := effectsOf(command)
	if len(e.Reads) > MostFiles || len(e.Writes) > MostFiles || e.Only && len(e.Reads) == 0 || e.Looks &&
		len(e.Writes) > 0 {
		t.Fatalf("%.200q: %+v", command, e)
	}
	for _, p := range append(e.Reads, e.Writes...) {
		if !CanBePath(p) || !SameFile(p, p) && cleanPath(p) != "." {
			t.Fatalf("%.200q: path %q", command, p)
		}
	}
}

func TestShellReadsAreFound(t *testing.T) {
	f := holdFiles(t)
	f(`cat a.go`, "a.go >")
	f(`cat Makefile "b c.txt" 'd.txt'`, "Makefile b c.txt d.txt >")
	f(`nl -ba a.go | sed -n '10,20p'`, "a.go >")
	f(`head -50 a.go; tail -n 5 b.go; tail -n+5 c.go; head -c 100 d.go`, "a.go b.go c.go d.go >")
	f(`sed -n '1,80p' a.go && sed -n -e 1p -e 2p b.go`, "a.go b.go >")
	f(`sed 's/a b/c/' a.go`, "a.go >")
	f(`awk 'NR>=10 && NR<=20' a.go; awk -F: '{print $1}' x=1 b.go`, "a.go b.go >")
	f(`bat --style=plain -r 1:5 a.go; less +5 b.go; tac c.go`, "a.go b.go c.go >")
	f(`cat < a.go`, "a.go >")
	f(`cat a.go 2>/dev/null || echo none`, "a.go >")
	f(`cat a.go | grep -n x | head -5`, "a.go >")
	f(`cd /w && cat a.go ../b.go /c.go ~/d.go`, "/w/a.go /b.go /c.go ~/d.go >")
	f(`cd /w; cd x; cat a.go`, "/w/x/a.go >")
	f(`(cd x && cat a.go); cat b.go`, "x/a.go b.go >")
	f(`{ cat a.go; echo; } 2>&1`, "a.go >")
	f("# what's this\ncat a.go # it's\ncat b.go", "a.go b.go >")
	f("cat \\\n  a.go", "a.go >")
	f(`bash -lc 'cd /w && cat "a.go"'`, "/w/a.go >")
	f(`sudo /bin/cat a.go; timeout 5 cat b.go; LANG=C cat c.go; time env A=b cat d.go`, "a.go b.go c.go d.go >")
	f(`if [ -f a.go ]; then cat a.go; fi`, "a.go >")
	f(`for i in 1 2; do cat a.go; done | head`, "a.go >")
	f(`echo "=== a ===" && cat a.go`, "a.go >")
	f(`type src\a.txt`, `src\a.txt >`)
	f(`Get-Content -Path C:\w\a.txt -TotalCount 50 | Select-Object -First 5`, `C:\w\a.txt >`)
	f(`powershell -Command "Get-Content a.txt"`, "a.txt >")
}

func TestShellWritesAreFound(t *testing.T) {
	f := holdFiles(t)
	f(`echo x > a.go; echo y >> b.go; make &> c.log; make 2>d.log; : >| e`, "> a.go b.go c.log d.log e")
	f(`cat a.go > b.go`, "> b.go")
	f(`go test ./... | tee -a a.log`, "> a.log")
	f("cat > a.go <<'EOF'\nit's > no.go\ncat no.go\nEOF\ncat b.go", "b.go > a.go")
	f("cat <<-A <<B > a.go && cat b.go\n\tx\n\tA\ny > no\nB\nrm c.go", "b.go > a.go c.go")
	f(`sed -i 's/a/b/' a.go; sed -i.bak -e 's/a/b/' b.go; sed -i '' 's/a/b/' c.go; sed -E -i "s/$A/b/" d.go; sed --in-place 5d e.go`, "> a.go b.go c.go d.go e.go")
	f(`perl -pi -e 's/a/b/' a.go; perl -i -0pe 's/a/b/' b.go`, "> a.go b.go")
	f(`cp a.go b.go; cp -r c.go d.go dir/; mv e.go .; mv f.go g.go`, "> b.go dir/c.go dir/d.go e.go f.go g.go")
	f(`rm -f a.go b.go; touch c.go; unlink d.go; truncate -s 0 e.go`, "> a.go b.go c.go d.go e.go")
	f(`git checkout HEAD~1 -- a.go; git -C /w restore b.go; git mv c.go d.go; git rm e.go`, "> a.go /w/b.go c.go d.go e.go")
	f("cd /w && apply_patch <<'P'\n*** Begin Patch\n*** Update File: a.go\n*** Move to: b.go\n@@\n-x\n*** Add File: /c.go\n+y\n*** End Patch\nP", "> /w/a.go /w/b.go /c.go")
	f("git apply <<'P'\n--- a/x.go\n+++ b/x.go\n@@ -1 +1 @@\nP", "> x.go")
	f(`jq .a a.json > t.json && mv t.json a.json`, "> t.json a.json")
	f(`Set-Content -Path a.txt -Value "x"; Remove-Item b.txt`, "> a.txt b.txt")
	f(`git commit -m "$(cat <<'EOF'
don't > no.go (really
EOF
)" && rm a.go`, "> a.go")
}

func TestShellClaimsNothingThatIsNotSure(t *testing.T) {
	f := holdFiles(t)
	f(`cat $F "$G" *.go a{1,2}.go a[0-9] ~/$X`, ">")
	f(`cat a.go $F`, ">") // what else it shows is not known
	f(`cat a.go | wc -l; cat b.go > /dev/null; cat c.go | xargs rm; cat d.go | grep -q x`, ">")
	f(`(cat a.go; cat b.go) | wc -l`, ">")
	f(`{ cat a.go; cat b.go; } > /dev/null 2>&1`, ">")
	f(`for i in 1; do cat a.go; done > /dev/null`, ">")
	f(`X=$(cat a.go) && echo "$(cat b.go)" $(cat c.go) <(cat d.go)`, ">")
	f(`X=$(echo a > b)`, ">")
	f(`[ -f a.go ] || rm a.go; test -f b && rm b; grep -q x c && rm c`, ">")
	f(`if x; then rm a.go; else rm b.go; fi; rm c.go`, "> c.go")
	f(`make 2>/dev/null >&2; make 1>&2 2>&1; make > /dev/stderr`, ">")
	f(`[[ a > b ]] && [[ c < d && ( e > f ) ]]; echo $((1 > 2))`, ">")
	f(`awk '$1 > 5' ; echo "a > b"; echo 'c > d' \> e; python3 -c "open('f') > g"`, ">")
	f("python3 - <<'EOF'\nopen('a.go','w')\nx > y\nEOF", ">")
	f(`ssh host cat a.go; docker exec c cat b.go; ssh host "rm c.go"`, ">")
	f(`git diff a.go; git show HEAD:a.go; git checkout main; git restore --staged a.go; git rm --cached a.go; git rm -n a.go; git rm -r --dry-run a`, ">")
	f("git apply --check <<'P'\n--- a/x.go\n+++ b/x.go\n@@ -1 +1 @@\nP", ">")
	f(`cd "$D" && cat a.go && rm b.go; cat /c.go`, "/c.go >")
	f(`cd "$D"; cd x; cat a.go; cd /w; cat b.go`, "/w/b.go >")
	f("cat <<A 'b\nc'; rm a.go\nA\nrm b.go", ">") // the line ends inside the quotes
	f(`grep -rn x a.go; rg x a.go; find . -name a.go; ls a.go`, ">")
	f(`cp a.go $D; cp -t dir a.go; mv $A b; rm -rf "$T"/x`, "> b")
	f(`cat 'a.go`, ">")
	f(`f() { cat a.go; }; rm b.go`, ">")
	f(`case $x in a) rm a.go;; esac`, ">")
	f(`cat a.go ) rm b.go`, "a.go >")
	f(`sed -i 's/a/b/'; sed -n 5p; cat; cat -; cp a.go`, ">")
	f(`type ls; type -a cat`, ">")
}

func TestResultThatShowsOnlyFilesIsTold(t *testing.T) {
	f := func(command string, want bool) {
		t.Helper()
		if e := effectsOf(command); e.Only != want {
			t.Errorf("%s: got %v, %q", command, e.Only, e.files())
		}
	}
	f(`cd /w && cat a.go; echo ---; sed -n 5p b.go | head -5`, true)
	f(`cat a.go && make > /dev/null`, true)
	f(`bash -c 'cat a.go'`, true)
	f(`cat a.go && make`, false)
	f(`cat a.go; cat $F`, false)
	f(`cat a.go; cat b.go | grep -c x`, false)
	f(`cat a.go - /dev/stdin`, false)
	f(`cd $X; cat /a.go b.go`, false)
	f(`bash -c 'cat a.go; make'`, false)
	f(`git diff`, false)
	f(`echo x`, false)
	f(`cat a.go; cat 'b`, false)
}

func TestNumbersOfTheFileAreToldFromOthers(t *testing.T) {
	f := func(command string, want bool) {
		t.Helper()
		if e := effectsOf(command); e.Numbered != want {
			t.Errorf("%s: got %v, %q", command, e.Numbered, e.files())
		}
	}
	f(`cat -n a.go`, true)
	f(`cd /w && /bin/cat -n a.go 2>/dev/null | head -50 || echo none`, true)
	f(`bash -lc "nl -ba -w4 -s ' ' a.go | sed -n '10,20p;30p'; cat -n a.go | tail -n +5"`, true)
	f(`tail -300 a.go | cat -n`, false)
	f(`sed -n '500,800p' a.go | cat -n`, false)
	f(`tac a.go | cat -n`, false)
	f(`cat a.go | cat -n`, false)
	f(`cat a.go`, false)
	f(`nl a.go`, false) // blank lines have none
	f(`nl -ba -v5 a.go`, false)
	f(`nl -ba a.go b.go`, false)
	f(`cat -n a.go b.go`, false)
	f(`cat -sn a.go`, false)
	f(`cat -n a.go | grep -v x | cat -n`, false)
	f(`cat -n a.go | head -c 900`, false)
	f(`cat -n a.go; bash -c 'tac a.go | cat -n'`, false)
	f(`cat -n a.go; make`, false)
	f(`cat -n "$F"`, false)
}

func TestCommandThatOnlyLooksIsTold(t *testing.T) {
	f := func(command string, want bool) {
		t.Helper()
		if e := effectsOf(command); e.Looks != want {
			t.Errorf("%s: got %v, want %v", command, e.Looks, want)
		}
	}
	f(`cd /w && git status; ls | wc -l; find . -name x`, true)
	f(`cat a.go 2>/dev/null; grep -q x "$F"; echo "$(date)"`, true)
	f(`bash -c 'ls; git diff'`, true)
	f(`ls > $F`, false)
	f(`make`, false)
	f(`find . -delete; ls`, false)
	f(`git checkout main`, false)
	f(`git branch -a -vv; git remote -v; git stash list; git worktree list; git tag -l 'v1*'; git tag`, true)
	f(`git branch --contains 4f2a9c1; git reflog -3; git config --get user.name; git bisect log`, true)
	f(`git branch topic`, false)
	f(`git branch -D topic`, false)
	f(`git branch --list -d`, false)
	f(`git branch $X`, false)
	f(`git remote add origin x`, false)
	f(`git remote -v update`, false)
	f(`git stash`, false)
	f(`git stash pop`, false)
	f(`git tag v2`, false)
	f(`git config user.name x`, false)
	f(`git reflog expire --all`, false)
	f("echo `make`", false)
	f(`echo $(make)`, false)
	f(`bash -c 'ls; make'`, false)
	f(`bash "$F"`, false)
	f(`ls; cat 'b`, false)
}

// Hostile text takes time that grows with its length: were any of these read again at each step, the test would not
// end.
func TestLongCommandsAreReadOnce(t *testing.T) {
	const n = 300_000
	for _, piece := range []string{
		"a ", "a;", "a|", "(", "$(", "`", "\"", "'", "<<A ", "<<A\n", "{ ", "if ", "then ", "\\", "> a ", "[[ ", "${",
		"$((", "((", "a\n", "#", "& ",
		"cat a;", "rm a;", "cat a|", "for ", "\"$(", "bash -c '", "grep -", "-", "<(", "cd a;", "--- a\n+++ b\n",
		"a=(", "1>&2 ", "$'", "é", "fi;",
	} {
		for _, tail := range []string{"", "\nA\n", ")", "'"} {
			command := strings.Repeat(piece, n/len(piece)) + tail
			holdForm(t, command)
			holdForm(t, piece+tail)
		}
	}
}

func FuzzShellNeverBreaks(f *testing.F) {
	for _, command := range []string{
		"cat a | sed -n '1p' > b", "cat <<E && (cd x; rm $(y \"z\")) 2>&1\nb\nE\n", "[[ a > b ]] || { x; } &> y", "if a; then b; fi; for i in x; do y; done",
		"sed -i '' s/a/b/ c", "git -C a mv b c", "bash -c 'bash -c \"cat a\"'", "a=(b) f() {", "$'a\\'b' ${c} `d` $((e))",
	} {
		f.Add(command)
	}
	f.Fuzz(func(t *testing.T, command string) {
		holdForm(t, command)
	})
}

// An exit code of 1 is an answer only where nothing else can have ended with it.
func TestWhatACommandAsksLast(t *testing.T) {
	f := func(line string, want Question) {
		t.Helper()
		if got := EffectsOf("", nil, []string{line}).Asks; got != want {
			t.Errorf("%s: asks %v, want %v", line, got, want)
		}
	}
	f("grep -n Refund shop.go", Match)
	f("/usr/bin/grep -n Refund shop.go", Match)
	f("cd shop && rg Refund", Match)
	f("make lint; grep Refund shop.go", Match)
	f("git branch -vv | rg gone", Match)
	f("bash -lc 'rg Refund'", Match)
	f("rg Refund a || rg Refund b", Match)
	f("git -C shop grep Refund", Match)
	f("git diff --quiet", Sameness)
	f("diff a b", Sameness)
	f("test -f shop.go", Condition)
	f("[[ -f shop.go ]]", Condition)
	f("rg Refund | head", NoQuestion)
	f("make && grep Refund shop.go", NoQuestion)
	f("make && cd shop && grep Refund shop.go", NoQuestion)
	f("set -e; make; grep Refund shop.go", NoQuestion)
	f("! grep Refund shop.go", NoQuestion)
	f("if grep -q Refund shop.go; then make; fi", NoQuestion)
	f("for x in a b; do grep Refund $x; done", NoQuestion)
	f("grep Refund shop.go || make", NoQuestion)
	f("echo $(grep Refund shop.go)", NoQuestion)
	f("git diff", NoQuestion)
	f("grep 'Refund", NoQuestion)
	f("make", NoQuestion)
	f("grep -vn Refund shop.go", Rest)
	f("rg -L --invert-match Refund", Rest)
	f("git grep -v Refund", Rest)
	f("grep -e -v shop.go", Match)
	f("grep -everbose shop.go", Match)
	f("grep -- -v shop.go", Match)
	f("rg -L Refund", Match)
	f("grep -rL Refund .", NoQuestion)
	f("rg --files-without-match Refund", NoQuestion)
	f("bash -ec 'make; rg Refund'", NoQuestion)
	f("cd shop 2>/dev/null && rg Refund", NoQuestion)
	f("cd shop 2>/dev/null; rg Refund", Match)
	f("[ -f shop.go ] || exit 1; grep Refund shop.go", NoQuestion)
	f("exec 2>/dev/null; cd shop && grep Refund shop.go", NoQuestion)
	f(". env.sh; grep Refund shop.go", NoQuestion)
}

// What asks alone answers with its exit code, whatever it shows.
func TestWhatAsksAlone(t *testing.T) {
	f := func(line string, want bool) {
		t.Helper()
		if got := EffectsOf("", nil, []string{line}).Alone; got != want {
			t.Errorf("%s: alone %v, want %v", line, got, want)
		}
	}
	f("diff -u a b", true)
	f("bash -lc 'diff -u a b'", true)
	f("diff <(sort a) <(sort b)", true)
	f("cd shop && diff a b", false)
	f("bash -lc 'cd shop && diff a b'", false)
	f("diff a b > /no/such", false)
	f("sudo diff a b", false)
	f("(make) || diff a b", false)
	f("make | diff a -", false)
}

// What stands behind very many commands is not understood, and what was read before it still holds.
func TestCommandsOfOneTextAreBounded(t *testing.T) {
	few := EffectsOf("", nil, []string{strings.Repeat("cd .;", 1_000) + "cat b"})
	many := EffectsOf("", nil, []string{"cat a; " + strings.Repeat("cd a;", 50_000) + "cat b"})
	words := EffectsOf("", nil, []string{"rm " + strings.Repeat("a ", 200_000)})
	if len(few.Reads) != 1 || len(many.Reads) != 1 || many.Reads[0] != "a" || many.Only || many.Looks ||
		len(words.Writes) != 0 {
		t.Errorf("read %q and %q, only those: %v; written %q", few.Reads, many.Reads, many.Only, words.Writes)
	}
	if most := 2 * workOfStep * mostSteps; few.Work != 1_001*workOfStep || many.Work > most {
		t.Errorf("reading costs %d and %d", few.Work, many.Work)
	}
}
