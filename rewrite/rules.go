package rewrite

import (
	"fmt"
	"slices"
)

// Rules are what a user may switch on to have less sent than the ladder would; all are off by default. Each moves in
// strides of half its number, so that the beginning of a conversation stays as it is for many turns.
type Rules struct {
	Turns     int  `toml:"newest_turns"`        // user's turns that are sent, the first message aside
	Messages  int  `toml:"newest_messages"`     // messages that are sent, likewise
	Pairs     int  `toml:"newest_tool_results"` // results that are sent in full
	TextOnly  bool `toml:"text_only"`           // calls and results of older groups are left out
	Assistant int  `toml:"assistant_tokens"`    // of an assistant's older text, above which it is cut
}

// on reports whether any rule is.
func (r Rules) on() bool { return r != Rules{} }

// due is how many of have things a rule that keeps keep of them takes away now: none until half as many more have come.
func due(have, keep int) int {
	if keep <= 0 || have < keep+stride(keep) {
		return 0
	}
	return have - keep
}

// stride is how many things a rule that keeps keep of them takes away at once, at least.
func stride(keep int) int { return max(1, keep/2) }

// rules does what the user has switched on.
func (p *plan) rules() {
	if p.stable == 0 || !p.Rules.on() {
		return
	}
	p.foldOldest()
	if p.Pairs > 0 {
		p.clearOlder()
	}
	if p.TextOnly {
		p.foldCalls()
	}
	if p.Assistant > 0 {
		p.capAssistant()
	}
}

// opening is how many items behind the head stay whatever is folded: those up to the first user's, if that comes early.
func (p *plan) opening() int {
	const early = 6
	for i := range min(early, p.stable) {
		if p.req.Items[p.req.Head+i].Role == User {
			return i + 1
		}
	}
	return 0
}

// foldOldest leaves the oldest turns or messages out, in whole groups.
func (p *plan) foldOldest() {
	from := max(p.opening(), p.compacted())
	done := p.leftOut(from)
	to := done
	if turns := p.turnsFrom(done); len(turns) > 0 {
		if n := due(len(turns), p.Turns); n > 0 {
			to = turns[n]
		}
	}
	if n := due(p.stable-done, p.Messages); n > 0 {
		to = max(to, p.groupAt(done+n))
	}
	if to == done || to >= p.stable || p.scattered() {
		return
	}
	for start := from; start < to; start++ { // what stays cuts the run in two
		end := start
		for end < to && !p.stays(end) {
			end++
		}
		if end > start+1 && p.folded(start) < end-start {
			p.fold(start, end)
		}
		start = end
	}
}

// stays reports whether item i is no part of what is said and done, but tells how, or is of an unknown kind.
func (p *plan) stays(i int) bool {
	role := p.req.Items[p.req.Head+i].Role
	return role == System || role == Unknown
}

// compacted is the end of what compactions have left out.
func (p *plan) compacted() (end int) {
	for i, f := range p.forms[:p.stable] {
		if f != nil && f.Over > 0 {
			end = i + f.Over
		}
	}
	return end
}

// leftOut is the end of what was left out before because it is old, from item from on.
func (p *plan) leftOut(from int) int {
	for i := p.stable - 1; i >= from; i-- {
		if f := p.forms[i]; f != nil && f.Oldest {
			return i + f.Fold
		}
	}
	return from
}

// folded is how many items from item i on stand in one message already.
func (p *plan) folded(i int) int {
	if i < len(p.forms) && p.forms[i] != nil {
		return p.forms[i].Fold
	}
	return 0
}

// turnsFrom are the user's items from item i on.
func (p *plan) turnsFrom(i int) (turns []int) {
	for k := i; k < p.stable; k++ {
		if p.req.Items[p.req.Head+k].Role == User {
			turns = append(turns, k)
		}
	}
	return turns
}

// groupAt is the beginning of the first group that begins at item i or later.
func (p *plan) groupAt(i int) int {
	for i < p.stable && p.req.Items[p.req.Head+i].Role == Tool {
		i++
	}
	return i
}

// scattered reports whether results stand apart from their calls, or again behind others. Without the calls they would be
// orphans: nothing is left out then.
func (p *plan) scattered() bool {
	return slices.ContainsFunc(p.req.Flaws(), func(f Flaw) bool { return f.Rule == apart || f.Rule == answeredBack })
}

// fold puts one message in the place of items from to to, if that saves anything.
func (p *plan) fold(from, to int) {
	name := p.shelf.Name(p.scope, p.req.run(from, to-from))
	role := Assistant // behind the user's first message, which templates want to be answered
	if to < p.hist.len() && p.req.Items[p.req.Head+to].Role == Assistant || from == 0 {
		role = User
	}
	text := fmt.Sprintf("%s%d earlier messages left out. %s]", mark, to-from, p.where(name))
	if f := p.folding(from, to, message{role, text, name}); f != nil {
		f.Oldest = true
		p.replace(from, f, "older than what is to be sent")
	}
}

// message is one that stands for others.
type message struct {
	role       Role
	text, name string // name of what is kept
}

// folding is the form of item from when the message stands for it and those behind it, up to to; nil if that saves nothing.
func (p *plan) folding(from, to int, m message) *form {
	f := &form{Rung: rungClear, Fold: to - from, Kept: m.name, With: string(p.req.Dialect.Message(m.role, m.text)), Now: p.messageTokens(m.text)}
	saved := -f.Now
	for i := from; i < to; i++ {
		saved += p.sent(i)
	}
	if saved < leastSaving {
		return nil
	}
	return f
}

// replace puts a folding in the place of its items.
func (p *plan) replace(from int, f *form, why string) {
	to := from + f.Fold
	p.set(from, f, why)
	for i := from + 1; i < to; i++ {
		p.put(i, &form{Rung: rungClear, Gone: true, Whole: p.hist.sizes[i], First: p.first(i)})
	}
	p.spellOut(from, to)
}

// spellOut sends all results whole that refer to one of the items from to to, which nobody sees any more.
func (p *plan) spellOut(from, to int) {
	for k := range p.hist.results {
		item := p.hist.results[k].item
		if slices.ContainsFunc(p.refers(&p.hist.results[k]), func(i int) bool { return from <= i && i < to }) {
			p.set(item, &form{Rung: rungOffload, Now: p.hist.sizes[item]}, "what it referred to is left out")
		}
	}
}

// clearOlder clears all results but the newest, as far as clearing them saves anything and none refers to them.
func (p *plan) clearOlder() {
	const why = "older than the results that are to be sent"
	used := p.referred()
	var list []candidate
	for k := range len(p.hist.results) - p.Pairs {
		res := &p.hist.results[k]
		if p.cleared(res) || p.untouched(res) || used[res.item] {
			continue
		}
		if freed := p.sent(res.item) - p.stubbed(res, why); freed > leastSaving {
			list = append(list, candidate{item: res.item, res: res, freed: freed, why: why})
		}
	}
	if len(list) >= stride(p.Pairs) {
		p.clear(list)
	}
}

// foldCalls leaves the calls and results of older groups out, and keeps what the assistant said.
func (p *plan) foldCalls() {
	var all []Group // with calls, behind the head
	for _, g := range p.req.Groups() {
		from, to, it := g.First-p.req.Head, g.End-p.req.Head, &p.req.Items[g.First]
		if to <= p.stable && it.Role == Assistant && len(it.Calls) > 0 {
			all = append(all, Group{from, to})
		}
	}
	keep := max(1, p.age)
	var list []*form
	var at []int
	for k := range len(all) - keep {
		if f := p.withoutCalls(all[k]); f != nil {
			list, at = append(list, f), append(at, all[k].First)
		}
	}
	if len(list) < stride(keep) || p.scattered() {
		return
	}
	for k, f := range list {
		p.replace(at[k], f, "only text is to be sent")
	}
}

// withoutCalls is the form of a group of which only what was said is sent; nil if it has one already or that saves nothing.
func (p *plan) withoutCalls(g Group) *form {
	if p.folded(g.First) > 0 || p.gone(g.First) {
		return nil
	}
	said, ok := p.saidBy(g.First)
	if !ok {
		return nil
	}
	name := p.shelf.Name(p.scope, p.req.run(g.First, g.End-g.First))
	note := fmt.Sprintf("%s%d calls with their results left out: %s. %s]", mark, len(p.req.Items[p.req.Head+g.First].Calls), p.callsIn(g), p.where(name))
	if said != "" {
		note = said + "\n" + note
	}
	return p.folding(g.First, g.End, message{Assistant, note, name})
}

func (p *plan) gone(i int) bool { return p.forms[i] != nil && p.forms[i].Gone }

// saidBy is the text of item i, if that is all its content.
func (p *plan) saidBy(i int) (text string, ok bool) {
	it := &p.req.Items[p.req.Head+i]
	if it.Content.Empty() {
		return "", true
	}
	text, err := unquote(it.Content.Of(p.req.Body))
	return text, err == nil
}

// callsIn names the calls of a group, the first few of them.
func (p *plan) callsIn(g Group) string {
	const most = 6
	s := ""
	for i, n := g.First+1, 0; i < g.End; i++ {
		if k := p.hist.at[i]; k >= 0 && n < most {
			if n++; n > 1 {
				s += ", "
			}
			s += p.hist.results[k].about()
		}
	}
	return s
}

// capAssistant cuts long texts of the assistant in older groups, several at once.
func (p *plan) capAssistant() {
	newest := p.hist.groups[p.stable-1]
	var list []*form
	var at []int
	for i := range p.stable {
		it := &p.req.Items[p.req.Head+i]
		if it.Role != Assistant || p.forms[i] != nil || p.hist.sizes[i] <= p.Assistant || newest-p.hist.groups[i] < p.age {
			continue
		}
		if f := p.capped(i); f != nil {
			list, at = append(list, f), append(at, i)
		}
	}
	const stride = 3 // messages
	if len(list) < stride {
		return
	}
	for k, f := range list {
		p.set(at[k], f, "a long earlier answer")
	}
}

// capped is the form of item i with only the beginning and end of its text; nil if that saves nothing.
func (p *plan) capped(i int) *form {
	list, _ := p.passages(i)
	if len(list) != 1 || list[0].tokens <= p.Assistant || p.marked(list[0].text) {
		return nil
	}
	w := list[0]
	e, ok := excerptOf(w.text, p.Assistant, 0.5, p.count)
	if !ok {
		return nil
	}
	content, spelling := keepsake(w.raw)
	name := p.shelf.Name(p.scope, content)
	said := origin{name: "an earlier answer"}
	text := excerptStub(&said, middle{excerpt: e, total: linesIn(w.text), where: p.where(name)})
	now := p.hist.sizes[i] - w.tokens + p.count(text)
	if p.hist.sizes[i]-now < leastSaving {
		return nil
	}
	return &form{Rung: rungClear, Patches: []patch{{w.place, w.index, text, name, spelling}}, Now: now}
}
