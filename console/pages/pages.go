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
	"io"
	"net/http"
	"time"

	"epitome/console/pages/frame"
	"epitome/console/story"
	"epitome/event"
)

// Source answers with what has happened. Its errors are story.ErrUnknown, or say why an answer cannot be had.
type Source interface {
	Summary(story.Span) (story.Summary, error)
	Conversations(story.Listing) (story.Page[story.Conversation], error)
	Conversation(id string) (story.Story, error)
	Exchange(seq uint64) (event.Exchange, error)
	// Troubles are the newest exchanges that went wrong, the newest first.
	Troubles() []event.Exchange
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
	plugs Plugs
	frame *frame.Frame
}

// New makes the pages.
func New(p Plugs) *Pages {
	if p.Zone == nil {
		p.Zone = time.Local
	}
	return &Pages{p, frame.New()}
}

// Documents returns the pages for people, by the pattern of their path; under the empty one that of an address with
// nothing.
func (p *Pages) Documents() map[string]http.Handler {
	all := make(map[string]http.Handler)
	for pattern, make := range map[string]maker{
		"":                                nowhere,
		"/-/{$}":                          p.overview,
		"/-/conversations":                p.conversations,
		"/-/conversations/{id}":           p.conversation,
		"/-/exchanges/{seq}":              p.exchange,
		"/-/exchanges/{seq}/edits/{item}": p.edit,
		"/-/artifacts/{name}/view":        p.artifact,
		"/-/memory":                       p.memory,
		"/-/config":                       p.configuration,
		"/-/troubles": func(r *http.Request) (*frame.Page, error) {
			return troublesPage(p.plugs.Source.Troubles(), p.reader(r)), nil
		},
	} {
		all[pattern] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.serve(w, r, make) })
	}
	return all
}

// Files returns what the pages refer to, likewise.
func (p *Pages) Files() map[string]http.Handler {
	pattern, handler := p.frame.Assets()
	return map[string]http.Handler{pattern: handler}
}

// nowhere makes the page of an address with nothing.
func nowhere(*http.Request) (*frame.Page, error) { return nil, story.ErrUnknown }

// maker makes the page that r asks for.
type maker func(r *http.Request) (*frame.Page, error)

// longestPage bounds the time that making one page may take: that of reading a large artifact.
const longestPage = 20 * time.Second

// serve makes a page and writes it, or one that says why there is none.
func (p *Pages) serve(w http.ResponseWriter, r *http.Request, make maker) {
	ctx, cancel := context.WithTimeout(r.Context(), longestPage)
	defer cancel()
	made, err := make(r.WithContext(ctx))
	if err != nil {
		made = notFound(p.reader(r), err)
	}
	var text bytes.Buffer
	if err := p.frame.Around(made, p.reader(r), p.program()).Render(&text); err != nil {
		http.Error(w, "epitome cannot show this page: "+err.Error(), http.StatusInternalServerError)
		return
	}
	head := w.Header()
	head.Set("Content-Type", "text/html; charset=utf-8")
	head.Set("Cache-Control", "no-store")
	if made.Status != 0 {
		w.WriteHeader(made.Status)
	}
	_, _ = text.WriteTo(w) // a client that has left is no error of ours
}

// notFound is the page for what cannot be shown.
func notFound(r frame.Reader, err error) *frame.Page {
	if errors.Is(err, story.ErrUnknown) {
		return r.Notice(http.StatusNotFound, "Not found",
			"There is nothing under this address: it never was, or it is not kept any more.",
			"Figures are kept as long as store.keep and events.quota of the configuration say.")
	}
	return r.Notice(http.StatusInternalServerError, "Cannot be read", "This cannot be read: "+err.Error(),
		"The log of epitome says more. Requests pass all the same.")
}

func (p *Pages) reader(r *http.Request) frame.Reader { return frame.ReaderOf(r, p.plugs.Zone) }

// program is what each page says of the program.
func (p *Pages) program() frame.Program {
	all := frame.Program{Version: p.plugs.Version, Remembers: p.remembers()}
	if p.plugs.Mode != nil {
		all.Mode = p.plugs.Mode()
	}
	return all
}
