package action

import (
	"slices"
	"strings"
	"testing"
)

func TestLinesOfEditsAreThoseThatCome(t *testing.T) {
	f := func(text, file, want string) {
		t.Helper()
		if got := strings.Join(patchedLines(text, file, "+"), "|"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	f("*** Begin Patch\n*** Update File: a.go\n-x := 1\n+x := 2\n*** Add File: b.go\n+package b\n*** End Patch", "a.go", "+x := 2")
	f("--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@\n-old\n+new\n", "a.go", "+new")
	f("no patch", "a.go", "")
	put, gone := ChangedLines([]byte(`{"path":"a.go","old_string":"a\nx := 1","new_string":"a\nx := 2"}`), false, "a.go")
	if !slices.Equal(put, []string{"x := 2"}) || !slices.Equal(gone, []string{"x := 1"}) {
		t.Errorf("the edit puts in %q and takes out %q", put, gone)
	}
	put, gone = ChangedLines([]byte("--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@\n-old\n+new\n"), true, "a.go")
	if !slices.Equal(put, []string{"+new"}) || !slices.Equal(gone, []string{"-old"}) {
		t.Errorf("the patch puts in %q and takes out %q", put, gone)
	}
}

// What a call puts into a file lies there; what else it says does not.
func TestTextsBesideContentsNameWhatIsDone(t *testing.T) {
	f := func(arguments string, free bool, want string) {
		t.Helper()
		if got := TextsBesideContents([]byte(arguments), free); got != want {
			t.Errorf("%s: %q, want %q", arguments, got, want)
		}
	}
	f(`{"file_path":"/a/b.go","content":"const id = 161997"}`, false, "/a/b.go\n")
	f(`{"path":"b.go","edits":[{"old_string":"x","new_string":"y"}],"why":"no 7"}`, false, "b.go\nno 7\n")
	f(`{"input":"*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"}`, false, "")
	f("*** Begin Patch", true, "")
	f(`{"file_path":`, false, "")
}
