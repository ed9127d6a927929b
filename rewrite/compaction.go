package rewrite

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"epitome/dialect/activity"
	"epitome/dialect/conversation"
	"epitome/event"
	"epitome/internal/jsonspan"
	"epitome/offload"
	"epitome/rewrite/view"
	"epitome/summarize"
)

// Compacted is the answer to a client that asks its provider for a compaction: the client keeps it in the place of all
// but the user's messages.
type Compacted struct {
	Name   string // the same for the same text
	Sealed string // the text, which epitome puts in the place of the item that holds it: see expand
	Tokens int    // of the text, as the model counts
}

var errNotWhole = errors.New("cannot compact: send the whole conversation as input; this upstream makes no " +
	"compactions, and epitome does not have what the provider keeps")

// sealName is the secret with which compactions of the request's scope are sealed: replicas that share the shelf's
// secret can open them.
func (x *shaping) sealName() string {
	return x.deps.Shelf.Name("the seal of compactions", []byte(x.in.Scope))
}

// sealedIn returns the text of a provider's or epitome's compaction item, as the client keeps it.
func sealedIn(r *conversation.Request, it *conversation.Item) string {
	if !it.Compaction || len(it.Reasoning) == 0 {
		return ""
	}
	return jsonspan.StringOf(it.Reasoning[0].Sealed.Of(r.Body))
}

// mostExpanded is how many bytes the texts of all compactions in a request may have.
const mostExpanded = 8 << 20

// expand puts a message of the user in the place of each compaction that epitome has made, always the same for the same
// item: no provider can read the item. The rest of the program sees an ordinary conversation. The error refuses an item
// that was made elsewhere, or has been changed.
func (x *shaping) expand() error {
	if !bytes.Contains(x.in.Body, []byte(offload.SealMark)) {
		return nil
	}
	r, err := conversation.Read(x.in.Dialect, x.in.Body, nil)
	if err != nil {
		return nil // the caller finds the same
	}
	var edits []jsonspan.Edit
	size := 0
	for i := range r.Items {
		sealed := sealedIn(r, &r.Items[i])
		if !strings.HasPrefix(sealed, offload.SealMark) {
			continue
		}
		text, err := offload.Open(x.sealName(), sealed)
		if err != nil {
			return errors.New("the compaction in this request was made for another credential, or by an epitome with " +
				"another secret, or it was changed: send the credential with which the session began, give all " +
				"epitomes the same offload.secret_file, or begin a new session. With keys of epitome's, clients may change " +
				"credentials")
		}
		size += len(text)
		if size > mostExpanded {
			return errors.New("the compactions in this request are too large together: send the newest one alone")
		}
		edits = append(edits, jsonspan.Edit{Span: r.Items[i].Span, With: r.Dialect.API().Message("user", string(text))})
		x.earlier = append(x.earlier, string(text))
	}
	body, err := jsonspan.Splice(x.in.Body, edits, nil)
	if err == nil && len(edits) > 0 {
		x.in.Body, x.out.Body, x.out.Changed = body, body, true
	}
	return nil
}

// meetCompaction looks for what the request asks of the provider's own compaction. If the upstream Lacks that,
// epitome takes its place, unless a provider's summary in the request shows otherwise: then only the provider can
// make the next. The request that is returned is the one to shape. An error refuses it.
func (x *shaping) meetCompaction(r *conversation.Request) (*conversation.Request, error) {
	var triggers []jsonspan.Span
	for i := range r.Items {
		it := &r.Items[i]
		if it.Trigger {
			triggers = append(triggers, it.Span)
		}
		if sealed := sealedIn(r, it); sealed != "" {
			x.out.Foreign = append(x.out.Foreign, sealed)
		}
	}
	isLast := len(triggers) == 0 || r.Items[len(r.Items)-1].Trigger
	if !x.in.Compacts && (len(triggers) > 1 || !isLast) { // any provider refuses this, which says nothing about it
		return r, nil
	}
	asksNow := x.in.Compacts || len(triggers) > 0
	x.out.Asks, x.out.AsksNow = asksNow || !r.Unserved.Empty(), asksNow
	isServed := x.out.Asks && len(x.out.Foreign) == 0 && (x.in.Lacks || !asksNow && !x.in.Makes && x.isIgnored(r))
	if !isServed || x.in.Rescue != nil && asksNow {
		return r, nil
	}
	if asksNow {
		var err error
		r, err = x.serve(r, triggers)
		if err != nil {
			return nil, err
		}
	}
	r.Strips, r.Upkeep = !r.Unserved.Empty(), conversation.NobodyElse
	return r, nil
}

// serve has epitome make the compaction that a request asks for. It returns the request without its triggers.
func (x *shaping) serve(r *conversation.Request, triggers []jsonspan.Span) (*conversation.Request, error) {
	if len(r.Items) == len(triggers) {
		return nil, errors.New("cannot compact: the request has no messages; send the conversation with it")
	}
	body, err := jsonspan.Splice(x.in.Body, jsonspan.TakeOut(x.in.Body, triggers...), nil)
	if err != nil || !r.ServerState.Empty() {
		return nil, errNotWhole
	}
	x.in.Body, x.in.Compact, x.in.Replay, x.serves = body, true, false, true
	r, err = x.parse(x.last.request)
	if err != nil {
		return nil, errNotWhole
	}
	return r, nil
}

// isIgnored reports whether the provider lets the size pass at which it was to compact by itself: it has answered a
// request that asked for that and was clearly larger, and this one, which continues it, has no summary of the provider.
func (x *shaping) isIgnored(r *conversation.Request) bool {
	last, tokens := x.last.request, x.last.report.TokensBefore.Total()
	if r.Threshold == 0 || last == nil || last.Threshold != r.Threshold || tokens < r.Threshold/4*5 {
		return false
	}
	isAnswer := func(it conversation.Item) bool { return it.StartsAnswer }
	return len(r.Items) > len(last.Items) && slices.ContainsFunc(r.Items[len(last.Items):], isAnswer)
}

// leastCarried is how many tokens the text of a compaction may have in any case.
const leastCarried = 2_000

// carried returns the conversation, as it was just compacted, as one sealed text. The error refuses the request.
func (x *shaping) carried() (*Compacted, error) {
	k, v, r := x.known, &x.plan.View, x.request
	c := summarize.Carried{Client: r, Request: r, Calls: k.Calls, First: r.Head, Earlier: strings.Join(x.earlier, "\n"),
		Count: k.Scale.CountText, Where: "Nothing else of it is kept."}
	for _, e := range v.Edits {
		if e.Op == view.Drop {
			c.Summary += e.Text
		}
	}
	if sent, err := conversation.Read(x.in.Dialect, x.out.Body, nil); err == nil { // it was verified
		c.Request, c.Calls = sent, activity.Of(sent, nil)
	}
	whole := k.View(nil)
	stays := v.Overhead() - c.Count(c.Earlier) // the prompt and the user's messages
	c.Room = max(leastCarried, min(k.Limits.TargetLine, whole.Total*3/5)-stays)
	if r.Head < len(r.Items) {
		names := k.KeepItems(r.Head, len(r.Items))
		isLost := func(name string) bool { return x.deps.Shelf.Put(name, k.Artifacts.Content[name], true) != nil }
		if !slices.ContainsFunc(names, isLost) {
			c.Where = k.TranscriptAt(names)
		}
	}
	text := c.Text()
	sealed, err := offload.Seal(x.sealName(), []byte(text))
	if err != nil {
		return nil, fmt.Errorf("cannot compact: %w", err)
	}
	tokens := c.Count(text)
	if x.out.Report.Code != event.CodeAgain { // else it is the same once more, and no new one
		p := &x.plan
		if p.Compaction == nil || p.Compaction.Kind == event.CompactionFailed { // no summary was needed
			p.Compaction = &event.Compaction{Reason: event.ReasonManual, Mode: string(summarize.Intent)}
		}
		p.Compaction.Kind = event.CompactionCompleted
		p.Compaction.TokensBefore, p.Compaction.TokensAfter = k.OfModel(whole.Total), k.OfModel(stays+tokens)
	}
	name := x.deps.Shelf.Name(x.in.Scope, []byte(text))
	return &Compacted{Name: name, Sealed: sealed, Tokens: k.OfModel(tokens)}, nil
}
