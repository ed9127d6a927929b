// Package line reads a command line into structs, and describes what can be given.
//
// Each exported field of a struct is a command, an argument or a flag, as its tag says. Fields of an embedded struct
// stand in its place.
//
//	cmd          a command: its own struct has what belongs to it; default:"" makes it the one that is meant by none
//	arg          an argument; optional:"" may be left out, passthrough:"" takes all that is left, flags as well
//	name         what it is called; without, the field's name is spelt with dashes
//	help         what it is for; ${default} stands for its default
//	group        the key of the group under whose title it stands
//	hidden       it can be given, and is shown nowhere
//	short        a letter for a flag without a value
//	placeholder  what stands for the value in texts
//	default      the value where none is given
//	enum, words  the values that it may have, or that are well known, separated by commas
//	xor          of the flags with the same word here, one may be given
//
// It promises that a value arrives as it was written, to the byte; that an error names the flag or argument that it is
// about; that of the structs of commands only those are read that a line or a reader asks for; and that it looks for
// fields alone, never for methods.
package line

import (
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// About is what a program says of itself.
type About struct {
	Name, Help string
	Groups     []Group
}

// Group is what stands together under a title. Key is what tags call it.
type Group struct{ Key, Title string }

// Command is a command, or the program itself, which is the outermost.
type Command struct {
	Name   string
	Help   string
	Hidden bool
	Parent *Command // nil for the program

	groups []Group       // the program has them
	key    string        // of its own group; empty for none
	target reflect.Value // the struct
	opened *parts        // nil until somebody asks
}

// parts are what a struct has, in the order of its fields.
type parts struct {
	flags     []*Parameter
	arguments []*Parameter
	commands  []*Command
	fallback  *Command // whose words are meant where no command is named; nil if there is none
}

// New describes the program that reads its line into the struct at target. It reads one line.
func New(about About, target any) *Command {
	return &Command{Name: about.Name, Help: about.Help, groups: about.Groups, target: reflect.ValueOf(target).Elem()}
}

// Target is a pointer to the struct that the command's words are read into.
func (c *Command) Target() any { return c.target.Addr().Interface() }

// Flags are the command's own.
func (c *Command) Flags() []*Parameter { return c.open().flags }

// Arguments are the command's own.
func (c *Command) Arguments() []*Parameter { return c.open().arguments }

// Commands are those by which the command goes on.
func (c *Command) Commands() []*Command { return c.open().commands }

// Leaves are the commands below it that go on by no other. Hidden ones are left out.
func (c *Command) Leaves() (all []*Command) {
	for _, child := range c.Commands() {
		switch {
		case child.Hidden:
		case len(child.Commands()) == 0:
			all = append(all, child)
		default:
			all = append(all, child.Leaves()...)
		}
	}
	return all
}

// Path is the command's words behind the program's name.
func (c *Command) Path() string {
	if c.Parent == nil {
		return ""
	}
	return strings.TrimPrefix(c.Parent.Path()+" "+c.Name, " ")
}

// lineage is the command behind those that it belongs to, the program first.
func (c *Command) lineage() []*Command {
	if c.Parent == nil {
		return []*Command{c}
	}
	return append(c.Parent.lineage(), c)
}

// title is that of its group, or of the nearest group that it is in; empty for none.
func (c *Command) title() string {
	if c.key != "" || c.Parent == nil {
		return c.titleOf(c.key)
	}
	return c.Parent.title()
}

// titleOf is the title of the group with the key; empty for none.
func (c *Command) titleOf(key string) string {
	groups := c.lineage()[0].groups
	if i := slices.IndexFunc(groups, func(g Group) bool { return g.Key == key }); i >= 0 {
		return groups[i].Title
	}
	return key
}

func (c *Command) open() *parts {
	if c.opened == nil {
		c.opened = &parts{}
		c.opened.add(c, c.target)
		if flaw := c.flaw(); flaw != "" {
			panic("BUG: the command line is not well-formed: " + c.Path() + ": " + flaw)
		}
	}
	return c.opened
}

// add reads the fields of a struct of the command, or of one that is embedded there.
func (p *parts) add(c *Command, from reflect.Value) {
	for i := range from.NumField() {
		field := from.Type().Field(i)
		switch {
		case field.Anonymous:
			p.add(c, from.Field(i))
		case !field.IsExported():
		case has(field.Tag, "cmd"):
			p.addCommand(&Command{Name: nameOf(field), Help: field.Tag.Get("help"), Hidden: has(field.Tag, "hidden"),
				Parent: c, key: field.Tag.Get("group"), target: from.Field(i)}, has(field.Tag, "default"))
		default:
			p.addParameter(&Parameter{Name: nameOf(field), Hidden: has(field.Tag, "hidden"), of: c, tag: field.Tag,
				target: from.Field(i).Addr().Interface(), argument: has(field.Tag, "arg")})
		}
	}
}

func (p *parts) addCommand(c *Command, isDefault bool) {
	p.commands = append(p.commands, c)
	if isDefault {
		p.fallback = c
	}
}

func (p *parts) addParameter(q *Parameter) {
	if q.argument {
		p.arguments = append(p.arguments, q)
		return
	}
	for _, letter := range q.tag.Get("short") {
		q.Short = letter
	}
	p.flags = append(p.flags, q)
}

func has(tag reflect.StructTag, key string) bool {
	_, ok := tag.Lookup(key)
	return ok
}

// nameOf is what a line calls the field: UpstreamListen is upstream-listen.
func nameOf(field reflect.StructField) string {
	if name := field.Tag.Get("name"); name != "" {
		return name
	}
	var b strings.Builder
	small := false
	for _, r := range field.Name {
		if small && unicode.IsUpper(r) {
			b.WriteByte('-')
		}
		small = !unicode.IsUpper(r)
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
