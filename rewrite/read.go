package rewrite

import (
	"bytes"
	"cmp"

	"epitome/dialect/conversation"
	"epitome/rewrite/ledger"
)

// read parses the body. An error says that it is not a conversation, or is refused.
func (x *shaping) read() error {
	in := &x.in
	x.out.Refused = x.expand()
	if x.out.Refused != nil {
		return x.out.Refused
	}
	x.subject = ledger.Request{Scope: in.Scope, Upstream: in.Upstream, Dialect: in.Dialect.API().Name}
	last, shared := x.recent.find(x.Shaper, x.subject, in.Body, in.Now)
	x.last = last
	if !x.place.enter(len(in.Body) - shared) {
		return nil
	}
	req, err := x.parse(x.last.request)
	if err == nil && x.last.request != nil && x.last.subject.Model != req.Model {
		x.last.release()
		x.last = &lastRequest{} // it was counted for another model
		req, err = x.parse(nil)
	}
	if err == nil {
		req, x.out.Refused = x.meetCompaction(req)
	} else if in.Lacks && in.Compacts {
		x.out.Refused = errNotWhole
	}
	if err := cmp.Or(x.out.Refused, err); err != nil {
		return err
	}
	known := 0 // bytes; a rescue looks at all items
	if req.Reused > 0 && in.Rescue == nil {
		known = req.Items[req.Reused-1].Span.End
	}
	if x.place.enter(len(in.Body) - known) {
		x.request = req
		x.identify()
	}
	return nil
}

// parse reads the body. Items at its start that last has too, byte for byte, are taken from last; last may be nil. All
// are Reused only if the bodies are equal.
func (x *shaping) parse(last *conversation.Request) (*conversation.Request, error) {
	if last == nil || !bytes.Equal(last.Body, x.in.Body) {
		return conversation.Read(x.in.Dialect, x.in.Body, last)
	}
	same := *last // the client has sent it again
	same.Body, same.Reused = x.in.Body, len(same.Items)
	return &same, nil
}
