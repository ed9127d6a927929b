// Package strict is the provider of replayed Messages and Responses: it says which requests a server of the API
// refuses, and what of the others comes from its cache.
//
// It promises the rules and the accounts of packages fakeapi/messages and fakeapi/responses, which share no code with
// what is measured: in Messages, entries exist only where a mark for the cache stood, and are found twenty blocks back;
// in Responses they end with items, and for the newest models where a breakpoint stood. Tokens are those of whoever
// replays. A request that is too long for the model is taken all the same: windows are for others to watch.
package strict

import (
	"fmt"
	"maps"
	"net/http"
	"time"

	"epitome/internal/fakeapi"
	"epitome/internal/fakeapi/messages/rules"
	"epitome/internal/lazyregexp"
)

// Prices of tokens, in those of one that is neither written to the cache nor read from it.
const (
	longWrites = 1.6 // times the price of a write for five minutes, for one for an hour
)

// Judge is a server that judges a conversation's requests.
type Judge interface {
	// Take takes a request that was made at some time; zero if nobody knows. An error says why it is refused; it is
	// accounted all the same, as far as it can be read.
	Take(body []byte, at time.Time) (Usage, error)
	// Hear tells what the model answered to the request taken last, as its client has it from then on: one message, or
	// several in a row.
	Hear(answers ...[]byte) error
	// Clone returns a server that has seen the same, and goes its own way from here on.
	Clone() Judge
}

// Provider is a server of Messages, for one conversation. It is used by one goroutine at a time.
type Provider struct {
	count  func(text string) int
	cache  *rules.Cache
	calls  map[string]bool // whose answers begin with thinking
	before time.Time       // of the request before
	forget bool            // entries die, by the times of requests

	last    rules.Bond        // what would be thought behind the request taken last is bound to this
	model   string            // that it asked for
	answers int               // heard
	signed  map[string]string // what the client has as a signature, and what stands for it
}

// Signed is a conversation's last request, with all that was thought in it signed.
type Signed struct {
	Body  []byte
	calls []string // whose answers begin with thinking
}

// Sign returns the request with each thinking block signed as if it had been thought where it stands.
func Sign(body []byte, count func(text string) int) (Signed, error) {
	signed, calls, err := rules.Sign(body, rules.ModelOf, count)
	return Signed{signed, calls}, err
}

// New returns a provider that has seen nothing. Where it forgets, entries die five minutes after their last use.
func New(s Signed, count func(text string) int, forget bool) *Provider {
	p := &Provider{count: count, forget: forget, cache: rules.NewCache(),
		calls: make(map[string]bool), signed: make(map[string]string)}
	for _, id := range s.calls {
		p.calls[id] = true
	}
	return p
}

// Clone returns a provider that has seen the same, and goes its own way from here on.
func (p *Provider) Clone() Judge {
	other := *p
	other.cache, other.signed = p.cache.Clone(), maps.Clone(p.signed)
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

// Price is what the input costs where a token that the cache has costs read, and one that is written to it write.
func (u Usage) Price(read, write float64) float64 {
	return float64(u.New) + read*float64(u.Read) + write*(float64(u.Written)+longWrites*float64(u.WrittenLong))
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
	body = p.resign(body)
	header := http.Header{"Anthropic-Version": {"2023-06-01"}}
	q, refused := rules.Read(header, body, false, rules.ModelOf)
	if refused != nil {
		return u, refused
	}
	w, refused := rules.Check(q, func(call string) bool { return p.calls[call] })
	p.last, p.model = w.Here, q.Name
	spent := p.cache.Account(q, rules.Prompt(q, p.count))
	u = Usage{New: spent.Input, Read: spent.Read, Written: spent.Written, WrittenLong: spent.WrittenLong,
		Dropped: len(w.Drops)}
	if refused != nil {
		return u, refused
	}
	return u, nil
}

// Hear tells what the model answered to the request taken last, as its client has it from then on: one message, or
// several in a row. What it thought is bound to that request as it was sent: the client's signatures are those of a
// conversation that nobody changed, so others stand for them here.
func (p *Provider) Hear(answers ...[]byte) error {
	here := p.last
	for _, answer := range answers {
		blocks, err := blocksOf(answer)
		if err != nil {
			return fmt.Errorf("cannot read an answer: %w", err)
		}
		p.answers++
		s := rules.Signer{Model: p.model, Answer: fmt.Sprintf("answer %d", p.answers), Here: here}
		for _, b := range blocks {
			if rules.IsThinking(b) {
				s.Of++
			}
		}
		for _, b := range blocks {
			text := b.Fields.Text("thinking")
			switch b.Kind {
			case "thinking":
				p.signed[b.Fields.Text("signature")] = s.Sign(text, p.count(text))
			case "redacted_thinking":
				p.signed[b.Fields.Text("data")] = s.Sign("", p.count(b.Fields.Text("data")))
			default:
				s.Here.Pass(assistant, b.Canon)
			}
		}
		here = s.Here
	}
	return nil
}

// assistant is who answers.
const assistant = "assistant"

// blocksOf are the blocks of an answer; none if it is a text alone.
func blocksOf(answer []byte) ([]*rules.Block, error) {
	fields, refused := rules.ReadObject(answer, "answer")
	if refused != nil {
		return nil, refused
	}
	if _, plain := fakeapi.IsText(fields["content"]); plain {
		return []*rules.Block{rules.TextBlock("answer", fields["content"])}, nil
	}
	list, refused := rules.ReadList(fields["content"], "answer")
	if refused != nil {
		return nil, refused
	}
	var all []*rules.Block
	for _, raw := range list {
		b, refused := rules.ReadBlock(raw, "answer", assistant)
		if refused != nil {
			return nil, refused
		}
		all = append(all, b)
	}
	return all, nil
}

// seals are where signatures may stand.
var seals = lazyregexp.New(`"(?:signature|data)":"([A-Za-z0-9+/=]{64,})"`)

// resign puts the signatures into a body that stand for those of its client.
func (p *Provider) resign(body []byte) []byte {
	if len(p.signed) == 0 {
		return body
	}
	text, from := string(body), 0
	out := make([]byte, 0, len(body))
	for _, at := range seals().FindAllStringSubmatchIndex(text, -1) {
		if now, ok := p.signed[text[at[2]:at[3]]]; ok {
			out = append(append(out, text[from:at[2]]...), now...)
			from = at[3]
		}
	}
	return append(out, text[from:]...)
}
