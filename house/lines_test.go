package house_test

import (
	"os/exec"
	"strings"
	"testing"
)

// Git converts line ends of what it takes for text: on Windows to CR LF, if nobody says otherwise. What is embedded,
// hashed or compared would be other bytes there.
func TestLinesEndAlikeOnEverySystem(t *testing.T) {
	out, err := exec.Command("git", "ls-files", "--eol").Output()
	if err != nil {
		t.Skipf("this is no git checkout: %v", err)
	}
	report(t, checkLineEnds(string(out)))
}

// checkLineEnds judges what "git ls-files --eol" says of each file: what is in the index, and by which attributes.
func checkLineEnds(listing string) (complaints []string) {
	for line := range strings.Lines(listing) {
		said, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		f := strings.Fields(said) // i/lf w/lf attr/text=auto eol=lf
		if len(f) < 3 {
			complaints = append(complaints, name+": git says nothing of its lines: "+said)
			continue
		}
		attributes := strings.Join(f[2:], " ")
		asIs := attributes == "attr/-text"
		if !asIs && !strings.HasSuffix(attributes, " eol=lf") {
			complaints = append(complaints, name+": .gitattributes does not say how its lines end")
		}
		if !asIs && (f[0] == "i/crlf" || f[0] == "i/mixed") {
			complaints = append(complaints, name+": its lines end in CR LF; write LF, or exempt it in .gitattributes")
		}
		if strings.Contains("/"+name, "/testdata/") && !asIs {
			complaints = append(complaints, name+": tests compare it, and git may change it")
		}
	}
	return complaints
}

func TestLineEndCheckerCanFail(t *testing.T) {
	f := func(line, want string) {
		t.Helper()
		if got := strings.Join(checkLineEnds(line+"\n"), "\n"); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
	f("i/lf    w/lf    attr/text=auto eol=lf \ta.go", "")
	f("i/-text w/-text attr/-text            \ta.png", "")
	f("i/crlf  w/crlf  attr/-text            \ta/testdata/b.txt", "")
	f("i/lf    w/lf    attr/                 \ta.go", "does not say how")
	f("i/crlf  w/crlf  attr/text=auto eol=lf \ta.go", "end in CR LF")
	f("i/lf    w/lf    attr/text=auto eol=lf \ta/testdata/b.txt", "tests compare it")
}
