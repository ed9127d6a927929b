// Package service is what a running epitome does beside relaying: it shows, searches and undoes what it has left out of
// conversations, shortens one that a program sends for that, hands one off, forgets one, and says how it runs.
//
// It guarantees that an answer for one scope has nothing of another, that a conversation is shortened as it would be on
// its way to a provider, and that after an error the same can be asked again.
package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"epitome/config"
	"epitome/dialect"
	"epitome/event"
	"epitome/event/journal"
	"epitome/internal/unit"
	"epitome/offload"
	"epitome/proxy"
	"epitome/rewrite"
	"epitome/rewrite/ledger"
	"epitome/store"
	"epitome/window"
)

// Service answers for one epitome, whose parts are its fields: none may be nil. Its methods may be called from any
// goroutine.
type Service struct {
	Log      *slog.Logger
	Config   func() *config.Config // that in force
	Store    store.Store
	Shelf    *offload.Shelf
	Book     *journal.Book
	Windows  *window.Windows
	Proxy    *proxy.Proxy
	Live     *rewrite.Shaper // of requests to a provider
	Deps     rewrite.Deps    // of Live
	Gateway  *rewrite.Shaper // of conversations of a gateway
	Observed *ledger.Ledger  // has the decisions of the modes on and observe

	Requests string     // the folder of the newest requests, for all runs of a user
	Quota    unit.Bytes // of all files there; 0: nothing is written

	mu        sync.Mutex // guards the folder, and what follows
	unwritten error      // why a request was not written the last time; nil if all were
}

// refusal is an error of those who ask. It says what to ask instead.
type refusal string

func (r refusal) Error() string { return string(r) }

// Status is that of an answer that says it.
func (r refusal) Status() int { return http.StatusBadRequest }

// Edits reads the edits that a request was sent with, or in mode observe would have been, by the key of its decision. A
// request without edits of its messages has no key. What epitome adds to the system prompt edits no message.
func (s *Service) Edits(decision string) (event.Edits, error) {
	all := event.Edits{List: []event.Edit{}} // not null in JSON
	if decision == "" {
		return all, nil
	}
	sent, found, err := s.Observed.At(decision) // this ledger has the decisions of both modes
	if err == nil && !found {
		all.Missing = "the decision for this request is not kept any more: it has expired, or its store is gone"
	}
	for _, c := range rewrite.Changes(sent.Edits, sent.Added, sent.Ratio) {
		edit := event.Edit{
			Item: c.Messages[0], Last: c.Messages[1], Rung: string(c.Step), Code: c.Reason, Reason: c.Reason.Sentence(),
			New: c.New, Before: c.Before, After: c.After, Text: c.Text,
		}
		if len(c.Artifacts) > 0 {
			edit.Artifact = c.Artifacts[0] // of two, the second has the JSON as the client sent it
		}
		all.List = append(all.List, edit)
	}
	return all, err
}

// EditsWith returns the edits of the conversation that has one with the artifact. Forks share transcripts: then these
// are the edits that all have. The artifact is of the scope of requests with the headers, if there are headers.
func (s *Service) EditsWith(ctx context.Context, h http.Header, artifact string) (edits []event.Edit, err error) {
	if err := s.checkScope(h, artifact); err != nil {
		return nil, err
	}
	first, err := s.Observed.With(artifact)
	if err != nil {
		return nil, err
	}
	_, isShared := s.Store.(*store.Redis) // other replicas have conversations that this one does not know
	isSeveral := isShared || len(first) > 1
	var decisions []string
	if !isSeveral {
		decisions = s.newestOf(first)
	}
	if len(decisions) == 0 { // the first request of the conversation is under way, or there are several
		decisions = slices.Sorted(maps.Values(first))
	}
	for _, key := range decisions {
		sent, err := s.Edits(key)
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return nil, err
		}
		at := indexOf(artifact, sent.List)
		if at < 0 {
			continue
		}
		isTranscript := sent.List[at].Last > sent.List[at].Item
		if !isTranscript && (edits != nil || isSeveral) {
			return nil, refusal("other conversations may have this artifact: name a transcript")
		}
		if edits == nil {
			edits = slices.Clone(sent.List)
			if isSeveral { // those behind a transcript may be of one conversation alone
				edits = edits[:at+1]
			}
		}
		edits = slices.DeleteFunc(edits, func(e event.Edit) bool { return e.Text == "" || indexOf(e.Artifact, sent.List) < 0 })
	}
	if edits == nil {
		return nil, offload.ErrUnknown
	}
	return edits, nil
}

// newestOf returns the keys of the newest decisions of conversations, by the Hash of the ID, and of those that branched
// off from them.
func (s *Service) newestOf(conversations map[string]string) (keys []string) {
	all := s.Book.Conversations()
	parents := map[string]string{}
	for _, c := range all {
		parents[c.ID] = c.Parent
	}
	for _, c := range all {
		id := c.ID
		for id != "" && conversations[ledger.Hash(id)] == "" {
			id = parents[id]
		}
		if id != "" {
			keys = append(keys, cmp.Or(s.Live.Decision(c.ID), c.Decision)) // a request may be under way
		}
	}
	return keys
}

// checkScope returns an error unless an artifact is of the scope of requests with the headers, or there are no headers.
func (s *Service) checkScope(h http.Header, artifact string) error {
	if artifact == "" && h == nil {
		return offload.ErrUnknown
	}
	if h == nil {
		return nil
	}
	scope, err := s.Proxy.ScopeOf(h)
	if err != nil {
		return err
	}
	content, _ := s.Shelf.Get(artifact) // without it, the names differ
	if s.Shelf.Name(scope, content) != artifact {
		return offload.ErrUnknown
	}
	return nil
}

// indexOf returns where the edit with an artifact and a text stands; negative if there is none. Of several edits with
// one artifact, only the first has a text.
func indexOf(artifact string, edits []event.Edit) int {
	return slices.IndexFunc(edits, func(e event.Edit) bool { return e.Artifact == artifact && e.Text != "" })
}

// Restore has the next requests of a conversation sent without the edits that its newest one was sent with, as far as
// the window allows. It returns how many these are.
func (s *Service) Restore(conversation string) (edits int, err error) {
	c, err := s.Book.Conversation(conversation)
	if c.Decision != "" {
		edits, err = s.Deps.Ledger.Restore(c.Decision)
	}
	if edits > 0 {
		s.Log.Info("conversation_restored", "conversation", conversation, "edits", edits)
	}
	return edits, err
}

// Ask has the next request of a conversation compacted as x-epitome-compact: now would, with its values to and focus.
func (s *Service) Ask(conversation, to, focus string) error {
	ask, err := proxy.ReadAsk(to, focus)
	if err != nil {
		return refusal(err.Error())
	}
	s.Live.Ask(conversation, ask)
	s.Log.Info("compaction_asked", "conversation", conversation, "to", ask.To)
	return nil
}

// IsAsked reports whether no request has come yet since Ask.
func (s *Service) IsAsked(conversation string) bool { return s.Live.IsAsked(conversation) }

// inputOf returns how the conversation in the body is shaped for the headers of a request to epitome itself. The query
// may name its API and its upstream.
func (s *Service) inputOf(r *http.Request, body []byte) (rewrite.Input, error) {
	query := r.URL.Query()
	api, err := dialect.Of(query.Get("dialect"), body)
	if err != nil {
		return rewrite.Input{}, err
	}
	return s.Proxy.InputOf(api, r.Header, query.Get("upstream"), body)
}

// Compress answers POST /-/v1/compress: it shapes the conversation in the body as if it were on its way to the upstream
// of its model. Decisions are recorded, so that the next call repeats them. Code writes summaries, as a gateway sends
// no credential with which a model could be asked. After a failure, what was decided before is repeated.
func (s *Service) Compress(r *http.Request, body []byte) (rewrite.Output, error) {
	asked, err := s.inputOf(r, body)
	if err != nil {
		return rewrite.Output{}, err
	}
	asked.Now = time.Now()
	out := s.Gateway.Shape(asked)
	if out.Report.Err != nil {
		s.Log.Warn("cannot shape what a gateway sent", "error", out.Report.Err.Error())
	}
	if out.Report.Items == 0 || !gjson.GetBytes(body, "messages").IsArray() {
		return out, errors.New(`cannot read the body: send {"messages": [...], "model": "..."}`)
	}
	return out, nil
}

// Compact answers POST /-/compact: it compacts the conversation in the body as the proxy would for the same headers,
// whatever its size, or to the tokens that the query has as "to". It decides by what was decided for the conversation,
// and records nothing, because the result is a conversation of its own. Artifacts are kept, as the client may ask for
// them.
func (s *Service) Compact(r *http.Request, body []byte) (rewrite.Output, error) {
	asked, err := s.inputOf(r, body)
	if err != nil {
		return rewrite.Output{}, err
	}
	ask, err := proxy.ReadAsk(r.URL.Query().Get("to"), "")
	if err != nil {
		return rewrite.Output{}, fmt.Errorf("cannot compact: %w", err)
	}
	asked.Compact, asked.CompactTo = true, cmp.Or(ask.To, asked.CompactTo)
	out := rewrite.NewShaper(Overlay(s.Deps)).Shape(asked)
	if out.Report.Items == 0 && out.Report.Err == nil {
		return rewrite.Output{}, fmt.Errorf("cannot compact the body: %s; send a request of Chat Completions, "+
			"Anthropic Messages or OpenAI Responses", out.Report.Reason)
	}
	return out, nil
}

// Overlay returns d with a ledger that has the decisions of d and writes none there. No model is asked for a summary,
// and no context files are added.
func Overlay(d rewrite.Deps) rewrite.Deps {
	const memory = 16 << 20 // bytes for decisions that only an overlay knows
	d.Ledger = d.Ledger.Overlay(store.NewMemory(memory))
	d.Summarizer, d.Inject = nil, nil
	return d
}
