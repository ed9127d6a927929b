// Package console is epitome's own side: what lies under /-/, and who may reach it. What is folded from events, and the
// numbers that it serves, are in packages below it.
//
// It promises that nothing under /-/ can be reached by a web page the user happens to visit (the Host and Origin
// of each request are checked) nor from beyond this machine without the admin token, but for /-/health and
// /-/ready, and an artifact by whoever has its name; and that nothing lists artifacts.
package console

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"sync/atomic"
)

// Program is what the console shows and asks of the running program.
type Program struct {
	Version   string
	Listen    string                           // address the program listens on, host:port
	Ready     func() bool                      // new exchanges are welcome
	Upstreams func() map[string]string         // base URL by name
	Proof     func(nonce string) string        // shows to who can read the data folder that this program is its owner
	Owner     func(nonce, proof string) bool   // the same, the other way round: lets the owner's commands in
	Lease     func() (release func(), ok bool) // keeps a program alive that ends with its last user, unless it has
	// how the program runs, by words that tell a stranger nothing of the configuration
	Running   func() map[string]string
	Metrics   http.Handler
	Totals    func() any // what the program has done so far, as JSON
	Artifacts Artifacts
	// the conversation in body, as r asks; the error says what to send instead
	Compact func(r *http.Request, body []byte) (Compacted, error)
	Log     *slog.Logger
}

// Console serves /-/. Its methods may be called from any goroutine.
type Console struct {
	program Program
	guard   atomic.Pointer[guard]
	mux     *http.ServeMux
}

// New makes a console for the program.
func New(c Config, p Program) *Console {
	o := &Console{program: p, mux: http.NewServeMux()}
	o.Reload(c)
	o.mux.HandleFunc("GET /-/health", o.health)
	o.mux.HandleFunc("GET /-/ready", o.ready)
	o.mux.Handle("GET /-/metrics", p.Metrics)
	o.mux.HandleFunc("GET /-/totals", o.totals)
	o.mux.HandleFunc("GET /-/identity", o.identity)
	o.mux.HandleFunc("GET /-/lease", o.lease)
	o.mux.HandleFunc("GET "+artifactsPath+"{name}", o.artifact)
	o.mux.HandleFunc("POST /-/compact", o.compact)
	return o
}

// Reload puts c in force for the requests that come from now on.
func (o *Console) Reload(c Config) { o.guard.Store(newGuard(c, o.program)) }

// ServeHTTP serves a path under /-/, if the guard lets the request in.
func (o *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if why := o.guard.Load().refuses(r); why != nil {
		refuse(w, why.status, why.message)
		return
	}
	method, known := o.method(r)
	if !known {
		refuse(w, http.StatusNotFound,
			"epitome has nothing at "+r.URL.Path+": paths that begin with /-/ are its own and are not forwarded")
		return
	}
	if r.Method != method && (r.Method != http.MethodHead || method != http.MethodGet) {
		refuse(w, http.StatusMethodNotAllowed, r.URL.Path+" is for "+method+" only")
		return
	}
	o.mux.ServeHTTP(w, r)
}

// method returns what the request's path is for, if there is something.
func (o *Console) method(r *http.Request) (method string, known bool) {
	for _, method := range [...]string{http.MethodGet, http.MethodPost} {
		if _, pattern := o.mux.Handler(&http.Request{Method: method, URL: r.URL, Host: r.Host}); pattern != "" {
			return method, true
		}
	}
	return "", false
}

// health says that the program runs.
func (o *Console) health(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, map[string]any{"status": "ok", "version": o.program.Version})
}

// ready says whether new exchanges are welcome.
func (o *Console) ready(w http.ResponseWriter, _ *http.Request) {
	if !o.program.Ready() {
		reply(w, http.StatusServiceUnavailable, map[string]any{"status": "stopping"})
		return
	}
	reply(w, http.StatusOK, map[string]any{"status": "ready"})
}

// totals says what the program has done so far.
func (o *Console) totals(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, o.program.Totals())
}

// identity says which upstreams this program has and how it runs, with a proof that it owns its data folder.
func (o *Console) identity(w http.ResponseWriter, r *http.Request) {
	reply(w, http.StatusOK, map[string]any{
		"version": o.program.Version, "upstreams": o.program.Upstreams(), "running": o.program.Running(),
		"proof": o.program.Proof(r.URL.Query().Get("nonce")),
	})
}

// lease holds the program until the client leaves.
func (o *Console) lease(w http.ResponseWriter, r *http.Request) {
	release, ok := func() {}, false
	if o.program.Ready() {
		release, ok = o.program.Lease()
	}
	if !ok {
		refuse(w, http.StatusServiceUnavailable, "epitome is stopping")
		return
	}
	defer release()
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush() //nolint:forcetypeassert // the proxy's writers flush
	<-r.Context().Done()
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a client that has left is no error of ours
}

// refuse answers as the proxy's own errors do, so that clients can show it.
func refuse(w http.ResponseWriter, status int, message string) {
	reply(w, status, map[string]any{"type": "error", "error": map[string]any{
		"message": message, "type": "epitome_error", "param": nil, "code": "console",
	}})
}
