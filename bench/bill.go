package bench

import (
	"fmt"

	"epitome/rewrite"
)

// Asking is a request that a shaper made of its own accord, in tokens.
type Asking struct {
	Held   int // of the request, those that the conversation's request before had in the same place
	New    int // of the request, all others
	Output int // of the answer
}

// NewAsking measures such a request. before is the conversation's request before as it was sent; empty if there was none. One that
// begins with another message is a request of another kind, of which the provider has nothing.
func NewAsking(before, request []byte, answer string) (Asking, error) {
	now, err := rewrite.ReadChat(request)
	if err != nil {
		return Asking{}, fmt.Errorf("cannot price a request of the shaper's own: %w", err)
	}
	tools := now.Tools.Of(request)
	a := Asking{New: fixedTokens(tools), Output: tokensOf(size(answer))}
	var held []rewrite.Item
	if r, err := rewrite.ReadChat(before); err == nil && string(r.Tools.Of(before)) == string(tools) {
		held = r.Items
	}
	for i, it := range now.Items {
		tokens := readMessage(now, it).tokens
		if i >= len(held) || string(held[i].Of(before)) != string(it.Of(request)) {
			held = nil
			a.New += tokens
			continue
		}
		a.Held, a.New = a.Held+a.New+tokens, 0
	}
	return a, nil
}

// account is what one tariff makes of requests, in tokens that are new to the provider.
type account struct {
	raw  float64 // as the client sends them
	sent float64
	own  float64 // what a shaper asked of its own accord
}

// whole is what shaping costs.
func (a account) whole() float64 { return a.sent + a.own }

// relative is that against sending everything.
func (a account) relative() *float64 { return ratio(a.whole(), a.raw) }

func (a *account) join(b account) {
	a.raw += b.raw
	a.sent += b.sent
	a.own += b.own
}

// visit is what is to be paid at one boundary.
type visit struct {
	raw, sent load
	asked     []Asking
}

// add charges for what was sent. cold says that the provider's cache is empty.
func (a *account) add(t tariff, v visit, cold bool) {
	price := func(l load) float64 {
		if cold {
			l.held = 0
		}
		return t.price(l)
	}
	a.raw += price(v.raw)
	a.sent += price(v.sent)
	for _, x := range v.asked {
		a.own += price(load{x.Held + x.New, x.Held}) + outputPrice*float64(x.Output)
	}
}

// charge counts tokens, and what they cost by both tariffs.
func (p *player) charge(sent load, asked []Asking, bound int) {
	t := &p.tally
	raw := load{held: t.rawNow}
	start := 0
	if bound > 0 {
		start = p.recording.bounds[bound-1]
	} else {
		t.rawNow = p.recording.fixed
	}
	for _, m := range p.recording.messages[start:p.recording.bounds[bound]] {
		t.rawNow += m.tokens
	}
	raw.tokens = t.rawNow
	t.requests++
	t.raw += raw.tokens
	t.sent += sent.tokens
	t.asked += len(asked)
	if sent.tokens > p.window {
		t.over++
	}
	cold, known := p.cold(bound)
	if known {
		t.timed++
	}
	if cold {
		t.expired++
	}
	v := visit{raw, sent, asked}
	t.cost.add(plainTariff(), v, false)
	t.bill.add(p.bill, v, cold)
	p.rawTokens, p.sentTokens = append(p.rawTokens, raw.tokens), append(p.sentTokens, sent.tokens)
}

// cold tells whether the provider's cache has lost the request before; known, whether the log says when it was made.
func (p *player) cold(bound int) (cold, known bool) {
	pause, known := p.recording.pause(bound)
	return p.bill.expires(pause), known
}
