// Package runs is what stands in the place of like results that are cleared together: results of one tool that are
// neighbours, such as the pages of one list. The stub of the first one lists all of them, a line for each; the stubs
// of the others say where their line stands.
//
// It promises that each call keeps an answer of its own, that the line of a result names the artifact that holds it,
// and that the texts of a run have a fifth less tokens than the single stubs. What is cleared is decided before.
package runs

import (
	"strings"

	"epitome/rewrite/conversation"
	"epitome/rewrite/decision"
	"epitome/rewrite/history"
	"epitome/rewrite/history/action"
	"epitome/rewrite/history/ending"
	"epitome/rewrite/limits"
	"epitome/rewrite/mark"
	"epitome/rewrite/plan"
	"epitome/rewrite/shorten"
	"epitome/rewrite/span"
)

// The numbers of runs.
const (
	least        = 3   // results in a run
	most         = 20  // results in a run: nobody finds a line in a list that is very long
	longestWords = 400 // bytes that the model says between two calls, at most
	mostLeft     = 0.8 // of the tokens that the single stubs have
	aboutMark    = 90  // tokens of the list's first line
)

// Cleared is a result that is cleared.
type Cleared struct {
	Result *history.Result // nil if something else is cleared there
	Why    string
	Form   *decision.Form // with its own stub, until Join puts that of a run in its place
}

// Join gives the results of each run their stubs, if the configuration wants runs. The list has all that is cleared in
// one decision, in the order of the conversation. A result that tells of a failure, that was read back, or that has
// more to tell than its size keeps the stub that it has.
func Join(p *plan.Plan, list []Cleared) {
	if !p.Limits.Conf.ClearRuns {
		return
	}
	var run []member
	callers := p.Req.Callers()
	for k := range list {
		m, ok := memberOf(p, &list[k], callers)
		if !ok {
			continue
		}
		if len(run) > 0 && !isNext(p, run[len(run)-1].Result, m.Result) {
			joinRun(p, run)
			run = run[:0]
		}
		run = append(run, m)
	}
	joinRun(p, run)
}

// member is a result of a run, and what its line says.
type member struct {
	*Cleared
	artifact string
	call     call
	lines    int
	bytes    int
	ending   string // how its call ended, in words; empty if nobody says
	tokens   int    // of its line with all of its call
}

// memberOf is a result as one of a run; ok is false if its own stub tells more than a line can.
func memberOf(p *plan.Plan, c *Cleared, callers []int) (m member, ok bool) {
	res := c.Result
	if res == nil || len(c.Form.Patches) != 1 || p.Hist.Media[res.Item] > 0 || !isPlain(res.Name) || res.Name == "" {
		return m, false
	}
	q := &c.Form.Patches[0]
	if q.Readable != "" || q.Spelling == span.AsJSON || tellsMore(p, res, q.Text) || plan.RecalledArtifact(p, res) != "" {
		return m, false
	}
	text := p.TextOf(res.Item)
	e := res.KnownEnding()
	if e == nil || e.Failed() || res.Failed || ending.SaysNoFile(text) {
		return m, false
	}
	m = member{Cleared: c, artifact: q.Artifact, lines: shorten.CountLines(text), bytes: len(text)}
	if !res.Action.Looks && !res.Action.OnlyFiles && !e.TellsNoError() {
		m.ending = e.InWords()
	}
	if _, ok = placeOf(p, m.artifact); !ok {
		return m, false
	}
	m.call, ok = callOf(p, res, callers)
	m.tokens = p.Count(m.line(most, c.Why, "", clipped(m.call.text)))
	return m, ok
}

// isPlain reports whether a text of somebody else's may stand in a line of epitome's: it is no more than one line, and
// nothing in it passes for a mark.
func isPlain(text string) bool {
	return !strings.Contains(text, mark.Start) && shorten.OneLine(text, len(text)+1) == text
}

// tellsMore reports whether a stub tells what no line of a run does: how a command ended, or what a model said of its
// result, or what a log tells of trouble.
func tellsMore(p *plan.Plan, res *history.Result, stub string) bool {
	tells := func() bool {
		return res.Action.Kind == action.Shell || plan.ReadsLog(&res.Action, p.TextOf(res.Item))
	}
	return strings.Contains(stub, "\n> ") && tells() || strings.Contains(stub, "\n| ")
}

// isNext reports whether two results of one tool have nothing between them but what belongs to it: calls, results, and
// what the model thinks or shortly says.
func isNext(p *plan.Plan, before, res *history.Result) bool {
	if before.Name != res.Name {
		return false
	}
	for i := before.Item + 1; i < res.Item; i++ {
		if !belongsTo(p, i, res.Name) {
			return false
		}
	}
	return true
}

// belongsTo reports whether item i is nothing but a part of the work with a tool.
func belongsTo(p *plan.Plan, i int, tool string) bool {
	if f := p.Forms[i]; f != nil && (f.Gone || f.Fold > 0) {
		return false
	}
	it := &p.Req.Items[p.Req.Head+i]
	switch it.Role {
	case conversation.Tool:
		return p.Hist.Results[p.Hist.ResultAt[i]].Name == tool
	case conversation.Assistant:
		for k := range it.Calls {
			if it.Calls[k].Name != tool {
				return false
			}
		}
		return len(p.TextOf(i)) <= longestWords
	}
	return false
}

// joinRun makes runs of neighbours. What the list takes in the place of the first result must be worth clearing that
// one; if it never is, the run begins with a later one.
func joinRun(p *plan.Plan, all []member) {
	for len(all) >= least {
		sent := p.SentSize(all[0].Result.Item)
		n, size := 0, aboutMark
		for n < min(len(all), most) && limits.IsWorthClearing(sent, sent-size-all[n].tokens) {
			size += all[n].tokens
			n++
		}
		if n < least {
			all = all[1:]
			continue
		}
		write(p, all[:n])
		all = all[n:]
	}
}

// write puts the stubs of a run in the place of the single ones, if that is worth it.
func write(p *plan.Plan, run []member) {
	first := run[0].Result.Item
	forms, single, joined := make([]*decision.Form, len(run)), 0, 0
	for k := range run {
		text := pointer(p, k+1, first)
		if k == 0 {
			text = listOf(p, run)
		}
		item := run[k].Result.Item
		before, now := p.CountAsItem(run[k].Form.Patches[0].Text, item), p.CountAsItem(text, item)
		single, joined = single+before, joined+now
		forms[k] = withText(run[k].Form, text, now-before)
		if k > 0 {
			forms[k].Refers = []int{first}
			forms[0].Lists = append(forms[0].Lists, run[k].artifact)
		}
	}
	sent := p.SentSize(first)
	if float64(joined) > mostLeft*float64(single) || !limits.IsWorthClearing(sent, sent-forms[0].Now) {
		return
	}
	for k := range run {
		run[k].Form = forms[k]
	}
}

// withText is a form of one patch with another text, which takes so many tokens more.
func withText(f *decision.Form, text string, more int) *decision.Form {
	g := *f
	g.Patches = []decision.Patch{f.Patches[0]}
	g.Patches[0].Text = text
	g.Now += more
	return &g
}
