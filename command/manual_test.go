package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"epitome/command/manual"
)

// Whatever can be given stands in the manual page, in the completions of each shell, and in docs/commands.md.
func TestCommandsAreDescribedEverywhere(t *testing.T) {
	model := new(cli).parser().Model
	docs, err := os.ReadFile(filepath.Join("..", "docs", "commands.md"))
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{"page": manual.Page(model, manual.Edition{})}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if texts[shell], err = manual.Completion(model, shell); err != nil {
			t.Fatal(err)
		}
	}
	for _, node := range model.Leaves(true) {
		name := strings.TrimPrefix(node.FullPath(), "epitome ")
		first, _, _ := strings.Cut(name, " ")
		if !strings.Contains(string(docs), "\n## "+first+"\n") {
			t.Errorf("docs/commands.md says nothing of %s", first)
		}
		for where, text := range texts {
			for _, word := range append(strings.Fields(name), flagsIn(node)...) {
				if !strings.Contains(strings.ReplaceAll(text, `\-`, "-"), word) {
					t.Errorf("%s: %s of %s is missing", where, word, name)
				}
			}
		}
	}
}

func flagsIn(node *kong.Node) (names []string) {
	for _, level := range node.AllFlags(true) {
		for _, f := range level {
			if f.Name != "help" {
				names = append(names, f.Name)
			}
		}
	}
	return names
}
