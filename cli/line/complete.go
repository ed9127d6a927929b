package line

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// complete fills in what a line has left out for a command, and is an error if that, or what it says, is not enough or
// too much.
func complete(c *Command) error {
	for _, of := range c.lineage() {
		for _, p := range slices.Concat(of.Flags(), of.Arguments()) {
			if err := p.settle(); err != nil {
				return err
			}
		}
	}
	if err := missing(c); err != nil {
		return err
	}
	for _, of := range c.lineage() {
		if err := excluded(of.Flags()); err != nil {
			return err
		}
	}
	return nil
}

// settle takes the default if no value was given, and checks whether it may have the value.
func (p *Parameter) settle() error {
	if !p.given {
		text, ok := p.tag.Lookup("default")
		if !ok {
			return nil
		}
		if err := p.decode(&Words{attached: &text}); err != nil {
			panic("BUG: the default of " + p.String() + " cannot be read: " + err.Error())
		}
	}
	if enum, ok := p.tag.Lookup("enum"); ok {
		return p.check(enum)
	}
	return nil
}

func (p *Parameter) check(enum string) error {
	got := *p.target.(*string)
	for choice := range strings.SplitSeq(enum, ",") {
		if strings.TrimSpace(choice) == got {
			return nil
		}
	}
	return &ChoiceError{Of: p, Got: got, Choices: p.choices()}
}

// mostMissing is how many names an error tells of what may follow.
const mostMissing = 5

// missing is an error if the command's arguments were not all given, or it goes on by other commands.
func missing(c *Command) error {
	var names, arguments []string
	for _, a := range c.Arguments() {
		if !a.given && !a.isOptional() {
			arguments = append(arguments, a.String())
		}
	}
	if len(arguments) > 0 {
		names = append(names, strconv.Quote(strings.Join(arguments, " ")))
	}
	for _, child := range c.Commands() {
		if !child.Hidden {
			names = append(names, strconv.Quote(child.Name))
		}
	}
	switch {
	case len(names) == 0:
		return nil
	case len(names) == 1:
		return fmt.Errorf("expected %s", names[0])
	case len(names) > mostMissing:
		names = append(names[:mostMissing], "...")
	}
	return fmt.Errorf("expected one of %s", strings.Join(names, ", "))
}

// excluded is an error if two flags were given that exclude one another.
func excluded(flags []*Parameter) error {
	for i, f := range flags {
		by := f.tag.Get("xor")
		if by == "" || !f.given {
			continue
		}
		for _, other := range flags[:i] {
			if other.given && other.tag.Get("xor") == by {
				return fmt.Errorf("%s and %s can't be used together", other, f)
			}
		}
	}
	return nil
}
