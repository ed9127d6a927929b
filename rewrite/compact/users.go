package compact

import (
	"cmp"
	"fmt"
	"slices"

	"epitome/event"
	"epitome/rewrite/conversation"
	"epitome/rewrite/decision"
	"epitome/rewrite/limits"
	"epitome/rewrite/plan"
	"epitome/rewrite/recap"
	"epitome/rewrite/shorten"
	"epitome/rewrite/span"
)

// LeaveUsers leaves messages of the user to the transcript so that the request fits: the largest first, and the latest
// only if the request does not fit without the others. None is cut, and none goes in vain. It is for where nothing else
// helps, and for agents: who has no tools is told more by a refusal.
func LeaveUsers(p *plan.Plan) {
	if p.Req.Tools.Empty() {
		return
	}
	var list []int
	for i := range p.Hist.Len() {
		it := &p.Req.Items[p.Req.Head+i]
		if it.Role == conversation.User && !p.IsGone(i) && !isFolded(p, i) && !isLeft(p, i) && !plan.IsFixed(p, i) {
			list = append(list, i)
		}
	}
	if len(list) == 0 {
		return
	}
	latest := list[len(list)-1]
	slices.SortStableFunc(list, func(a, b int) int {
		if (a == latest) != (b == latest) {
			return cmp.Compare(a, b) // the latest has the highest number
		}
		return cmp.Compare(p.Hist.Sizes[b], p.Hist.Sizes[a])
	})
	for _, f := range enough(p, list) {
		p.Set(f.item, f.form, plan.Why{Code: event.CodeUser, Words: "nothing else helped"})
		p.Result.UsersLeft, p.Result.LatestLeft = p.Result.UsersLeft+1, p.Result.LatestLeft || f.item == latest
	}
}

// left is a message of the user that may be left to the transcript.
type left struct {
	item, freed int
	form        *decision.Form
}

// enough returns the messages of list that have to go, of which the last is the latest. It returns none if the request
// would not fit without all of them.
func enough(p *plan.Plan, list []int) (chosen []left) {
	over, all := p.Total()-p.Limits.Usable, 0
	var may []left
	for k, i := range list {
		f := leftForm(p, i, recapOf(p, i), k == len(list)-1)
		if freed := p.SentSize(i) - f.Now; limits.IsWorthClearing(p.Hist.Sizes[i], freed) {
			may, all = append(may, left{i, freed, f}), all+freed
		}
	}
	if over <= 0 || all < over {
		return nil
	}
	if last := len(may) - 1; may[last].item == list[len(list)-1] && all-may[last].freed < over {
		chosen, over, may = may[last:], over-may[last].freed, may[:last]
	}
	for _, m := range may {
		if over > 0 {
			chosen, over = append(chosen, m), over-m.freed
		}
	}
	return chosen
}

// isFolded reports whether a message of epitome's stands in the place of item i.
func isFolded(p *plan.Plan, i int) bool { return p.Forms[i] != nil && p.Forms[i].Fold > 0 }

// isLeft reports whether the user's item i is left to the transcript: nothing of what it says is sent.
func isLeft(p *plan.Plan, i int) bool {
	f := p.Forms[i]
	return f != nil && p.Req.Items[p.Req.Head+i].Role == conversation.User && f.Fold == 0 && !f.Gone &&
		f.ReplacesContent()
}

// sentRecap is the summary that stands behind what an item says.
type sentRecap struct {
	text string // with what parts it from the item's own; empty if there is none
	says recap.Says
}

// recapOf is the summary that is sent behind item i.
func recapOf(p *plan.Plan, i int) sentRecap {
	f := p.Forms[i]
	if f == nil {
		return sentRecap{}
	}
	for _, q := range f.Patches {
		if q.Place == conversation.Behind {
			return sentRecap{q.Text, recap.Says{Text: f.Prose, Until: f.Until}}
		}
	}
	return sentRecap{}
}

// leftForm is the form of the user's item i when it is left to the transcript, with a summary behind it.
func leftForm(p *plan.Plan, i int, r sentRecap, latest bool) *decision.Form {
	var w plan.Whole
	if raw := p.Req.WholeContent(&p.Req.Items[p.Req.Head+i]).Of(p.Req.Body); len(raw) > 0 && raw[0] == '"' {
		w = wholeText(p, i, raw)
	} else {
		w = plan.PartsOf(p, i)
	}
	which := "a message of the user"
	if latest {
		which = "the newest message of the user"
	}
	q, todo := w.Patch, "Read it before you go on"
	if plan.AddressOf(p, q.Artifact) == "" {
		todo = "Ask the user for what you need of it"
	}
	q.Text = fmt.Sprintf("%s%s stood here. It has %s, and is too long for this window. "+
		"Nothing of it is shown here. %s. %s]%s",
		plan.Mark, which, sizeInWords(&w), todo, p.Advice(q.Artifact, w.Content), r.text)
	return &decision.Form{Rung: decision.RungCompact, Patches: []decision.Patch{q}, Now: plan.MessageTokens(p, q.Text),
		Prose: r.says.Text, Until: r.says.Until}
}

// sizeInWords says how much text there is, and what beside it.
func sizeInWords(w *plan.Whole) string {
	switch size := fmt.Sprintf("%d lines and %d bytes", w.Lines, len(w.Text)); {
	case w.Media == "":
		return size
	case w.Text == "":
		return w.Media
	default:
		return size + " and " + w.Media
	}
}

// wholeText is what item i says whose one text, as it stands in the body, is all of it.
func wholeText(p *plan.Plan, i int, raw []byte) plan.Whole {
	q := decision.Patch{Place: conversation.WholeContent, Artifact: p.Shelf.Name(p.Route.Scope, span.ContentOf(raw))}
	text := p.TextOf(i)
	return plan.Whole{Patch: q, Text: text,
		Content: plan.Content{Lines: shorten.CountLines(text), Tokens: p.Hist.Sizes[i]}}
}

// ownSize is how many tokens item i takes without a summary behind it.
func ownSize(p *plan.Plan, i int) int {
	if isLeft(p, i) {
		return leftForm(p, i, sentRecap{}, false).Now
	}
	return p.Hist.Sizes[i]
}
