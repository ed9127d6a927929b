// Package manual writes down a command line: as a page for man, and as completions for shells.
//
// It promises that both say what the parser itself reads, and nothing else: they are made from the parser's own
// description. It knows no command by name.
package manual

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// Words is the tag of a flag or argument whose values are known, separated by commas.
const Words = "words"

// command is one that can be given: its words behind the program's name, and what belongs to it.
type command struct {
	words string // separated by spaces; empty is the program itself
	node  *kong.Node
}

// commandsOf are the commands that are shown, each behind the one that it belongs to.
func commandsOf(node *kong.Node, words string) (all []command) {
	all = append(all, command{words, node})
	for _, child := range node.Children {
		if child.Type == kong.CommandNode && !child.Hidden {
			all = append(all, commandsOf(child, strings.TrimSpace(words+" "+child.Name))...)
		}
	}
	return all
}

// flagsOf are the command's own flags that are shown.
func flagsOf(node *kong.Node) []*kong.Flag {
	return slices.DeleteFunc(slices.Clone(node.Flags), func(f *kong.Flag) bool { return f.Hidden })
}

// childrenOf are the words by which the command goes on.
func childrenOf(node *kong.Node) (names []string) {
	for _, child := range node.Children {
		if child.Type == kong.CommandNode && !child.Hidden {
			names = append(names, child.Name)
		}
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
func valuesOf(v *kong.Value, placeholder string) values {
	known := slices.DeleteFunc(strings.Split(v.Enum+","+v.Tag.Get(Words), ","), func(w string) bool { return w == "" })
	for i := range known {
		known[i] = strings.TrimSpace(known[i])
	}
	return values{words: known, program: v.Passthrough, folders: placeholder == "FOLDER",
		files: slices.Contains([]string{"FILE", "FILES", "PATHS", "BINARY,..."}, placeholder)}
}

// takesValue reports whether something stands behind a flag.
func takesValue(f *kong.Flag) bool { return !f.IsBool() && !f.IsCounter() }

// firstSentence is what a help text begins with.
func firstSentence(help string) string {
	first, _, _ := strings.Cut(help, ". ")
	return strings.TrimSuffix(first, ".")
}
