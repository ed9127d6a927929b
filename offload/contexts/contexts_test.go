package contexts

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

func file(title, text string) Incoming { return Incoming{title, []byte(text)} }

// listed is what is kept under a name, as "title: content" in the order of the list.
func listed(t *testing.T, k Kept, name string) string {
	t.Helper()
	list, err := k.List(name)
	if err != nil {
		return err.Error()
	}
	var all []string
	for _, f := range list {
		content, err := k.Read(name, f)
		if err != nil || int64(len(content)) != f.Bytes {
			t.Errorf("%s: %v, %d bytes, and the list says %d", f.Title, err, len(content), f.Bytes)
		}
		all = append(all, f.Title+": "+string(content))
	}
	return strings.Join(all, ", ")
}

func TestWhatIsKeptComesBack(t *testing.T) {
	f := func(k Kept) {
		t.Helper()
		want := func(name, what string) {
			t.Helper()
			if got := listed(t, k, name); got != what {
				t.Errorf("%s: got %q, want %q", name, got, what)
			}
		}
		do := func(err error) {
			t.Helper()
			if err != nil {
				t.Error(err)
			}
		}
		want("docs", ErrUnknown.Error())
		do(k.Add("docs", []Incoming{file("b.md", "two"), file("a.md", "one")}))
		do(k.Add("other", []Incoming{file("a.md", "else")}))
		want("docs", "a.md: one, b.md: two")
		do(k.Add("docs", []Incoming{file("b.md", "new"), file("c.md", "")}))
		want("docs", "a.md: one, b.md: new, c.md: ")
		if err := k.Remove("docs", "a.md", "none"); err == nil {
			t.Error("a file is removed that is not there")
		}
		want("docs", "a.md: one, b.md: new, c.md: ")
		do(k.Remove("docs", "a.md"))
		want("docs", "b.md: new, c.md: ")
		if names, err := k.Names(); fmt.Sprint(names, err) != "[docs other] <nil>" {
			t.Errorf("names are %v, %v", names, err)
		}
		do(k.Remove("docs", "b.md", "c.md"))
		want("docs", ErrUnknown.Error())
		do(k.Remove("other"))
		if k.Has("other") || !errors.Is(k.Remove("other"), ErrUnknown) {
			t.Error("other is still there")
		}
		if !k.Knows("other") || !k.Knows("docs") || k.Knows("none") || k.Knows("../context") {
			t.Error("what was kept is not known any more, or what never was is")
		}
		left, _ := filepath.Glob(filepath.Join(k.folder, "*", "*"))
		if len(left) > 0 {
			t.Errorf("left are %q", left)
		}
	}
	f(In(t.TempDir()))
}

func TestWhatCannotBeKeptIsRefusedWhole(t *testing.T) {
	f := func(want, name string, files ...Incoming) {
		t.Helper()
		k := In(t.TempDir())
		if err := k.Add("docs", []Incoming{file("a.md", "one")}); err != nil {
			t.Fatal(err)
		}
		if err := k.Add(name, files); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", name, err, want)
		}
		if got := listed(t, k, "docs"); got != "a.md: one" {
			t.Errorf("kept is %q", got)
		}
	}
	for _, name := range []string{"", "Docs", "../docs", "a/b", ".docs", "-", strings.Repeat("a", mostName+1)} {
		f("cannot use the name", name, file("b.md", "two"))
	}
	f("one line", "docs", file("b.md", "two"), file("c\nd.md", "three"))
	f("one line", "docs", file("", "two"))
	f("one line", "docs", file(strings.Repeat("a", mostTitle+1), "two"))
	f("UTF-8", "docs", file("b.md", "\xff\xfe"))
	f("UTF-8", "docs", file("b.md", "a\x00b"))
	f("a file may have", "docs", file("b.md", strings.Repeat("a", MostBytes+1)))
	var many []Incoming
	for i := range MostFiles {
		many = append(many, file(fmt.Sprint(i), "x"))
	}
	f("use several names", "docs", many...)
	var large []Incoming
	for i := range MostAll/MostBytes + 1 {
		large = append(large, file(fmt.Sprint(i), strings.Repeat("a", MostBytes)))
	}
	f("use several names", "docs", large...)
}
