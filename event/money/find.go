package money

import (
	"strings"
	"time"

	"epitome/internal/lazyregexp"
)

// Find returns the price in force at a time of a model as a request to a host names it. The host says who sells it; one
// that is of no provider in the table leaves that to the name, which may begin with the provider's, as routers write it
// ("openai/gpt-5"). A nil is that no price is known.
func (t *Table) Find(host, name string, at time.Time) *Price {
	p := t.seller(host)
	if p == nil {
		p, name = t.byName(name)
	}
	if p == nil {
		return nil
	}
	m := t.sold(p, name)
	if m == nil {
		if dated := respellDay(name); dated != name {
			m = t.sold(p, dated)
		}
	}
	if m == nil {
		return nil
	}
	return m.at(at)
}

// sold returns the first model of a name that a provider sells, of its own or of others.
func (t *Table) sold(p *provider, name string) *model {
	m := p.find(name)
	for _, other := range p.others {
		if m != nil {
			break
		}
		m = t.provider(other).find(name)
	}
	return m
}

var dayInName = lazyregexp.New(`-20\d{6}(?:[-:]|$)`)

// respellDay returns a name with the day in it as some rows have it: 2026-08-01 for 20260801.
func respellDay(name string) string {
	at := dayInName().FindStringIndex(name)
	if at == nil {
		return name
	}
	digits := name[at[0]+1 : at[0]+9]
	day, err := time.Parse("20060102", digits)
	if err != nil {
		return name
	}
	return name[:at[0]+1] + day.Format(time.DateOnly) + name[at[0]+9:]
}

// seller returns the provider that a host belongs to; nil if that is none of the table.
func (t *Table) seller(host string) *provider {
	host = strings.ToLower(host)
	for i := range t.providers {
		for _, h := range t.providers[i].hosts {
			if host == h || h[0] == '.' && (strings.HasSuffix(host, h) || host == h[1:]) {
				return &t.providers[i]
			}
		}
	}
	return nil
}

// byName returns the provider whose models have such names, and the name as it calls it. A name with a tag behind a
// colon is one of Ollama's: the model's words are free there.
func (t *Table) byName(name string) (*provider, string) {
	if before, rest, ok := strings.Cut(name, "/"); ok {
		if p := t.provider(strings.ToLower(before)); p != nil {
			return p, rest
		}
	}
	if i := strings.IndexByte(name, ':'); i >= 0 && !strings.HasPrefix(name, "ft:") {
		return nil, name
	}
	for i := range t.providers {
		if p := &t.providers[i]; p.named.fit(name) {
			return p, name
		}
	}
	return nil, name
}

// find returns the first model of a name.
func (p *provider) find(name string) *model {
	for i := range p.models {
		if p.models[i].names.fit(name) {
			return &p.models[i]
		}
	}
	return nil
}

// at returns the price in force; the first one if none is.
func (m *model) at(now time.Time) *Price {
	now = now.UTC()
	for i := len(m.prices) - 1; i >= 0; i-- {
		if x := &m.prices[i]; i == 0 || x.holds(now) {
			if !x.isKnown {
				return nil
			}
			return &x.price
		}
	}
	return nil
}

func (x *timed) holds(now time.Time) bool {
	minute := 60*now.Hour() + now.Minute()
	switch from, to := x.hours[0], x.hours[1]; {
	case now.Before(x.from):
		return false
	case from == to:
		return true
	case from < to:
		return minute >= from && minute < to
	default: // over midnight
		return minute >= from || minute < to
	}
}
