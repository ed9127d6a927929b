package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"epitome/command/line"
	"epitome/command/manual"
)

// Whatever can be given stands in the manual page, in the completions of each shell, and in docs/commands.md.
func TestCommandsAreDescribedEverywhere(t *testing.T) {
	program := new(cli).describe()
	docs, err := os.ReadFile(filepath.Join("..", "docs", "commands.md"))
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{"page": manual.Page(program, manual.Edition{})}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if texts[shell], err = manual.Completion(program, shell); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range program.Leaves() {
		name := c.Path()
		first, _, _ := strings.Cut(name, " ")
		if !strings.Contains(string(docs), "\n## "+first+"\n") {
			t.Errorf("docs/commands.md says nothing of %s", first)
		}
		for where, text := range texts {
			for _, word := range append(strings.Fields(name), flagsIn(c)...) {
				if !strings.Contains(strings.ReplaceAll(text, `\-`, "-"), word) {
					t.Errorf("%s: %s of %s is missing", where, word, name)
				}
			}
		}
	}
}

// flagsIn are the flags that are shown of a command and those above it.
func flagsIn(c *line.Command) (names []string) {
	for ; c != nil; c = c.Parent {
		for _, f := range c.Flags() {
			if !f.Hidden {
				names = append(names, f.Name)
			}
		}
	}
	return names
}
