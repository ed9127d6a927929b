package step

import (
	"strings"
	"testing"
)

// hasSteps holds that a command line has these steps, or is not understood if there are none.
func hasSteps(t *testing.T, line string, want ...string) {
	t.Helper()
	steps, ok := In(line)
	var got []string
	for _, s := range steps {
		got = append(got, strings.Join(s.Words, " ")+s.After)
	}
	if ok != (want != nil) || strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("%q: %q, %v, want %q", line, got, ok, want)
	}
}

// What stands behind a document that a command is given is read as what it is: more commands.
func TestACommandGoesOnBehindADocument(t *testing.T) {
	f := func(line string, want ...string) {
		t.Helper()
		hasSteps(t, line, want...)
	}
	f("python3 - <<'EOF'\nprint(1); x && y\nEOF\ngit add -A && git rebase --continue",
		"python3 - <<print(1); x && y\n;", "git add -A&&", "git rebase --continue")
	f("cat > a.txt <<-EOF && make\n\tone\n\tEOF\n", "cat <<\tone\n&&", "make")
	f("cat <<EOF\none\n EOF\n", nil...)
	f(`git revert --no-edit $(git log --format=%h --grep="step 4" | head -1) && make`,
		`git revert --no-edit $(git log --format=%h --grep="step 4" | head -1)&&`, "make")
	f(`sed -i "s/a/b\/c/" x && curl -d "{\"a\": 1}" h; make`, `sed -i s/a/b\/c/ x&&`, `curl -d {\"a\": 1} h;`, "make")
	f(`echo "a`, nil...)
	f("echo \"`date`\"", nil...)
	f("make $(cat a", nil...)
	f("make $((1+2))", nil...)
	f("make $A && make $", "make $A&&", "make $")
	f("cat <<<word", nil...)
	f(strings.Repeat("cat <<E\nE\n", 9), nil...)
}

// A message that stands in a document of its own is a word, whatever signs stand in it.
func TestAMessageInADocumentIsOneWord(t *testing.T) {
	f := func(line string, want ...string) {
		t.Helper()
		hasSteps(t, line, want...)
	}
	f("git add a && git commit -m \"$(cat <<'EOF'\nrefund: it's ($1) `now`; \"x\" && y\n\nEOF\n)\" && git push",
		"git add a&&", "git commit -m $(cat <<'EOF'\nrefund: it's ($1) `now`; \"x\" && y\n\nEOF\n)&&", "git push")
	f("git commit -m \"$(cat <<EOF\nfor $A\nEOF\n)\"; make", "git commit -m $(cat <<EOF\nfor $A\nEOF\n);", "make")
	f("git commit -m \"$(cat <<EOF\n`date`\nEOF\n)\"", nil...)
	f("git commit -m \"$(cat <<EOF\n$(rm a)\nEOF\n)\"", nil...)
	f("git commit -m \"$(cat <<'EOF'\none\nEOF\nrm a)\"", nil...)
	f("git commit -m \"$(cat <<'EOF' | tee a\none\nEOF\n)\"", nil...)
	f("git commit -m \"$(cat <<'EOF'\none\n)\"", nil...)
	f("git commit -m \"$(tac <<'EOF'\none\nEOF\n)\"", nil...)
	f(strings.Repeat("\"$(cat <<", 800), nil...)
}

func TestTheLineOfACommandTellsWhatStandsBehindItsDocument(t *testing.T) {
	f := func(command, want string) {
		t.Helper()
		if got := WholeLine(command); got != want {
			t.Errorf("%q: %q, want %q", command, got, want)
		}
	}
	f("python3 - <<'EOF'\nprint(1)\nEOF\ngit add -A && git rebase --continue\nls",
		"python3 - <<'EOF' EOF git add -A && git rebase --continue")
	f("cat > a <<'EOF'\none\nEOF\n", "cat > a <<'EOF'")
	f("cat > a <<'EOF'\none\n", "cat > a <<'EOF'")
	f("git commit -m \"$(cat <<'EOF'\nrefund: round\n\nmore\nEOF\n)\"", "git commit -m \"$(cat <<'EOF' refund: round")
}
