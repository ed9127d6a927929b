package definition

import (
	"fmt"
	"strings"
	"testing"
)

func TestLinesThatDefineAreRanked(t *testing.T) {
	f := func(file, text, want string) {
		t.Helper()
		read := ByIndentation()
		if file != "" {
			read = ReaderOf(file)
		}
		got := ""
		lines := strings.Split(text, "\n")
		for i, line := range lines {
			got += fmt.Sprint(read.Rank(line, lines[min(i+1, len(lines)-1)]))
		}
		if got != want {
			t.Errorf("%s %q: %s, want %s", file, text, got, want)
		}
	}
	f("a.go", "package a\n\nfunc f() {\n\treturn\n}", "10100")
	f("src/a.py", "class A:\n    def f(self):\n        if x:\n            pass", "1200")
	f("README.md", "# Shop\n```\n# no heading\n```\n## Carts", "10001")
	f(`C:\w\a.TOML`, "[cart]\n# a remark\nsize = 3", "102")
	f("Makefile", "all: shop\n\tgo build\nCC = gcc", "102")
	f("", "cart\n  item\n  item", "100")
	for _, file := range []string{"a.log", "a", ""} {
		if ReaderOf(file) != nil {
			t.Errorf("%q is read", file)
		}
	}
}
