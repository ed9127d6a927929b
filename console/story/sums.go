package story

import (
	"maps"
	"net/http"

	"epitome/event"
)

// account is a Sums in the making, with what its ratios are made of. Its Saved and Drift are worked out by sums.
type account struct {
	Sums
	Both  Both  `json:"both"`
	Cache Cache `json:"cache"`
}

// Cache is what of their requests providers had in their caches, in tokens, of exchanges that tell.
type Cache struct {
	Input int64 `json:"input"`
	Read  int64 `json:"read"`
}

// Both are the amounts of exchanges that were billed and that the ruler knows, in nano-dollars.
type Both struct {
	Billed int64 `json:"billed_nano"`
	Sent   int64 `json:"sent_nano"`
}

// addExchange counts an exchange. died says that no earlier request of its conversation was beyond its window.
func (a *account) addExchange(e *event.Exchange, died bool) {
	a.Exchanges++
	if isFailed(e) {
		a.Failed++
	}
	if e.Rescue.Rescued {
		a.Rescued++
	}
	a.addUsage(e)
	a.addMiss(e)
	a.addBilled(e)
	if e.ShapeTime == 0 {
		return
	}
	switch e.Mode {
	case event.ModeObserve:
		a.Observed.addExchange(e)
	case event.ModeOn:
		a.addShaping(e)
		a.addRuled(e, died)
	}
}

// isFailed reports whether the client did not get the whole of a good answer.
func isFailed(e *event.Exchange) bool {
	return e.Status >= http.StatusBadRequest || e.Fault != event.None
}

func (a *account) addUsage(e *event.Exchange) {
	u := &e.Usage
	if u.Source == "" || u.Odd {
		return
	}
	if u.Source == event.UsageProvider {
		a.Usage.Told++
		if u.Cut {
			a.Usage.Cut++
		}
	} else {
		a.Usage.Counted++
	}
	a.Usage.Input += int64(u.Input)
	a.Usage.Read += int64(u.Read)
	a.Usage.Write += int64(u.Write5m) + int64(u.Write1h)
	a.Usage.Output += int64(u.Output)
	if tellsCache(u) {
		a.Cache.Input += int64(u.Input)
		a.Cache.Read += int64(u.Read)
	}
}

func (a *account) addMiss(e *event.Exchange) {
	switch {
	case e.Miss != event.NoMiss:
		if a.Misses == nil {
			a.Misses = map[event.Miss]int64{}
		}
		a.Misses[e.Miss]++
	case isConversation(e) && tellsCache(&e.Usage):
		a.Hits++
	}
}

func (a *account) addBilled(e *event.Exchange) {
	b := &e.Bill
	if b.Measured {
		a.Money.Measured++
		a.Money.Billed += b.Billed
		a.Money.Most += max(b.Most, b.Billed)
		if b.AtLeast {
			a.Money.AtLeast++
		}
		if b.Subscription {
			a.Money.Listed++
		}
	}
	if b.IsUnpriced() {
		a.Money.Unpriced++
	}
	if b.Measured && b.Ruled {
		a.Both.Billed += b.Billed
		a.Both.Sent += b.Sent
		if e.Mode == event.ModeObserve { // it went as it came
			a.Both.Sent += b.Raw - b.Sent
		}
	}
}

func (a *account) addShaping(e *event.Exchange) {
	a.Shaped++
	if e.Action == event.ActionBypass {
		a.Bypassed++
	}
	a.TokensBefore += int64(e.TokensBefore.Total())
	a.TokensAfter += int64(e.TokensAfter.Total())
	a.TakenOut += int64(e.TakenOut)
	a.Offloaded += int64(e.Offloaded)
	a.Cleared += int64(e.Cleared)
	a.Compacted += int64(e.Compacted)
	if e.Code != event.NoCode {
		if a.Codes == nil {
			a.Codes = map[event.Code]int64{}
		}
		a.Codes[e.Code]++
	}
}

func (a *account) addRuled(e *event.Exchange, died bool) {
	if e.Bill.Ruled {
		a.Money.Ruled++
		a.Money.Raw += e.Bill.Raw
		a.Money.Sent += e.Bill.Sent
	}
	if e.Bill.Beyond {
		a.Money.Beyond++
		if died {
			a.Money.Died++
		}
	}
}

// addOwn counts what was asked of a model for a summary.
func (a *account) addOwn(s *event.Summary) {
	a.Money.Own += s.Own.Nano
	if s.IsUncharged() {
		a.Money.Uncharged++
	}
}

func (s *Seen) addExchange(e *event.Exchange) {
	s.Exchanges++
	s.TokensBefore += int64(e.TokensBefore.Total())
	s.TokensAfter += int64(e.TokensAfter.Total())
	if e.Bill.Ruled {
		s.Ruled++
		s.Raw += e.Bill.Raw
		s.Sent += e.Bill.Sent
	}
}

// add counts all that b has counted.
func (a *account) add(b *account) {
	a.Exchanges += b.Exchanges
	a.Failed += b.Failed
	a.Rescued += b.Rescued
	a.Shaped += b.Shaped
	a.Bypassed += b.Bypassed
	a.TokensBefore += b.TokensBefore
	a.TokensAfter += b.TokensAfter
	a.TakenOut += b.TakenOut
	a.Offloaded += b.Offloaded
	a.Cleared += b.Cleared
	a.Compacted += b.Compacted
	a.Observed.add(b.Observed)
	a.Usage.add(b.Usage)
	a.Money.add(b.Money)
	a.Both.Billed += b.Both.Billed
	a.Both.Sent += b.Both.Sent
	a.Cache.Input += b.Cache.Input
	a.Cache.Read += b.Cache.Read
	a.Hits += b.Hits
	a.Misses = merged(a.Misses, b.Misses)
	a.Codes = merged(a.Codes, b.Codes)
}

func (s *Seen) add(t Seen) {
	s.Exchanges += t.Exchanges
	s.TokensBefore += t.TokensBefore
	s.TokensAfter += t.TokensAfter
	s.Ruled += t.Ruled
	s.Raw += t.Raw
	s.Sent += t.Sent
}

func (u *UsageSums) add(v UsageSums) {
	u.Told += v.Told
	u.Counted += v.Counted
	u.Input += v.Input
	u.Read += v.Read
	u.Write += v.Write
	u.Output += v.Output
	u.Cut += v.Cut
}

func (m *Money) add(n Money) {
	m.Billed += n.Billed
	m.Most += n.Most
	m.Ruled += n.Ruled
	m.Raw += n.Raw
	m.Sent += n.Sent
	m.Own += n.Own
	m.Measured += n.Measured
	m.AtLeast += n.AtLeast
	m.Listed += n.Listed
	m.Unpriced += n.Unpriced
	m.Uncharged += n.Uncharged
	m.Beyond += n.Beyond
	m.Died += n.Died
}

// merged adds the counts of more to those of into, which it makes if need be.
func merged[K ~string](into, more map[K]int64) map[K]int64 {
	if into == nil && len(more) > 0 {
		into = make(map[K]int64, len(more))
	}
	for k, n := range more {
		into[k] += n
	}
	return into
}

// million is what a drift is told in parts of.
const million = 1_000_000

// sums is what has been counted, for others to keep.
func (a *account) sums() Sums {
	s := a.Sums
	s.Misses, s.Codes = maps.Clone(s.Misses), maps.Clone(s.Codes)
	s.Usage.CacheInput = a.Cache.Input
	s.Money.Saved = s.Money.Raw - s.Money.Sent - s.Money.Own
	if a.Both.Sent > 0 {
		s.Money.Drift = int64(float64(a.Both.Billed-a.Both.Sent) / float64(a.Both.Sent) * million)
	}
	return s
}
