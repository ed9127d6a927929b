// Package remote keeps memories with somebody else's server, over HTTP, in place of epitome's own store.
//
// It promises that a reading waits no longer than it is told, that what the server said last counts where it does not
// answer, that an answer is bounded and made sound whoever wrote it, and that the log tells a failure once until it is
// over. It follows no redirect, sends no credential, and of a scope a hash; no error has the URL, which may hold a
// secret.
package remote

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
	"unicode"

	"epitome/summarize/memory"
)

// Options say where memories are kept.
type Options struct {
	URL  string        // of the server; a query that it has stays
	Wait time.Duration // for which a reading is waited
	Log  *slog.Logger
	Now  func() time.Time
}

const (
	mostAnswer = 64 << 10         // bytes
	mostKnown  = 256              // memories that are remembered; all are forgotten beyond that
	longestPut = 10 * time.Second // for which a writing is waited; no request of a client does
	pause      = 10 * time.Second // after a failure, in which nobody is kept waiting
)

// Place keeps memories with the server. Its methods may be called from any goroutine. Make one with New.
type Place struct {
	options Options
	client  *http.Client

	mu      sync.Mutex
	known   map[memory.Owner]memory.Memory // as the server said last
	failing bool                           // as the log has said
	rests   time.Time                      // until when it is not asked
	why     error                          // of the last failure
}

var _ memory.Place = (*Place)(nil)

// New returns the place at the options' URL.
func New(o Options) *Place {
	return &Place{options: o, known: map[memory.Owner]memory.Memory{}, client: &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// scopeOf stands for a scope: who keeps the memory learns only which of them are one.
func scopeOf(o memory.Owner) string {
	sum := sha256.Sum256([]byte("memory of " + o.Scope))
	return hex.EncodeToString(sum[:16])
}

// note is an entry on the wire.
type note struct {
	Kind memory.Kind `json:"kind"`
	Text string      `json:"text"`
	At   time.Time   `json:"at,omitzero"`
}

// Read does what memory.Place says. Without an answer it is what the server said last, and an error if that is nothing.
func (p *Place) Read(o memory.Owner) (memory.Memory, error) {
	if o.Project == "" {
		return memory.Memory{}, nil
	}
	if p.mayAsk() {
		m, err := p.get(o)
		p.settle(err)
		if err == nil {
			p.remember(o, m)
			return m, nil
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if m, known := p.known[o]; known {
		return m, nil
	}
	return memory.Memory{}, fmt.Errorf("cannot read the memory of a project from memory.webhook: %w", p.why)
}

// mayAsk reports whether the server may be asked. It rests after a failure.
func (p *Place) mayAsk() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.options.Now().Before(p.rests)
}

// settle takes note of how asking has ended, and tells the log when that is news.
func (p *Place) settle(err error) {
	p.mu.Lock()
	news := p.failing != (err != nil)
	p.failing, p.why = err != nil, err
	if p.rests = (time.Time{}); err != nil {
		p.rests = p.options.Now().Add(pause)
	}
	p.mu.Unlock()
	switch {
	case news && err != nil:
		p.options.Log.Warn("memory.webhook does not answer: what it said last counts until it does", "error", err.Error())
	case news:
		p.options.Log.Info("memory.webhook answers again")
	}
}

func (p *Place) remember(o memory.Owner, m memory.Memory) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, known := p.known[o]; !known && len(p.known) >= mostKnown {
		clear(p.known)
	}
	p.known[o] = m
}

// get asks for a memory.
func (p *Place) get(o memory.Owner) (m memory.Memory, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), p.options.Wait)
	defer cancel()
	at, err := url.Parse(p.options.URL)
	if err != nil {
		return m, errNoURL
	}
	query := at.Query()
	query.Set("scope", scopeOf(o))
	query.Set("project", o.Project)
	at.RawQuery = query.Encode()
	answer, err := p.ask(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return m, err
	}
	var said struct{ Entries []note }
	if err := json.Unmarshal(answer, &said); err != nil {
		return m, errNoEntries
	}
	entries := make([]memory.Entry, len(said.Entries))
	for i, n := range said.Entries {
		entries[i] = memory.Entry{Kind: n.Kind, Text: n.Text, At: n.At}
	}
	return memory.Of(entries), nil
}

// Why an answer is none.
var (
	errNoURL     = errors.New("its URL cannot be read")
	errNoEntries = errors.New(`it did not answer {"entries":[{"kind":"fact","text":"…"}]}`)
)

// Learn does what memory.Place says.
func (p *Place) Learn(o memory.Owner, l memory.Learned) error {
	if l.IsEmpty() || o.Project == "" {
		return nil
	}
	var said struct {
		Scope   string `json:"scope"`
		Project string `json:"project"`
		Learned struct {
			Add  []note   `json:"add"`
			Drop []string `json:"drop"`
		} `json:"learned"`
	}
	said.Scope, said.Project = scopeOf(o), o.Project
	now := p.options.Now()
	said.Learned.Add = []note{}
	for _, e := range (memory.Memory{}).With(l, now).Entries { // sound ones, and no more than may be
		said.Learned.Add = append(said.Learned.Add, note{e.Kind, e.Text, e.At})
	}
	said.Learned.Drop = append([]string{}, l.Bounded().Drop...)
	body, err := json.Marshal(said)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), longestPut)
	defer cancel()
	_, err = p.ask(ctx, http.MethodPost, p.options.URL, body)
	if p.settle(err); err != nil {
		return fmt.Errorf("cannot send what was learned to memory.webhook: %w", err)
	}
	p.mu.Lock()
	was, known := p.known[o]
	p.mu.Unlock()
	if known {
		p.remember(o, was.With(l, now))
	}
	return nil
}

// ask sends one request and returns what is answered. Its error has nothing of the URL.
func (p *Place) ask(ctx context.Context, method, at string, body []byte) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, at, bytes.NewReader(body))
	if err != nil {
		return nil, errNoURL
	}
	r.Header.Set("Accept", "application/json")
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	resp, err := p.client.Do(r)
	if err != nil {
		if cause := errors.Unwrap(err); cause != nil { // the outer one names the URL
			err = cause
		}
		return nil, inWords(err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, mostAnswer+1))
	switch {
	case err != nil:
		return nil, inWords(err)
	case resp.StatusCode == http.StatusNotFound && method == http.MethodGet:
		return []byte("{}"), nil // nothing is known
	case resp.StatusCode < http.StatusOK || resp.StatusCode >= http.StatusMultipleChoices:
		return nil, fmt.Errorf("it answered %d", resp.StatusCode)
	case len(answer) > mostAnswer:
		return nil, fmt.Errorf("its answer has more than %d bytes", mostAnswer)
	}
	return answer, nil
}

// inWords is what went wrong in few words on one line: some errors hold what the server has sent.
func inWords(err error) error {
	const most = 200 // characters
	text := []rune(strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.Is(unicode.C, r)
	}), " "))
	return errors.New(string(text[:min(len(text), most)]))
}
