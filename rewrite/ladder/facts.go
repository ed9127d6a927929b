package ladder

import (
	"slices"

	"epitome/dialect/activity"
	"epitome/dialect/conversation"
	"epitome/event"
	"epitome/rewrite/ledger"
)

// Artifacts names the content that is taken out. It stores nothing: the caller puts Plan.Content before it records the
// decision.
type Artifacts interface {
	// Name returns the name of content: the same each time within a scope, another one in another scope.
	Name(scope string, content []byte) string
	// Address returns where a model can read the content of a name; empty if it cannot.
	Address(name string) string
}

// Facts are about a request as the client sent it, and never change. Tokens are those of the vocabulary, indexes those
// of items.
type Facts struct {
	Request   *conversation.Request
	Scale     conversation.Scale
	Calls     []activity.Call // of the whole request
	Fixed     event.Tokens    // of system prompt, tools and the request itself
	Artifacts Artifacts
	Scope     string // in which artifacts are named
	Answers   int    // of the model before prefixEnd: the conversation's age, as decisions count it

	// prefixEnd is Request.End, the end of the last whole answer or result: a decision covers the items before it.
	// Later items may be others in the next request, such as reminders that clients move.
	prefixEnd   int
	answersUpTo []int            // by item: how many answers of the model there are up to it, with it
	callOf      []*activity.Call // by item: the call that it answers; an empty call if none is known
}

// NewFacts counts a request. calls are all of its calls.
func NewFacts(
	r *conversation.Request, scale conversation.Scale, calls []activity.Call, artifacts Artifacts, scope string,
) *Facts {
	f := &Facts{Request: r, Scale: scale, Calls: calls, Fixed: r.Count(scale), Artifacts: artifacts, Scope: scope,
		prefixEnd: r.End(), answersUpTo: make([]int, len(r.Items)), callOf: make([]*activity.Call, len(r.Items))}
	answers, noCall := 0, &activity.Call{Exit: -1}
	for i := range r.Items {
		if r.Items[i].StartsAnswer {
			answers++
		}
		f.answersUpTo[i], f.callOf[i] = answers, noCall
		if i < f.prefixEnd {
			f.Answers = answers
		}
	}
	for k := range calls {
		if i := calls[k].Result; i > calls[k].Item { // the provider's own results are parts of an answer
			f.callOf[i] = &calls[k]
		}
	}
	return f
}

// Plan returns the plan with which a request begins: the edits of a decision, and none that is new.
func (f *Facts) Plan(d ledger.Decision) *Plan {
	p := &Plan{Facts: f, Decision: d, Recorded: d.Items}
	if d.OtherModel { // its edits are taken over, but this model was sent nothing yet
		p.Recorded = 0
	}
	return p.With(d.Edits)
}

// Size returns the tokens of items [first, end) as the client sent them.
func (f *Facts) Size(first, end int) (tokens int) {
	for i := first; i < end; i++ {
		tokens += f.Request.Items[i].Size.Total()
	}
	return tokens
}

// OfModel converts tokens of the vocabulary to tokens of the model.
func (f *Facts) OfModel(tokens int) int { return int(float64(tokens) * f.Scale.Ratio) }

// messagesIn returns how many messages edits drop, in whole or in part.
func (f *Facts) messagesIn(edits []ledger.Edit) int {
	numbers := map[int]bool{}
	for k := range edits {
		for i := edits[k].First; i < edits[k].End(); i++ {
			numbers[f.Request.Items[i].Number] = true
		}
	}
	return len(numbers)
}

// setText sets the text that is sent in the place of the items that an edit drops.
func (f *Facts) setText(e *ledger.Edit, text string) {
	e.Text, e.Tokens = text, f.Scale.CountText(text)
	e.Saved -= e.Tokens
}

// isPinned reports whether a group has an item of opaque or unknown content, which is never changed or moved.
func (f *Facts) isPinned(g conversation.Group) bool {
	return slices.ContainsFunc(f.Request.Items[g.First:g.End], func(it conversation.Item) bool {
		return it.Locked || it.Role == conversation.Unknown
	})
}

// isStale reports whether a later call, before prefixEnd, changed or repeated what result i shows.
func (f *Facts) isStale(i int) bool {
	isBefore := func(at int) bool { return at > 0 && at < f.prefixEnd }
	return isBefore(f.callOf[i].Replaced) || isBefore(f.callOf[i].Patched)
}
