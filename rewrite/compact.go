package rewrite

import "epitome/prose"

// compaction is rung 3: the span from the opening to a cut becomes one text, and a tail of whole groups stays as it is.
type compaction struct {
	*plan
	budgets
	from, to int   // items behind the head
	done     int   // end of what was left out by earlier ones
	caller   []int // of each item, the item whose call it answers; -1 if it answers none
	fixed    int   // tokens of what stays whatever is left out: all but the span and the tail
	recap    int   // tokens that the recap takes, at most, about
	tail     int   // tokens that may stay behind the cut
	target   int   // tokens to which the request is to come down
	hard     bool  // the newest group stays whole here: fit cuts as much of it as it must
	told     told  // what a model says of the span
}

// noOlder is why nothing is compacted where there is nothing but the newest group.
const noOlder = "there is no older group that could be left out"

const (
	leastGain = 0.1 // share of a request that a compaction must save
	leastTail = 500 // tokens
)

// compact replaces old items by a recap. It says why it did not, if so.
func (p *plan) compact() (reason string) {
	c := p.compaction(p.budgets())
	c.tail = max(min(c.keepTail, c.target-c.fixed-c.recap), leastTail)
	least := int(leastGain * float64(p.total()))
	if p.replaces() {
		least = 0
	}
	reason = c.run(least)
	if reason != "" && c.fixed > c.target {
		return "what is never left out (system prompt, tools, the first user message) is more than compact_to allows, and all else is less than a tenth of the request"
	}
	return reason
}

// compactHard is compact where every token counts: next to nothing of the recap and of the tail stays. If even that would not
// fit, it must save as much as any other, so that it is not done again and again.
func (p *plan) compactHard() (reason string) {
	const tail = 0.1 // of usable
	c := p.compaction(p.budgets().hard())
	c.tail, c.hard = max(min(int(tail*float64(c.usable)), c.usable-c.fixed-c.recap), 0), true
	if c.told = c.earlier(); p.count(c.told.prose) > int(tail*float64(c.usable)) {
		c.told = told{}
	}
	c.recap += p.count(c.told.prose) - c.prose // no more is asked for
	return c.run(int(leastGain * float64(p.total())))
}

func (p *plan) compaction(b budgets) *compaction {
	c := &compaction{plan: p, budgets: b, from: p.opening(), caller: p.callers(), target: int(p.Target * float64(p.usable))}
	c.done = max(c.from, p.compacted())
	users, latest := 0, 0
	c.fixed = c.size.Total() - c.hist.size.Total()
	for i := range c.stable {
		switch {
		case i == c.from-1:
			c.fixed += c.hist.sizes[i] // without an earlier recap
		case i < c.from || c.stays(i):
			c.fixed += c.sent(i)
		case c.req.Items[c.req.Head+i].Role == User:
			latest = c.hist.sizes[i]
			users += latest
		}
	}
	c.recap = b.estimate(users, latest)
	return c
}

// callers says of each item behind the head which item's call it answers; -1 if none, or one that was answered before.
func (p *plan) callers() []int {
	list := make([]int, p.hist.len())
	open := map[string]int{}
	for i := range list {
		it := &p.req.Items[p.req.Head+i]
		list[i] = -1
		switch it.Role {
		case Assistant:
			for _, call := range it.Calls {
				open[call.ID] = i
			}
		case Tool:
			if k, ok := open[it.Answers]; ok {
				list[i] = k
				delete(open, it.Answers)
			}
		}
	}
	return list
}

// stays reports whether item i of the span is sent all the same: it tells how things are done, is of an unknown kind, or answers a
// call of the opening.
func (c *compaction) stays(i int) bool {
	return c.plan.stays(i) || c.caller[i] >= 0 && c.caller[i] < c.from
}

// run does it if that saves more than so many tokens. If it does not, nothing has changed.
func (c *compaction) run(least int) (reason string) {
	newest, large := c.cut()
	if c.to < 0 {
		return noOlder
	}
	saved, total := c.saved(), c.total()
	if c.hard {
		large = 0
	}
	if c.hard && total-saved <= c.usable {
		least = 0
	}
	little := "what could be left out is less than a tenth of the request"
	if c.manual {
		little = "what could be left out is less than a summary of it would be"
	}
	if saved+large+c.spare() <= least {
		return little
	}
	c.begun()
	if !c.hard && c.to > c.from {
		c.inquire(total - saved)
	}
	if c.left {
		return ""
	}
	before := c.checkpoint()
	if large > 0 {
		c.clip(newest)
	}
	if c.to > c.from {
		c.replace()
	}
	if total-c.total() <= least { // names took more than was thought
		c.undo(before)
		c.ended(total, little)
		return little
	}
	c.ended(total, "")
	return ""
}

// saved is how many tokens go with the span, less what comes in its place.
func (c *compaction) saved() int {
	if c.to <= c.from { // all there is is the newest group
		return 0
	}
	n := c.spanned(c.to) - c.recap
	if c.from > 0 { // an earlier recap goes with it
		n += c.sent(c.from-1) - c.hist.sizes[c.from-1]
	}
	return n
}

// spare is what of the recap may not be needed. Where somebody asked for it, a short span is tried: it is measured afterwards.
func (c *compaction) spare() int {
	if !c.manual || c.hard || c.to <= c.done {
		return 0
	}
	b := c.budgets
	return b.lists + b.keys + b.index + b.turns + b.prose
}

// spanned is how many tokens go with the items before a cut.
func (c *compaction) spanned(to int) (n int) {
	for i := c.from; i < to; i++ {
		if !c.stays(i) {
			n += c.sent(i)
		}
	}
	return n
}

// cut finds the first item behind the span: an assistant's, so that no result is parted from its call, with no more behind it than
// the tail may have. If the newest group alone is more, it is the tail all the same, and large says how much too large.
func (c *compaction) cut() (newest, large int) {
	newest, c.to = -1, -1
	c.cuts(func(i, have int) bool {
		if newest < 0 {
			newest, large = i, have-c.tail
		}
		if have <= c.tail {
			c.to = i
		}
		return have <= c.tail
	})
	if c.to < 0 {
		c.to = newest
	}
	return newest, max(large, 0)
}

// cuts gives f each place where the tail may begin, the last one first, with the tokens behind it, until f returns false.
func (c *compaction) cuts(f func(i, have int) bool) {
	have, called := 0, never
	for i := c.hist.len() - 1; i >= c.done; i-- {
		have += c.spelled(i)
		if k := c.caller[i]; k >= c.from {
			called = min(called, k)
		}
		if !c.req.Items[c.req.Head+i].Begins || i >= c.stable || called < i || c.gone(i) {
			continue
		}
		if !f(i, have) {
			return
		}
	}
}

// spelled is how many tokens item i takes when nothing is left that it could refer to.
func (c *compaction) spelled(i int) int {
	if k := c.hist.at[i]; k >= 0 && len(c.refers(&c.hist.results[k])) > 0 {
		return c.hist.sizes[i]
	}
	return c.sent(i)
}

// clip shortens the largest results from item i on, so that all from there on is about what the tail may have.
func (c *compaction) clip(i int) {
	var list []*result
	room := c.tail
	for ; i < c.hist.len(); i++ {
		if k := c.hist.at[i]; k >= 0 && c.squeezable(&c.hist.results[k]) {
			list = append(list, &c.hist.results[k])
		} else {
			room -= c.sent(i)
		}
	}
	keep := max(room, 0)
	for {
		sum := 0
		for _, res := range list {
			sum += min(c.sent(res.item), keep)
		}
		if sum <= room || keep <= 0 {
			break
		}
		keep -= keep/8 + 1
	}
	for _, res := range list {
		if c.sent(res.item) > keep {
			c.squeeze(res, keep-stubTokens)
		}
	}
}

// replace puts the recap in the place of the span. What stays of it stays where it is.
func (c *compaction) replace() {
	list, fresh := c.segments()
	for _, g := range list[fresh:] {
		c.leaveOut(g)
	}
	c.silence()
	c.spellOut(c.from, c.to)
	names := make([]string, len(list))
	for k, g := range list {
		names[k] = c.forms[g.First].artifacts()[0]
	}
	r := c.newRecap(c.from, c.to)
	r.told = c.told
	if c.style.Mode == prose.ModeLossless {
		r.turns = c.perTurn(list, names)
	}
	where := "Each part of it is where its line says"
	if r.turns == "" {
		where = c.whereAll(names)
	}
	text := r.text(c.budgets, where)
	c.tracked = r.tracked
	switch {
	case c.to == c.hist.len(): // nothing is sent behind it
		c.stand(c.lastRun(), text)
	case !c.append(c.from-1, text):
		c.stand(list[0].First, text)
	}
}

// silence takes back an earlier recap that stands for a run of items, or that would be sent beside this one.
func (c *compaction) silence() {
	for i := c.from; i < c.to; i++ {
		if f := c.forms[i]; f != nil && f.With != "" && i+f.Fold < c.hist.len() {
			g := *f
			g.With, g.Prose, g.Gap, g.Now, g.name = "", "", c.req.gap(i+f.Fold), 0, ref{}
			c.put(i, &g)
			c.fresh[i] = true
		}
	}
	if i := c.from - 1; i >= 0 && c.forms[i] != nil && c.to == c.hist.len() {
		c.set(i, &form{Rung: rungCompact, Now: c.hist.sizes[i]}, "the summary stands elsewhere")
	}
}

// lastRun is the first item of the last run that is left out.
func (c *compaction) lastRun() int {
	i := c.to - 1
	for c.gone(i) {
		i--
	}
	return i
}

// segments are the parts of the span of which each has its transcript, and from which of them on they are new. A new one takes in
// those before it that are no larger: so there are few, and no message is kept often.
func (c *compaction) segments() (list []Group, fresh int) {
	i := c.from
	for i < c.to {
		if n := c.segmentAt(i); n > 0 {
			list = append(list, Group{i, i + n})
			i += n
		} else if c.stays(i) {
			i++
		} else {
			break
		}
	}
	fresh = len(list)
	if i == c.to {
		return list, fresh
	}
	if c.style.Mode == prose.ModeLossless {
		return c.apart(list, i)
	}
	list = append(list, Group{i, c.to})
	bytes := func(g Group) int { return len(c.req.run(g.First, g.End-g.First)) }
	for n := len(list); n > 1 && bytes(list[n-2]) <= bytes(list[n-1]); n-- {
		list[n-2].End = list[n-1].End
		list = list[:n-1]
	}
	return list, min(fresh, len(list)-1)
}

// segmentAt is how many items the segment has that begins with item i; 0 if none does, or if it was meddled with since.
func (c *compaction) segmentAt(i int) int {
	if c.forms[i] == nil {
		return 0
	}
	n := c.forms[i].Over
	for k := i; k < i+n; k++ {
		if f := c.forms[k]; !c.stays(k) && (f == nil || f.Rung != rungCompact) {
			return 0
		}
	}
	return n
}

// leaveOut sends nothing for a segment but what stays of it.
func (c *compaction) leaveOut(g Group) {
	gone := &form{Rung: rungCompact, Gone: true}
	runs := c.runs(g)
	for n, run := range runs {
		f := &form{Rung: rungCompact, Fold: run.End - run.First, Kept: c.nameOf(run), At: c.hist.groups[c.stable-1]}
		if run.End < c.hist.len() {
			f.Gap = c.req.gap(run.End)
		}
		if n == 0 {
			f.Over = g.End - g.First
			if len(runs) > 1 {
				f.Told = c.nameOf(g)
			}
			f.Text = c.shelf.Name(c.scope, f.transcript(c.req, run.First))
		}
		c.set(run.First, f, "the window fills")
		for k := run.First + 1; k < run.End; k++ {
			c.fresh[k] = true
			if !c.gone(k) {
				c.put(k, gone)
			}
		}
	}
}

// runs are the parts of a segment between what stays of it. The first one begins where it does.
func (c *compaction) runs(g Group) (list []Group) {
	for i := g.First; i < g.End; i++ {
		switch n := len(list); {
		case c.stays(i):
		case n > 0 && list[n-1].End == i:
			list[n-1].End++
		default:
			list = append(list, Group{i, i + 1})
		}
	}
	return list
}

// nameOf is the artifact that holds the messages of a segment, as they stand in the body.
func (c *compaction) nameOf(g Group) string {
	return c.shelf.Name(c.scope, c.req.run(g.First, g.End-g.First))
}

// whereAll says where the transcripts with these names are.
func (c *compaction) whereAll(names []string) string {
	s := c.where(names[0])
	for _, name := range names[1:] {
		if a := c.shelf.Address(name); a != "" {
			name = a
		}
		s += " then " + name
	}
	return s
}

// append writes a text behind what item i says, if it says anything.
func (c *compaction) append(i int, text string) bool {
	if i < 0 {
		return false
	}
	if _, ok := c.req.Dialect.Append(c.req, &c.req.Items[c.req.Head+i], ""); !ok {
		return false
	}
	text = "\n\n" + text
	f := &form{Rung: rungCompact, Patches: []patch{{Place: behind, Text: text}}, Now: c.hist.sizes[i] + c.count(text)}
	f.Prose, f.Until = c.told.prose, c.told.until
	c.set(i, f, "the summary stands behind it")
	return true
}

// stand puts a message with the text in the place of the run that item i begins.
func (c *compaction) stand(i int, text string) {
	f := *c.forms[i]
	f.With, f.Gap, f.Now, f.At = string(c.req.Dialect.Message(User, text)), "", c.messageTokens(text), c.hist.groups[c.stable-1]
	f.Prose, f.Until, f.name = c.told.prose, c.told.until, ref{}
	c.set(i, &f, "the summary stands for it")
}
