package frame

import (
	"net/http"
	"sync"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"epitome/console/markup"
	"epitome/event"
)

// Program is what each page says of the program.
type Program struct {
	Version string
	Mode    string // on, observe or off
	// conversations are told of what others have learned
	Remembers bool
}

// Frame stands around each page.
type Frame struct{ assets func() assets }

// New makes the frame.
func New() *Frame { return &Frame{sync.OnceValue(newAssets)} } // a start need not wait for it

// Assets serves what the frame refers to, by the pattern of its path.
func (f *Frame) Assets() (pattern string, handler http.Handler) {
	return "/-/assets/{file}", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f.assets().serve(w, r) })
}

// Around is the whole document of a page.
func (f *Frame) Around(made *Page, r Reader, p Program) g.Node {
	return g.Group{h.Doctype(g.Text("\n")), h.HTML(h.Lang("en"), markup.Lines{
		h.Head(f.head(made.Title)),
		h.Body(markup.Lines{
			h.A(h.Class("skip"), markup.Href(markup.Here("main")), g.Text("Skip to the content")),
			h.Header(markup.Lines{p.navigation(made.Here), p.about(r)}),
			h.P(h.ID("said"), h.Role("status"), h.Aria("live", "polite")),
			h.Main(h.ID("main"), h.TabIndex("-1"), markup.Lines{p.modeNote(), made.Body}),
		}),
	}), g.Text("\n")}
}

func (f *Frame) head(title string) g.Node {
	return markup.Lines{
		h.Meta(h.Charset("utf-8")),
		h.Meta(h.Name("viewport"), h.Content("width=device-width, initial-scale=1")),
		h.Meta(h.Name("color-scheme"), h.Content("light dark")),
		h.TitleEl(g.Text(title + " · epitome")),
		h.Link(h.Rel("stylesheet"), markup.Href(f.assets().style)),
		h.Link(h.Rel("icon"), markup.Href(f.assets().icon)),
		h.Script(markup.Src(f.assets().script), h.Defer()),
	}
}

// navigation leads to the pages; here names the one that is shown, or that it belongs to.
func (p Program) navigation(here string) g.Node {
	to := func(name, text string, at markup.Address) g.Node {
		return markup.Link(at, g.If(name == here, h.Aria("current", "page")), g.Text(text))
	}
	memory := g.Node(nil)
	if p.Remembers {
		memory = g.Group{to("memory", "Memory", markup.At("memory")), g.Text("\n")}
	}
	return h.Nav(h.Aria("label", "Pages"),
		to("overview", "Overview", markup.At()), g.Text("\n"),
		to("conversations", "Conversations", markup.At("conversations")), g.Text("\n"),
		memory,
		to("config", "Configuration", markup.At("config")))
}

// about says which epitome it is, in which mode, and who looks at it.
func (p Program) about(r Reader) g.Node {
	login := g.Text("logged in")
	if !r.Owner {
		login = markup.Link(r.Login, g.Text("log in"))
	}
	return markup.Remark(g.Text("epitome "), markup.Text(p.Version), g.Text(" · mode "), markup.Text(p.Mode),
		g.Text(" · "), login)
}

func (p Program) modeNote() g.Node {
	on := g.Group{markup.Code(`mode = "on"`), g.Text(" in config.toml changes that.")}
	switch p.Mode {
	case event.ModeOff:
		return markup.Note(g.Text("Mode is off: epitome passes requests on and looks into none. Nothing is shaped, and there"+
			" are no conversations to show. "), on)
	case event.ModeObserve:
		return markup.Note(g.Text("Mode is observe: epitome works out what it would do, and sends what came. Nothing is"+
			" saved. "), on)
	}
	return nil
}
