package outline

import (
	"slices"
	"testing"
)

func TestNamesOfASourceAreThoseThatItDefines(t *testing.T) {
	f := func(file, text string, want ...string) {
		t.Helper()
		if got := Defined(text, Hint{File: file}, 4, func(s string) int { return len(s) }); !slices.Equal(got, want) {
			t.Errorf("%s: %q", file, got)
		}
	}
	python := "import logging\nlog = logging.getLogger()\n\ndef clearing_batch(refund):\n    log.debug('x')\n    raise ValueError(refund)\n\n" +
		"class Book:\n    def close(self):\n        return self.total.quantize(1)\n\ndef scale_of(x):\n    return 1\n"
	f("round.py", python, "Book", "clearing_batch", "scale_of", "close")
	f("round.txt", python)
	f("", python)
	f("round.py", "     1\tdef one():\n     2\t    pass\n     3\tclass Two:\n     4\t    pass\n", "Two", "one")
	f("a.go", "package a\n\ntype Share struct {\n}\n\nfunc (s *Share) Of(n int) int {\n\treturn n\n}\n\nfunc New() {}\n", "a", "Share", "Of", "New")
	f("a.ts", "export default class Cart<T> {}\nexport async function pay(x) {}\n", "Cart", "pay")
	f("a.md", "# class of things\n\ntext\n")
	f("a.go", "")
	f("a.go", "func (")
}
