package proxy

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"epitome/dialect"
	"epitome/dialect/conversation"
	"epitome/event"
	"epitome/proxy/wire"
	"epitome/rewrite"
)

// shape puts the conversation that the request holds, if any, into the form that is sent. An error is a refusal, or
// says that the client has left. A failure inside epitome leaves the request as it came.
func (x *exchange) shape() error {
	path, _, _ := bytes.Cut(x.target, []byte("?"))
	x.dialect = x.dialectAt(path)
	if x.dialect == nil {
		return nil
	}
	x.isCount = x.dialect.API().Counts(path)
	in, err := x.inputAt(path)
	if err != nil {
		return refuse(400, "bad_request", err.Error())
	}
	x.event.Dialect, x.event.Agent = x.dialect.API().Name, agentName(x.head)
	x.event.Session = event.SessionOf(sessionID(x.head))
	observes := x.event.Mode == event.ModeObserve
	if x.isCount && observes {
		return nil
	}
	defer func() { x.event.ShapeTime += time.Since(in.Now) }()
	body, why := x.conversation()
	if why != event.NoCode {
		x.setReport(&rewrite.Report{Action: event.ActionNone, Shaping: event.Shaping{Code: why, Reason: why.Clause()}})
		return nil
	}
	in.Body = body
	if err := x.callShaper(in, observes); err != nil {
		return err
	}
	report := &x.shaped.Report
	isSet := wire.Find(x.head, wire.OwnPrefix+"set") != nil || wire.Find(x.head, wire.OwnPrefix+"preset") != nil
	isLate := isSet && report.Code == event.CodeAgain
	if isLate {
		report.Code, report.Reason = event.CodeSetLate, event.CodeSetLate.Clause()
	}
	if x.isCount { // a count saves nothing: the request that it asks about will
		x.setExtra(report.Action)
	} else {
		x.setReport(report)
	}
	if (in.Compact || x.shaped.Asked || isLate) && report.Items > 0 && report.Reason != "" { // it holds no text of the client's
		x.reply.Extra = wire.AppendField(x.reply.Extra, []byte("x-epitome-reason"), report.Reason)
	}
	if report.Items > 0 && !in.Replay && !observes {
		in.Body, in.Compact = nil, false // a rescue has its own reasons to compact
		x.input = in
	}
	return nil
}

// callShaper sets x.shaped, of which a request that is only observed has the report alone.
func (x *exchange) callShaper(in *rewrite.Input, observes bool) error {
	if observes {
		x.shaped = x.proxy.deps.Observe(*in)
		x.shaped.Changed, x.shaped.Asks = false, false
	} else {
		x.shaped = x.proxy.deps.Shape(*in)
		x.shaped.AsksNow = x.shaped.AsksNow || in.Compacts // also where the body could not be read
		x.shaped.Asks = (x.shaped.Asks || in.Compacts) && !x.isCount
	}
	if x.life.Err() != nil {
		return &wire.Failure{Fault: event.ClientGone, Err: wire.ErrGone}
	}
	if observes {
		return nil
	}
	return x.checkCompactions()
}

// inputAt returns how a request with that path is to be shaped, but for its body.
func (x *exchange) inputAt(path []byte) (*rewrite.Input, error) {
	in, err := x.proxy.inputFrom(x.set, x.head, x.scope, x.run)
	if err != nil {
		return nil, err
	}
	up, target, conf := x.upstream, x.target, &x.upstream.config
	in.Dialect, in.Upstream, in.Now, in.Client = x.dialect, up.name, time.Now(), x.life
	in.Places, in.Turn, in.ClientName = x.proxy.deps.Places, x.room.turn, x.event.Client
	in.Memory = x.room.memory
	in.Compacts, in.Makes = x.dialect.API().Compacts(path), up.makes.Load()
	if x.event.Mode != event.ModeObserve && !x.isCount {
		in.Lacks = x.lacks || up.lacksCompactions()
	}
	in.Replay = x.isCount || in.Compacts
	in.Credential = func() any { return credentialOf(up, bytes.Replace(target, compactPath, nil, 1), x.head) }
	in.Named = len(in.Contexts)
	in.Contexts = slices.Concat(in.Contexts, conf.Context, x.set.conf.Contexts)
	return &in, nil
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
		api := d.API()
		if api.Serves(path) || api.Counts(path) || api.Compacts(path) {
			return d
		}
	}
	return nil
}

// conversation returns the body to shape, without its content coding, or the code that says why there is none.
func (x *exchange) conversation() ([]byte, event.Code) {
	if isSigned(x.head) {
		return nil, event.CodeSigned
	}
	body, err := x.decoded()
	if err != nil {
		return nil, event.CodeEncoded
	}
	if !bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("{")) {
		return nil, event.CodeNoObject
	}
	return body, event.NoCode
}

// isSigned reports whether a signature may cover the body: the upstream would refuse any other body. Several clouds
// sign with headers whose names end in content-sha256.
func isSigned(head []byte) bool {
	const sum = "content-sha256"
	for l := wire.LinesOf(head); l.Next(); {
		scheme, _, _ := bytes.Cut(l.Value, []byte(" "))
		signs := wire.EqualFold(scheme, "signature") || wire.EqualFold(scheme, "aws4-hmac-sha256")
		if l.Is("signature") || l.Is("signature-input") || l.Is("authorization") && signs ||
			wire.EqualFold(l.Name[max(0, len(l.Name)-len(sum)):], sum) {
			return true
		}
	}
	return false
}

// setReport copies a report into the event and the answer's head.
func (x *exchange) setReport(r *rewrite.Report) {
	e := x.event
	e.Action = cmp.Or(r.Action, e.Action)
	spent := e.ShapeTime // by all forms of the request
	e.Shaping = r.Shaping
	e.ShapeTime = spent
	if err := cmp.Or(r.Err, r.Faults); err != nil {
		e.Inner = event.Clip(err.Error())
	}
	x.setExtra(e.Action)
}

// setExtra puts an action, the tokens, the conversation, and why a compaction that is due waits, into the answer's
// head.
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
