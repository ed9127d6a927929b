package manual

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"epitome/command/line"
)

// Edition is which program a page is of.
type Edition struct {
	Version string
	Date    string // of the program, as 2026-11-21; empty if it is unknown
}

// Page is the page for man, in the macros of man(7).
func Page(app *line.Command, of Edition) string {
	p := &page{}
	p.write(fmt.Sprintf(`.TH %s 1 "%s" "%s" ""`, strings.ToUpper(app.Name), of.Date, app.Name+" "+of.Version)) // readers parse the date
	p.macro("SH", "NAME")
	p.text(app.Name + " - " + firstSentence(app.Help))
	all := commandsOf(app)
	p.macro("SH", "SYNOPSIS")
	for i, c := range all {
		if isLeaf(c) {
			if i > 1 {
				p.macro("br")
			}
			p.write(`\fB` + escape(app.Name+" "+c.Path()) + `\fR` + escape(argumentsOf(c)) + ` [\fIflags\fR]`)
		}
	}
	p.macro("SH", "DESCRIPTION")
	p.text(app.Help)
	p.macro("SH", "COMMANDS")
	for _, c := range all[1:] {
		if isLeaf(c) {
			p.describe(app.Name, c)
		}
	}
	p.macro("SH", "FLAGS")
	p.flags(flagsOf(app))
	p.macro("SH", "EXIT STATUS")
	p.text("0 where all went well, 2 where the command line cannot be read, the command's own for run, 1 for everything else.")
	return p.String()
}

// argumentsOf is how the arguments of a command are written.
func argumentsOf(c *line.Command) (s string) {
	for _, a := range c.Arguments() {
		s += " " + a.String()
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
func (p *page) describe(program string, c *line.Command) {
	p.macro("SS", program+" "+c.Path()+argumentsOf(c))
	p.text(c.Help)
	for _, a := range c.Arguments() {
		p.macro("TP")
		p.write(`\fI` + escape(a.String()) + `\fR`)
		p.text(a.Help())
	}
	p.flags(flagsOf(c))
}

// flags writes flags, each group of them under its title.
func (p *page) flags(all []*line.Parameter) {
	var title string
	slices.SortStableFunc(all, func(a, b *line.Parameter) int { return cmp.Compare(rankOf(a), rankOf(b)) })
	for _, f := range all {
		if f.Title() != "" && f.Title() != title {
			title = f.Title()
			p.macro("PP")
			p.text(title)
		}
		p.macro("TP")
		p.write(`\fB` + escape(nameOf(f)) + `\fR` + valueIn(f))
		p.text(f.Help())
	}
}

// rankOf puts flags of no group first.
func rankOf(f *line.Parameter) int {
	if f.Title() == "" {
		return 0
	}
	return 1
}

// nameOf is how a flag is given.
func nameOf(f *line.Parameter) string {
	if f.Short != 0 {
		return fmt.Sprintf("-%c, --%s", f.Short, f.Name)
	}
	return "--" + f.Name
}

// valueIn is how the value behind a flag is written, in roff.
func valueIn(f *line.Parameter) string {
	if f.IsSwitch() {
		return ""
	}
	return `=\fI` + escape(f.Example()) + `\fR`
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
