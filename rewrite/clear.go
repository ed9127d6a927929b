package rewrite

import (
	"cmp"
	"slices"
)

// candidate is an item that rung 2 may clear.
type candidate struct {
	item  int
	res   *result // nil for an assistant's message, of which the arguments are cleared
	freed int     // tokens
	since int     // the request, counted in assistant's messages, at which it became clearable
	why   string
}

// clearing is rung 2: old and spent results are cleared, in one batch, when the line is crossed or when the rent that they
// owe exceeds what the rewrite costs.
func (p *plan) clearing(total int) {
	if p.stable == 0 {
		return
	}
	most := p.clearable(func(*result, string) int { return 0 })
	if p.from(most, total) == len(most) { // it would not pay if nothing were left of them; to write all stubs takes long
		return
	}
	list := p.clearable(p.stubbed)
	p.clear(list[p.from(list, total):])
}

// from is the first candidate from which on all are cleared; len(list) if none is.
func (p *plan) from(list []candidate, total int) int {
	freed := 0
	for _, c := range list {
		freed += c.freed
	}
	switch {
	case total > p.clearLine && freed >= p.atLeast:
		return 0
	case p.Rent > 0 && !p.late:
		return p.due(list)
	}
	return len(list)
}

// clearable is what may be cleared, in the order of the conversation. left is how many tokens of a result are left then.
func (p *plan) clearable(left func(res *result, why string) int) (list []candidate) {
	aged := p.agedAt()
	since := p.clearableAt(aged)
	now := p.hist.groups[p.stable-1]
	for k := range p.hist.results {
		res := &p.hist.results[k]
		if since[k] > now || res.item >= p.stable || p.first(res.item) < leastCleared || p.cleared(res) {
			continue
		}
		c := candidate{item: res.item, res: res, since: since[k], why: "old"}
		if since[k] < aged[k] {
			c.why = res.why
		}
		if c.freed = p.sent(res.item) - left(res, c.why); c.freed > leastSaving {
			list = append(list, c)
		}
	}
	if p.ClearCalls {
		list = append(list, p.clearableCalls(aged, now)...)
		slices.SortFunc(list, func(a, b candidate) int { return cmp.Compare(a.item, b.item) })
	}
	return list
}

func (p *plan) cleared(res *result) bool {
	f := p.forms[res.item]
	return f != nil && (f.Rung == rungClear || f.Gone || f.Fold > 0)
}

func (p *plan) untouched(res *result) bool {
	_, _, untouched := p.limitOf(res.name, false)
	return untouched
}

// never is a request that does not come.
const never = int(^uint(0) >> 1)

// clearableAt says for each result at which request it had become clearable: old, or spent and of an age.
func (p *plan) clearableAt(aged []int) []int {
	at := make([]int, len(aged))
	for k := range at {
		if at[k] = min(aged[k], p.spentAt(k)); p.untouched(&p.hist.results[k]) {
			at[k] = never
		}
	}
	return at
}

// lastUse is the newest item that shows a result or refers to it.
func (p *plan) lastUse() []int {
	used := make([]int, len(p.hist.results))
	for k := range used {
		res := &p.hist.results[k]
		used[k] = max(used[k], res.item)
		for _, i := range p.refers(res) {
			used[p.hist.at[i]] = res.item
		}
	}
	return used
}

// refers are the items that a result refers to as it is sent.
func (p *plan) refers(res *result) []int {
	if f := p.forms[res.item]; f != nil && f.Rung == rungOffload {
		return f.Refers
	}
	return nil
}

// agedAt says for each result at which request, counted in assistant's messages, it had become old: outside of the newest
// tokens and of the newest groups. A result to which a newer one refers is in the group of that one; the reference says where the
// text lies when it is cleared all the same.
func (p *plan) agedAt() []int {
	h := p.hist
	used := p.lastUse()
	at := make([]int, len(h.results))
	sum := 0
	for end, k := 0, 0; k < len(h.results); k++ {
		for end < len(h.results) && sum <= p.protect {
			sum += p.first(h.results[end].item)
			end++
		}
		at[k] = never
		if sum > p.protect {
			at[k] = max(h.groups[h.results[end-1].item], h.groups[used[k]]+p.age)
		}
		sum -= p.first(h.results[k].item)
		end = max(end, k+1)
	}
	return at
}

// spentAt is the request at which a result was both spent and of an age.
func (p *plan) spentAt(k int) int {
	res := &p.hist.results[k]
	if res.spent == 0 || res.spent >= p.stable {
		return never
	}
	if f := p.forms[res.spent]; f != nil && slices.Contains(f.Refers, res.item) { // what spent it shows it only by reference
		return never
	}
	return max(p.hist.groups[res.spent], p.hist.groups[res.item]+spentGroups)
}

// due is the first candidate from which on clearing pays; len(list) if it pays from none. While nothing is cached it costs nothing.
func (p *plan) due(list []candidate) int {
	now := p.hist.groups[p.stable-1]
	compacted := p.compactedAt()
	end := p.lastRequest()
	suffix, freed, best, at := 0, 0, 0.0, len(list)
	alpha, least := p.Rent, leastBatch
	if p.cold {
		alpha, least = 0, min(leastCold, p.atLeast/2)
	}
	owed := 0.0
	for x := len(list) - 1; x >= 0; x-- {
		c := list[x]
		owed += p.CachedPrice * float64(c.freed) * float64(max(1, now-max(c.since, compacted+1)+1))
		for ; end > c.item; end-- {
			suffix += p.sent(end - 1)
		}
		freed += c.freed
		gain := owed - alpha*(1-p.CachedPrice)*float64(suffix-freed)
		if gain > best && freed >= least {
			best, at = gain, x
		}
	}
	return at
}

// compactedAt is the request, counted in assistant's messages, at which the conversation was compacted last; -1 if it never was.
func (p *plan) compactedAt() int {
	at := -1
	for _, f := range p.forms {
		if f != nil && f.Rung == rungCompact && f.Fold > 0 {
			at = max(at, f.At)
		}
	}
	return at
}

// lastRequest is how many items the request before this one had: those before the last assistant's message.
func (p *plan) lastRequest() int {
	for i := p.stable - 1; i > 0; i-- {
		if p.req.Items[p.req.Head+i].Begins {
			return i
		}
	}
	return 0
}

// stubbed is about how many tokens the result takes when it is cleared.
func (p *plan) stubbed(res *result, why string) int {
	if res.stubbed == 0 {
		res.stubbed = p.stub(res, why).Now
	}
	return res.stubbed
}

func (p *plan) clear(list []candidate) {
	for _, c := range list {
		var f *form
		if c.res == nil {
			f = p.withoutArguments(c.item)
		} else {
			f = p.stub(c.res, c.why)
		}
		p.set(c.item, f, c.why)
	}
}

// stub is the form of a cleared result.
func (p *plan) stub(res *result, why string) *form {
	it := &p.req.Items[p.req.Head+res.item]
	list, tokens := p.passages(res.item)
	if len(list) == 0 { // pictures, or what is read by nobody
		tokens = p.hist.sizes[res.item]
	}
	q := patch{Place: wholeContent}
	raw, text := it.Content.Of(p.req.Body), ""
	if len(list) == 1 && p.hist.media[res.item] == 0 {
		q.Place, q.Index, raw, text = list[0].place, list[0].index, list[0].raw, list[0].text
	} else {
		for _, w := range list {
			text += w.text + "\n"
		}
	}
	content, spelling := keepsake(raw)
	q.Artifact, q.Spelling = p.shelf.Name(p.scope, content), spelling
	m := middle{excerpt: excerpt{leftTokens: tokens}, total: linesIn(text), where: p.whereFor(res, q.Artifact), names: p.namesOf(res, text)}
	q.Text = clearedStub(&res.origin, m, why)
	f := &form{Rung: rungClear, Patches: []patch{q}}
	f.Now = p.patched(res.item, f)
	return f
}

// namesOf are the names in a result's text, if it is long enough for them to be worth their tokens.
func (p *plan) namesOf(res *result, text string) string {
	if res.names == "" && len(text) > 4*p.Names {
		screen, _ := finalScreen(text) // control sequences would stick to names
		res.names = namesIn(screen, p.Names)
	}
	return res.names
}

// whereFor says how to get a result back. One that was an artifact read back names that one too, so that nobody follows a
// chain of them.
func (p *plan) whereFor(res *result, name string) string {
	s := p.where(name)
	if first := p.recalled(res); first != "" && first != name {
		s += " (it showed artifact " + first + ")"
	}
	return s
}
