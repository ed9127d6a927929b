package proxy

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"time"

	"epitome/dialect/answer"
	"epitome/dialect/conversation"
	"epitome/event"
	"epitome/proxy/wire"
	"epitome/window"
)

// relay passes the answer on, and reads its usage.
func (x *exchange) relay(a *wire.Answer) error {
	x.event.FirstByte = time.Since(x.event.Start)
	x.event.Status = a.Code
	x.begun = true // from here on no other answer can be sent
	switch a.Code {
	case 101:
		return x.tunnel(a)
	case 404:
		x.event.Err = x.whyNotFound()
	}
	defer a.End()
	x.endsByClose = !a.Empty && (a.Length == wire.UntilClose || a.Length == wire.ChunkedLength && x.reply.HTTP10)
	x.reply.Close = x.reply.Close || x.endsByClose || x.proxy.Stopping()
	text := x.newText(a)
	err := x.copyAnswer(a, text)
	if text != nil && a.Code >= 200 && a.Code < 300 {
		x.readUsage(a, text, err != nil)
	}
	return err
}

// copyAnswer writes the head of an answer together with the part of its body that is there, and then the rest as it
// comes. Life ends when the client has left, or when the proxy stops, which fail tells apart.
func (x *exchange) copyAnswer(a *wire.Answer, text *answerText) (err error) {
	var piece wire.Piece
	if a.IsReady() {
		piece, _ = a.Next() // an error comes again from the next call
	}
	head := a.AppendTo(make([]byte, 0, len(a.Block)+len(x.reply.Extra)+len(piece.Raw)+128), x.reply)
	for {
		body := piece.Raw
		if x.reply.HTTP10 { // whose clients know no chunks
			body = piece.Content
		}
		if text != nil {
			text.add(piece.Content)
		}
		out := body
		if head != nil { // the head and what is there go in one write
			out = append(head, body...)
			head = nil
		}
		if err := x.write(out); err != nil {
			return err
		}
		x.event.ResponseBytes += int64(len(body))
		piece, err = a.Next()
		switch {
		case err == io.EOF:
			return nil
		case err != nil && x.life.Err() != nil:
			return &wire.Failure{Fault: event.ClientGone, Err: wire.ErrGone}
		case err != nil:
			return &wire.Failure{Fault: event.Truncated, Err: err}
		}
	}
}

// write puts b on the client's connection. A client that is gone or takes nothing ends the exchange.
func (x *exchange) write(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	_, err := x.client.Write(b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return &wire.Failure{Fault: event.ClientSlow, Err: fmt.Errorf("the client read nothing for too long: %w", err)}
	}
	if err != nil {
		return &wire.Failure{Fault: event.ClientGone, Err: err}
	}
	return nil
}

// tunnel passes the 101 on and then bytes both ways, until one side ends, or both are silent for limits.readIdle. It runs
// behind the handler, on the goroutine that fasthttp gives a hijacked connection: the exchange ends there.
func (x *exchange) tunnel(a *wire.Answer) error {
	if err := x.write(a.AppendTo(nil, x.reply)); err != nil {
		a.End()
		return err
	}
	x.client.Unwatch()
	x.ctx.HijackSetNoResponse(true)
	x.ctx.Hijack(func(client net.Conn) {
		defer x.end()
		defer a.End()
		down, err := wire.RunTunnel(client, x.client, a, x.try)
		x.event.ResponseBytes = down
		if err != nil || x.life.Err() != nil {
			x.err = &wire.Failure{Fault: event.Truncated, Err: cmp.Or(err, context.Cause(x.life))}
		}
	})
	return nil
}

// How much of an answer is held back until it is known whether it refuses its request.
const (
	mostHeld    = 1 << 20          // bytes: frames of streams may repeat all settings of the request, tools too
	mostOfSmall = 64 << 10         // bytes of an answer that is no stream, and may be an error all the same
	mostPieces  = 64               // of a stream with a content coding: it is decoded anew with each
	errorFor    = 10 * time.Second // that an error or the frame of a stream is held back
)

// peek reads how an answer refuses the request that was sent. It reads an error whole, a stream up to its first word,
// and any other answer if it is small; that is held back.
func (x *exchange) peek(a *wire.Answer, sent func() window.Sent) (none window.Refusal) {
	if a.Code < 200 || a.Empty {
		return none
	}
	if !window.MayRefuse(a.Code) { // its text would not say more
		return window.ReadRefusal(a.Code, "", nil, sent())
	}
	var content []byte
	mayRefuse := true
	switch {
	case a.Code >= 300:
		content = hold(a, errorFor, nil)
	case isStream(a):
		content, mayRefuse = x.holdFrame(a)
	case a.Length >= 0 && a.Length <= mostOfSmall:
		content = hold(a, x.set.conf.limits.readIdle, nil)
	default:
		return none
	}
	if len(a.Held()) == 0 || !mayRefuse {
		return none
	}
	return window.ReadRefusal(a.Code, string(wire.Find(a.Block, "content-type")), content, sent())
}

// holdFrame holds a stream up to its first word. One that answers is no refusal, nor is one that says neither and goes
// on, or ends within an event.
func (x *exchange) holdFrame(a *wire.Answer) (content []byte, mayRefuse bool) {
	isCoded, pieces := isEncoded(codingOf(a)), 0
	content = hold(a, errorFor, func(content []byte) bool {
		pieces++
		step, _ := firstStep(x.dialect, content)
		return step == answer.SaidStep || isCoded && pieces == mostPieces
	})
	step, endsLine := firstStep(x.dialect, content)
	if step == answer.FrameStep {
		return content, a.IsComplete() && endsLine
	}
	return content, step != answer.SaidStep
}

// hold reads an answer up to its end, until enough reports so, or until there are too many bytes or it takes too long.
// enough may be nil. The bytes stay with the answer, to be passed on. It returns the content of all that was held of
// this answer so far, without its content coding, as far as that can be read. An error is met again when the answer is
// passed on.
func hold(a *wire.Answer, wait time.Duration, enough func(content []byte) bool) []byte {
	plain := func() []byte {
		content, _ := decode(codingOf(a), a.Held(), mostHeld)
		return content
	}
	until := time.Now().Add(wait)
	for len(a.Held()) < mostHeld && time.Now().Before(until) {
		if enough != nil && len(a.Held()) > 0 && enough(plain()) {
			break
		}
		if !a.Hold(time.Until(until)) {
			break
		}
	}
	return plain()
}

// firstStep returns the meaning of the first event of a stream that is more than its frame, and whether the content
// ends with a line. A comment is a part of the frame: gateways send some before they know whether the provider accepts
// the request.
func firstStep(d conversation.Dialect, content []byte) (step answer.Step, endsLine bool) {
	end := bytes.LastIndexAny(content, "\r\n") + 1
	for e := range answer.Events(content[:end]) {
		step = answer.StepOf(d, e)
		if step != answer.FrameStep {
			break
		}
	}
	return step, end == len(content)
}

// answerText keeps the beginning and the end of an answer's content, which have its token counts. An answer with a
// content coding is kept whole, to be decoded.
type answerText struct {
	kept   []byte
	torn   bool   // bytes behind headBytes are missing: a line break stands for them; of a coded answer, any
	coding string // of the content
}

const (
	headBytes  = 2 << 10  // in which the usage stands at an answer's beginning
	tailBytes  = 4 << 10  // in which it stands at the end
	codedBytes = 96 << 10 // of an encoded answer that are kept
)

// newText returns what is to keep the text of an answer; nil if it answers no conversation.
func (x *exchange) newText(a *wire.Answer) *answerText {
	if x.dialect == nil || x.isCount || x.isRefused {
		return nil
	}
	return &answerText{coding: codingOf(a)}
}

// add takes the next bytes of the answer.
func (t *answerText) add(run []byte) {
	t.kept = append(t.kept, run...)
	switch n := len(t.kept); {
	case isEncoded(t.coding):
		if n > codedBytes {
			t.kept, t.torn = t.kept[:0], true
		}
	case n > headBytes+2*tailBytes:
		t.kept[headBytes], t.torn = '\n', true
		t.kept = append(t.kept[:headBytes+1], t.kept[n-tailBytes:]...)
	}
}

// text returns the kept text, with its beginning and its end on lines of their own, and the end alone. Of an answer
// that is kept whole both are all of it. Of a coded answer at most the given number of bytes are decoded; one that is
// too long, or whose coding is not known, has none.
func (t *answerText) text(most int64) (all, end []byte) {
	if !t.torn {
		all, _ = decode(t.coding, t.kept, most) // the beginning of a cut answer may have its counts
		return all, all
	}
	if isEncoded(t.coding) {
		return nil, nil
	}
	return t.kept, t.kept[headBytes+1:]
}

// readUsage reads the usage from an answer that has passed, and learns from it. cut says that the answer broke off, or
// that its client left: it is paid all the same, but nothing is learned from it.
func (x *exchange) readUsage(a *wire.Answer, text *answerText, cut bool) {
	e := x.event
	all, end := text.text(int64(x.set.conf.MaxBody))
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
		deps.Windows.LearnAnswer(e.Upstream, e.Model+x.input.Variant, counted, used)
		deps.Ratios.Learn(report.Source, report.Counted, used)
	}
}

// countUsage takes the request's tokens by our own count, where the answer states none.
func (x *exchange) countUsage(u *event.Usage, cut bool) {
	u.Input = x.event.Sent()
	if u.Input > 0 {
		u.Source, u.CacheUnknown, u.Cut = event.UsageCounted, true, cut
	}
}

// lastSteps returns the meanings of the last three events in the end of a stream: usage may follow an error or the last
// word. There are none where a single event fills the end: the one with which a response ends.
func lastSteps(d conversation.Dialect, end []byte) (steps []answer.Step) {
	for e := range answer.Events(end) {
		steps = append(steps, answer.StepOf(d, e))
	}
	return steps[max(0, len(steps)-3):]
}

// isOfType reports whether an answer has a type of content.
func isOfType(a *wire.Answer, content string) bool {
	kind, _, _ := bytes.Cut(wire.Values(a.Block, "content-type"), []byte{';'})
	return wire.EqualFold(bytes.TrimSpace(kind), content)
}

func isStream(a *wire.Answer) bool { return isOfType(a, "text/event-stream") }
