package line

import (
	"fmt"
	"slices"
	"strings"
)

// flaw is what is wrong with the struct of a command; empty if nothing is.
func (c *Command) flaw() string {
	names := map[string]bool{}
	for _, of := range c.lineage() {
		for _, f := range of.opened.flags {
			if names[f.Name] {
				return fmt.Sprintf("there are two flags %s", f)
			}
			names[f.Name] = true
		}
	}
	for i, child := range c.opened.commands {
		if slices.ContainsFunc(c.opened.commands[:i], func(other *Command) bool { return other.Name == child.Name }) {
			return "there are two commands " + child.Name
		}
	}
	if len(c.opened.arguments) > 0 && len(c.opened.commands) > 0 {
		return "it has arguments and commands"
	}
	for i, a := range c.opened.arguments {
		if i > 0 && (c.opened.arguments[i-1].IsMany() || c.opened.arguments[i-1].isOptional() && !a.isOptional()) {
			return fmt.Sprintf("%s cannot stand behind %s", a, c.opened.arguments[i-1])
		}
	}
	for _, p := range slices.Concat(c.opened.flags, c.opened.arguments) {
		if flaw := p.flaw(); flaw != "" {
			return p.String() + flaw
		}
	}
	return ""
}

func (p *Parameter) flaw() string {
	_, isDefault := p.tag.Lookup("default")
	switch enum, limited := p.tag.Lookup("enum"); {
	case !p.canDecode():
		return fmt.Sprintf(" is of type %T, which nothing reads", p.target)
	case p.Short != 0 && !p.IsSwitch():
		return " takes a value, and has a short name"
	case limited && !p.isText():
		return " has an enum, and is no string"
	case limited && !p.argument && !(isDefault && slices.Contains(strings.Split(enum, ","), p.tag.Get("default"))):
		return " has an enum, and its default is not in it"
	case !p.argument && !p.Hidden && !p.IsSwitch() && p.Placeholder() == "" && !isDefault:
		return " has neither a placeholder nor a default to show"
	}
	return ""
}
