// Package pages shows what has happened to people who look at it in a browser: the pages under /-/.
//
// It promises that each number of a page stands in the answer of the API that the page is made of (or says, in its
// attribute data-made, of which it is worked out), that no text of a conversation, a model or a configuration becomes
// a part of a page's code, that a page works without a script and under a policy that allows nothing inline, that what
// is unknown reads "unknown", and that names and contents of what was taken out are shown to the owner alone.
package pages

import (
	"bytes"
	"context"
	"errors"
	"html/template"
	"io"
	"net/http"
	"sync"
	"time"

	"epitome/console/access"
	"epitome/console/chart"
	"epitome/console/story"
	"epitome/event"
)

// Source answers with what has happened. Its errors are story.ErrUnknown, or say why an answer cannot be had.
type Source interface {
	Summary(story.Span) (story.Summary, error)
	Conversations(story.Listing) (story.Page[story.Conversation], error)
	Conversation(id string) (story.Story, error)
	Exchange(seq uint64) (event.Exchange, error)
}

// Plugs is what the pages need of the running program. A nil function is something that there is not.
type Plugs struct {
	Source Source
	Edits  func(decision string) (story.Edits, error) // in what form each item of a decided request was sent
	// Open returns what was taken out under a name, which the caller closes, and its size in bytes.
	Open          func(name string) (content io.ReadCloser, size int64, err error)
	Memories      Memories         // nil: there are none
	Configuration func() []Setting // as it is in force
	Version       string           // of the program
	Mode          func() string    // on, observe or off
	Address       string           // that the program listens on, host:port
	Zone          *time.Location   // in which times are shown; nil: the machine's
}

// Pages serves the pages. Its methods may be called from any goroutine.
type Pages struct {
	plugs  Plugs
	assets assets
	texts  func() *template.Template // read when the first page is asked for: a start need not wait for it
}

// New makes the pages.
func New(p Plugs) *Pages {
	if p.Zone == nil {
		p.Zone = time.Local
	}
	return &Pages{plugs: p, assets: newAssets(), texts: sync.OnceValue(func() *template.Template {
		return template.Must(template.New("pages").Funcs(functions(p.Zone)).ParseFS(templates, "templates/*.html"))
	})}
}

// Documents returns the pages for people, by the pattern of their path.
func (p *Pages) Documents() map[string]http.Handler {
	all := make(map[string]http.Handler)
	for pattern, make := range map[string]maker{
		"/-/{$}":                          p.overview,
		"/-/conversations":                p.conversations,
		"/-/conversations/{id}":           p.conversation,
		"/-/exchanges/{seq}":              p.exchange,
		"/-/exchanges/{seq}/edits/{item}": p.edit,
		"/-/artifacts/{name}/view":        p.artifact,
		"/-/memory":                       p.memory,
		"/-/config":                       p.configuration,
	} {
		all[pattern] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.serve(w, r, make) })
	}
	return all
}

// Files returns what the pages refer to, likewise.
func (p *Pages) Files() map[string]http.Handler {
	return map[string]http.Handler{"/-/assets/{file}": http.HandlerFunc(p.assets.serve)}
}

// maker makes the page that r asks for.
type maker func(r *http.Request) (*page, error)

// page is one page, as the templates show it.
type page struct {
	Status   int    // 200 if 0
	Template string // that shows Body
	Title    string
	Here     string // the page of the navigation that it belongs to
	Owner    bool   // who asks may see names and contents
	// conversations are told of what others have learned
	Remembers bool
	Login     string // where one logs in and comes back
	Version   string
	Mode      string
	Address   string
	Assets    assets
	Body      any
}

// notice is a page that has something to say and nothing to show.
type notice struct {
	Text string
	Cure string // what to do about it
}

// longestPage bounds the time that making one page may take: that of reading a large artifact.
const longestPage = 20 * time.Second

// serve makes a page and writes it, or one that says why there is none.
func (p *Pages) serve(w http.ResponseWriter, r *http.Request, make maker) {
	ctx, cancel := context.WithTimeout(r.Context(), longestPage)
	defer cancel()
	made, err := make(r.WithContext(ctx))
	if err != nil {
		made = notFound(err)
	}
	made.Owner, made.Login = access.Owner(r), chart.Shortened(access.LoginPath(r), mostText)
	made.Version, made.Mode = text(p.plugs.Version), text(p.mode())
	made.Address, made.Assets, made.Remembers = text(p.plugs.Address), p.assets, p.remembers()
	var text bytes.Buffer
	if err := p.texts().ExecuteTemplate(&text, made.Template, made); err != nil {
		http.Error(w, "epitome cannot show this page: "+err.Error(), http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	if made.Status != 0 {
		w.WriteHeader(made.Status)
	}
	_, _ = text.WriteTo(w) // a client that has left is no error of ours
}

// notFound is the page for what cannot be shown.
func notFound(err error) *page {
	if errors.Is(err, story.ErrUnknown) {
		return &page{Status: http.StatusNotFound, Template: "notice", Title: "Not found", Body: notice{
			Text: "There is nothing under this address: it never was, or it is not kept any more.",
			Cure: "Figures are kept as long as store.keep and events.quota of the configuration say."}}
	}
	return &page{Status: http.StatusInternalServerError, Template: "notice", Title: "Cannot be read", Body: notice{
		Text: "This cannot be read: " + text(err.Error()), Cure: "The log of epitome says more. Requests pass all the same."}}
}

func (p *Pages) mode() string {
	if p.plugs.Mode == nil {
		return ""
	}
	return p.plugs.Mode()
}
