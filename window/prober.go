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

// Prober asks servers in the background how much their models hold. No conversation waits for it: it goes on with what
// is believed. One server is asked about one model at a time, and what is kept of answers is bounded. Make one with
// NewProber, and close it.
type Prober struct {
	windows *Windows
	log     *slog.Logger

	life    context.Context // ends all that is asked
	stop    context.CancelFunc
	running sync.WaitGroup

	mu      sync.Mutex
	ask     Ask               // nil until there is a proxy: nobody is asked before
	servers map[string]Server // by the names of their upstreams; others are not asked
	busy    map[string]bool
	next    map[id]time.Time // when a model may be asked for again; at most mostKnown
}

// Server is an upstream that may be asked.
type Server struct {
	URL string
	Own bool // on this machine or in its network: it may be of any kind
}

// Ask sends a request of epitome's own to an upstream, without a client's key.
type Ask func(ctx context.Context, upstream, method, path string, body []byte) (status int, answer io.ReadCloser, err error)

const (
	probeWait  = 5 * time.Second // for one answer
	mostProbe  = 4 << 20         // bytes of an answer; lists of large hosts have hundreds of models with a page each
	askAgain   = time.Hour       // after an answer; after none:
	askMissed  = 5 * time.Minute
	askLoading = 30 * time.Second // an own server, which may be loading the model
)

// NewProber makes one that asks nobody until it is configured, and has somebody to ask through. The windows learn what
// servers say.
func NewProber(windows *Windows, log *slog.Logger) *Prober {
	p := &Prober{windows: windows, log: log, busy: map[string]bool{}, next: map[id]time.Time{}}
	p.life, p.stop = context.WithCancel(context.Background())
	return p
}

// AskThrough sets how servers are asked from now on; nil is not at all.
func (p *Prober) AskThrough(ask Ask) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ask = ask
}

// Configure sets who is asked from now on, by the names of upstreams. All are asked anew, as whoever has the
// configuration read again may have changed a server, too. What others have said is forgotten.
func (p *Prober) Configure(servers map[string]Server) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.servers
	p.servers = servers
	clear(p.next)
	p.windows.forgetProbes(func(upstream string) bool {
		s, asked := servers[upstream]
		return !asked || s != before[upstream]
	})
}

// Note has a model asked for to which a conversation goes, if nobody knows it yet. It does not wait.
func (p *Prober) Note(upstream, model string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	ask, q := p.ask, id{upstream, model}
	s, asked := p.servers[upstream]
	if !asked || ask == nil || p.busy[upstream] || p.windows.now().Before(p.next[q]) ||
		len(model) > maxName || p.life.Err() != nil {
		return
	}
	q = id{strings.Clone(upstream), strings.Clone(model)} // they may be parts of a whole request
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
		tokens, err := p.probe(ask, s, q)
		p.take(s, q, tokens, err)
	})
}

// probe asks a server about a model, in one way after the other until it says something. What fails within a server may
// not on another path; where the server is not to be reached, or asks for patience or a key, no other is tried.
func (p *Prober) probe(ask Ask, s Server, q id) (tokens int, err error) {
	status := 0
	for _, l := range looksFor(q.model, s.Own) {
		if l.after && status != http.StatusOK {
			continue
		}
		var body []byte
		status, body, err = p.send(ask, q.upstream, l)
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

func (p *Prober) send(ask Ask, upstream string, l look) (status int, body []byte, err error) {
	ctx, cancel := context.WithTimeout(p.life, probeWait)
	defer cancel()
	status, answer, err := ask(ctx, upstream, l.method, l.path, l.body)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = answer.Close() }()
	body, err = io.ReadAll(io.LimitReader(answer, mostProbe))
	return status, body, err
}

// take takes over what a server has said, unless it is not asked any more, and logs what is news: a warning if the
// configuration says more.
func (p *Prober) take(s Server, q id, tokens int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.servers[q.upstream] != s || p.life.Err() != nil {
		return
	}
	wait := askAgain
	if tokens == 0 && s.Own {
		wait = askLoading
	} else if tokens == 0 {
		wait = askMissed
	}
	if len(p.next) >= mostKnown {
		clear(p.next)
	}
	p.next[q] = p.windows.now().Add(wait)

	log := p.log.With("upstream", q.upstream, "model", event.Clip(q.model))
	if tokens == 0 {
		log.Debug("a server does not say how much a model holds", "error", err)
		return
	}
	believed := p.windows.Of(q.upstream, q.model)
	p.windows.LearnProbe(q.upstream, q.model, tokens)
	log = log.With("window", tokens, "believed", believed.Tokens, "from", string(believed.Source))
	switch {
	case tokens == believed.Tokens:
	case tokens < believed.Tokens && believed.Source == Configured:
		log.Warn("a server says that a model holds less than is configured: what it says counts",
			"do", "write the smaller number in [window.models], or have the server hold more")
	default:
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
