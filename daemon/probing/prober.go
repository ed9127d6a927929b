// Package probing asks servers in the background how much their models hold, when a conversation goes there.
//
// It promises that no conversation waits for it, that a client's key is used for nothing that it has not asked, that
// what is asked and what is kept of answers are bounded, and that what a server does not say any more is not forgotten
// at once.
package probing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"epitome/config"
	"epitome/event"
	"epitome/proxy"
	"epitome/proxy/route"
	"epitome/window"
)

// Options are what a Prober works with.
type Options struct {
	Windows *atomic.Pointer[window.Windows] // what is believed
	Lessons *window.Lessons                 // who is told what servers say
	Log     *slog.Logger
	Now     func() time.Time
}

// Prober asks servers how much their models hold. A conversation goes on meanwhile with what is believed.
type Prober struct {
	Options
	proxy atomic.Pointer[proxy.Proxy] // nil until there is one: nothing is asked before

	life    context.Context // ends all that is asked
	stop    context.CancelFunc
	running sync.WaitGroup

	taking   sync.Mutex // held while an answer or a configuration is taken over, in which the store may be slow
	mu       sync.RWMutex
	over     bool
	servers  map[string]*server // by the names of their upstreams; who is not in it is not asked
	findings map[probed]finding // at most mostFindings
}

// server is an upstream that is asked. A configuration that changes it makes another one. What is not fixed is
// guarded by the prober's mu.
type server struct {
	name    string
	config  route.UpstreamConfig
	own     bool     // on this machine or in its network
	queue   []string // models to ask about
	working bool     // one at a time
}

// probed is a model at an upstream, by the names that a conversation gives them.
type probed struct{ upstream, model string }

// finding is what came of asking about a model.
type finding struct {
	told    int       // tokens, the last time that there was an answer
	misses  int       // times since then that there was none
	until   time.Time // it is not asked again before
	waiting bool      // it is being asked, or will be
}

const (
	probeWait  = 5 * time.Second // for one answer
	keepTold   = time.Hour
	keepMissed = 5 * time.Minute
	// after the first miss: some servers load a model for the very request that is answered meanwhile
	keepEarly    = 30 * time.Second
	mostFindings = 256
	mostQueued   = 16  // models of one server that wait
	mostName     = 256 // bytes of a model's name; what is said of longer ones is not kept
)

// New makes one that asks nobody until it has a proxy. It has to be closed.
func New(conf config.Config, o Options) *Prober {
	p := &Prober{Options: o, findings: map[probed]finding{}}
	p.life, p.stop = context.WithCancel(context.Background())
	p.Configure(conf)
	return p
}

// AskThrough says through which proxy servers are asked from now on; nil is none.
func (p *Prober) AskThrough(through *proxy.Proxy) { p.proxy.Store(through) }

// Configure says who is asked from now on. What others have said of themselves is forgotten.
func (p *Prober) Configure(conf config.Config) {
	p.taking.Lock()
	defer p.taking.Unlock()
	next := map[string]*server{}
	for name, u := range conf.Upstreams {
		if s := serverOf(name, u); conf.Window.Probe && s != nil {
			next[name] = s
		}
	}
	gone := p.replace(next)
	p.Lessons.Unprobe(func(upstream string) bool { return next[upstream] != nil && !gone[upstream] })
}

// replace puts other servers in place of those before, but for those that are the same, and says whose place is taken
// or empty. All are asked anew: whoever has epitome read its configuration again may have changed a server, too.
func (p *Prober) replace(next map[string]*server) (gone map[string]bool) {
	gone = map[string]bool{}
	p.mu.Lock()
	defer p.mu.Unlock()
	for name, s := range p.servers {
		if n := next[name]; n != nil && reflect.DeepEqual(n.config, s.config) {
			next[name] = s
		} else {
			gone[name] = true
		}
	}
	for which, f := range p.findings {
		if gone[which.upstream] || !f.waiting {
			delete(p.findings, which)
		}
	}
	p.servers = next
	return gone
}

// serverOf is the server to ask at an upstream; nil if it says nothing, or nothing to us.
func serverOf(name string, u route.UpstreamConfig) *server {
	s := &server{name: name, config: u, own: config.IsLocal(u.URL)}
	if s.own || tells(u) {
		return s
	}
	return nil
}

// tells reports whether an upstream is a provider that publishes how much its models hold, and that would tell us:
// but for OpenRouter they want a key, and a client's own is not used for what it has not asked.
func tells(u route.UpstreamConfig) bool {
	at, err := url.Parse(u.URL)
	if err != nil {
		return false
	}
	switch strings.ToLower(at.Hostname()) {
	case "openrouter.ai":
		return true
	case "api.groq.com", "api.together.xyz", "api.fireworks.ai", "api.mistral.ai", "api.moonshot.ai", "api.moonshot.cn":
		for name, value := range u.Headers {
			if strings.EqualFold(name, "Authorization") && value != "" {
				return true
			}
		}
	}
	return false
}

// windowOf finds a window in tokens, and how much of it a request may take.
type windowOf = func(upstream, model string, maxOutput int) (tokens, usable int)

// Watching is a way to find windows that has them asked for.
func (p *Prober) Watching(of windowOf) windowOf {
	return func(upstream, model string, maxOutput int) (tokens, usable int) {
		tokens, usable = of(upstream, model, maxOutput)
		p.noteUse(upstream, model)
		return tokens, usable
	}
}

// noteUse is called with each conversation. It waits for nobody, and where nothing is to be asked it costs a look-up.
func (p *Prober) noteUse(upstream, model string) {
	p.mu.RLock()
	f, known := p.findings[probed{upstream, model}]
	s := p.servers[upstream]
	p.mu.RUnlock()
	if s == nil || known && (f.waiting || p.Now().Before(f.until)) || len(model) > mostName || p.proxy.Load() == nil {
		return
	}
	p.enqueue(s, strings.Clone(model)) // it may be a part of a whole request
}

// enqueue has a model asked for, unless there is too much to ask already.
func (p *Prober) enqueue(s *server, model string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	which := probed{s.name, model}
	f, known := p.findings[which]
	if p.over || p.servers[s.name] != s || f.waiting || len(s.queue) >= mostQueued || !known && !p.room() {
		return
	}
	f.waiting = true
	p.findings[which] = f
	s.queue = append(s.queue, model)
	if !s.working {
		s.working = true
		p.running.Go(func() { p.work(s) })
	}
}

// room makes room for a finding if it has to, of those that would be asked again anyway.
func (p *Prober) room() bool {
	if len(p.findings) < mostFindings {
		return true
	}
	now := p.Now()
	for which, f := range p.findings {
		if !f.waiting && !now.Before(f.until) {
			delete(p.findings, which)
		}
	}
	return len(p.findings) < mostFindings
}

// work asks a server about one model after the other.
func (p *Prober) work(s *server) {
	for model, ok := p.next(s); ok; model, ok = p.next(s) {
		a := p.ask(s, model)
		if p.life.Err() == nil {
			p.take(s, model, a)
		}
	}
}

// next is the model to ask about next. Without one, the work is over.
func (p *Prober) next(s *server) (model string, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(s.queue) == 0 || p.over || p.servers[s.name] != s {
		s.working = false
		return "", false
	}
	model = s.queue[0]
	s.queue = s.queue[1:]
	return model, true
}

// statement is what a server has said of a model.
type statement struct {
	tokens int    // 0: nothing
	path   string // on which it said so
	err    error  // why it may have more to say
}

// ask asks a server about a model, in one way after the other until it says something.
func (p *Prober) ask(s *server, model string) (a statement) {
	defer func() {
		if caught := recover(); caught != nil {
			p.Log.Error("panic while asking how much a model holds", "upstream", s.name, "panic", caught, "stack", string(debug.Stack()))
			a = statement{err: errors.New("panic; the log has the stack")}
		}
	}()
	knew := false
	for _, l := range window.Looks(model, s.own) {
		if l.After && !knew {
			continue
		}
		status, body, err := p.look(s, l)
		if knew = status == http.StatusOK && err == nil; knew {
			if tokens, ok := window.ReadProbe(l.Path, body, model); ok {
				return statement{tokens: tokens, path: l.Path}
			}
		}
		if err != nil {
			a.err = err
		}
		if err != nil && status < http.StatusInternalServerError { // what fails within a server may not on another path
			return a
		}
	}
	return a
}

// look sends one request. An error is what says nothing of whether the server knows the path.
func (p *Prober) look(s *server, l window.Look) (status int, body []byte, err error) {
	ctx, cancel := context.WithTimeout(p.life, probeWait)
	defer cancel()
	a, err := p.proxy.Load().Look(ctx, proxy.Inquiry{Upstream: s.name, Method: l.Method, Path: l.Path, Body: l.Body})
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = a.Body.Close() }()
	refused := slices.Contains([]int{http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests},
		a.Status)
	if refused || a.Status >= http.StatusInternalServerError {
		return a.Status, nil, fmt.Errorf("it answered with status %d", a.Status)
	}
	if a.Status != http.StatusOK {
		return a.Status, nil, nil
	}
	body, err = io.ReadAll(io.LimitReader(a.Body, window.MostProbe))
	return a.Status, body, err
}

// take takes over what a server has said, unless it is not asked any more.
func (p *Prober) take(s *server, model string, a statement) {
	p.taking.Lock()
	defer p.taking.Unlock()
	f, ok := p.record(s, model, a)
	if !ok {
		return
	}
	switch {
	case a.tokens > 0:
		p.tell(s, model, a, f.told)
	case a.err != nil:
		p.Log.Debug("a server could not be asked how much a model holds", "upstream", s.name, "model", event.Clip(model),
			"error", a.err.Error())
	default:
		if f.misses > 0 {
			p.Lessons.Probe(s.name, model, 0)
		}
		p.Log.Debug("a server does not say how much a model holds", "upstream", s.name, "model", event.Clip(model))
	}
}

// record notes what came of asking, and returns what had come of it before.
func (p *Prober) record(s *server, model string, a statement) (before finding, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.servers[s.name] != s {
		return finding{}, false
	}
	which := probed{s.name, model}
	before = p.findings[which]
	f := finding{told: a.tokens}
	keep := keepTold
	if a.tokens == 0 {
		f.told, f.misses = before.told, before.misses+1
		keep = keepMissed
		if s.own && f.misses == 1 {
			keep = keepEarly
		}
	}
	f.until = p.Now().Add(keep)
	p.findings[which] = f
	return before, true
}

// tell teaches what a server has said, and logs it if it is news: a warning if the configuration says more.
func (p *Prober) tell(s *server, model string, a statement, before int) {
	windows := p.Windows.Load()
	believed, configured := windows.Of(s.name, model), windows.Configured(model)
	p.Lessons.Probe(s.name, model, a.tokens)
	path, _, _ := strings.Cut(a.path, "?")
	log := p.Log.With("upstream", s.name, "model", event.Clip(model), "window", a.tokens, "path", path, "believed",
		believed.Tokens, "from", string(believed.Source))
	switch {
	case a.tokens == before:
		log.Debug("a server says again how much a model holds")
	case a.tokens < configured:
		log.Warn("a server says that a model holds less than is configured: what it says counts", "configured", configured,
			"do", "write the smaller number in [window.models], or have the server hold more")
	case a.tokens != believed.Tokens:
		log.Info("a server says how much a model holds")
	default:
		log.Debug("a server says of a model what is believed")
	}
}

// Close ends what is being asked, and returns when nothing is any more.
func (p *Prober) Close() {
	p.mu.Lock()
	p.over = true
	p.mu.Unlock()
	p.stop()
	p.running.Wait()
}
