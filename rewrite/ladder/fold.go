package ladder

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"epitome/event"
	"epitome/rewrite/conversation"
	"epitome/rewrite/decision"
	"epitome/rewrite/excerpt"
	"epitome/rewrite/limits"
	"epitome/rewrite/plan"
	"epitome/rewrite/shorten"
	"epitome/rewrite/span"
)

// due is how many of have things a rule that keeps keep of them takes away now: none until half as many more have come.
func due(have, keep int) int {
	if keep <= 0 || have < keep+stride(keep) {
		return 0
	}
	return have - keep
}

// stride is how many things a rule that keeps keep of them takes away at once, at least.
func stride(keep int) int { return max(1, keep/2) }

// applyRules does what the user has switched on.
func applyRules(p *plan.Plan) {
	if p.End == 0 || !p.Limits.Conf.Rules.On() {
		return
	}
	p.Sheet.Cause = event.CauseRules
	foldOldest(p)
	if p.Limits.Conf.Pairs > 0 {
		clearOlderResults(p)
	}
	if p.Limits.Conf.TextOnly {
		foldOlderCalls(p)
	}
	if p.Limits.Conf.Assistant > 0 {
		capAssistantTexts(p)
	}
}

// foldOldest leaves the oldest turns or messages out, in whole groups.
func foldOldest(p *plan.Plan) {
	from := behindOpenCalls(p, max(plan.OpeningOf(p), plan.CompactedEnd(p)))
	done := foldedEnd(p, from)
	to := done
	if turns := turnsBehind(p, done); len(turns) > 0 {
		if n := due(len(turns), p.Limits.Conf.Turns); n > 0 {
			to = turns[n]
		}
	}
	if n := due(conversation.MessagesIn(p.Req, p.Req.Head+done, p.End-done), p.Limits.Conf.Messages); n > 0 {
		to = max(to, nextGroup(p, behindMessages(p, done, n)))
	}
	if to = beforeOpenCalls(p, min(to, plan.NewestGroup(p))); to <= done || to >= p.End || isScattered(p) {
		return
	}
	foldRange(p, conversation.Group{First: from, End: to})
}

// beforeOpenCalls is item to, or the first before it from which on no result answers a call that stands before that.
func beforeOpenCalls(p *plan.Plan, to int) int {
	callers := p.Req.Callers()
	for i := len(callers) - 1; i >= to; i-- {
		if at := callers[i]; at < 0 || at >= to {
			continue
		}
		for to = callers[i]; to > 0 && !p.Req.Items[p.Req.Head+to].Begins; to-- {
		}
	}
	return to
}

// behindOpenCalls is item from, or the first behind it from which on no result answers a call that stands before that.
func behindOpenCalls(p *plan.Plan, from int) int {
	callers := p.Req.Callers()
	for i := from; i < len(callers); i++ {
		if callers[i] >= 0 && callers[i] < from {
			from = i + 1
		}
	}
	return from
}

// behindMessages is the item behind n messages, of which item i is in the first.
func behindMessages(p *plan.Plan, i, n int) int {
	items := p.Req.Items[p.Req.Head:]
	for i++; i < p.End; i++ {
		if !p.Req.Nested || items[i].Place() != items[i-1].Place() {
			n--
		}
		if n == 0 {
			break
		}
	}
	return i
}

// foldedEnd is the end of what was left out before because it is old, from item from on.
func foldedEnd(p *plan.Plan, from int) int {
	for i := p.End - 1; i >= from; i-- {
		if f := p.Forms[i]; f != nil && f.Oldest {
			return i + f.Fold
		}
	}
	return from
}

// foldedFrom is how many items from item i on stand in one message already.
func foldedFrom(p *plan.Plan, i int) int {
	if i < len(p.Forms) && p.Forms[i] != nil {
		return p.Forms[i].Fold
	}
	return 0
}

// turnsBehind are the items from item i on in which the user says something.
func turnsBehind(p *plan.Plan, i int) (turns []int) {
	for k := i; k < p.End; k++ {
		if plan.UserSpeaks(p, k) {
			turns = append(turns, k)
		}
	}
	return turns
}

// nextGroup is the beginning of the first group that begins at item i or later.
func nextGroup(p *plan.Plan, i int) int {
	for i < p.End && p.Req.Items[p.Req.Head+i].Role == conversation.Tool {
		i++
	}
	return i
}

// isScattered reports whether results stand apart from their calls, or again behind others. Without the calls they
// would be orphans: nothing is left out then.
func isScattered(p *plan.Plan) bool {
	return slices.ContainsFunc(p.Req.Flaws(), func(f conversation.Flaw) bool {
		switch f.Rule {
		case conversation.RuleApart, conversation.RuleAnsweredTwice, conversation.RuleLate:
			return true
		}
		return false
	})
}

// spanContent is what the artifact of the items from from to to is made of: their messages as JSON.
func spanContent(p *plan.Plan, from, to int) (c plan.Content) {
	c.Lines = bytes.Count(p.Req.BytesOf(from, to-from), []byte("\n")) + 1
	for i := from; i < to; i++ {
		c.Tokens += p.Hist.Sizes[i]
	}
	return c
}

// message is one that stands for others.
type message struct {
	role       conversation.Role
	text, name string // name of what is kept
}

// foldForm is the form of item from when the message stands for it and those behind it, up to to; nil if that saves
// nothing, or if no such message can be made.
func foldForm(p *plan.Plan, from, to int, m message) *decision.Form {
	f := &decision.Form{Rung: decision.RungClear, Fold: to - from, Kept: m.name,
		With: string(p.Req.Dialect.Message(m.role, m.text)), Now: plan.MessageTokens(p, m.text)}
	if f.With == "" {
		return nil
	}
	saved := -f.Now
	for i := from; i < to; i++ {
		saved += p.SentSize(i)
	}
	if saved < limits.LeastSaving {
		return nil
	}
	return f
}

// clearOlderResults clears all results but the newest, as far as clearing them saves anything.
func clearOlderResults(p *plan.Plan) {
	why := plan.WhyOlder
	var list []candidate
	for k := range len(p.Hist.Results) - p.Limits.Conf.Pairs {
		res := &p.Hist.Results[k]
		sent := p.SentSize(res.Item)
		if sent < limits.LeastFreed || plan.IsCleared(p, res) || plan.IsUntouchable(p, res) ||
			plan.MustBeShown(p, res) {
			continue
		}
		list = append(list, candidate{item: res.Item, result: res, why: why, freed: sent})
	}
	list = worthClearing(p, list)
	if len(list) >= stride(p.Limits.Conf.Pairs) {
		clearAll(p, list)
	}
}

// foldOlderCalls leaves the calls and results of older groups out, and keeps what the assistant said.
func foldOlderCalls(p *plan.Plan) {
	var all []conversation.Group // with calls, behind the head
	open := openGroups(p)
	for k, g := range p.Req.Groups() {
		from, to, it := g.First-p.Req.Head, g.End-p.Req.Head, &p.Req.Items[g.First]
		if to <= p.End && !open[k] && it.Role == conversation.Assistant && len(it.Calls) > 0 &&
			!plan.IsKeptInPlace(p, from) {
			all = append(all, conversation.Group{First: from, End: to})
		}
	}
	keep := max(1, p.Limits.Age)
	var list []*decision.Form
	var at []int
	for k := range len(all) - keep {
		if f := foldOfCalls(p, all[k]); f != nil {
			list, at = append(list, f), append(at, all[k].First)
		}
	}
	if len(list) < stride(keep) || isScattered(p) {
		return
	}
	leave := leavingOut(p)
	for k, f := range list {
		leave.fold(at[k], f, plan.Why{Code: event.CodeTextOnly, Words: "only text is to be sent"})
	}
}

// openGroups are the groups, by their numbers, of which a call is answered in another one, or a result answers one of
// another.
func openGroups(p *plan.Plan) map[int]bool {
	of := make([]int, p.Hist.Len())
	for k, g := range p.Req.Groups() {
		for i := g.First; i < g.End; i++ {
			of[i-p.Req.Head] = k
		}
	}
	open := map[int]bool{}
	for i, caller := range p.Req.Callers() {
		if caller >= 0 && of[i] != of[caller] {
			open[of[i]], open[of[caller]] = true, true
		}
	}
	return open
}

// foldOfCalls is the form of a group of which only what was said is sent; nil if it has one already or that saves
// nothing.
func foldOfCalls(p *plan.Plan, g conversation.Group) *decision.Form {
	if foldedFrom(p, g.First) > 0 || p.IsGone(g.First) || hasSeveralMessages(p, g) {
		return nil
	}
	said, ok := soleTextOf(p, g.First)
	if !ok {
		return nil
	}
	name := p.Shelf.Name(p.Route.Scope, p.Req.BytesOf(g.First, g.End-g.First))
	where := p.Advice(name, spanContent(p, g.First, g.End))
	calls := len(p.Req.Items[p.Req.Head+g.First].Calls)
	note := fmt.Sprintf("%s%d calls with their results left out: %s. %s]", plan.Mark, calls, callsIn(p, g), where)
	role := conversation.Assistant
	switch {
	case p.Req.Dialect.Message(role, "") == nil: // nobody but the model may say it
		role = conversation.User
		if said != "" {
			note = strings.TrimSuffix(note, "]") + ". What you said before them follows]\n" + said
		}
	case said != "":
		note = said + "\n" + note
	}
	return foldForm(p, g.First, g.End, message{role, note, name})
}

// hasSeveralMessages reports whether the model's answer is of several messages.
func hasSeveralMessages(p *plan.Plan, g conversation.Group) bool {
	return slices.ContainsFunc(p.Req.Items[p.Req.Head+g.First+1:p.Req.Head+g.End],
		func(it conversation.Item) bool { return it.Role == conversation.Assistant })
}

// soleTextOf is the text of item i, if that is all its content.
func soleTextOf(p *plan.Plan, i int) (text string, ok bool) {
	it := &p.Req.Items[p.Req.Head+i]
	if it.Content.Empty() {
		return "", true
	}
	whole := it.Content
	if p.Req.Dialect.Message(conversation.Assistant, "") == nil {
		whole = p.Req.WholeContent(it)
	}
	text, err := span.Unquote(whole.Of(p.Req.Body))
	return text, err == nil
}

// callsIn names the calls of a group, the first few of them.
func callsIn(p *plan.Plan, g conversation.Group) string {
	const most = 6
	s := ""
	for i, n := g.First+1, 0; i < g.End; i++ {
		if k := p.Hist.ResultAt[i]; k >= 0 && n < most {
			if n++; n > 1 {
				s += ", "
			}
			s += p.Hist.Results[k].String()
		}
	}
	return s
}

// capAssistantTexts cuts long texts of the assistant in older groups, several at once.
func capAssistantTexts(p *plan.Plan) {
	newest := p.Hist.Answers[p.End-1]
	var list []*decision.Form
	var at []int
	for i := range p.End {
		it := &p.Req.Items[p.Req.Head+i]
		if it.Role != conversation.Assistant || p.Forms[i] != nil || p.Hist.Sizes[i] <= p.Limits.Conf.Assistant ||
			newest-p.Hist.Answers[i] < p.Limits.Age || plan.IsFixed(p, i) {
			continue
		}
		if f := capForm(p, i); f != nil {
			list, at = append(list, f), append(at, i)
		}
	}
	const stride = 3 // messages
	if len(list) < stride {
		return
	}
	for k, f := range list {
		p.Set(at[k], f, plan.Why{Code: event.CodeLongAnswer, Words: "a long earlier answer"})
	}
}

// capForm is the form of item i with only the beginning and end of its text; nil if that saves nothing.
func capForm(p *plan.Plan, i int) *decision.Form {
	list, _ := p.Passages(i)
	if len(list) != 1 || list[0].Tokens <= p.Limits.Conf.Assistant || p.Marked(list[0].Text) {
		return nil
	}
	w := list[0]
	short, omitted := excerpt.Lines(w.Text, p.Limits.Conf.Assistant, p.Count)
	if omitted == 0 {
		return nil
	}
	name := p.Shelf.Name(p.Route.Scope, span.ContentOfText(w.Raw, w.Text))
	lines := shorten.CountLines(w.Text)
	text := excerpt.Note(fmt.Sprintf("%d of %d lines omitted, of an earlier answer (%s)", omitted, lines, w.Size()),
		p.Advice(name, plan.Content{Lines: lines, Tokens: w.Tokens})) + "\n" + short
	now := p.Hist.Sizes[i] - w.Tokens + p.Count(text)
	if p.Hist.Sizes[i]-now < limits.LeastSaving {
		return nil
	}
	patch := decision.Patch{Place: w.Place, Index: w.Index, Text: text, Artifact: name}
	return &decision.Form{Rung: decision.RungClear, Patches: []decision.Patch{patch}, Now: now}
}
