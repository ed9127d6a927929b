package event

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A code without a sentence would be shown as an empty reason, and a row of docs/operations.md says what to do about it.
func TestEachCodeHasItsSentence(t *testing.T) {
	source, err := os.ReadFile("code.go")
	if err != nil {
		t.Fatal(err)
	}
	misses, err := os.ReadFile("cache.go")
	if err != nil {
		t.Fatal(err)
	}
	document, err := os.ReadFile("../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, reasons, _ := strings.Cut(string(document), "\n### Reasons\n")
	reasons, _, _ = strings.Cut(reasons, "\n## ")
	var declared []Code
	for _, found := range regexp.MustCompile(`Code = "(\w+)"`).FindAllSubmatch(source, -1) {
		declared = append(declared, Code(found[1]))
	}
	for _, c := range declared {
		if s := c.Sentence(); !strings.HasSuffix(s, ".") || c.Clause() == s {
			t.Errorf("%s is explained by %q", c, s)
		}
		if !strings.Contains(reasons, "`"+string(c)+"`") {
			t.Errorf("docs/operations.md has no row for %s", c)
		}
	}
	for _, found := range regexp.MustCompile(`Miss = "(\w+)"`).FindAllSubmatch(misses, -1) {
		m := Miss(found[1])
		if m.Clause() == "" {
			t.Errorf("nothing explains the miss %s", m)
		}
		declared = append(declared, Code("cache_"+m))
	}
	for c := range sentences {
		if !slices.Contains(declared, c) {
			t.Errorf("codes.txt explains %q, which is no code", c)
		}
	}
}
