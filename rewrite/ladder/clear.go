package ladder

import (
	"cmp"
	"math"
	"slices"

	"epitome/event"
	"epitome/rewrite/decision"
	"epitome/rewrite/distil"
	"epitome/rewrite/history"
	"epitome/rewrite/limits"
	"epitome/rewrite/plan"
)

// candidate is an item that rung 2 may clear.
type candidate struct {
	item   int
	result *history.Result // nil for an assistant's message, of which the arguments are cleared
	form   *decision.Form  // when it is cleared; nil where that is not made yet
	freed  int             // tokens
	since  int             // the request, counted in assistant's messages, at which it became clearable
	why    plan.Why

	distillate string // what of a model's words stands in the stub
}

// clearOld is rung 2: old and spent results are cleared, in one batch, when the line is crossed or when the rent that
// they owe exceeds what the rewrite costs. Where that is near, a model is asked what it has to say of large ones.
func clearOld(p *plan.Plan, total int) {
	if p.End == 0 {
		return
	}
	before := len(p.Sheet.Changes)
	clearBatch(p, total)
	if len(p.Sheet.Changes) == before && p.Ask.Distils() && isClearingNear(p, total) {
		distil.Prepare(p, clearedSoon(p))
	}
}

// isClearingNear reports whether results are about to be cleared: half of what that must free has come together, or the
// line is near.
func isClearingNear(p *plan.Plan, total int) bool {
	const near = 7.0 / 8 // of the line
	due := p.Result.Due
	return float64(total) > near*float64(p.Limits.ClearLine) || !due.Waits && due.Freed > 0 && 2*due.Freed >= due.From
}

// clearedSoon are the results that are old, or will be within so many answers that a model has the time to speak.
func clearedSoon(p *plan.Plan) (list []*history.Result) {
	const answers = 2
	for _, c := range clearableResults(p, p.Hist.Answers[p.End-1]+answers) {
		if c.result != nil && c.why.Code == event.CodeOld {
			list = append(list, c.result)
		}
	}
	return list
}

// clearBatch clears what is to be cleared now.
func clearBatch(p *plan.Plan, total int) {
	most := clearableResults(p, p.Hist.Answers[p.End-1])
	// Whatever would not pay if nothing were left of it is not tried: to write all stubs takes long.
	first, due := firstToClear(p, most, total)
	if due.AtMost = true; first == len(most) {
		p.Result.Due = due
		return
	}
	list := worthClearing(p, most)
	first, p.Result.Due = firstToClear(p, list, total)
	p.Sheet.Cause = p.Result.Due.Cause
	clearAll(p, list[first:])
}

// causeThatPays is why clearing pays, if it does.
func causeThatPays(p *plan.Plan) event.Cause {
	switch {
	case p.Case.CacheExpired && p.Base.Version == 0 && p.Base.Depth() > 0:
		return event.CauseModel
	case p.Case.CacheExpired:
		return event.CausePause
	}
	return event.CauseRent
}

// firstToClear is the first candidate from which on all are cleared; len(list) if none is. due says what clearing comes
// to.
func firstToClear(p *plan.Plan, list []candidate, total int) (first int, due plan.Due) {
	freed := 0
	for _, c := range list {
		freed += c.freed
	}
	due = plan.Due{Looked: true, Freed: freed, From: p.Limits.AtLeast}
	switch {
	case total > p.Limits.ClearLine && freed >= p.Limits.AtLeast:
		due.Cause = event.CauseClearAt
		return 0, due
	case p.Limits.Conf.Rent > 0 && !p.Case.OverQuota && (p.Case.CacheExpired || !plan.Binds(p)):
		due.Cause = causeThatPays(p)
		return firstThatPays(p, list, due)
	}
	due.Waits = true
	return len(list), due
}

// What one request clears: to write a stub, the whole result is read. Where there is more, the oldest of the larger
// results go first, then the oldest of the others if that is enough to come below the line of a compaction, and what is
// behind them has to wait for the next request.
const (
	mostCleared = 4 << 20 // bytes of results
	largerOnes  = 4 << 10 // bytes; clearing them always pays
	bytesOfStub = 1 << 10 // what writing the stub of a smaller one costs beside reading it, in bytes that are read
)

// readable is the part of the list that one request may read.
func readable(p *plan.Plan, list []candidate) (part []candidate) {
	all := 0
	for _, c := range list {
		all += c.bytes(p)
	}
	if all <= mostCleared {
		return list
	}
	room, freed, taken := mostCleared, 0, make([]bool, len(list))
	take := func(k, cost int) { taken[k], room, freed = true, room-cost, freed+list[k].freed }
	for k, c := range list {
		if n := c.bytes(p); n == 0 || n >= largerOnes && (n <= room || room == mostCleared) {
			take(k, n)
		}
	}
	larger := slices.Clone(taken)
	for k, c := range list {
		if n := c.bytes(p); !taken[k] && n < largerOnes && n+bytesOfStub <= room {
			take(k, n+bytesOfStub)
		}
	}
	if p.Total()-freed > p.Limits.CompactLine { // they go all the same
		taken = larger
	}
	for k, c := range list {
		if taken[k] {
			part = append(part, c)
		}
	}
	return part
}

// bytes is how many bytes of a result are read to clear it.
func (c *candidate) bytes(p *plan.Plan) int {
	if c.result == nil {
		return 0
	}
	return plan.CostOf(p, c.item)
}

// worthClearing are those of the candidates that free enough with what is left of them.
func worthClearing(p *plan.Plan, most []candidate) (list []candidate) {
	for _, c := range readable(p, most) {
		if c.result != nil && !isWorth(p, &c) {
			continue
		}
		list = append(list, c)
	}
	return list
}

// isWorth measures the stub of a result, and reports whether clearing that is worth it.
func isWorth(p *plan.Plan, c *candidate) bool {
	sent := c.freed
	c.freed -= stubSize(p, c)
	return limits.IsWorthClearing(sent, c.freed)
}

// clearableResults is what may be cleared at a request, counted in assistant's messages, in the order of the
// conversation, as if nothing were left of a result.
func clearableResults(p *plan.Plan, now int) (list []candidate) {
	due := clearableSince(p)
	for k := range p.Hist.Results {
		res := &p.Hist.Results[k]
		sent := p.SentSize(res.Item)
		if res.Item >= p.End || sent < limits.LeastFreed { // most are that small
			continue
		}
		since := due[k].since
		if since > now || plan.IsUntouchable(p, res) || plan.IsCleared(p, res) || plan.MustBeShown(p, res) {
			continue
		}
		c := candidate{item: res.Item, result: res, since: since, why: plan.WhyOld, freed: sent}
		if due[k].spent {
			c.why = plan.Spent(res)
		}
		if list == nil { // most of what comes behind may be cleared, too
			list = make([]candidate, 0, len(p.Hist.Results)-k)
		}
		list = append(list, c)
	}
	if p.Limits.Conf.ClearCalls {
		list = append(list, clearableCalls(p, now)...)
		slices.SortFunc(list, func(a, b candidate) int { return cmp.Compare(a.item, b.item) })
	}
	return list
}

// firstThatPays is the first candidate from which on clearing pays; len(list) if it pays from none. While nothing is
// cached it costs nothing. due, which may know nothing better, says of the batch that is nearest to paying what it
// frees, and from how many tokens on it would pay, if they owed as much each.
func firstThatPays(p *plan.Plan, list []candidate, due plan.Due) (int, plan.Due) {
	now := p.Hist.Answers[p.End-1]
	compacted := lastCompacted(p)
	end := endOfLastRequest(p)
	suffix, freed, best, at, nearest := 0, 0, 0.0, len(list), math.Inf(-1)
	alpha, least := p.Limits.Conf.Rent, limits.LeastBatch
	if p.Case.CacheExpired {
		alpha, least = 0, min(limits.LeastCold, p.Limits.AtLeast/2)
	}
	owed := 0.0
	for x := len(list) - 1; x >= 0; x-- {
		c := list[x]
		owed += p.Limits.Conf.CachedPrice * float64(c.freed) * float64(max(1, now-max(c.since, compacted+1)+1))
		for ; end > c.item; end-- {
			suffix += p.SentSize(end - 1)
		}
		freed += c.freed
		price := alpha * (1 - p.Limits.Conf.CachedPrice) // of each token behind, to be sent anew
		gain := owed - price*float64(suffix-freed)
		if gain > best && freed >= least {
			best, at = gain, x
		}
		if gain > nearest && freed > 0 {
			from := math.Ceil(price * float64(suffix) / (owed/float64(freed) + price))
			nearest, due.Freed, due.From = gain, freed, max(least, int(from))
		}
	}
	return at, due
}

// lastCompacted is the request, counted in assistant's messages, at which the conversation was compacted last; -1 if it
// never was.
func lastCompacted(p *plan.Plan) int {
	at := -1
	for _, f := range p.Forms {
		if f != nil && f.Rung == decision.RungCompact && f.Fold > 0 {
			at = max(at, f.At)
		}
	}
	return at
}

// endOfLastRequest is how many items the request before this one had: those before the last assistant's message.
func endOfLastRequest(p *plan.Plan) int {
	for i := p.End - 1; i > 0; i-- {
		if p.Req.Items[p.Req.Head+i].Begins {
			return i
		}
	}
	return 0
}

// stubSize is about how many tokens the result takes when it is cleared. A model's words stand there if clearing is
// worth it even so.
func stubSize(p *plan.Plan, c *candidate) int {
	if c.why.Code == event.CodeOld { // of one that is worthless nothing is told
		c.distillate = distil.Of(p, c.result)
	}
	now := measureStub(p, c)
	if sent := p.SentSize(c.item); c.distillate != "" && !limits.IsWorthClearing(sent, sent-now) {
		c.distillate = ""
		now = measureStub(p, c)
	}
	return now
}

// measureStub is how many tokens the stub takes that the candidate would get.
func measureStub(p *plan.Plan, c *candidate) int {
	said := plan.WordsOfStub(p, c.result, c.why.Words)
	said.Distillate = c.distillate
	if known := &c.result.Stub; known.Tokens == 0 || known.Said != said {
		c.form = plan.StubWith(p, c.result, c.why.Words, c.distillate)
		*known = history.StubSize{Said: said, Tokens: c.form.Now}
	}
	return c.result.Stub.Tokens
}

// clearAll gives all of the list, which is in the order of the conversation, the forms of what is cleared.
func clearAll(p *plan.Plan, list []candidate) {
	for _, c := range list {
		f := c.form
		switch {
		case c.result == nil:
			f = withoutArguments(p, c.item)
		case f == nil:
			f = plan.StubWith(p, c.result, c.why.Words, c.distillate)
		}
		p.Set(c.item, f, c.why)
	}
}
