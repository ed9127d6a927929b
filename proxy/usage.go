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

// listen has x keep the text of an answer, and nothing of an earlier one.
func (x *exchange) listen(a *wire.Answer) {
	x.text, x.held = &answerText{}, nil
	if coding := codingOf(a); isEncoded(coding) {
		x.text.coding = coding
	}
	a.Hears = x.hear
}

// hear takes the next bytes of the answer's content.
func (x *exchange) hear(run []byte) {
	x.text.add(run)
	if x.isHolding || x.shaped.Asks && len(x.held) < mostCompaction {
		x.held = append(x.held, run...)
	}
}

// add takes the next bytes of the answer.
func (t *answerText) add(run []byte) {
	head, tail := headBytes, tailBytes
	if t.coding != "" {
		head, tail = codedBytes, 0
	}
	n := min(head-len(t.head), len(run))
	t.head = append(t.head, run[:n]...)
	run = run[n:]
	if len(run) > tail {
		t.torn = true
		t.tail, run = t.tail[:0], run[len(run)-tail:]
	}
	if len(t.tail)+len(run) > 2*tail {
		t.torn = true
		t.tail = append(t.tail[:0], t.tail[len(t.tail)-tail:]...)
	}
	t.tail = append(t.tail, run...)
}

// text returns the kept text, with its beginning and its end on lines of their own, and the end alone. Of an answer
// that is kept whole both are all of it. Of a coded answer at most the given number of bytes are decoded; one that is
// too long, or whose coding is not known, has none.
func (t *answerText) text(most int64) (all, end []byte) {
	if t.coding == "" && t.torn {
		return slices.Concat(t.head, []byte("\n"), t.tail), t.tail
	}
	if t.coding == "" {
		all = append(t.head, t.tail...)
	} else if !t.torn {
		all, _ = decode(t.coding, t.head, most) // the beginning of a cut answer may have its counts
	}
	return all, all
}

// readUsage reads the usage from an answer that has passed, and learns from it. cut says that the answer broke off, or
// that its client left: it is paid all the same, but nothing is learned from it.
func (x *exchange) readUsage(a *wire.Answer, cut bool) {
	if x.text == nil || a.Code < 200 || a.Code > 299 {
		return
	}
	e := x.event
	all, end := x.text.text(int64(x.set.conf.MaxBody))
	steps := lastSteps(x.dialect, end)
	u, used := x.dialect.Usage(all)
	if u.Source == "" {
		x.countUsage(&u, cut)
	} else if cut || a.Length == wire.UntilClose {
		// Clients leave when they have the last event, before the body has its end.
		hasEnd := len(steps) == 0 || slices.Contains(steps, answer.EndStep)
		u.Cut = u.Cut || !isOfType(a, "application/json") && !(isStream(a) && hasEnd)
	}
	e.Usage = u
	if cut {
		return
	}
	if isStream(a) && slices.Contains(steps, answer.ErrorStep) {
		e.Fault, e.Err = event.Failed, "the upstream reported an error within its answer"
	}
	counted := e.TokensAfter.Total()
	if x.input != nil && counted > 0 { // the model holds so many, and counts in that way
		deps, report := &x.proxy.deps, &x.shaped.Report
		e.TokensUsed = max(used, 0)
		e.WindowRefuted = deps.Windows.LearnAnswer(e.Upstream, e.Model+x.input.Variant, counted, used)
		deps.Ratios.Learn(report.Source, report.Counted, used)
	}
}

// countUsage takes the request's tokens by our own count, where the answer states none.
func (x *exchange) countUsage(u *event.Usage, cut bool) {
	sent := x.event.TokensAfter
	if x.event.Mode == event.ModeObserve {
		sent = x.event.TokensBefore
	}
	u.Input = sent.Total()
	if u.Input > 0 {
		u.Source, u.CacheUnknown, u.Cut = event.UsageCounted, true, cut
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
			steps = append(steps, answer.StepOf(d, kind, f.Value))
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

func isStream(a *wire.Answer) bool { return isOfType(a, "text/event-stream") }
