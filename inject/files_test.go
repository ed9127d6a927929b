package inject

import (
	"fmt"
	"strings"
	"testing"
)

// listFiles returns the files of a context as "name: content".
func listFiles(t *testing.T, f Files, context string) string {
	t.Helper()
	list, err := f.List(context)
	if err != nil {
		return err.Error()
	}
	var all []string
	for _, file := range list {
		content, err := f.Read(context, file.Name)
		if err != nil || int64(len(content)) != file.Bytes {
			t.Errorf("%s has %d bytes, and the list says %d: %v", file.Name, len(content), file.Bytes, err)
		}
		all = append(all, file.Name+": "+string(content))
	}
	return strings.Join(all, ", ")
}

func TestFilesAreKeptUntilTheyAreRemoved(t *testing.T) {
	files := FilesIn(t.TempDir())
	step := func(want string, err error) {
		t.Helper()
		if got := listFiles(t, files, "docs"); got != want || err != nil {
			t.Errorf("docs has %q, %v, want %q", got, err, want)
		}
	}
	add := func(context, name, text string) error { return files.Add(context, name, []byte(text)) }
	step("", nil)
	step("b.md: two", add("docs", "b.md", "two"))
	step("a.md: one, b.md: two", add("docs", "a.md", "one"))
	step("a.md: one, b.md: two", add("other", "a.md", "else"))
	step("a.md: one, b.md: new", add("docs", "b.md", "new"))
	if files.Remove("docs", "a.md", "none") == nil {
		t.Error("a file is removed that is not there")
	}
	step("b.md: new", nil)
	if names, err := files.Names("*"); fmt.Sprint(names, err) != "[docs other] <nil>" {
		t.Errorf("contexts are %v, %v", names, err)
	}
	step("", files.Remove("docs", "b.md"))
	step("", files.Remove("other"))
	if files.Remove("other") == nil {
		t.Error("other still has files")
	}
	if !files.Knows("other") || !files.Knows("docs") || files.Knows("none") || files.Knows("../contexts") {
		t.Error("a context that had files is unknown, or one that never had is known")
	}
}

func TestFilesThatCannotBeKeptAreRefused(t *testing.T) {
	files := FilesIn(t.TempDir())
	f := func(context, name, text string) {
		t.Helper()
		if files.Add(context, name, []byte(text)) == nil {
			t.Errorf("%q is kept under %q", name, context)
		}
	}
	for _, context := range []string{"", "Docs", "../docs", "a/b", ".docs", "-", strings.Repeat("a", 65)} {
		f(context, "b.md", "two")
	}
	for _, name := range []string{"", ".", "..", "../b.md", `a\b.md`, "c\nd.md", strings.Repeat("a", 121)} {
		f("docs", name, "three")
	}
	f("docs", "b.md", "\xff\xfe")
	f("docs", "b.md", "a\x00b")
	f("docs", "b.md", strings.Repeat("a", MaxFileBytes+1))
	for i := range MaxFiles {
		if err := files.Add("docs", fmt.Sprint(i), []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	f("docs", "b.md", "one more")
}
