package pages

import (
	"encoding/json"
	"net/http"
	"net/url"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"epitome/console/markup"
	"epitome/console/pages/frame"
	"epitome/inject"
)

// Memories are what sessions have learned.
type Memories interface {
	// List are all that this program keeps itself, by owner.
	List() ([]inject.Notes, error)
	// On reports whether conversations are told of them.
	On() bool
}

// memoryPage is what sessions have learned, by project.
type memoryPage struct {
	On       bool
	Projects []projectMemory
	frame.Reader
}

// projectMemory is what is known of one project.
type projectMemory struct {
	inject.Notes
	Scope string // as much of it as tells it from others; empty if it is everybody's
	Names string // the owner as the script sends it back; empty if it is too long for any that was kept
}

// What one page shows at most.
const (
	mostProjects = 200
	mostNames    = 4 << 10 // bytes of an owner's names
)

// memory makes the page of what sessions have learned.
func (p *Pages) memory(r *http.Request) (*frame.Page, error) {
	const title = "Memory"
	if who := p.reader(r); !who.Owner {
		return who.ForOwner(title, "What sessions have learned"), nil
	}
	made := memoryPage{On: p.remembers(), Reader: p.reader(r)}
	if p.plugs.Memories != nil {
		all, err := p.plugs.Memories.List()
		if err != nil {
			return nil, err
		}
		for _, m := range all[:min(len(all), mostProjects)] {
			made.Projects = append(made.Projects, shownMemory(m))
		}
	}
	return &frame.Page{Title: title, Here: "memory", Body: made.view()}, nil
}

func shownMemory(m inject.Notes) projectMemory {
	const letters = 8 // as many as tell one scope from another
	names, err := json.Marshal(m.Owner)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	made := projectMemory{Notes: m, Scope: m.Owner.Scope[:min(len(m.Owner.Scope), letters)]}
	if len(names) <= mostNames {
		made.Names = url.PathEscape(string(names))
	}
	return made
}

// remembers reports whether conversations are told of what others have learned.
func (p *Pages) remembers() bool { return p.plugs.Memories != nil && p.plugs.Memories.On() }

// view is the page, from top to bottom.
func (m memoryPage) view() g.Node {
	return markup.Lines{
		h.H1(g.Text("Memory")),
		h.P(g.Text("What earlier sessions have learned. A conversation that begins later is told it, if it comes with the" +
			" same credential and is in the same project. A model wrote it, of what it was shown: forget what is wrong." +
			" Conversations that have begun keep what they were told.")),
		g.If(!m.On, markup.Note(g.Text("Memories are off: no conversation is told, and nothing is learned. "),
			markup.Code("enabled = true"), g.Text(" under "), markup.Code("[memory]"), g.Text(" in config.toml changes that."))),
		markup.Each(m.Projects, m.project),
		g.If(len(m.Projects) == 0, markup.Nothing(g.Text("Nothing is known of any project."))),
		g.If(len(m.Projects) > 0, markup.Remark(markup.Code("epitome memory forget ID"), g.Text(" does the same as a button, and "),
			markup.Code("epitome memory clear"), g.Text(" forgets all."))),
	}
}

// project is what is known of one.
func (m memoryPage) project(p projectMemory) g.Node {
	return markup.Lines{
		h.H2(markup.Foreign(p.Owner.Project)),
		g.If(p.Scope != "", markup.Remark(g.Text("Of the scope that begins with "), markup.Foreign(p.Scope), g.Text("."))),
		markup.Region(h.Aria("label", markup.Shown(p.Owner.Project)), markup.Table([]markup.Column{
			{Text: "kind", Words: true},
			{Text: "what", Words: true},
			{Text: "learned", Words: true},
			{Text: "id", Words: true},
		}, markup.Each(p.Entries, func(e inject.Entry) g.Node {
			return h.Tr(
				markup.Wording(markup.Text(e.Kind)),
				markup.Wording(markup.Foreign(e.Text)),
				markup.Wording(m.Clock(e.At)),
				markup.Wording(markup.Code(markup.Shown(e.ID)), forget(e.ID, p.Names)))
		}))),
	}
}

// forget is a button that the script puts to use; nil where the names of the owner are too long to be sent back.
func forget(id, names string) g.Node {
	if names == "" {
		return nil
	}
	return g.Group{g.Text(" "), h.Button(h.Type("button"), g.Attr("hidden"), h.Data("forget", markup.Shown(id)),
		h.Data("owner", names), g.Text("Forget"))}
}
