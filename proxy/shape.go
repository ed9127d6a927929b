package proxy

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"epitome/dialect"
	"epitome/dialect/conversation"
	"epitome/event"
	"epitome/proxy/wire"
	"epitome/rewrite"
)

// shape puts the conversation that the request holds, if any, into the form that is sent. An error is a refusal, or
// says that the client has left. A failure inside epitome leaves the request as it came.
func (x *exchange) shape(up *upstream, target []byte) error {
	path, _, _ := bytes.Cut(target, []byte("?"))
	if x.dialect = x.dialectAt(path); x.dialect == nil {
		return nil
	}
	in, err := x.proxy.inputFrom(x.set, x.head, x.event.Client)
	if err != nil {
		return refuse(400, "bad_request", err.Error())
	}
	x.event.Dialect, x.event.Session = x.dialect.Name(), event.SessionOf(sessionID(x.head))
	x.event.Agent = agentName(x.head)
	x.counts = x.dialect.Counts(path)
	by, observe := x.proxy.deps.Shape, x.event.Mode == event.ModeObserve
	if observe {
		by = x.proxy.deps.Observe
	}
	if x.counts && observe {
		return nil
	}
	in.Dialect, in.Upstream, in.Now, in.Client = x.dialect, up.name, time.Now(), x.life
	in.Turn = x.proxy.turns
	in.Memory = x.room.memory
	x.atPath = x.dialect.Compacts(path)
	in.Compacts, in.Makes = x.atPath, up.makes
	x.scope = in.Scope
	in.Lacks = !observe && !up.makes && !x.counts && (x.lacks || up.lacksCompactions(x.scope))
	in.Credential = func() any { return credentialOf(up, bytes.Replace(target, compactPath, nil, 1), x.head) }
	in.Replay = x.counts || x.atPath
	in.Project = cmp.Or(in.Project, up.config.Project)
	if x.run != "" {
		in.Runtime = x.proxy.deps.Runtime(x.run)
	}
	in.Contexts = slices.Concat(in.Contexts, up.config.Context, x.set.conf.Contexts)
	defer func() { x.event.ShapeTime += time.Since(in.Now) }()
	var why *rewrite.Report
	if in.Body, why = x.conversation(); why != nil {
		x.setReport(why)
		return nil
	}
	out := by(in)
	if x.life.Err() != nil {
		return &wire.Failure{Fault: event.ClientGone, Err: wire.ErrGone}
	}
	x.asksNow = out.AsksNow || x.atPath
	x.asks = (out.Asks || x.atPath) && !observe && !x.counts
	x.carried, x.foreign = out.Carried, out.Foreign
	if out.Refused != nil && !observe {
		return refuse(400, "compaction_not_readable", out.Refused.Error(), noRetry)
	}
	made := x.otherMaker(up)
	if made != "" && !observe {
		return refuse(400, "compaction_of_other_provider", fmt.Sprintf("the compaction in this request was made by %s, "+
			"and no other provider can read it: go on there, or begin a new session", made), noRetry)
	}
	x.report = out.Report
	if x.counts { // a count saves nothing: the request that it asks about will
		x.setExtra(out.Report.Action)
	} else {
		x.setReport(&out.Report)
	}
	if why := out.Report.Reason; in.Compact && out.Report.Items > 0 && why != "" { // it holds no text of the client's
		x.reply.Extra = wire.AppendField(x.reply.Extra, []byte("x-epitome-reason"), why)
	}
	if out.Changed && !observe {
		x.sent = out.Body
	}
	if x.report.Items > 0 && !in.Replay && !observe {
		in.Body, in.Compact = nil, false // a rescue has its own reasons to compact
		x.input = &in
	}
	return nil
}

// compactPath ends the path at which a client asks for a compaction; questions for a summary go to the one before it.
var compactPath = []byte("/compact")

// dialectAt returns the dialect of a request with that path, as the upstream gets it; nil if it holds no conversation
// to shape, or to count, as far as that shows in its head.
func (x *exchange) dialectAt(path []byte) conversation.Dialect {
	if x.event.Mode == event.ModeOff || !x.ctx.IsPost() {
		return nil
	}
	for _, d := range dialect.All {
		if d.Serves(path) || d.Counts(path) || d.Compacts(path) {
			return d
		}
	}
	return nil
}

// unshaped returns the report on a request that goes on as it came. The reason holds no text of the client's.
func unshaped(code event.Code, reason string) *rewrite.Report {
	return &rewrite.Report{Action: event.ActionNone, Shaping: event.Shaping{Code: code, Reason: reason}}
}

var (
	signed   = unshaped(event.CodeSigned, "the request carries a signature of its body")
	encoded  = unshaped(event.CodeEncoded, "the body cannot be decompressed within max_body and max_in_flight")
	noObject = unshaped(event.CodeNoObject, "the body is not a JSON object")
)

// conversation returns the body to shape, without its content coding, or the report that says why there is none.
func (x *exchange) conversation() ([]byte, *rewrite.Report) {
	if isSigned(x.head) {
		return nil, signed
	}
	body, err := x.decoded()
	if err != nil {
		return nil, encoded
	}
	if !bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("{")) {
		return nil, noObject
	}
	return body, nil
}

// isSigned reports whether a signature may cover the body: the upstream would refuse any other body. Several clouds
// sign with headers whose names end in content-sha256.
func isSigned(head []byte) bool {
	const sum = "content-sha256"
	for l := wire.LinesOf(head); l.Next(); {
		if l.Is("authorization") {
			scheme, _, _ := bytes.Cut(l.Value, []byte(" "))
			if wire.EqualFold(scheme, "signature") || wire.EqualFold(scheme, "aws4-hmac-sha256") {
				return true
			}
		}
		if l.Is("signature") || l.Is("signature-input") || wire.EqualFold(l.Name[max(0, len(l.Name)-len(sum)):], sum) {
			return true
		}
	}
	return false
}

// setReport copies a report into the event and the answer's head.
func (x *exchange) setReport(r *rewrite.Report) {
	e := x.event
	e.Action = cmp.Or(r.Action, e.Action)
	spent := e.ShapeTime
	e.Shaping, e.Streams, e.Added = r.Shaping, r.Streams, r.Added.Tokens
	e.ShapeTime = spent
	e.Contexts, e.Inner = event.Clip(strings.Join(r.Added.Names, ", ")), event.Clip(r.Added.Why)
	e.Memory = r.Added.Memory
	if r.Err != nil {
		e.Inner = event.Clip(r.Err.Error())
	}
	x.setExtra(e.Action)
}

// setExtra puts an action, the tokens, the conversation, and why a compaction that is due waits, into the answer's head.
func (x *exchange) setExtra(action string) {
	extra := wire.AppendField(make([]byte, 0, 128), []byte("x-epitome-action"), action)
	if tokens := x.event.Totals(); tokens != "" {
		extra = wire.AppendField(extra, []byte("x-epitome-tokens"), tokens)
	}
	for _, w := range x.event.Warnings {
		if w.Reason == event.ReasonWaits {
			extra = wire.AppendField(extra, []byte("x-epitome-reason"), w.Why)
		}
	}
	if x.event.Conversation != "" {
		extra = wire.AppendField(extra, []byte("x-epitome-conversation"), x.event.Conversation)
	}
	x.reply.Extra = extra
}
