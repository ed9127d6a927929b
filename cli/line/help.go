package line

import (
	"fmt"
	"go/doc/comment"
	"io"
	"slices"
	"strings"
)

// WriteHelp writes how the command is given and what for, in lines of width characters where words are not longer.
func (c *Command) WriteHelp(to io.Writer, width int) error {
	h := &help{lines: new([]string), width: width}
	program := c.lineage()[0]
	h.add("Usage: " + program.Name + " " + c.usage())
	if c.Help != "" {
		h.add("")
		h.wrap(c.Help)
	}
	if arguments := c.Arguments(); len(arguments) > 0 {
		h.add("")
		h.add("Arguments:")
		rows := make([]row, 0, len(arguments))
		for _, a := range arguments {
			rows = append(rows, row{a.String(), a.Help()})
		}
		h.indented().table(rows)
	}
	h.addFlags(c)
	leaves := c.Leaves()
	h.addCommands(leaves)
	if c == program && len(leaves) > 0 {
		h.add("")
		h.add(fmt.Sprintf("Run %q for more information on a command.", program.Name+" <command> --help"))
	}
	_, err := io.WriteString(to, strings.Join(*h.lines, "\n")+"\n")
	return err
}

// usage is the command as it is to be written, in short.
func (c *Command) usage() string {
	text, optional := c.Path(), 0
	for _, a := range c.Arguments() {
		if a.isOptional() {
			optional++
		}
		text += " " + strings.TrimRight(a.String(), "]")
	}
	text += strings.Repeat("]", optional)
	if len(c.Commands()) > 0 {
		text += " <command>"
	}
	if len(c.Flags()) > 0 || c.Parent != nil && len(c.Parent.Flags()) > 0 {
		text += " [flags]"
	}
	return strings.TrimPrefix(text, " ")
}

// help is a text that is being written, or what is indented in it.
type help struct {
	lines  *[]string
	indent string
	width  int
}

func (h *help) indented() *help { return &help{h.lines, h.indent + "  ", h.width - 2} }

func (h *help) add(line string) {
	*h.lines = append(*h.lines, strings.TrimRight(h.indent+line, " "))
}

func (h *help) wrap(text string) {
	if text == "" {
		return
	}
	for _, line := range wrapped(text, h.width) {
		h.add(line)
	}
}

// wrapped breaks a text into lines where it reads well, as Go's own tools do with comments.
func wrapped(text string, width int) []string {
	printer := comment.Printer{TextWidth: width}
	broken := printer.Text(new(comment.Parser).Parse(text))
	return strings.Split(strings.TrimRight(string(broken), "\n"), "\n")
}

// addFlags writes the flags that can be given: in each group those of the program first, apart from the command's own.
func (h *help) addFlags(c *Command) {
	var shown []*Parameter
	for _, of := range c.lineage() {
		for _, f := range of.Flags() {
			if !f.Hidden {
				shown = append(shown, f)
			}
		}
	}
	for _, s := range sections("Flags:", shown, (*Parameter).Title) {
		h.add("")
		h.wrap(s.title)
		haveShort := slices.ContainsFunc(s.all, func(f *Parameter) bool { return f.Short != 0 })
		var rows []row
		for i, f := range s.all {
			if i > 0 && s.all[i-1].of != f.of {
				rows = append(rows, row{})
			}
			rows = append(rows, row{flagText(f, haveShort), f.Help()})
		}
		h.indented().table(rows)
	}
}

// flagText is a flag as help writes it. Long names stand below one another where some flag has a short one.
func flagText(f *Parameter, haveShort bool) string {
	text := f.String()
	switch {
	case f.Short != 0:
		text = "-" + string(f.Short) + ", " + text
	case haveShort:
		text = "    " + text
	}
	if f.IsSwitch() {
		return text
	}
	return text + "=" + f.Example()
}

func (h *help) addCommands(all []*Command) {
	for _, s := range sections("Commands:", all, (*Command).title) {
		h.add("")
		h.wrap(s.title)
		inner := h.indented()
		for i, c := range s.all {
			if i > 0 {
				inner.add("")
			}
			inner.add(c.usage())
			inner.indented().wrap(c.Help)
		}
	}
}

// section is what stands under a title.
type section[T any] struct {
	title string
	all   []T
}

// sections are in the order in which titles come. What has no title comes first, under the title of the rest.
func sections[T any](rest string, all []T, title func(T) string) []section[T] {
	found := []section[T]{{title: ""}}
	for _, one := range all {
		i := slices.IndexFunc(found, func(s section[T]) bool { return s.title == title(one) })
		if i < 0 {
			i = len(found)
			found = append(found, section[T]{title: title(one)})
		}
		found[i].all = append(found[i].all, one)
	}
	found[0].title = rest
	return slices.DeleteFunc(found, func(s section[T]) bool { return len(s.all) == 0 })
}

// row is a line of a table.
type row struct{ name, text string }

// A table has its texts gap spaces behind its names. A name that is longer than widest, or than the share of a line in
// thousandths, stands on a line of its own.
const (
	gap         = 4
	widest      = 30
	widestShare = 375
)

func (h *help) table(rows []row) {
	most, left := max(widest, h.width*widestShare/1000), 0
	for _, r := range rows {
		if n := len(r.name); n < most {
			left = max(left, n)
		}
	}
	indent := strings.Repeat(" ", left+gap)
	for _, r := range rows {
		lines := wrapped(r.text, h.width-left-gap)
		if len(r.name) < most {
			h.add(fmt.Sprintf("%-*s", left+gap, r.name) + lines[0])
			lines = lines[1:]
		} else {
			h.add(r.name)
		}
		for _, line := range lines {
			h.add(indent + line)
		}
	}
}
