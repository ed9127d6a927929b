package rewrite

import "fmt"

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
	if keep <= 0 || have < keep+max(1, keep/2) {
		return 0
	}
	return have - keep
}

// rules does what the user has switched on.
func (p *plan) rules() {
	if p.stable == 0 || !p.Rules.on() {
		return
	}
	p.foldOldest()
	if n := due(p.fullResults(), p.Pairs); n > 0 {
		p.clear(p.oldest(n))
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
	from := p.opening()
	to := from
	if turns := p.turnsFrom(from); len(turns) > 0 {
		if n := due(len(turns), p.Turns); n > 0 {
			to = turns[n]
		}
	}
	if n := due(p.stable-from-p.folded(from), p.Messages); n > 0 {
		to = max(to, p.groupAt(from+n+p.folded(from)))
	}
	if to <= from+1 || to >= p.stable || to <= from+p.folded(from) {
		return
	}
	what := fmt.Sprintf("%d earlier messages left out", to-from)
	p.fold(from, to, what, "older than what is to be sent")
}

// folded is how many items from item i on stand in one message already.
func (p *plan) folded(i int) int {
	if i < len(p.forms) && p.forms[i] != nil {
		return p.forms[i].Fold
	}
	return 0
}

// turnsFrom are the user's items behind item i that are still sent.
func (p *plan) turnsFrom(i int) (turns []int) {
	for k := i + p.folded(i); k < p.stable; k++ {
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

// fold puts one message in the place of items from to to.
func (p *plan) fold(from, to int, what, why string) {
	name := p.shelf.Name(p.scope, p.req.run(from, to-from).Of(p.req.Body))
	role := Assistant // behind the user's first message, which templates want to be answered
	if to < p.hist.len() && p.req.Items[p.req.Head+to].Role == Assistant || from == 0 {
		role = User
	}
	text := fmt.Sprintf("%s%s. %s]", mark, what, p.where(name))
	p.replace(from, to, foldedInto{role, text, name, why})
}

// foldedInto is the message that stands for others.
type foldedInto struct {
	role            Role
	text, name, why string
}

func (p *plan) replace(from, to int, m foldedInto) {
	f := &form{Rung: rungClear, Fold: to - from, Kept: m.name, With: chatMessage(m.role, m.text), Now: p.messageTokens(m.text)}
	before := 0
	for i := from; i < to; i++ {
		before += p.sent(i)
	}
	if f.Now >= before {
		return
	}
	for i := from + 1; i < to; i++ {
		p.put(i, &form{Rung: rungClear, Gone: true, Whole: p.hist.sizes[i], First: p.first(i)})
	}
	p.set(from, f, m.why)
}

// fullResults is how many results are not cleared.
func (p *plan) fullResults() (n int) {
	for k := range p.hist.results {
		if res := &p.hist.results[k]; res.item < p.stable && !p.cleared(res) && !p.untouched(res) {
			n++
		}
	}
	return n
}

// oldest are the n oldest results that are not cleared, as far as clearing them saves anything.
func (p *plan) oldest(n int) (list []candidate) {
	for k := range p.hist.results {
		res := &p.hist.results[k]
		if n == 0 {
			break
		}
		if p.cleared(res) || p.untouched(res) {
			continue
		}
		n--
		const why = "older than the results that are to be sent"
		if freed := p.sent(res.item) - p.stubbed(res, why); freed > 0 {
			list = append(list, candidate{item: res.item, res: res, freed: freed, why: why})
		}
	}
	return list
}

// foldCalls leaves the calls and results of older groups out, and keeps what the assistant said.
func (p *plan) foldCalls() {
	var old []Group
	for _, g := range p.req.Groups() {
		from, to := g.First-p.req.Head, g.End-p.req.Head
		if to <= p.stable && p.req.Items[g.First].Role == Assistant && len(p.req.Items[g.First].Calls) > 0 && p.folded(from) == 0 && !p.gone(from) {
			old = append(old, Group{from, to})
		}
	}
	for _, g := range old[:due(len(old), p.age)] {
		said, ok := p.saidBy(g.First)
		if !ok {
			continue
		}
		name := p.shelf.Name(p.scope, p.req.run(g.First, g.End-g.First).Of(p.req.Body))
		note := fmt.Sprintf("%s%d calls with their results left out: %s. %s]", mark, len(p.req.Items[p.req.Head+g.First].Calls), p.callsIn(g), p.where(name))
		if said != "" {
			note = said + "\n" + note
		}
		p.replace(g.First, g.End, foldedInto{Assistant, note, name, "only text is to be sent"})
	}
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

// capAssistant cuts long texts of the assistant in older groups.
func (p *plan) capAssistant() {
	var long []int
	newest := p.hist.groups[p.stable-1]
	for i := range p.stable {
		it := &p.req.Items[p.req.Head+i]
		if it.Role == Assistant && p.forms[i] == nil && p.hist.sizes[i] > p.Assistant && newest-p.hist.groups[i] >= p.age {
			long = append(long, i)
		}
	}
	const stride = 3 // messages at once
	if len(long) < stride {
		return
	}
	for _, i := range long {
		p.capText(i)
	}
}

// capText cuts the text of item i to its beginning and end.
func (p *plan) capText(i int) {
	list, _ := p.passages(i)
	if len(list) != 1 || list[0].tokens <= p.Assistant || marked(list[0].text) {
		return
	}
	w := list[0]
	e, ok := excerptOf(w.text, p.Assistant, 0.5, p.count)
	if !ok {
		return
	}
	content, spelling := keepsake(w.raw)
	name := p.shelf.Name(p.scope, content)
	said := origin{name: "an earlier answer"}
	text := excerptStub(&said, middle{excerpt: e, total: linesIn(w.text), where: p.where(name)})
	now := p.hist.sizes[i] - w.tokens + p.count(text)
	if p.hist.sizes[i]-now < leastSaving {
		return
	}
	p.set(i, &form{Rung: rungClear, Patches: []patch{{w.place, w.index, text, name, spelling}}, Now: now}, "a long earlier answer")
}
