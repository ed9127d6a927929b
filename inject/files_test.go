package inject

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func file(name, text string) NewFile { return NewFile{name, []byte(text)} }

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
	step(ErrNoFiles.Error(), nil)
	step("a.md: one, b.md: two", files.Add("docs", []NewFile{file("b.md", "two"), file("a.md", "one")}))
	step("a.md: one, b.md: two", files.Add("other", []NewFile{file("a.md", "else")}))
	step("a.md: one, b.md: new, c.md: ", files.Add("docs", []NewFile{file("b.md", "new"), file("c.md", "")}))
	if files.Remove("docs", "a.md", "none") == nil {
		t.Error("a file is removed that is not there")
	}
	step("a.md: one, b.md: new, c.md: ", nil)
	step("b.md: new, c.md: ", files.Remove("docs", "a.md"))
	if names, err := files.Names(); fmt.Sprint(names, err) != "[docs other] <nil>" {
		t.Errorf("contexts are %v, %v", names, err)
	}
	step(ErrNoFiles.Error(), files.Remove("docs", "b.md", "c.md"))
	step(ErrNoFiles.Error(), files.Remove("other"))
	if files.Has("other") || !errors.Is(files.Remove("other"), ErrNoFiles) {
		t.Error("other still has files")
	}
	if !files.Knows("other") || !files.Knows("docs") || files.Knows("none") || files.Knows("../contexts") {
		t.Error("a context that had files is unknown, or one that never had is known")
	}
}

func TestFilesThatCannotBeKeptAreRefused(t *testing.T) {
	f := func(context string, added ...NewFile) {
		t.Helper()
		files := FilesIn(t.TempDir())
		if err := files.Add("docs", []NewFile{file("a.md", "one")}); err != nil {
			t.Fatal(err)
		}
		if files.Add(context, added) == nil {
			t.Errorf("%d files are kept under %q", len(added), context)
		}
		if got := listFiles(t, files, "docs"); got != "a.md: one" {
			t.Errorf("docs has %q", got)
		}
	}
	for _, context := range []string{"", "Docs", "../docs", "a/b", ".docs", "-", strings.Repeat("a", 65)} {
		f(context, file("b.md", "two"))
	}
	for _, name := range []string{"", ".", "..", "../b.md", `a\b.md`, "c\nd.md", strings.Repeat("a", 121)} {
		f("docs", file("b.md", "two"), file(name, "three"))
	}
	f("docs", file("b.md", "\xff\xfe"))
	f("docs", file("b.md", "a\x00b"))
	f("docs", file("b.md", strings.Repeat("a", MaxFileBytes+1)))
	var many, large []NewFile
	for i := range MaxFiles {
		many = append(many, file(fmt.Sprint(i), "x"))
	}
	f("docs", many...)
	for i := range MaxContextBytes/MaxFileBytes + 1 {
		large = append(large, file(fmt.Sprint(i), strings.Repeat("a", MaxFileBytes)))
	}
	f("docs", large...)
}
