// Package strict is the provider of replayed Messages: it says which requests a server of that API refuses, and what of
// the others comes from its cache.
//
// It promises the rules and the accounts of package scripted/messages, which shares no code with what is measured:
// entries exist only where a mark for the cache stood, and are found twenty blocks back. Tokens are those of whoever
// replays. A request that is too long for the model is taken all the same: windows are for others to watch.
package strict

import (
	"net/http"
	"time"

	"epitome/scripted/messages/account"
	"epitome/scripted/messages/rules"
	"epitome/scripted/messages/thought"
)

// Prices of tokens, in those of one that is neither written to the cache nor read from it.
const (
	readPrice  = 0.1
	longWrites = 1.6 // times the price of a write for five minutes, for one for an hour
)

// Provider is one server, for one conversation. It is used by one goroutine at a time.
type Provider struct {
	count  func(text string) int
	cache  *account.Cache
	calls  map[string]bool // whose answers begin with thinking
	before time.Time       // of the request before
	forget bool            // entries die, by the times of requests
}

// Signed is a conversation's last request, with all that was thought in it signed.
type Signed struct {
	Body  []byte
	calls []string // whose answers begin with thinking
}

// Sign returns the request with each thinking block signed as if it had been thought where it stands.
func Sign(body []byte, count func(text string) int) (Signed, error) {
	signed, calls, err := thought.Sign(body, rules.ModelOf, count)
	return Signed{signed, calls}, err
}

// New returns a provider that has seen nothing. Where it forgets, entries die five minutes after their last use.
func New(s Signed, count func(text string) int, forget bool) *Provider {
	p := &Provider{count: count, cache: account.NewCache(), calls: make(map[string]bool), forget: forget}
	for _, id := range s.calls {
		p.calls[id] = true
	}
	return p
}

// Clone returns a provider that has seen the same, and goes its own way from here on.
func (p *Provider) Clone() *Provider {
	other := *p
	other.cache = p.cache.Clone()
	return &other
}

// Usage is the input of a request, in tokens.
type Usage struct {
	New, Read, Written, WrittenLong int
	Dropped                         int // thinking blocks that the provider left out
}

// Add adds up.
func (u *Usage) Add(v Usage) {
	u.New, u.Read, u.Written = u.New+v.New, u.Read+v.Read, u.Written+v.Written
	u.WrittenLong, u.Dropped = u.WrittenLong+v.WrittenLong, u.Dropped+v.Dropped
}

// Total is all input.
func (u Usage) Total() int { return u.New + u.Read + u.Written + u.WrittenLong }

// Price is what the input costs where a token that is written to the cache costs write.
func (u Usage) Price(write float64) float64 {
	return float64(u.New) + readPrice*float64(u.Read) + write*(float64(u.Written)+longWrites*float64(u.WrittenLong))
}

// Take takes a request that was made at some time; zero if nobody knows. An error says why it is refused; it is
// accounted all the same, as far as it can be read.
func (p *Provider) Take(body []byte, at time.Time) (u Usage, err error) {
	if p.forget && !at.IsZero() && !p.before.IsZero() && at.After(p.before) {
		p.cache.Advance(at.Sub(p.before))
	}
	if !at.IsZero() {
		p.before = at
	}
	header := http.Header{"Anthropic-Version": {"2023-06-01"}}
	q, refused := rules.Read(header, body, false, rules.ModelOf)
	if refused != nil {
		return u, refused
	}
	w, refused := thought.Check(q, func(call string) bool { return p.calls[call] })
	spent := p.cache.Account(q, account.Prompt(q, p.count))
	u = Usage{New: spent.Input, Read: spent.Read, Written: spent.Written, WrittenLong: spent.WrittenLong,
		Dropped: len(w.Drops)}
	if refused != nil {
		return u, refused
	}
	return u, nil
}
