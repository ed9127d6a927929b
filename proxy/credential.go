package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"epitome/event"
	"epitome/proxy/wire"
)

// Credential is what speaks for a client to the upstream of a request that it made: copies of the header lines that
// say who it is, and the target. It goes to the upstream that it was made for and to no other one. Nothing prints it.
// The zero value is none.
type Credential struct {
	open func() credential // nil if there is none; a function, because what prints field by field looks behind pointers
}

type credential struct {
	url    string // of the upstream as it was configured: the name may come to stand for another provider
	target string // as the upstream got it; its query may hold a key
	block  []byte // header lines
}

// Format keeps a credential out of everything that prints, whatever the verb.
func (Credential) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "a client's credential") }

// LogValue does the same for logs.
func (Credential) LogValue() slog.Value { return slog.StringValue("a client's credential") }

// credentialOf makes a credential of a request's header lines. All of it is copied.
func credentialOf(up *upstream, target, block []byte) Credential {
	c := credential{url: up.Config.URL, target: string(target), block: carriedLines(block)}
	return Credential{func() credential { return c }}
}

// asker is the client of an exchange for as long as its request is being shaped. What is not asked for costs nothing.
type asker struct {
	x      *exchange // nil afterwards: what it reads belongs to another request then
	up     *upstream
	target []byte

	life   context.Context // nil until it is asked for
	cancel context.CancelCauseFunc
	turn   turn
}

// takeTurn waits until a request of so many bytes may be shaped.
func (a *asker) takeTurn(bytes int) error {
	var ok bool
	if a.turn, ok = a.x.proxy.turns.Take(a, bytes, largeWait); ok {
		return nil
	}
	if a.x.call.IsCut() {
		return &wire.Failure{Fault: event.ClientGone, Err: wire.ErrGone}
	}
	return busy("other large requests were worked on for too long: try again")
}

// Waits lets others have the turn during a step.
func (a *asker) Waits(step func()) { a.turn.Waits(a, step) }

// errShaped says that what hung on the shaping of a request is over.
var errShaped = errors.New("the request has been shaped")

// Credential copies what speaks for the client.
func (a *asker) Credential() any {
	if a.x == nil {
		return Credential{}
	}
	return credentialOf(a.up, a.target, a.x.ctx.Request.Header.RawHeaders())
}

// Context ends when the client has left, when the exchange is cut, and when shaping is over. Nothing else of the
// exchange's call is under way until then, so that cutting the call can mean to end it.
func (a *asker) Context() context.Context {
	if a.life == nil {
		a.life, a.cancel = context.WithCancelCause(context.Background())
		if a.x == nil {
			a.cancel(errShaped)
		} else {
			a.x.call.OnCut(func() { a.cancel(wire.ErrGone) })
		}
	}
	return a.life
}

// end is called when the request has been shaped.
func (a *asker) end() {
	if a.cancel != nil {
		a.cancel(errShaped)
	}
	a.turn.End()
	a.x, a.up, a.target = nil, nil, nil
}
