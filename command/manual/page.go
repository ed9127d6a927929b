package manual

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// Edition is which program a page is of.
type Edition struct {
	Version string
	Date    string // of the program, as 2026-11-21; empty if it is unknown
}

// Page is the page for man, in the macros of man(7).
func Page(app *kong.Application, of Edition) string {
	p := &page{}
	p.write(fmt.Sprintf(`.TH %s 1 "%s" "%s" ""`, strings.ToUpper(app.Name), of.Date, app.Name+" "+of.Version)) // readers parse the date
	p.macro("SH", "NAME")
	p.text(app.Name + " - " + firstSentence(app.Help))
	all := commandsOf(app.Node, "")
	p.macro("SH", "SYNOPSIS")
	for i, c := range all {
		if c.node.Leaf() {
			if i > 1 {
				p.macro("br")
			}
			p.write(`\fB` + escape(app.Name+" "+c.words) + `\fR` + escape(argumentsOf(c.node)) + ` [\fIflags\fR]`)
		}
	}
	p.macro("SH", "DESCRIPTION")
	p.text(app.Help)
	p.macro("SH", "COMMANDS")
	for _, c := range all[1:] {
		if c.node.Leaf() {
			p.describe(app.Name, c)
		}
	}
	p.macro("SH", "FLAGS")
	p.flags(flagsOf(app.Node))
	p.macro("SH", "EXIT STATUS")
	p.text("0 where all went well, 2 where the command line cannot be read, the command's own for run, 1 for everything else.")
	return p.String()
}

// argumentsOf is how the arguments of a command are written.
func argumentsOf(node *kong.Node) (s string) {
	for _, a := range node.Positional {
		s += " " + a.Summary()
	}
	return s
}

// page is a page that is being written.
type page struct{ strings.Builder }

// write writes a line that is roff already.
func (p *page) write(line string) { p.WriteString(line + "\n") }

// macro writes a request with its arguments.
func (p *page) macro(name string, args ...string) {
	line := "." + name
	for _, a := range args {
		line += ` "` + strings.ReplaceAll(escape(a), `"`, `\(dq`) + `"`
	}
	p.write(line)
}

// text writes words as they are to be read.
func (p *page) text(words string) { p.write(escape(strings.Join(strings.Fields(words), " "))) }

// describe writes what belongs to one command.
func (p *page) describe(program string, c command) {
	p.macro("SS", program+" "+c.words+argumentsOf(c.node))
	p.text(cmp.Or(c.node.Detail, c.node.Help))
	for _, a := range c.node.Positional {
		p.macro("TP")
		p.write(`\fI` + escape(a.Summary()) + `\fR`)
		p.text(a.Help)
	}
	var own, others []*kong.Flag
	for _, f := range flagsOf(c.node) {
		if f.Group == nil {
			own = append(own, f)
		} else {
			others = append(others, f)
		}
	}
	p.flags(append(own, others...))
}

// flags writes flags, each group of them under its title.
func (p *page) flags(all []*kong.Flag) {
	var title string
	slices.SortStableFunc(all, func(a, b *kong.Flag) int { return cmp.Compare(rankOf(a), rankOf(b)) })
	for _, f := range all {
		if f.Group != nil && f.Group.Title != title {
			title = f.Group.Title
			p.macro("PP")
			p.text(title)
		}
		p.macro("TP")
		p.write(`\fB` + escape(namesOf(f)) + `\fR` + valueIn(f))
		p.text(f.Help)
	}
}

// rankOf puts flags of no group first.
func rankOf(f *kong.Flag) int {
	if f.Group == nil {
		return 0
	}
	return 1
}

// namesOf is how a flag is given.
func namesOf(f *kong.Flag) string {
	if f.Short != 0 {
		return fmt.Sprintf("-%c, --%s", f.Short, f.Name)
	}
	return "--" + f.Name
}

// valueIn is how the value behind a flag is written, in roff.
func valueIn(f *kong.Flag) string {
	if !takesValue(f) {
		return ""
	}
	return `=\fI` + escape(f.FormatPlaceHolder()) + `\fR`
}

// escape keeps words from being taken for roff.
func escape(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`,
		"×", `\(mu`, "…", "...", "–", `\(en`, "—", `\(em`).Replace(s)
	if strings.HasPrefix(s, ".") {
		s = `\&` + s
	}
	return s
}
