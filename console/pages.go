package console

import (
	"html/template"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"epitome/event/journal"
)

// Pages for people: what epitome did to conversations, why, and what that saved. They work without a script. No text of
// a conversation, a model or a configuration becomes a part of a page's code. A figure without a value is left out.

// templates are the pages by name. They are parsed when the first one is shown.
var templates = sync.OnceValue(func() map[string]*template.Template {
	all := map[string]*template.Template{}
	base := template.Must(template.New("").Funcs(functions).
		ParseFS(files, "templates/layout.html", "templates/parts.html"))
	for _, name := range []string{"overview", "conversations", "conversation", "troubles", "config", "error"} {
		all[name] = template.Must(template.Must(base.Clone()).ParseFS(files, "templates/"+name+".html"))
	}
	return all
})

// frame is the data of every page: the parts that all of them have, and those of the page itself.
type frame struct {
	Page    string // the name of its template
	Version string
	Mode    string
	Owner   bool   // the visitor has logged in
	Login   string // the address of the login that leads back here
	Query   url.Values
	Data    any
}

// page returns a handler that shows a page, or the page "error", whose data is a refusal.
func (o *Console) page(name string, load loader) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		shown, status := name, http.StatusOK
		data, err := load(r)
		if err != nil {
			shown, status = "error", statusOf(err)
			data = refusal{status, err.Error()}
		}
		var text strings.Builder
		err = templates()[shown].ExecuteTemplate(&text, "layout", frame{
			Page: shown, Version: o.program.Version, Mode: o.program.Mode(),
			Owner: isOwner(r), Login: loginPath(r), Query: r.URL.Query(), Data: data,
		})
		if err != nil {
			http.Error(w, "cannot show the page: "+err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, PlainLines(text.String())) // a client that has left is no error of ours
	}
}

// overview is the data of the first page.
type overview struct {
	journal.Report
	Address string                 // that the program listens on
	Newest  *conversation          // nil: there is none
	Recent  []journal.Conversation // the newest first
	More    int                    // conversations that are not listed
}

func (o *Console) overview(r *http.Request) (any, error) {
	sum, err := o.sums(journal.Span{From: time.Now().AddDate(0, 0, -29)}) // thirty days
	if err != nil {
		return nil, err
	}
	page := o.list(r, 10)
	v := &overview{Report: sum, Address: o.program.Listen, Recent: page.Items, More: page.Total - len(page.Items)}
	if len(page.Items) == 0 {
		return v, nil
	}
	// A conversation of a single turn, as agents have them for titles, counts only where there is no longer one.
	newest := max(0, slices.IndexFunc(page.Items, func(c journal.Conversation) bool { return c.Turns > 1 }))
	s, err := o.story(r, page.Items[newest].ID)
	v.Newest = newConversation(s, newestTurn(s))
	return v, err
}

// settings returns the settings that differ from their defaults under true, all others under false.
func (o *Console) settings(*http.Request) (any, error) {
	all := map[bool][]Setting{}
	for _, s := range o.program.Settings() {
		all[s.Changed] = append(all[s.Changed], s)
	}
	return all, nil
}
