package window

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"epitome/event"
)

// Prober asks servers in the background how much their models hold. No conversation waits for it: it goes on with what
// is believed. One server is asked about one model at a time, and what is kept of answers is bounded. Make one with
// NewProber, and close it.
type Prober struct {
	windows *atomic.Pointer[Windows]
	lessons *Lessons
	log     *slog.Logger
	now     func() time.Time
	ask     atomic.Pointer[Ask] // nil until there is a proxy: nobody is asked before

	life    context.Context // ends all that is asked
	stop    context.CancelFunc
	running sync.WaitGroup

	mu       sync.Mutex
	servers  map[string]Server // by the names of their upstreams; others are not asked
	busy     map[string]bool
	findings map[question]finding // at most mostKnown
}

// Server is an upstream that may be asked.
type Server struct {
	URL string
	Own bool // on this machine or in its network: it may be of any kind
}

// Ask sends a request of epitome's own to an upstream, without a client's key.
type Ask func(ctx context.Context, upstream, method, path string, body []byte) (status int, answer io.ReadCloser, err error)

// finding is what came of asking about a model.
type finding struct {
	told   int       // tokens, the last time that there was an answer
	misses int       // times since then that there was none
	until  time.Time // it is not asked again before
}

const (
	probeWait  = 5 * time.Second // for one answer
	keepTold   = time.Hour
	keepMissed = 5 * time.Minute
	keepEarly  = 30 * time.Second // after the first miss of an own server, which may be loading the model
)

// NewProber makes one that asks nobody until it is configured, and has somebody to ask through. windows are what is
// believed; what servers say is taken into the lessons.
func NewProber(windows *atomic.Pointer[Windows], l *Lessons, log *slog.Logger, now func() time.Time) *Prober {
	p := &Prober{windows: windows, lessons: l, log: log, now: now,
		busy: map[string]bool{}, findings: map[question]finding{}}
	p.life, p.stop = context.WithCancel(context.Background())
	return p
}

// AskThrough sets how servers are asked from now on; nil is not at all.
func (p *Prober) AskThrough(ask Ask) {
	if ask == nil {
		p.ask.Store(nil)
		return
	}
	p.ask.Store(&ask)
}

// Configure sets who is asked from now on, by the names of upstreams. All are asked anew, as whoever has the
// configuration read again may have changed a server, too. What others have said is forgotten.
func (p *Prober) Configure(servers map[string]Server) {
	p.mu.Lock()
	before := p.servers
	p.servers = servers
	clear(p.findings)
	p.mu.Unlock()
	p.lessons.Unprobe(func(upstream string) bool {
		s, asked := servers[upstream]
		old, known := before[upstream]
		return asked && (!known || s == old)
	})
}

// Note has a model asked for to which a conversation goes, if nobody knows it yet. It does not wait.
func (p *Prober) Note(upstream, model string) {
	ask, q := p.ask.Load(), question{upstream, model}
	p.mu.Lock()
	defer p.mu.Unlock()
	s, asked := p.servers[upstream]
	if !asked || ask == nil || p.busy[upstream] || p.now().Before(p.findings[q].until) || q.isLong() ||
		p.life.Err() != nil {
		return
	}
	q = question{strings.Clone(upstream), strings.Clone(model)} // it may be a part of a whole request
	p.busy[q.upstream] = true
	p.running.Go(func() {
		defer func() {
			if caught := recover(); caught != nil {
				p.log.Error("panic while asking how much a model holds", "upstream", q.upstream, "panic", caught,
					"stack", string(debug.Stack()))
			}
			p.mu.Lock()
			delete(p.busy, q.upstream)
			p.mu.Unlock()
		}()
		tokens, path, err := p.probe(*ask, s, q)
		p.take(s, q, tokens, path, err)
	})
}

// probe asks a server about a model, in one way after the other until it says something. err is why it may have more
// to say.
func (p *Prober) probe(ask Ask, s Server, q question) (tokens int, path string, err error) {
	knew := false
	for _, l := range looksFor(q.model, s.Own) {
		if l.after && !knew {
			continue
		}
		status, body, lookErr := p.look(ask, q.upstream, l)
		if knew = status == http.StatusOK && lookErr == nil; knew {
			if tokens = l.read(body, q.model); tokens > 0 {
				path, _, _ = strings.Cut(l.path, "?")
				return tokens, path, nil
			}
		}
		if lookErr != nil {
			err = lookErr
		}
		if lookErr != nil && status < http.StatusInternalServerError { // what fails within a server may not on another path
			break
		}
	}
	return 0, "", err
}

// look sends one request. An error says nothing of whether the server knows the path.
func (p *Prober) look(ask Ask, upstream string, l look) (status int, body []byte, err error) {
	ctx, cancel := context.WithTimeout(p.life, probeWait)
	defer cancel()
	status, answer, err := ask(ctx, upstream, l.method, l.path, l.body)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = answer.Close() }()
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusTooManyRequests,
		status >= http.StatusInternalServerError:
		return status, nil, fmt.Errorf("it answered with status %d", status)
	case status != http.StatusOK:
		return status, nil, nil
	}
	body, err = io.ReadAll(io.LimitReader(answer, mostProbe))
	return status, body, err
}

// take takes over what a server has said, unless it is not asked any more, and logs what is news: a warning if the
// configuration says more.
func (p *Prober) take(s Server, q question, tokens int, path string, err error) {
	p.mu.Lock()
	if now, asked := p.servers[q.upstream]; !asked || now != s || p.life.Err() != nil {
		p.mu.Unlock()
		return
	}
	before := p.findings[q]
	f, keep := finding{told: tokens}, keepTold
	if tokens == 0 {
		f.told, f.misses, keep = before.told, before.misses+1, keepMissed
		if s.Own && f.misses == 1 {
			keep = keepEarly
		}
	}
	f.until = p.now().Add(keep)
	if len(p.findings) >= mostKnown {
		clear(p.findings)
	}
	p.findings[q] = f
	p.mu.Unlock()

	log := p.log.With("upstream", q.upstream, "model", event.Clip(q.model))
	windows := p.windows.Load()
	believed, configured := windows.Of(q.upstream, q.model), windows.Configured(q.model)
	if tokens > 0 {
		p.lessons.Probe(q.upstream, q.model, tokens)
		log = log.With("window", tokens, "path", path, "believed", believed.Tokens, "from", string(believed.Source))
	}
	switch {
	case err != nil:
		log.Debug("a server could not be asked how much a model holds", "error", err.Error())
	case tokens == 0:
		if f.misses > 1 {
			p.lessons.Probe(q.upstream, q.model, 0)
		}
		log.Debug("a server does not say how much a model holds")
	case tokens == before.told:
	case tokens < configured:
		log.Warn("a server says that a model holds less than is configured: what it says counts", "configured", configured,
			"do", "write the smaller number in [window.models], or have the server hold more")
	case tokens != believed.Tokens:
		log.Info("a server says how much a model holds")
	}
}

// Close ends what is being asked, and returns when nothing is any more.
func (p *Prober) Close() {
	p.mu.Lock()
	p.stop()
	p.mu.Unlock()
	p.running.Wait()
}
