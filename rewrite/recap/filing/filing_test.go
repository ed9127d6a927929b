package filing

import (
	"fmt"
	"strings"
	"testing"
)

func TestLinesAreThoseOfTheirFile(t *testing.T) {
	f := func(arguments string, free bool, file, wantPut, wantGone string) {
		t.Helper()
		put, gone, _ := Read([]byte(arguments), free).Of(file)
		if p, g := strings.Join(put, "|"), strings.Join(gone, "|"); p != wantPut || g != wantGone {
			t.Errorf("%s: puts %q and takes %q out of %s, want %q and %q", arguments, p, g, file, wantPut, wantGone)
		}
	}
	const patch = "*** Begin Patch\n*** Update File: a/index.ts\n-x\n+y\n*** Add File: b/index.ts\n+z\n*** Delete File: c/index.ts\n" +
		"*** Update File: old.ts\n*** Move to: d/new.ts\n@@\n+w\n*** End Patch"
	quoted := strings.ReplaceAll(patch, "\n", `\n`)
	for arguments, free := range map[string]bool{
		patch: true, `{"input":"` + quoted + `"}`: false, `{"command":["bash","-lc","apply_patch <<'EOF'\n` + quoted + `\nEOF"]}`: false,
	} {
		f(arguments, free, "/repo/a/index.ts", "+y", "-x")
		f(arguments, free, "/repo/b/index.ts", "+z", "")
		f(arguments, free, "c/index.ts", "", "")
		f(arguments, free, "d/new.ts", "+w", "")
	}
	f("diff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@\n-old\n+new\n--- a/b.go\n+++ b/b.go\n+more\n", true, "a.go", "+new", "-old")
	f(`{"file_path":"a.go","edits":[{"old_string":"a\nb","new_string":"a\nc"}]}`, false, "a.go", "c", "b")
	f(`{"notebook_path":"a.ipynb","cell_id":"1","new_source":"x = 1"}`, false, "a.ipynb", "x = 1", "")
}

func TestWhatNewerCallsTookOutDoesNotStand(t *testing.T) {
	f := func(taken string, isPatch bool, line string, want bool) {
		t.Helper()
		var file File
		file.Change(nil, []string{taken}, isPatch)
		if got := file.Holds(line, isPatch); got != want {
			t.Errorf("without %q stands %q: %v", taken, line, got)
		}
	}
	f("  x := 1", false, "x := 1", false)
	f("x = 5", false, "const x = 5;", false)
	f("x = 5", false, "const max = 50;", true)
	f("x = 5", false, "x = 6", true)
	f("-x = 5", true, "+x = 5", false)
	f("-x = 5", true, "+const x = 5;", true)
	f("-- x", true, "+- x", false)
}

// A line stands that an edit took out and a newer one put in again.
func TestALineThatWasPutBackStands(t *testing.T) {
	type edit struct{ gone, put string }
	f := func(want bool, line string, edits ...edit) { // the oldest first
		t.Helper()
		var file File
		for k := len(edits) - 1; k >= 0; k-- {
			split := func(s string) []string { return strings.FieldsFunc(s, func(c rune) bool { return c == '|' }) }
			put := split(edits[k].put)
			file.Change(put, split(edits[k].gone), false)
			file.Anew = file.Anew || edits[k].gone == "*"
		}
		if got := file.Holds(line, false); got != want {
			t.Errorf("after %q stands %q: %v", edits, line, got)
		}
	}
	f(true, "x := 1", edit{"x := 1", "x := 2"}, edit{"x := 2", "  x := 1"})
	f(true, "x := 1", edit{"x := 1", ""}, edit{"y", "x := 1|y"})
	f(false, "x := 1", edit{"x := 1", "x := 2"}, edit{"x := 2", "x := 1"}, edit{"x := 1", "x := 3"})
	f(false, "x := 1", edit{"y := 2", "x := 1"}, edit{"x := 1", "x := 2"})
	f(true, "const x = 5;", edit{"x = 5", "x = 6"}, edit{"x = 6", "x = 5"})
	f(false, "const x = 5;", edit{"x = 5", "x = 6"}, edit{"y = 6", "x = 5"}) // in another line
	f(false, "const x = 5;", edit{"x = 5", "x = 6"}, edit{"x = 6", "x = 7"})
	f(false, "x := 1", edit{"*", ""})
	f(true, "x := 1", edit{"*", ""}, edit{"y", "x := 1|y"})
	f(false, "x := 1", edit{"y", "x := 1|y"}, edit{"*", ""})
}

// Of a patch only so many files are kept that have one name: each is held against those that are asked for.
func TestAPatchOfManyFilesIsBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString("*** Begin Patch\n")
	const files = 3_000
	for k := range files {
		fmt.Fprintf(&b, "*** Add File: part_%d/index.ts\n+%d\n", k, k)
	}
	c := Read([]byte(b.String()), true)
	parts := 0
	for _, list := range c.parts {
		parts += len(list)
	}
	if put, _, _ := c.Of("part_7/index.ts"); parts != mostAlike || len(put) != 1 || put[0] != "+7" {
		t.Errorf("%d parts, and %q", parts, put)
	}
}
