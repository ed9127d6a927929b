// Package manual writes down a command line: as a page for man, and as completions for shells.
//
// It promises that both say what the parser itself reads, and nothing else: they are made from the parser's own
// description. It knows no command by name.
package manual

import (
	"slices"
	"strings"

	"epitome/command/line"
)

// commandsOf are the command and those below it that are shown, each behind the one that it belongs to.
func commandsOf(c *line.Command) (all []*line.Command) {
	all = append(all, c)
	for _, child := range shown(c) {
		all = append(all, commandsOf(child)...)
	}
	return all
}

// shown are the commands by which the command goes on, without hidden ones.
func shown(c *line.Command) []*line.Command {
	return slices.DeleteFunc(slices.Clone(c.Commands()), func(c *line.Command) bool { return c.Hidden })
}

// isLeaf reports whether the command goes on by no other.
func isLeaf(c *line.Command) bool { return len(c.Commands()) == 0 }

// flagsOf are the command's own flags that are shown.
func flagsOf(c *line.Command) []*line.Parameter {
	return slices.DeleteFunc(slices.Clone(c.Flags()), func(f *line.Parameter) bool { return f.Hidden })
}

// namesOf are the words by which the command goes on.
func namesOf(c *line.Command) (names []string) {
	for _, child := range shown(c) {
		names = append(names, child.Name)
	}
	return names
}

// values is what may stand in the place of a value.
type values struct {
	words   []string // the known ones
	files   bool
	folders bool
	program bool // a program and its arguments
}

// valuesOf is what a flag or an argument takes.
func valuesOf(p *line.Parameter) values {
	return values{words: p.KnownValues(), program: p.TakesRest(), folders: p.Placeholder() == "FOLDER",
		files: slices.Contains([]string{"FILE", "FILES", "PATHS", "BINARY,..."}, p.Placeholder())}
}

// firstSentence is what a help text begins with.
func firstSentence(help string) string {
	first, _, _ := strings.Cut(help, ". ")
	return strings.TrimSuffix(first, ".")
}
