// Package console serves everything under /-/: pages for people, JSON and events for programs, metrics, artifacts, and
// logins. It also turns events into metrics, log lines and traces.
//
// It guarantees that no web page of another site can read anything under /-/ (Host and Origin are checked, framing is
// forbidden), that nothing but health, artifacts by name and the login page is readable from another machine without
// the admin token, a login or, for gateways, a client's key, that no GET changes anything, and that only the owner sees
// names of artifacts and text of conversations of others.
package console

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"log/slog"
	"maps"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/time/rate"

	"epitome/event"
	"epitome/event/journal"
	"epitome/inject"
	"epitome/rewrite"
)

// Config is the table [console] of config.toml, which describes its keys.
type Config struct {
	Token string   `toml:"token"` // empty: none
	Hosts []string `toml:"hosts"` // names allowed in the Host header, without port
}

// Settings are the values of the configuration in force that the console uses.
type Settings struct {
	Config
	Mode string           // on, observe or off
	List func() []Setting // all of them
}

// Program is the running program as the console shows it.
type Program struct {
	Version string
	Listen  string // host:port
	Token   string // of the data folder
	Log     *slog.Logger
	Metrics http.Handler
	// Settings returns the values of the configuration in force. Another token ends all logins.
	Settings func() Settings
	Book     *journal.Book
	Memory   *inject.Memory
	Service
}

// Service does what the owner, clients and models ask for. An error with a method Status is one of theirs.
type Service interface {
	// Ready returns the state of each store, and whether new requests are taken.
	Ready() (parts map[string]string, welcome bool)
	// Health says how the program runs, for the owner's commands, as JSON.
	Health() any
	// Run returns what became of the requests of an "epitome run".
	Run(name string) (journal.Run, error)
	// IsClient reports whether a request has the key of a client.
	IsClient(h http.Header) bool
	// Edits returns the edits that a request was sent with, by the key of its decision.
	Edits(decision string) (event.Edits, error)
	// EditsWith returns the edits of the conversation that has an artifact: see FindWord.
	EditsWith(ctx context.Context, h http.Header, artifact string) ([]event.Edit, error)
	// Artifact returns the content of an artifact: see ReadArtifact.
	Artifact(name string) ([]byte, error)
	// Compact returns the conversation in a body with a summary in it, and Compress as it would be sent.
	Compact(r *http.Request, body []byte) (rewrite.Output, error)
	Compress(r *http.Request, body []byte) (rewrite.Output, error)
	// Restore has a conversation sent whole from the next request on, without so many edits.
	Restore(conversation string) (edits int, err error)
	// Ask has the next request of a conversation compacted; IsAsked reports whether it is still to come.
	Ask(conversation, to, focus string) error
	IsAsked(conversation string) bool
	// Forget removes a conversation, and returns how many artifacts it had, and what remains, in sentences.
	Forget(conversation string) (artifacts int, remains string, err error)
	// Handoff returns what another agent needs to go on with the conversation whose ID begins so, and why no model has
	// written a summary for it.
	Handoff(ctx context.Context, beginning string, asks bool) (text, why string, err error)
}

// Setting is a key of the configuration in force.
type Setting struct {
	Key     string // the names of its tables and its own, with dots
	Text    string // the value as TOML writes it; empty for a secret
	Default string // likewise; empty if there is none
	Comment string // in config.toml; lines
	Changed bool   // it differs from the default
	Secret  bool   // it is a credential, or may hold one
}

// Console serves /-/. It may be used by several goroutines.
type Console struct {
	program         Program
	host            string // that the program listens on
	cookie          string // of a login; browsers send the cookies of a host to all its ports, so its name has the port
	codes, sessions secrets
	spent           sync.Map      // by hash of a code that was used: the session that it began
	wrong           *rate.Limiter // of lines in the log about wrong tokens
	watchers        atomic.Int32  // of streamed events
	mux             *http.ServeMux
}

// audience tells who may send a request.
type audience int

const (
	figures audience = 0         // whoever reaches it; the owner if there is a token or other machines reach it
	public  audience = 1 << iota // whoever reaches the console
	owner                        // the owner
	page                         // other sites may link to it; browsers without a login are led to the login page
	clients                      // as figures, and whoever has the key of a client
)

// New returns a console for the program.
func New(p Program) *Console {
	host, port, err := net.SplitHostPort(p.Listen)
	if err != nil {
		host = p.Listen
	}
	o := &Console{
		program: p, host: host, cookie: "epitome-" + port, mux: http.NewServeMux(), wrong: rate.NewLimiter(0.5, 30),
	}
	o.handle("GET /-/health", public, o.health)
	o.handle("GET /-/ready", public, o.ready)
	o.handle("GET /-/metrics", figures, o.metrics)

	o.handle("GET /-/status", figures, o.json(o.status))
	o.handle("GET /-/events", figures, o.events)
	o.handle("GET /-/api/summary", figures, o.json(o.summary))
	o.handle("GET /-/api/runs/{name}", figures, o.json(o.run))
	o.handle("GET /-/api/conversations", figures, o.json(o.conversations))
	o.handle("GET /-/api/conversations/{id}", figures, o.json(o.conversation))
	o.handle("GET /-/api/conversations/{id}/edits", owner, o.json(o.edits))
	o.handle("POST /-/api/conversations/{id}/restore", owner, o.json(o.restore))
	o.handle("POST /-/api/conversations/{id}/compact", owner, o.json(o.ask))
	o.handle("POST /-/api/conversations/{id}/forget", owner, o.json(o.forgetConversation))
	o.handle("POST /-/api/handoff", owner, o.json(o.handoff))
	o.handle("GET /-/api/find", owner, o.json(o.find))
	o.handle("GET /-/api/troubles", figures, o.json(o.troubles))
	o.handle("GET /-/api/memory", owner, o.json(o.memory))
	o.handle("POST /-/api/memory/forget", owner, o.json(o.forget))

	o.handle("POST /-/compact", figures, o.compact)
	o.handle("POST /-/v1/compress", clients, o.compress)
	o.handle("GET /-/v1/retrieve/{name}", public, o.json(o.retrieve))
	o.handle("GET /-/artifacts/{name}", public, o.artifact)
	o.handle("/-/mcp", public, mcpHandler(p.Log, p.Version, p.Artifact, o.findWord).ServeHTTP) // names are secrets

	o.handle("GET /-/login", public|page, func(w http.ResponseWriter, _ *http.Request) {
		self := Self
		if o.isBeyond() { // strangers may look, and a path may have the user's name
			self = "epitome"
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_ = template.Must(template.ParseFS(files, "templates/login.html")).Execute(w, self)
	})
	o.handle("GET /-/session", public, o.json(o.session))
	o.handle("POST /-/login", public, o.login)
	o.handle("POST /-/login/code", figures, o.json(o.newCode))

	o.handle("GET /-/{$}", page, o.page("overview", o.overview))
	o.handle("GET /-/conversations", page, o.page("conversations", o.listed))
	o.handle("GET /-/conversations/{id}", page, o.page("conversation", o.conversationAt))
	o.handle("GET /-/troubles", page, o.page("troubles", o.troubles))
	o.handle("GET /-/config", page, o.page("config", o.config))
	o.handle("GET /-/assets/{name}", public, func(w http.ResponseWriter, r *http.Request) {
		http.ServeFileFS(w, r, files, "assets/"+r.PathValue("name"))
	})
	o.handle("/-/", figures, o.notFound)
	// These are what browsers ask for at the address by itself.
	o.handle("GET /{$}", public|page, http.RedirectHandler("/-/", http.StatusSeeOther).ServeHTTP)
	o.handle("GET /favicon.ico", public|page, http.RedirectHandler("/-/assets/icon.svg", http.StatusSeeOther).ServeHTTP)
	return o
}

// ServeHTTP serves a path under /-/.
func (o *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	// A page may run its own scripts, ask this program, and nothing else. So text of a conversation that got into it
	// cannot run or reach another host.
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "+
		"connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "+
		"require-trusted-types-for 'script'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	o.mux.ServeHTTP(w, r)
}

// handle registers a handler for requests that are admitted.
func (o *Console) handle(pattern string, who audience, serve http.HandlerFunc) {
	o.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		message := o.foreign(r, who&page != 0)
		if message != "" {
			refuse(w, http.StatusForbidden, message)
			return
		}
		isAdmitted := who&public != 0 || who&clients != 0 && o.program.IsClient(r.Header)
		fromOwner := o.isFromOwner(r, isAdmitted)
		if fromOwner {
			r = r.WithContext(context.WithValue(r.Context(), ownerKey{}, true))
		}
		switch {
		case fromOwner || isAdmitted:
		case o.isClosed() && who&page != 0 && isNavigation(r):
			http.Redirect(w, r, loginPath(r), http.StatusSeeOther)
			return
		case o.isClosed() && o.program.Settings().Token == "":
			refuse(w, http.StatusForbidden, "epitome listens beyond this machine: set console.token to use /-/")
			return
		case o.isClosed():
			refuse(w, http.StatusUnauthorized, "send the admin token (console.token) as Authorization: Bearer TOKEN")
			return
		case who&owner != 0:
			refuse(w, http.StatusForbidden, "only the owner may see this: run '"+Self+" open' to log in")
			return
		}
		// Pages of other sites cannot send JSON without asking.
		kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
		if r.Method == http.MethodPost && pattern != "/-/" && kind != "application/json" {
			refuse(w, http.StatusUnsupportedMediaType, "send Content-Type: application/json")
			return
		}
		serve(w, r)
	})
}

// isFromOwner reports whether a request shows a login or a token of the owner's. Where others are admitted,
// Authorization may have another secret, for a provider or the proxy, which is no wrong token.
func (o *Console) isFromOwner(r *http.Request, isAdmitted bool) bool {
	if o.hasFolderToken(r) || o.sessionOf(r) != "" {
		return true
	}
	if isAdmitted {
		return false
	}
	_, token, _ := strings.Cut(r.Header.Get("Authorization"), " ") // whatever the scheme
	return o.isToken(r, token)
}

// notFound answers a path without a handler, with a page where a browser shows it.
func (o *Console) notFound(w http.ResponseWriter, r *http.Request) {
	if isNavigation(r) {
		o.page("error", func(*http.Request) (any, error) {
			return nil, refusal{http.StatusNotFound, "there is no page at this address"}
		})(w, r)
		return
	}
	refuse(w, http.StatusNotFound, "epitome has nothing at "+r.Method+" "+r.URL.Path+
		": paths that begin with /-/ are its own and are not forwarded")
}

// health answers that the program runs, and for the owner's commands also its state.
func (o *Console) health(w http.ResponseWriter, r *http.Request) {
	if o.hasFolderToken(r) {
		writeJSON(w, http.StatusOK, o.program.Health())
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"status": "ok", "version": o.program.Version})
}

// ready answers whether new requests are taken, and the state of each store. A store that does not answer does not
// make the program unready: conversations go on without it.
func (o *Console) ready(w http.ResponseWriter, _ *http.Request) {
	parts, welcome := o.program.Ready()
	if !welcome {
		writeJSON(w, http.StatusServiceUnavailable, map[string]string{"status": "stopping"})
		return
	}
	body := map[string]string{"status": "ready"}
	maps.Copy(body, parts)
	writeJSON(w, http.StatusOK, body)
}

// metrics answers once all events are counted.
func (o *Console) metrics(w http.ResponseWriter, r *http.Request) {
	o.program.Book.Settle()
	o.program.Metrics.ServeHTTP(w, r)
}

// Self is how this program was started, for the commands that it prints. The command line sets it before all else.
var Self = "epitome"

//go:embed assets templates
var files embed.FS

type ownerKey struct{}

// isOwner reports whether an admitted request comes from the owner: with the cookie of a login, with the token of the
// data folder, or with the admin token.
func isOwner(r *http.Request) bool { return r.Context().Value(ownerKey{}) != nil }

// writeJSON answers with v as JSON.
func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // values can be encoded; else the client has left
}

// refuse answers with an error in the shape of the proxy's own errors.
func refuse(w http.ResponseWriter, status int, message string) {
	writeJSON(w, status, map[string]any{"type": "error", "error": map[string]any{
		"message": message, "type": "epitome_error", "param": nil, "code": "console",
	}})
}

// Pages for people: what epitome did to conversations, why, and what that saved. They work without a script. No text of
// a conversation, a model or a configuration becomes a part of a page's code. A figure without a value is left out.

// templates are the pages by name. They are parsed when the first one is shown.
var templates = sync.OnceValue(func() map[string]*template.Template {
	all := map[string]*template.Template{}
	base := template.Must(template.New("").Funcs(Functions).
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
			told := o.told(err)
			shown, status, data = "error", told.status, told
		}
		var text strings.Builder
		err = templates()[shown].ExecuteTemplate(&text, "layout", frame{
			Page: shown, Version: o.program.Version, Mode: o.program.Settings().Mode,
			Owner: isOwner(r), Login: loginPath(r), Query: r.URL.Query(), Data: data,
		})
		if err != nil {
			o.fail(w, fmt.Errorf("cannot show the page %s: %w", shown, err))
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, PlainLines(text.String())) // a client that has left is no error of ours
	}
}

// config returns all settings.
func (o *Console) config(*http.Request) (any, error) { return o.program.Settings().List(), nil }
