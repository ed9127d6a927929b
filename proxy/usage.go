package proxy

import (
	"bytes"
	"slices"

	"epitome/event"
	"epitome/internal/sse"
	"epitome/proxy/wire"
	"epitome/rewrite/answer"
	"epitome/tokenize"
	"epitome/window"
)

// Lessons learn from answers how much models hold. Their methods may be called from any goroutine.
type Lessons interface {
	// LearnRefusal learns from a refusal. ok says that it is news.
	LearnRefusal(upstream, model string, v window.Refusal, s window.Sent) (tokens int, ok bool)
	// LearnAnswer learns from an answer, by our count of its request and by the provider's, which may be 0; it returns a
	// window that this shows to be too small; 0 is none.
	LearnAnswer(upstream, model string, counted, used int) (refuted int)
}

// Ratios learn from answers how models count. Their methods may be called from any goroutine.
type Ratios interface {
	// Learn takes how many tokens a request used as the provider counts, of which counted were counted here.
	Learn(s tokenize.Source, counted, used int)
}

// answerText keeps the beginning and the end of an answer's content, which have its counts of tokens. An answer with a
// content coding is kept whole, to be decoded.
type answerText struct {
	head, tail []byte
	torn       bool // bytes between head and tail are not kept
	coding     string
	learns     bool // its request was shaped: its counts are compared with our own
	counted    int  // tokens of the vocabulary in the request; 0 if the ratio cannot be learned from it
}

const (
	headBytes  = 2 << 10  // in which the usage stands at an answer's beginning
	tailBytes  = 4 << 10  // in which it stands at the end
	codedBytes = 96 << 10 // of an encoded answer that are kept
)

// listen has x keep the text of an answer.
func (x *exchange) listen(a *wire.Answer) {
	t := &answerText{coding: string(wire.Values(a.Block, "content-encoding"))}
	t.learns, t.counted = x.input != nil, x.report.Counted
	x.answer, a.Hears = t, t.add
}

// add takes the next bytes of the answer.
func (t *answerText) add(run []byte) {
	head, tail := headBytes, tailBytes
	if isEncoded([]byte(t.coding)) {
		head, tail = codedBytes, 0
	}
	n := min(head-len(t.head), len(run))
	t.head, run = append(t.head, run[:n]...), run[n:]
	if over := len(run) - tail; over > 0 {
		t.tail, run, t.torn = t.tail[:0], run[over:], true
	}
	if len(t.tail)+len(run) > 2*tail {
		t.tail, t.torn = append(t.tail[:0], t.tail[len(t.tail)-tail:]...), true
	}
	t.tail = append(t.tail, run...)
}

// text returns the kept text, with its beginning and its end on lines of their own, and the end alone. Of a coded answer
// at most so many bytes are decoded; one that is too long, or whose coding is not known, has none.
func (t *answerText) text(most int64) (all, end []byte) {
	switch {
	case !isEncoded([]byte(t.coding)) && t.torn:
		return slices.Concat(t.head, []byte("\n"), t.tail), t.tail
	case !isEncoded([]byte(t.coding)):
		all = append(t.head, t.tail...)
		return all, all
	case t.torn:
		return nil, nil
	}
	all, _ = decode(t.coding, t.head, most) // the beginning of a cut answer may tell its tokens
	return all, all
}

// readUsage reads the usage from an answer that has passed. cut says that it broke off, or that its client left: it is
// paid all the same, but nothing is learned from it. Where the answer does not tell, the request's tokens are our own
// count.
func (x *exchange) readUsage(a *wire.Answer, cut bool) {
	if x.answer == nil || a.Code < 200 || a.Code > 299 {
		return
	}
	all, end := x.answer.text(int64(x.set.conf.MaxBody))
	u, used := x.dialect.Usage(all)
	steps := lastSteps(x.dialect, end)
	if u.Source == "" {
		countUsage(&x.event)
		x.event.Usage.Cut = cut && x.event.Usage.Source != ""
	} else {
		x.event.Usage = u
		if cut || a.Length == wire.UntilClose { // clients leave when they have the last event, before the body has its end
			ended := len(steps) == 0 || slices.Contains(steps, answer.EndStep)
			over := isOfType(a, "application/json") || isOfType(a, eventStream) && ended
			x.event.Usage.Cut = u.Cut || !over
		}
	}
	if cut {
		return
	}
	if isOfType(a, eventStream) && slices.Contains(steps, answer.ErrorStep) {
		x.event.Fault, x.event.Err = event.Failed, "the upstream told of an error within its answer"
	}
	if x.answer.learns {
		x.learnFrom(used)
	}
}

// lastSteps are the meanings of the last three events in the end of a stream: usage may follow an error or the last word.
// None are there where a single event fills the end: the one with which a response ends.
func lastSteps(d Dialect, end []byte) (steps []answer.Step) {
	var kind []byte
	for f := range sse.Fields(end) {
		switch string(f.Name) {
		case "event":
			kind = bytes.TrimSpace(f.Value)
		case "data":
			steps = append(steps, d.Step(kind, f.Value))
			kind = nil
		}
	}
	return steps[max(0, len(steps)-3):]
}

const eventStream = "text/event-stream"

// isOfType reports whether an answer has a type of content.
func isOfType(a *wire.Answer, content string) bool {
	kind, _, _ := bytes.Cut(wire.Values(a.Block, "content-type"), []byte{';'})
	return wire.EqualFold(bytes.TrimSpace(kind), content)
}

// learnFrom learns from how many tokens the provider says that a request had: whether the model holds them, and how it
// counts.
func (x *exchange) learnFrom(used int) {
	counted := x.event.TokensAfter.Total()
	if counted == 0 {
		return
	}
	x.event.TokensUsed = max(used, 0)
	x.event.WindowRefuted = x.proxy.deps.Lessons.LearnAnswer(x.event.Upstream, x.event.Model, counted, used)
	if own := x.answer.counted; own > 0 && used > 0 {
		x.proxy.deps.Ratios.Learn(tokenize.Source{
			Upstream: x.event.Upstream, Model: x.event.Model, Dialect: x.dialect.Name(),
		}, own, used)
	}
}

// countUsage puts our own count of the request in the place of one that the answer does not tell.
func countUsage(e *event.Exchange) {
	if sent := ownCount(e); sent > 0 {
		e.Usage.Source, e.Usage.Input, e.Usage.CacheUnknown = event.UsageCounted, sent, true
	}
}

// ownCount is how many tokens were sent by our own count; 0 if they were not counted.
func ownCount(e *event.Exchange) int {
	if e.Mode == event.ModeObserve {
		return e.TokensBefore.Total()
	}
	return e.TokensAfter.Total()
}
