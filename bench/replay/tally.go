package replay

import (
	"epitome/bench/policy"
	"epitome/bench/replay/figures"
	"epitome/bench/report"
	"epitome/bench/strict"
)

// tally is what is counted of one conversation.
type tally struct {
	requests, over, breaks, unrecorded, invalid int

	sent, raw int // tokens
	rawNow    int // tokens of the last request

	cost account // by the unit of published figures
	bill account // as a provider charges

	used    strict.Usage // of what was sent, by a provider that judges
	unknown bool         // that provider has not looked at all of it: used and bill say nothing

	asked   int // requests of the shaper's own
	timed   int // requests with a known pause before them
	expired int // requests after too long a pause

	all, user    mean
	hot          recall
	sight        sighted
	misses, back int
	read         readBack

	cpu []float64 // of each request, ms
}

// share is how many of some are met.
type share struct{ met, of int }

func (s *share) count(met bool) {
	s.of++
	if met {
		s.met++
	}
}

// mean is that of shares; one of nothing is left out.
type mean struct {
	sum float64
	of  int
}

func (m *mean) add(s share) {
	if s.of > 0 {
		m.sum += float64(s.met) / float64(s.of)
		m.of++
	}
}

func (m *mean) join(other mean) {
	m.sum += other.sum
	m.of += other.of
}

func (m mean) percent() *float64 { return report.Ratio(100*m.sum, float64(m.of)) }

// rowOf adds up conversations.
func rowOf(window int, name string, of []tally) figures.Row {
	row := figures.Row{Window: window, Policy: name}
	var t tally
	for _, x := range of {
		if x.over > 0 {
			row.Died++
		}
		if x.cost.total() > policy.Dearer*x.cost.raw {
			row.Dearer++
		}
		t.join(x)
	}
	row.Over, row.Tokens, row.Unrecorded, row.Misses = t.over, t.sent, t.unrecorded, t.misses
	row.Invalid = t.invalid
	row.Bill = billOf(t)
	if !t.unknown {
		row.Dropped, row.Cached = t.used.Dropped, report.Ratio(100*float64(t.used.Read), float64(t.used.Total()))
	}
	row.Cost, row.BreaksPer100 = t.cost.relative(), report.Ratio(100*float64(t.breaks), float64(t.requests))
	row.RecallAll, row.Recall, row.Recent = t.all.percent(), t.hot.all.percent(), t.hot.recent.percent()
	row.Older, row.Lines, row.UserText = t.hot.older.percent(), t.hot.lines.percent(), t.user.percent()
	row.Bare, row.BareOlder = t.hot.bare.percent(), t.hot.bareOlder.percent()
	row.Signal, row.SignalFirst = t.sight.telling.percent(), t.sight.first.percent()
	row.Seen = t.sight.seen.percent()
	row.SignalNeeded = t.sight.needed.percent()
	row.SignalResults, row.SignalLines = t.sight.first.of, t.sight.telling.of
	row.Retrievable = report.Ratio(100*float64(t.back), float64(t.misses))
	row.ReadBack = readBackOf(t)
	if len(t.cpu) > 0 {
		cpu := report.Median(t.cpu)
		row.CPUMS = &cpu
	}
	return row
}

func (t *tally) join(x tally) {
	t.requests += x.requests
	t.over += x.over
	t.breaks += x.breaks
	t.unrecorded += x.unrecorded
	t.invalid += x.invalid
	t.sent += x.sent
	t.raw += x.raw
	t.asked += x.asked
	t.timed += x.timed
	t.expired += x.expired
	t.cost.join(x.cost)
	t.bill.join(x.bill)
	t.used.Add(x.used)
	t.unknown = t.unknown || x.unknown
	t.misses += x.misses
	t.back += x.back
	t.read.join(x.read)
	t.cpu = append(t.cpu, x.cpu...)
	t.all.join(x.all)
	t.hot.join(x.hot)
	t.user.join(x.user)
	t.sight.join(x.sight)
}

func billOf(t tally) figures.Bill {
	if t.unknown {
		return figures.Bill{RawTokens: t.raw, RawBilled: t.bill.raw, OwnRequests: t.asked, Expired: t.expired}
	}
	return figures.Bill{
		RawTokens: t.raw, RawBilled: t.bill.raw, SentBilled: t.bill.sent, OwnBilled: t.bill.own, OwnRequests: t.asked,
		Saving: t.bill.raw - t.bill.total(), Billed: t.bill.relative(), Expired: t.expired,
	}
}

func readBackOf(t tally) figures.ReadBack {
	return figures.ReadBack{
		Reads: t.read.Calls, ReadsEach: report.Ratio(100*float64(t.read.Calls), float64(t.requests)),
		ReadTokens: t.read.Tokens,
		CostRead:   report.Ratio(t.cost.total()+t.read.Cost, t.cost.raw),
	}
}
