package pages

import (
	"net/http"
	"strings"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"epitome/console/markup"
	"epitome/console/pages/frame"
	"epitome/console/pages/words"
)

// Setting is a value of the configuration in force.
type Setting struct {
	Key    string // names from the outermost table on, with dots
	Value  string // as it is written; of a secret, only that there is one
	From   string // where it was written: file and line, a flag, or a command; empty: it is built in
	Secret bool
}

// settings is the page of the configuration.
type settings struct {
	Tables []settingsTable
	Own    int // values that are not built in
}

type settingsTable struct {
	Name string // empty: before the first table
	List []Setting
}

// configuration makes the page of the configuration in force.
func (p *Pages) configuration(*http.Request) (*frame.Page, error) {
	var s settings
	if p.plugs.Configuration != nil {
		for _, one := range p.plugs.Configuration() {
			table, _, inside := strings.Cut(one.Key, ".")
			if !inside {
				table = ""
			}
			if n := len(s.Tables); n == 0 || s.Tables[n-1].Name != table {
				s.Tables = append(s.Tables, settingsTable{Name: table})
			}
			last := &s.Tables[len(s.Tables)-1]
			last.List = append(last.List, one)
			if one.From != "" {
				s.Own++
			}
		}
	}
	return &frame.Page{Title: "Configuration", Here: "config", Body: s.view()}, nil
}

// view is the page, from top to bottom.
func (s settings) view() g.Node {
	heading := h.H1(g.Text("Configuration in force"))
	if len(s.Tables) == 0 {
		return markup.Lines{heading, markup.Nothing(g.Text("The configuration cannot be shown."))}
	}
	were := "were"
	if s.Own == 1 {
		were = "was"
	}
	return markup.Lines{
		heading,
		h.P(g.Textf("%d value%s %s set, by a file, a flag or a command; all others are built in. Secrets are masked. ", s.Own,
			words.Plural(s.Own), were), markup.Code("epitome check"),
			g.Text(" reads the file again without putting it in force.")),
		markup.Each(s.Tables, settingsTable.view),
	}
}

func (t settingsTable) view() g.Node {
	const unnamed = "Without a table"
	heading, name := g.Text(unnamed), unnamed
	if t.Name != "" {
		heading, name = g.Group{g.Text("["), markup.Foreign(t.Name), g.Text("]")}, markup.Shown(t.Name)
	}
	return markup.Lines{
		h.H2(heading),
		markup.Region(h.Aria("label", name), markup.Table([]markup.Column{
			{Text: "key"},
			{Text: "value", Words: true},
			{Text: "from", Title: "where it was written", Words: true},
		}, markup.Each(t.List, Setting.view))),
	}
}

func (s Setting) view() g.Node {
	value, from := markup.Code(markup.Shown(s.Value)), markup.Soft("built in")
	if s.Secret {
		value = markup.Soft("a secret, not shown")
	}
	if s.From != "" {
		from = markup.Foreign(s.From)
	}
	return h.Tr(markup.RowHead(markup.Foreign(s.Key)), markup.Wording(value), markup.Wording(from))
}
