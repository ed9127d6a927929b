package proxy

import (
	"bytes"
	"slices"

	"epitome/dialect/answer"
	"epitome/dialect/conversation"
	"epitome/event"
	"epitome/proxy/wire"
)

// answerText keeps the beginning and the end of an answer's content, which have its token counts. An answer with a
// content coding is kept whole, to be decoded.
type answerText struct {
	head, tail []byte
	torn       bool   // bytes between head and tail are not kept
	coding     string // empty for the plain one
}

const (
	headBytes  = 2 << 10  // in which the usage stands at an answer's beginning
	tailBytes  = 4 << 10  // in which it stands at the end
	codedBytes = 96 << 10 // of an encoded answer that are kept
)

// listen has x keep the text of an answer.
func (x *exchange) listen(a *wire.Answer) {
	x.answer, x.held = &answerText{}, nil
	if coding := wire.Values(a.Block, "content-encoding"); isEncoded(coding) {
		x.answer.coding = string(coding)
	}
	a.Hears = x.answer.add
	if !x.asks {
		return
	}
	x.made = nil
	a.Hears = func(run []byte) {
		x.answer.add(run)
		if len(x.made) < mostCompaction {
			x.made = append(x.made, run...)
		}
	}
}

// add takes the next bytes of the answer.
func (t *answerText) add(run []byte) {
	head, tail := headBytes, tailBytes
	if t.coding != "" {
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

// text returns the kept text, with its beginning and its end on lines of their own, and the end alone. Of an answer
// that is kept whole both are all of it. Of a coded answer at most the given number of bytes are decoded; one that is
// too long, or whose coding is not known, has none.
func (t *answerText) text(most int64) (all, end []byte) {
	switch {
	case t.coding == "" && t.torn:
		return slices.Concat(t.head, []byte("\n"), t.tail), t.tail
	case t.coding == "":
		all = append(t.head, t.tail...)
	case !t.torn:
		all, _ = decode(t.coding, t.head, most) // the beginning of a cut answer may have its counts
	}
	return all, all
}

// readUsage reads the usage from an answer that has passed, and learns from it. cut says that the answer broke off, or
// that its client left: it is paid all the same, but nothing is learned from it. Where the answer states no counts, the
// request's tokens are our own count.
func (x *exchange) readUsage(a *wire.Answer, cut bool) {
	if x.answer == nil || a.Code < 200 || a.Code > 299 {
		return
	}
	e := x.event
	all, end := x.answer.text(int64(x.set.conf.MaxBody))
	u, used := x.dialect.Usage(all)
	streams, steps := isOfType(a, "text/event-stream"), lastSteps(x.dialect, end)
	switch {
	case u.Source == "":
		sent := e.TokensAfter
		if e.Mode == event.ModeObserve {
			sent = e.TokensBefore
		}
		if u.Input = sent.Total(); u.Input > 0 {
			u.Source, u.CacheUnknown, u.Cut = event.UsageCounted, true, cut
		}
	case cut || a.Length == wire.UntilClose: // clients leave when they have the last event, before the body has its end
		ended := len(steps) == 0 || slices.Contains(steps, answer.EndStep)
		u.Cut = u.Cut || !isOfType(a, "application/json") && (!streams || !ended)
	}
	e.Usage = u
	if cut {
		return
	}
	if streams && slices.Contains(steps, answer.ErrorStep) {
		e.Fault, e.Err = event.Failed, "the upstream reported an error within its answer"
	}
	if counted := e.TokensAfter.Total(); x.input != nil && counted > 0 { // the model holds so many, and counts in that way
		deps := &x.proxy.deps
		e.TokensUsed = max(used, 0)
		e.WindowRefuted = deps.Windows.LearnAnswer(e.Upstream, e.Model+x.input.Variant, counted, used)
		deps.Ratios.Learn(x.report.Source, x.report.Counted, used)
	}
}

// lastSteps returns the meanings of the last three events in the end of a stream: usage may follow an error or the last
// word. There are none where a single event fills the end: the one with which a response ends.
func lastSteps(d conversation.Dialect, end []byte) (steps []answer.Step) {
	var kind []byte
	for f := range answer.Fields(end) {
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

// isOfType reports whether an answer has a type of content.
func isOfType(a *wire.Answer, content string) bool {
	kind, _, _ := bytes.Cut(wire.Values(a.Block, "content-type"), []byte{';'})
	return wire.EqualFold(bytes.TrimSpace(kind), content)
}
