// Package distil is what a model says of a large result that is cleared: which results it is asked about, what it is
// asked, and which of its answers may stand in a stub.
//
// It promises that nobody waits for an answer; that a model is asked once about equal results of equal calls to which
// equal words of the user led; and that an answer which is too long, which passes for epitome's own words or which
// names an artifact stands nowhere.
package distil

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"epitome/prose"
	"epitome/rewrite/conversation"
	"epitome/rewrite/decision"
	"epitome/rewrite/history"
	"epitome/rewrite/mark"
	"epitome/rewrite/plan"
)

// Least is how many tokens a result takes at least that a model is asked about. With the distillate, the stub of a
// smaller one would leave less than half to be freed.
const Least = 1_500

// The bounds of what one request does.
const (
	mostLooks = 32       // at what was said: each may be a question to a store that others share
	mostAsked = 4        // results that a model is asked about
	mostTries = 2        // times that each of them is to be asked about
	mostRead  = 1 << 20  // bytes of a result: a longer one is not read for this
	mostGiven = 24 << 10 // bytes of a result that the model is given
	mostWords = 4 << 10  // bytes of the call's arguments that it is given, and of the user's words
)

// Of is what a model has said of the result, as it may stand in a stub; empty if there is nothing. It asks nobody.
func Of(p *plan.Plan, res *history.Result) string {
	d := &res.Distillate
	if !isWorthAsking(p, res) || d.Unfit {
		return ""
	}
	if d.Text == "" && p.Ask.Looked < mostLooks {
		p.Ask.Looked++
		if said, found, _ := p.Ask.Summariser.Look(keyOf(p, res)); found {
			d.Text = fit(said.Text, p.Count)
			d.Unfit = d.Text == ""
		}
	}
	return d.Text
}

// Prepare has a model asked about results that are to be cleared soon, the first ones first. A conversation that was
// not seen before may never come again: nothing is paid for it.
func Prepare(p *plan.Plan, soon []*history.Result) {
	if p.Ask.Client == nil || p.Case.Rescue != nil || !p.Ask.Summariser.Prepares(p.Route.Upstream) {
		return
	}
	asked := 0
	for _, res := range soon {
		d := &res.Distillate
		if res.Item >= p.Base.Depth() || d.Tries >= mostTries || d.Text != "" || d.Unfit || !isWorthAsking(p, res) {
			continue
		}
		d.Tries++
		if _, found, pending := p.Ask.Summariser.Look(keyOf(p, res)); found || pending {
			continue
		}
		p.Ask.Summariser.Prepare(questionOf(p, res))
		if asked++; asked == mostAsked {
			return
		}
	}
}

// isWorthAsking reports whether a model is asked about the result: there is enough of it, all of that is text, and
// nothing newer has overtaken it.
func isWorthAsking(p *plan.Plan, res *history.Result) bool {
	return p.Ask.Distils() && p.SentSize(res.Item) >= Least && res.SpentBy == 0 && p.Hist.Media[res.Item] == 0 &&
		plan.CostOf(p, res.Item) <= mostRead
}

// keyOf names the question: equal ones have equal answers.
func keyOf(p *plan.Plan, res *history.Result) string {
	if d := &res.Distillate; d.Key == "" {
		r := decision.RefOf("distillate 1", p.Route.Scope, res.Tool, argumentsOf(p, res), wordsBefore(p, res),
			p.TextOf(res.Item))
		d.Key = string(r[:])
	}
	return res.Distillate.Key
}

// questionOf is what a model is asked about the result.
func questionOf(p *plan.Plan, res *history.Result) prose.Question {
	q := prose.Question{
		Key: keyOf(p, res), Conversation: p.Told.Conversation, Upstream: p.Route.Upstream, Model: p.Route.Model,
		Dialect: p.Route.Dialect, Credential: p.Ask.Client.Credential(), Detail: prose.DetailDistillate,
		SpanTokens: p.SentSize(res.Item), Room: prose.MostDistilled, Usable: p.Scale.InModelTokens(p.Limits.Usable),
	}
	if said := wordsBefore(p, res); said != "" {
		q.Transcript = append(q.Transcript, prose.Entry{Kind: prose.User, Text: bounded(said, mostWords)})
	}
	q.Transcript = append(q.Transcript,
		prose.Entry{Kind: prose.Call, Tool: res.Tool, Text: bounded(argumentsOf(p, res), mostWords)},
		prose.Entry{Kind: prose.Result, Tool: res.Tool, State: res.State(),
			Text: bounded(p.TextOf(res.Item), mostGiven)})
	return q
}

// argumentsOf are those of the call that the result answers; its key one if the call cannot be told.
func argumentsOf(p *plan.Plan, res *history.Result) string {
	id := p.Req.Items[p.Req.Head+res.Item].Answers
	for i := res.Item - 1; i >= 0; i-- {
		calls := p.Req.Items[p.Req.Head+i].Calls
		for k := range calls {
			if calls[k].ID == id {
				return string(calls[k].ArgumentsIn(p.Req.Body))
			}
		}
		if len(calls) > 0 && p.Req.Items[p.Req.Head+i].Begins {
			break
		}
	}
	return res.About
}

// wordsBefore is what the user had said last when the result came.
func wordsBefore(p *plan.Plan, res *history.Result) string {
	for i := res.Item - 1; i >= 0; i-- {
		if p.Req.Items[p.Req.Head+i].Role != conversation.User {
			continue
		}
		if said := plan.OwnWords(p, i); said != "" {
			return said
		}
	}
	return ""
}

// bounded is a text of at most about so many bytes: what there is more of goes from its middle.
func bounded(text string, most int) string {
	if len(text) <= most {
		return text
	}
	head, tail := most/2, len(text)-most/2
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	return fmt.Sprintf("%s\n[… %d bytes …]\n%s", text[:head], tail-head, text[tail:])
}

// fit is an answer as it may stand in a stub, line by line; empty if it may not.
func fit(said string, count func(string) int) string {
	const longest = 16 * prose.MostDistilled // bytes
	if len(said) > longest || strings.Contains(said, mark.Start) {
		return ""
	}
	var lines []string
	for _, l := range strings.FieldsFunc(strings.ToValidUTF8(said, "\ufffd"), endsLine) {
		l = strings.TrimSpace(strings.Map(visible, l))
		if l != "" {
			lines = append(lines, l)
		}
	}
	text := strings.Join(lines, "\n")
	for range mark.NamesLike(text) {
		return ""
	}
	if strings.Contains(text, mark.Start) || count(text) > prose.MostDistilled {
		return ""
	}
	return text
}

// endsLine reports whether readers may take what stands behind the character for another line.
func endsLine(r rune) bool { return strings.ContainsRune("\r\n\v\f\u0085\u2028\u2029", r) }

// visible is a character as it is shown: a tab is a space, and others that nobody sees are left out.
func visible(r rune) rune {
	switch {
	case r == '\t':
		return ' '
	case unicode.Is(unicode.C, r):
		return -1
	}
	return r
}
