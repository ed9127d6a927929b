package line

import (
	"reflect"
	"strconv"
	"strings"
)

// Parameter is a flag or an argument of a command.
type Parameter struct {
	Name   string
	Short  rune // 0 for none
	Hidden bool

	of       *Command
	tag      reflect.StructTag
	target   any // a pointer to the field
	argument bool
	given    bool // by the line that was read
}

// Asked is a flag that asks for a text in the place of what a command does, such as --help.
type Asked bool

// String is how it stands on a line: --name, <name> or [<name> ...].
func (p *Parameter) String() string {
	if !p.argument {
		return "--" + p.Name
	}
	text := "<" + p.Name + ">"
	if p.IsMany() {
		text += " ..."
	}
	if p.isOptional() {
		text = "[" + text + "]"
	}
	return text
}

// Help says what it is for.
func (p *Parameter) Help() string {
	return strings.ReplaceAll(p.tag.Get("help"), "${default}", p.tag.Get("default"))
}

// Title is that of its group; empty for none.
func (p *Parameter) Title() string { return p.of.titleOf(p.tag.Get("group")) }

// Placeholder is the word for its value; empty if it has none.
func (p *Parameter) Placeholder() string { return p.tag.Get("placeholder") }

// Example is what texts write in the place of a flag's value.
func (p *Parameter) Example() string {
	text := p.Placeholder()
	if text == "" {
		if text = p.tag.Get("default"); p.isText() {
			text = strconv.Quote(text)
		}
	}
	if _, ok := p.target.(*[]string); ok {
		text += ",..."
	}
	return text
}

// KnownValues are values that it may have, or that are well known.
func (p *Parameter) KnownValues() []string { return append(p.choices(), listed(p.tag.Get("words"))...) }

// choices are all values that it may have besides none; empty if it may have any.
func (p *Parameter) choices() []string { return listed(p.tag.Get("enum")) }

// listed are the words of a list that are not empty.
func listed(list string) (words []string) {
	for word := range strings.SplitSeq(list, ",") {
		if word = strings.TrimSpace(word); word != "" {
			words = append(words, word)
		}
	}
	return words
}

// IsSwitch reports whether no value has to stand behind it.
func (p *Parameter) IsSwitch() bool {
	switch p.target.(type) {
	case *bool, *Asked:
		return true
	}
	return false
}

// IsMany reports whether it takes several values.
func (p *Parameter) IsMany() bool {
	switch p.target.(type) {
	case *[]string, *map[string]string:
		return true
	}
	return false
}

// TakesRest reports whether all that is left of the line is its own.
func (p *Parameter) TakesRest() bool { return has(p.tag, "passthrough") }

func (p *Parameter) isOptional() bool { return has(p.tag, "optional") }

func (p *Parameter) isText() bool {
	_, ok := p.target.(*string)
	return ok
}
