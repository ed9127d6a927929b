package line_test

import (
	"slices"
	"strings"
	"testing"
)

// Any words are read or refused; what is read of a text is the text.
func FuzzLines(f *testing.F) {
	for _, words := range []string{"", "--", "-", "-h", "--help|x", "bench|load|--against|a\\,b,-c|--json=no", "--base=a=b;c|serve|-x",
		"run|--|x|--mode", "bench|files|n|--|-a", "--leased|bench|load", "shell|zsh", "bench|load|--how|slow|--minutes|1e3|--seed=0x1"} {
		f.Add(words)
	}
	f.Fuzz(func(t *testing.T, words string) {
		if first, second := read(words), read(words); first != second || first == "" {
			t.Fatalf("%q became %q and then %q", words, first, second)
		}
		var g grammar
		if _, err := newProgram(&g).Parse([]string{"--mode=" + words}); err != nil || g.Mode != words {
			t.Fatalf("--mode=%q became %q, %v", words, g.Mode, err)
		}
		args := strings.Split(words, "|")
		_, err := newProgram(&g).Parse(append([]string{"run", "--"}, args...))
		if err != nil || !slices.Equal(g.Run.Command[1:], args) {
			t.Fatalf("run -- %q became %q, %v", args, g.Run.Command, err)
		}
		if strings.Contains(words, `\`) {
			return // before a separator of its own it could not be written
		}
		pair := "a=" + strings.ReplaceAll(words, ";", `\;`)
		if _, err := newProgram(&g).Parse([]string{"--base", pair}); err != nil || g.Serve.Base["a"] != words {
			t.Fatalf("--base %q became %q, %v", pair, g.Serve.Base, err)
		}
	})
}
