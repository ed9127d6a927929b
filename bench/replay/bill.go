package replay

import (
	"epitome/bench/policy"
	"epitome/bench/report"
)

// account is what one tariff makes of requests, in tokens that are new to the provider.
type account struct {
	raw  float64 // as the client sends them
	sent float64
	own  float64 // the shaper's own requests to a model
}

// total returns what shaping costs.
func (a account) total() float64 { return a.sent + a.own }

// relative returns the cost as a share of sending everything.
func (a account) relative() *float64 { return report.Ratio(a.total(), a.raw) }

func (a *account) join(b account) {
	a.raw += b.raw
	a.sent += b.sent
	a.own += b.own
}

// visit is what is to be paid at one boundary.
type visit struct {
	raw, sent policy.Input
	asked     []policy.Asking
}

// add charges for what was sent. cold says that the provider's cache is empty.
func (a *account) add(t policy.Tariff, v visit, cold bool) {
	pay := func(l policy.Input) float64 {
		if cold {
			l.Held = 0
		}
		return t.Price(l)
	}
	a.raw += pay(v.raw)
	a.sent += pay(v.sent)
	for _, x := range v.asked {
		a.own += pay(policy.Input{Tokens: x.Held + x.New, Held: x.Held}) + t.Output*float64(x.Output)
	}
}

// charge counts tokens, and what they cost by both tariffs.
func (p *player) charge(sent policy.Input, asked []policy.Asking, bound int) {
	t := &p.tally
	raw := policy.Input{Held: t.rawNow}
	start := 0
	if bound > 0 {
		start = p.recording.bounds[bound-1]
	} else {
		t.rawNow = p.recording.fixed
	}
	for _, m := range p.recording.messages[start:p.recording.bounds[bound]] {
		t.rawNow += m.Tokens
	}
	raw.Tokens = t.rawNow
	t.requests++
	t.raw += raw.Tokens
	t.sent += sent.Tokens
	t.asked += len(asked)
	if sent.Tokens > p.window {
		t.over++
	}
	cold, known := p.cacheState(bound)
	if known {
		t.timed++
	}
	if cold {
		t.expired++
	}
	v := visit{raw, sent, asked}
	t.cost.add(policy.PlainTariff(), v, false)
	t.unknown = t.unknown || p.account.unknown
	t.used.Add(p.account.used)
	if p.recording.client.provider != nil { // which says what of them it has
		t.bill.raw += p.recording.client.usage.Price(p.bill.Cached, p.bill.Write)
		t.bill.sent += p.account.used.Price(p.bill.Cached, p.bill.Write)
		v.raw, v.sent = policy.Input{}, policy.Input{}
	}
	t.bill.add(p.bill, v, cold)
	p.track.rawTokens = append(p.track.rawTokens, raw.Tokens)
	p.track.sentTokens = append(p.track.sentTokens, sent.Tokens)
}

// cacheState reports whether the provider's cache has lost the request before; known, whether the log says when it was
// made.
func (p *player) cacheState(bound int) (cold, known bool) {
	pause, known := p.recording.pause(bound)
	return p.bill.Expires(pause), known
}
