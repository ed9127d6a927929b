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
	"time"

	"github.com/tidwall/gjson"

	"epitome/event"
)

// Prober asks servers in the background how much their models hold. No request waits for it. One server is asked about
// one model at a time. Make one with NewProber, and close it.
type Prober struct {
	windows *Windows
	log     *slog.Logger
	life    context.Context // ends all questions
	stop    context.CancelFunc
	running sync.WaitGroup

	// windows.mu guards these.
	get     Get
	servers map[string]Server // by the names of their upstreams
	busy    map[string]bool   // likewise: servers that are being asked
}

// Server is an upstream that may be asked.
type Server struct {
	URL string
	Own bool // on this machine or in its network: it may be of any kind
}

// Get asks an upstream for what lies at a path, without a client's key.
type Get func(ctx context.Context, upstream, path string) (status int, answer io.ReadCloser, err error)

const (
	probeWait  = 5 * time.Second // for one answer
	mostProbe  = 4 << 20         // bytes of an answer; lists of large hosts have hundreds of models with a page each
	askAgain   = time.Hour
	askLoading = 30 * time.Second // an own server that does not say it: it may be loading the model
	keepProbed = 2 * time.Hour
)

// NewProber makes a Prober that asks nobody until it is configured, and has somebody to ask through.
func NewProber(w *Windows, log *slog.Logger) *Prober {
	p := &Prober{windows: w, log: log, busy: map[string]bool{}}
	p.life, p.stop = context.WithCancel(context.Background())
	return p
}

// AskThrough sets how servers are asked from now on; nil is not at all.
func (p *Prober) AskThrough(get Get) {
	p.windows.mu.Lock()
	defer p.windows.mu.Unlock()
	p.get = get
}

// Configure sets who is asked from now on, by the names of upstreams. All are asked anew, as whoever has the
// configuration read again may have changed a server, too. What others have said is forgotten.
func (p *Prober) Configure(servers map[string]Server) {
	p.windows.mu.Lock()
	defer p.windows.mu.Unlock()
	for q, k := range p.windows.known {
		k.askAt = time.Time{}
		if s, ok := servers[q.upstream]; !ok || s != p.servers[q.upstream] {
			k.probed = lesson{}
		}
	}
	p.servers = servers
}

// Note has a server asked about a model to which a request goes, if that is due. It does not wait.
func (p *Prober) Note(upstream, model string) {
	p.windows.mu.Lock()
	defer p.windows.mu.Unlock()
	now := p.windows.now()
	k, s := p.windows.of(id{upstream, model}), p.servers[upstream]
	if k == nil || s.URL == "" || p.get == nil || p.busy[upstream] || now.Before(k.askAt) || p.life.Err() != nil {
		return
	}
	k.askAt = now.Add(askAgain)
	if s.Own {
		k.askAt = now.Add(askLoading)
	}
	q, get := id{strings.Clone(upstream), strings.Clone(model)}, p.get // they may be parts of a whole request
	p.busy[q.upstream] = true
	p.running.Go(func() { p.probe(get, s, q) })
}

// probe asks a server about a model, and takes over what it says unless the configuration has changed since.
func (p *Prober) probe(get Get, s Server, q id) {
	log := p.log.With("upstream", q.upstream, "model", event.Clip(q.model))
	defer func() {
		if caught := recover(); caught != nil {
			log.Error("panic while asking how much a model holds", "panic", caught, "stack", string(debug.Stack()))
		}
		p.windows.mu.Lock()
		delete(p.busy, q.upstream)
		p.windows.mu.Unlock()
	}()
	tokens, err := p.ask(get, s, q)
	if tokens == 0 {
		log.Debug("a server does not say how much a model holds", "error", err)
		return
	}
	believed := p.windows.Of(q.upstream, q.model)
	p.windows.mu.Lock()
	if k := p.windows.of(q); p.servers[q.upstream] == s {
		now := p.windows.now()
		k.askAt, k.probed = now.Add(askAgain), lesson{Tokens: tokens, Until: now.Add(keepProbed)}
	}
	p.windows.mu.Unlock()
	log = log.With("window", tokens, "believed", believed.Tokens, "from", string(believed.Source))
	if tokens < believed.Tokens && believed.Source == Configured {
		log.Warn("a server says that a model holds less than is configured: what it says counts",
			"do", "write the smaller number in [window.models], or have the server hold more")
	} else if tokens != believed.Tokens {
		log.Info("a server says how much a model holds")
	}
}

// ask asks one question after the other until the server tells the window. What fails within a server may not on
// another path; where the server is not to be reached, or asks for patience or a key, nothing else is asked.
func (p *Prober) ask(get Get, s Server, q id) (tokens int, err error) {
	for _, l := range looksFor(q.model, s.Own) {
		status, body, err := p.read(get, q.upstream, l.path)
		switch {
		case err != nil:
			return 0, err
		case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusTooManyRequests:
			return 0, fmt.Errorf("it answered with status %d", status)
		case status == http.StatusOK && gjson.ValidBytes(body):
			if tokens = l.read(gjson.ParseBytes(body), q.model); tokens > 0 {
				return tokens, nil
			}
		}
	}
	return 0, nil
}

func (p *Prober) read(get Get, upstream, path string) (status int, body []byte, err error) {
	ctx, cancel := context.WithTimeout(p.life, probeWait)
	defer cancel()
	status, answer, err := get(ctx, upstream, path)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = answer.Close() }()
	body, err = io.ReadAll(io.LimitReader(answer, mostProbe))
	return status, body, err
}

// Close ends what is being asked, and returns when nothing is any more.
func (p *Prober) Close() {
	p.windows.mu.Lock()
	p.stop()
	p.windows.mu.Unlock()
	p.running.Wait()
}
