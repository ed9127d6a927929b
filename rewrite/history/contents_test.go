package history

import (
	"strings"
	"testing"
)

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
