// Package console is epitome's own side: what lies under /-/, and who may reach it. What is folded from events, and the
// numbers that it serves, are in packages below it.
//
// It promises that nothing under /-/ can be read by a web page the user happens to visit (the Host and Origin of each
// request are checked, and no page may be framed) nor from beyond this machine without the admin token or a login, but
// for /-/health and /-/ready, the page to log in, and an artifact by whoever has its name; that no GET changes anything
// but /-/lease, which ends with its connection; and that only the owner is shown names of artifacts, or anything of
// what a conversation says.
package console

import (
	"log/slog"
	"mime"
	"net/http"
	"strings"
	"sync/atomic"

	"epitome/console/access"
	"epitome/console/reply"
)

// Program is what the console shows and asks of the running program.
type Program struct {
	Version string
	Listen  string // address the program listens on, host:port
	// new exchanges are welcome; parts are what else it uses, and whether that answers
	Ready     func() (parts map[string]string, welcome bool)
	State     func() any                       // what the owner's commands hear of how it runs, as JSON
	Owner     func(token string) bool          // lets the owner's commands in
	Lease     func() (release func(), ok bool) // keeps a program alive that ends with its last user, unless it has
	Metrics   http.Handler
	Totals    func() Totals
	Artifacts Artifacts
	// the conversation in body, as r asks; the error says what to send instead
	Compact func(r *http.Request, body []byte) (Compacted, error)
	// pages for people by the pattern of their path, as "/-/conversations/{id}": GET only; access.Owner says who may
	// see what conversations hold. The one of the empty pattern is for who follows a link to nothing below /-/
	Pages map[string]http.Handler
	// what programs and scripts of pages ask for, by pattern: likewise, but no other site may link to it, and a pattern
	// that begins with POST is for that; below /-/assets/ and at /-/mcp it is for everybody
	API map[string]http.Handler
	Log *slog.Logger
}

// Console serves /-/. Its methods may be called from any goroutine.
type Console struct {
	program   Program
	guard     atomic.Pointer[guard]
	token     string // of the guard; only Reload uses it
	logins    access.Logins
	mux       *http.ServeMux
	documents map[string]bool // the patterns of pages for people
}

// New makes a console for the program.
func New(c Config, p Program) *Console {
	o := &Console{program: p, mux: http.NewServeMux(), documents: make(map[string]bool), token: c.Token}
	o.Reload(c)
	o.mux.HandleFunc("GET /-/health", o.health)
	o.mux.HandleFunc("GET /-/ready", o.ready)
	o.mux.Handle("GET /-/metrics", p.Metrics)
	o.mux.HandleFunc("GET /-/totals", o.totals)
	o.mux.HandleFunc("GET /-/lease", o.lease)
	o.mux.HandleFunc("GET "+artifactsPath+"{name}", o.artifact)
	o.mux.HandleFunc("POST /-/compact", o.compact)
	o.serveLogin()
	for path, page := range p.Pages {
		if path != nowhere {
			o.document(path, page)
		}
	}
	for path, answer := range p.API {
		if !strings.HasPrefix(path, "POST ") {
			path = "GET " + path
		}
		o.mux.Handle(path, answer)
	}
	return o
}

// nowhere is the pattern of the page that stands for all addresses with nothing.
const nowhere = ""

// document serves a page for people.
func (o *Console) document(path string, page http.Handler) {
	o.mux.Handle("GET "+path, page)
	o.documents["GET "+path] = true
}

// Reload puts c in force for the requests that come from now on. With another token, who has logged in must do so
// again.
func (o *Console) Reload(c Config) {
	if c.Token != o.token {
		o.logins.CloseAll()
	}
	o.token = c.Token
	o.guard.Store(newGuard(c, o.program, &o.logins))
}

// ServeHTTP serves a path under /-/, if the guard lets the request in.
func (o *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setHeaders(w.Header())
	method, pattern := o.find(r)
	document, g := o.documents[pattern], o.guard.Load()
	if why := g.refuses(r, document); why != nil {
		reply.Refuse(w, why.status, why.message)
		return
	}
	if g.isOwner(r) {
		r = access.AsOwner(r)
	}
	why := g.keepsOut(r)
	switch {
	case why != nil && document && follows(r):
		http.Redirect(w, r, access.LoginPath(r), http.StatusSeeOther)
	case why != nil:
		reply.Refuse(w, why.status, why.message)
	case method == "" && follows(r) && o.program.Pages[nowhere] != nil:
		o.program.Pages[nowhere].ServeHTTP(w, r)
	case method == "":
		reply.Refuse(w, http.StatusNotFound,
			"epitome has nothing at "+r.URL.Path+": paths that begin with /-/ are its own and are not forwarded")
	case r.Method != method && (r.Method != http.MethodHead || method != http.MethodGet) && !o.takes(r):
		reply.Refuse(w, http.StatusMethodNotAllowed, r.URL.Path+" is for "+method+" only")
	case r.Method == http.MethodPost && !isJSON(r):
		reply.Refuse(w, http.StatusUnsupportedMediaType, "send what is posted here as Content-Type: application/json")
	default:
		o.mux.ServeHTTP(w, r)
	}
}

// find returns the first method that the request's path is for, and its pattern; empty if there is nothing.
func (o *Console) find(r *http.Request) (method, pattern string) {
	for _, method := range [...]string{http.MethodGet, http.MethodPost} {
		if _, pattern := o.mux.Handler(&http.Request{Method: method, URL: r.URL, Host: r.Host}); pattern != "" {
			return method, pattern
		}
	}
	return "", ""
}

// takes reports whether there is something for the request's own method.
func (o *Console) takes(r *http.Request) bool {
	_, pattern := o.mux.Handler(r)
	return pattern != ""
}

// isJSON reports whether a request says that its body is JSON. No page of another site can send this type unasked.
func isJSON(r *http.Request) bool {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return kind == "application/json"
}

// health says that the program runs, and to the owner's commands how.
func (o *Console) health(w http.ResponseWriter, r *http.Request) {
	if o.guard.Load().proves(r) {
		reply.JSON(w, http.StatusOK, o.program.State())
		return
	}
	reply.JSON(w, http.StatusOK, map[string]any{"status": "ok", "version": o.program.Version})
}

// ready says whether new exchanges are welcome. They are, whatever parts do not answer: conversations go on without.
func (o *Console) ready(w http.ResponseWriter, _ *http.Request) {
	parts, welcome := o.program.Ready()
	if !welcome {
		reply.JSON(w, http.StatusServiceUnavailable, map[string]any{"status": "stopping"})
		return
	}
	body := map[string]any{"status": "ready"}
	for part, state := range parts {
		body[part] = state
	}
	reply.JSON(w, http.StatusOK, body)
}

// totals says what the program has done so far.
func (o *Console) totals(w http.ResponseWriter, _ *http.Request) {
	reply.JSON(w, http.StatusOK, o.program.Totals())
}

// lease holds the program until the client leaves.
func (o *Console) lease(w http.ResponseWriter, r *http.Request) {
	release, ok := func() {}, false
	if _, welcome := o.program.Ready(); welcome {
		release, ok = o.program.Lease()
	}
	if !ok {
		reply.Refuse(w, http.StatusServiceUnavailable, "epitome is stopping")
		return
	}
	defer release()
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush() //nolint:forcetypeassert // the proxy's writers flush
	<-r.Context().Done()
}
