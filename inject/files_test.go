package inject

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"epitome/internal/fakeapi"
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
	add := func(context, name, text string) error {
		return files.Add(context, map[string][]byte{name: []byte(text)})
	}
	step("", nil)
	step("b.md: two", add("docs", "b.md", "two"))
	step("a.md: one, b.md: two", add("docs", "a.md", "one"))
	step("a.md: one, b.md: two", add("other", "a.md", "else"))
	step("a.md: one, b.md: new", add("docs", "b.md", "new"))
	if files.Remove("docs", "a.md", "none") == nil {
		t.Error("a file is removed that is not there")
	}
	step("b.md: new, c/a.md: three", add("docs", "c/a.md", "three"))
	step("b.md: new", files.Remove("docs", "c/a.md"))
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
	for _, context := range []string{"", "Docs", "../docs", "a/b", ".docs", "-", strings.Repeat("a", 65)} {
		if files.Add(context, map[string][]byte{"b.md": []byte("two")}) == nil {
			t.Errorf("a context is kept as %q", context)
		}
	}
	f := func(name, text string) {
		t.Helper()
		if _, err := Text(name, []byte(text)); err == nil {
			t.Errorf("%q is text of %q", text, name)
		}
	}
	for _, name := range []string{"", "..", "../b.md", `a\b.md`, "c\nd.md", "a//b", "/a", strings.Repeat("a", 201)} {
		f(name, "three")
	}
	f("b.md", "\xff\xfe")
	f("b.md", "a\x00b")
	f("b.md", strings.Repeat("a", maxFileBytes+1))
}

// Of a folder, git and Find leave out the same files.
func TestFoldersHonourIgnoredFiles(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(folder, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	write(".gitignore", "# comment\n*.log\n!keep.log\n/build/\nnode_modules\r\ndoc/*.txt\na/**/z\n**/deep/x\nout/**\n"+
		"[ab]?.md\n[!a]-.c\n\\#x\nonly/\n.env*  \nbroken[\n")
	write("sub/.gitignore", "!*.log\n/top\nkeep.log\n")
	for _, name := range strings.Fields("a.log keep.log sub/a.log sub/keep.log build/x src/build/x sub/node_modules/x/y " +
		"node_modules doc/a.txt doc/b/a.txt a/z a/b/c/z q/deep/x q/deep/y out/x/y a1.md c1.md sub/b2.md a-.c b-.c #x " +
		"only src/only/x sub/top sub/sub/top .env .env.local .github/x.yml plain.md") {
		if name != "node_modules" {
			write(name, "text")
		}
	}
	git := func(args ...string) string {
		out, err := exec.Command("git", append([]string{"-C", folder}, args...)...).Output()
		if err != nil {
			fakeapi.Skip(t, "there is no git here")
		}
		return string(out)
	}
	git("init", "-q")
	want := strings.Split(strings.Trim(git("ls-files", "-z", "-co", "--exclude-standard"), "\x00"), "\x00")
	files := map[string]string{}
	err := Find(folder, files)
	if got := slices.Sorted(maps.Keys(files)); err != nil || !slices.Equal(got, slices.Sorted(slices.Values(want))) {
		t.Errorf("found are %q, %v; git has %q", got, err, want)
	}
}
