// Package pages serves the pages under /-/ for people: what epitome did to conversations, why, and what that saved.
//
// It promises that no text of a conversation, a model or a configuration becomes a part of a page's code, that pages
// work without a script and under a policy that allows nothing inline, and that text of conversations and names of
// artifacts are shown to the owner alone. A figure without a value is left out.
package pages

import (
	"bytes"
	"embed"
	"errors"
	"html/template"
	"io"
	"net/http"
	"strings"

	"epitome/config"
	"epitome/console"
	"epitome/console/figure"
	"epitome/console/story"
	"epitome/event"
	"epitome/inject"
)

// Source answers what happened. Its errors are story.ErrUnknown, or say why there is no answer.
type Source interface {
	Summary(story.Span) (story.Summary, error)
	Conversations(match string, first, limit int) story.Page[story.Conversation]
	Conversation(id string) (story.Story, error)
	Troubles() []event.Exchange // the newest failed exchanges
}

// Config is what the pages need of the running program.
type Config struct {
	Source    Source
	Edits     func(decision string) (story.Edits, error) // the edits that a request was sent with
	Artifacts console.ReadArtifact
	Memory    interface { // what sessions have learned, by project
		List() ([]inject.Notes, error)
		On() bool // conversations are told of it
	}
	Settings func() []config.Value // the configuration in force
	Version  string                // of the program
	Mode     func() string         // on, observe or off
	Address  string                // that the program listens on, host:port
}

// Pages serves the pages. Its methods may be called from any goroutine.
type Pages struct {
	Config
	templates map[string]*template.Template // by the name of their file
}

//go:embed templates
var templateFiles embed.FS

//go:embed assets
var assetFiles embed.FS

// New returns the pages.
func New(c Config) *Pages {
	p := &Pages{Config: c, templates: make(map[string]*template.Template)}
	base := template.New("").Funcs(functions)
	base = template.Must(base.ParseFS(templateFiles, "templates/layout.html", "templates/parts.html"))
	for _, name := range []string{
		"overview", "conversations", "conversation", "edit", "causes", "troubles", "memory", "config", "error",
	} {
		p.templates[name] = template.Must(template.Must(base.Clone()).ParseFS(templateFiles, "templates/"+name+".html"))
	}
	return p
}

// Asset serves a file that pages use.
func (p *Pages) Asset(w http.ResponseWriter, r *http.Request) {
	http.ServeFileFS(w, r, assetFiles, "assets/"+r.PathValue("name"))
}

// Documents returns the handlers of the pages by pattern; under the empty one that of paths without a page.
func (p *Pages) Documents() map[string]http.Handler {
	page := func(name string, load loader) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.serve(w, r, name, load) })
	}
	return map[string]http.Handler{
		"/-/{$}":                             page("overview", p.overview),
		"/-/conversations":                   page("conversations", p.conversations),
		"/-/conversations/{id}":              page("conversation", p.conversation),
		"/-/conversations/{id}/edits/{item}": page("edit", owned(p.edit)),
		"/-/causes":                          page("causes", p.causes),
		"/-/troubles":                        page("troubles", p.troubles),
		"/-/memory":                          page("memory", owned(p.memory)),
		"/-/config":                          page("config", p.config),
		"": page("error", func(*http.Request) (any, error) {
			return nil, story.ErrUnknown
		}),
	}
}

// loader returns the data of the page that r asks for.
type loader func(r *http.Request) (any, error)

// errNotOwner refuses a page that shows text of conversations to a visitor who has not logged in.
var errNotOwner = errors.New("only the owner of this epitome may see this page")

// owned returns a loader for the owner alone.
func owned(load loader) loader {
	return func(r *http.Request) (any, error) {
		if !story.IsOwner(r) {
			return nil, errNotOwner
		}
		return load(r)
	}
}

// frame is the data of every page: the parts that all of them have, and those of the page itself.
type frame struct {
	Page      string // the name of its template
	Version   string
	Mode      string
	Remembers bool   // there is a memory to look at
	Owner     bool   // the visitor has logged in
	Login     string // the address of the login that leads back here
	Data      any
}

// failure is the data of the page that is shown in place of another one.
type failure struct {
	Status int // of the answer
	Text   string
}

// serve writes a page, or one that says why it cannot be shown.
func (p *Pages) serve(w http.ResponseWriter, r *http.Request, name string, load loader) {
	data, err := load(r)
	status := http.StatusOK
	switch {
	case errors.Is(err, story.ErrUnknown):
		status = http.StatusNotFound
	case errors.Is(err, errNotOwner):
		status = http.StatusForbidden
	case err != nil:
		status = http.StatusInternalServerError
	}
	if err != nil {
		name, data = "error", failure{status, err.Error()}
	}
	var text bytes.Buffer
	err = p.templates[name].ExecuteTemplate(&text, "layout", frame{
		Page: name, Version: p.Version, Mode: p.Mode(), Remembers: p.Memory.On(),
		Owner: story.IsOwner(r), Login: story.LoginPath(r), Data: data,
	})
	if err != nil {
		http.Error(w, "cannot show the page: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, visible(text.String())) // a client that has left is no error of ours
}

// visible makes characters visible that a browser hides, or that turn the direction of writing.
func visible(page string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		return figure.Visible(r)
	}, page)
}
