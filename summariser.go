package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"epitome/proxy"
	"epitome/rewrite"
	"epitome/store"
	"epitome/summarize"
	"epitome/tokenize"
	"epitome/window"
)

// summariser is the Summariser as rewriting sees it: what it asks goes out through the proxy.
type summariser struct {
	*summarize.Summariser
	conf    atomic.Pointer[Config]
	windows *atomic.Pointer[window.Windows]
	proxy   atomic.Pointer[proxy.Proxy] // nil until there is one
}

// newSummariser makes one over what is kept. Nothing can be asked until it has a proxy.
func newSummariser(conf Config, k *keeping, counters *tokenize.Counters) *summariser {
	s := &summariser{windows: &k.windows}
	s.conf.Store(&conf)
	keep := conf.Store.Keep.D() // fixed at start
	s.Summariser = summarize.New(conf.Summarize, summarize.Means{
		Store: k.store, Keep: func() time.Duration { return keep }, Send: s.send, Dialect: chat{}, Overflow: window.TooLong,
		Count: countIn(tokenize.O200k, counters), Tell: k.telling.job, Log: k.log,
	})
	return s
}

// storedSummaries is one that finds what a store holds, and does nothing else.
func storedSummaries(conf Config, s store.Store, counters *tokenize.Counters) *summariser {
	return &summariser{Summariser: summarize.New(conf.Summarize, summarize.Means{Store: s, Count: countIn(tokenize.O200k, counters)})}
}

// configure puts another configuration in force for what is asked from now on.
func (s *summariser) configure(conf Config) {
	s.conf.Store(&conf)
	s.Configure(conf.Summarize)
}

// Look returns prose that was made before, or says that it is being made.
func (s *summariser) Look(key string) (p rewrite.Prose, found, pending bool) {
	pending = s.Pending(key) // first: what ends in between is found
	made, found := s.Ready(key)
	return proseOf(made), found, pending && !found
}

// Ask returns the answer, or after a while an error, while it is still being made.
func (s *summariser) Ask(ctx context.Context, q rewrite.Question) (rewrite.Prose, error) {
	p, err := s.Summariser.Ask(ctx, s.question(q))
	return proseOf(p), err
}

// Prepare has the question answered in the background.
func (s *summariser) Prepare(q rewrite.Question) { s.Summariser.Prepare(s.question(q)) }

// Prepares reports whether questions of conversations with the upstream are answered ahead of need. A local server mostly works for
// one at a time: what it is asked in the background would make the agent wait, and push its conversation out of the cache.
func (s *summariser) Prepares(upstream string) bool {
	conf := s.conf.Load()
	switch conf.Summarize.Prepare {
	case summarize.PrepareOn:
		return true
	case summarize.PrepareOff:
		return false
	}
	asked := cmp.Or(conf.Summarize.Upstream, upstream)
	u, known := conf.Upstreams[asked]
	return known && (asked != upstream || !isLocal(u.URL))
}

// question is what rewriting asks, in the words of package summarize, to be answered by the configuration as it is now.
func (s *summariser) question(q rewrite.Question) summarize.Question {
	by := s.conf.Load().Summarize
	by.Detail = cmp.Or(q.Detail, by.Detail)
	asked := summarize.Question{
		Key: q.Key, Conversation: q.Conversation, Upstream: q.Upstream, Model: q.Model, Credential: q.Credential, By: &by,
		Continue: q.Continue, Earlier: q.Earlier, SpanTokens: q.SpanTokens, Room: q.Room, Usable: q.Usable,
		Transcript: make([]summarize.Entry, 0, len(q.Transcript)),
	}
	for _, e := range q.Transcript {
		asked.Transcript = append(asked.Transcript, summarize.Entry{Group: e.Group, Role: e.Kind, Tool: e.Tool, State: e.State, Text: e.Text})
	}
	if by.Model != "" || by.Upstream != "" { // another model is told the span as text, and has its own window
		w := s.windows.Load().Of(cmp.Or(by.Upstream, q.Upstream), cmp.Or(by.Model, q.Model))
		asked.Continue, asked.Usable = nil, window.Usable(w.Tokens, 0)
	}
	return asked
}

func proseOf(p summarize.Prose) rewrite.Prose {
	return rewrite.Prose{
		Text: p.Text, Requests: p.Requests, InputTokens: p.InputTokens, CachedTokens: p.CachedTokens,
		OutputTokens: p.OutputTokens, Took: p.Took,
	}
}

// errNoProxy says that nothing can be sent yet.
var errNoProxy = errors.New("there is no proxy to ask through")

// send has the proxy ask an upstream.
func (s *summariser) send(ctx context.Context, r summarize.Request) (summarize.Response, error) {
	p := s.proxy.Load()
	if p == nil {
		return summarize.Response{}, errNoProxy
	}
	client, _ := r.Credential.(proxy.Credential) // there is none where the upstream is not the one it was given to
	a, err := p.Ask(ctx, proxy.Question{Upstream: r.Upstream, Body: r.Body, Credential: client, KeyEnv: r.KeyEnv})
	if err != nil {
		return summarize.Response{}, err
	}
	return summarize.Response{Status: a.Status, ContentType: a.ContentType, RetryAfter: a.RetryAfter, Body: a.Body}, nil
}

// countIn counts tokens in a vocabulary. O200k is the one that is nearest to most models'.
func countIn(v tokenize.Vocabulary, counters *tokenize.Counters) func(text string) int {
	return func(text string) int {
		c, err := counters.For(v)
		if err != nil {
			return len(text) / 3 // rewriting, which cannot count either, has said so
		}
		return c.CountString(text)
	}
}

// isLocal reports whether a base URL is that of a server on this machine or in its own network.
func isLocal(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if ip, err := netip.ParseAddr(host); err == nil {
		ip = ip.Unmap()
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsUnspecified()
	}
	for _, end := range [...]string{".localhost", ".local", ".internal"} {
		if strings.HasSuffix(host, end) {
			return true
		}
	}
	return !strings.Contains(host, ".")
}

// chat is the dialect of Chat Completions.
type chat struct{}

// Continue puts an instruction behind the conversation in body.
func (chat) Continue(body []byte, instruction string, f summarize.Form) ([]byte, error) {
	return rewrite.ContinueChat(body, instruction, rewrite.ChatForm(f))
}

// Prompt is a request of its own.
func (chat) Prompt(model, system, user string, f summarize.Form) []byte {
	return rewrite.PromptChat(model, system, user, rewrite.ChatForm(f))
}

// Read reads an answer to its end.
func (chat) Read(contentType string, body io.Reader) (summarize.Answer, error) {
	a, err := rewrite.ReadChatAnswer(contentType, body)
	return summarize.Answer(a), err
}

// Adapt says in which other form to ask.
func (chat) Adapt(f summarize.Form, refusal []byte) (summarize.Form, bool) {
	with, ok := rewrite.AdaptChat(rewrite.ChatForm(f), refusal)
	return summarize.Form(with), ok
}
