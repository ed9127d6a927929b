package ladder

import (
	"bytes"
	"slices"

	"epitome/dialect/activity"
	"epitome/dialect/conversation"
	"epitome/event"
	"epitome/internal/jsonspan"
	"epitome/rewrite/ledger"
	"epitome/rewrite/view"
	"epitome/summarize"
)

// Known is what the steps know of a request. They change nothing of it, but add to Artifacts.Content. Tokens are those
// of the vocabulary, indexes those of items.
//
// These numbers count items from the start, as those do that conversation.Request draws: Recorded is the prefixEnd of an
// earlier request, with whose decision the plan begins; the items behind it are new. A compaction takes out the items
// from the Head to a cut: view.Compacted has the cut of the last one, and Before.Prepared that of the next one, for
// which a model was asked ahead of need. Before.Restored is the Recorded of the time at which the user wanted all items
// whole again.
type Known struct {
	Request   *conversation.Request
	Scale     conversation.Scale
	Calls     []activity.Call // of the whole request
	Before    ledger.Decision // of the deepest prefix, maybe one that was made for another model
	Recorded  int             // items that it covers for this model; all behind are new
	Limits    Effective
	Demand    Demand
	CacheCold bool // the provider has nothing of the conversation in its cache: clearing costs nothing
	Binds     bool // the model accepts thinking only behind an unchanged prefix
	Artifacts Artifacts
	Model     Model

	// Index sets these.

	CallOf        []*activity.Call // by item: the call that it answers; an empty call if none is known
	AnswersBefore []int            // by item, and behind the last one: how many answers of the model begin before it

	// prefixEnd is Request.End, the end of the last whole answer or result: a decision covers the items before it.
	// Later items may be others in the next request, such as reminders that clients move.
	prefixEnd int
}

// Demand says who wants the request to be shorter, beside the lines of Limits.
type Demand struct {
	Asked   bool // the client asks for a compaction, or the agent does
	ByAgent bool // it is the agent, by a call of epitome's own tool
	To      int  // tokens that the client named; 0 if it named none
	Refused bool // the provider refused the request, mostly as too long
	Fits    int  // tokens that fit by the refusal; 0 if it does not tell
	Spent   bool // the conversation has used up the user's budget (cutover_at)
}

// Model is how summaries are written. Its functions are nil where no model may be asked.
type Model struct {
	Mode   summarize.Mode
	Detail summarize.Detail
	// Words returns a model's words for the summary of the items before end. They update earlier, the model's words in
	// the last summary. isReady reports whether they were there; if not, a model is asked for them if wait is set.
	Words func(end int, earlier summarize.Says, wait bool) (p summarize.Prose, isReady bool, err error)
	// Prepare has the same words made in the background; false if no model may be asked ahead of need.
	Prepare func(end int, earlier summarize.Says) bool
	// Distill has a model asked in the background for a distillate of the result at an item, which Distillate returns
	// once it is there; until then it returns "".
	Distill    func(i int, call *activity.Call)
	Distillate func(i int) string
}

// Index finds the answers of k.Request and what k.Calls have answered. Both are set before, and none is counted yet.
func (k *Known) Index() {
	r := k.Request
	k.prefixEnd = r.End()
	k.AnswersBefore, k.CallOf = make([]int, len(r.Items)+1), make([]*activity.Call, len(r.Items))
	noCall := &activity.Call{Exit: -1}
	for i := range r.Items {
		k.AnswersBefore[i+1], k.CallOf[i] = k.AnswersBefore[i], noCall
		if r.Items[i].StartsAnswer {
			k.AnswersBefore[i+1]++
		}
	}
	for n := range k.Calls {
		if i := k.Calls[n].Result; i > k.Calls[n].Item { // the provider's own results are parts of an answer
			k.CallOf[i] = &k.Calls[n]
		}
	}
}

// View returns how the request is sent with edits, none of them new.
func (k *Known) View(edits []view.Edit) view.View {
	return view.Of(k.Request, k.Request.Count(k.Scale), edits)
}

// Answers returns how many answers of the model there are before prefixEnd: the conversation's age, as decisions count
// it.
func (k *Known) Answers() int { return k.AnswersBefore[k.prefixEnd] }

// Size returns the tokens of items [first, end) as the client sent them.
func (k *Known) Size(first, end int) (tokens int) {
	for i := first; i < end; i++ {
		tokens += k.Request.Items[i].Size.Total()
	}
	return tokens
}

// OfModel converts tokens of the vocabulary to tokens of the model.
func (k *Known) OfModel(tokens int) int { return int(float64(tokens) * k.Scale.Ratio) }

// messagesIn returns how many messages edits take out, in whole or in part. The edits are in the order of their items.
func (k *Known) messagesIn(edits []view.Edit) (messages int) {
	next := 0 // the first message that is not counted yet
	for _, e := range edits {
		end := k.Request.Items[e.End()-1].Number + 1
		messages += end - max(next, k.Request.Items[e.First].Number)
		next = end
	}
	return messages
}

// edit returns the edit that sends text in the place of tokens of item i.
func (k *Known) edit(op view.Op, i, tokens int, text string, artifacts []string) view.Edit {
	e := view.Edit{First: i, Count: 1, Op: op, Text: text, Artifacts: artifacts}
	e.Tokens = k.Request.CountContent(k.Scale, i, jsonspan.AppendQuoted(nil, text))
	e.Saved = tokens - e.Tokens
	return e
}

// setText sets the text that is sent in the place of the items that an edit takes out.
func (k *Known) setText(e *view.Edit, text string) {
	e.Text, e.Tokens = text, k.Scale.CountText(text)
	e.Saved -= e.Tokens
}

// with returns v with edits of a step. All have the reason, or if it is NoCode, each has its own.
func (k *Known) with(v view.View, step view.Step, reason event.Code, edits ...view.Edit) view.View {
	if len(edits) == 0 {
		return v
	}
	for n := range edits {
		e := &edits[n]
		e.Step = step
		if reason != event.NoCode {
			e.Reason = reason
		}
		if k.Artifacts.Nowhere {
			e.Artifacts = nil
		}
	}
	return v.With(edits...)
}

// mayDecideOlder reports whether items that were sent before may be changed: if the recorded decision will be replaced
// (Asked, Refused), covers less than the prefix, or is another model's. Else only items behind the prefix are new, and
// the decision, which is recorded for the prefix, must not depend on items that follow it in one request.
func (k *Known) mayDecideOlder() bool {
	return k.Demand.Asked || k.Demand.Refused || k.prefixEnd > k.Recorded || k.Before.OtherModel
}

// isPinned reports whether a group has an item of opaque or unknown content, which is never changed or moved.
func (k *Known) isPinned(g conversation.Group) bool {
	return slices.ContainsFunc(k.Request.Items[g.First:g.End], func(it conversation.Item) bool {
		return it.Locked || it.Role == conversation.Unknown
	})
}

// isStale reports whether a later call, before prefixEnd, changed or repeated what result i shows.
func (k *Known) isStale(i int) bool {
	isBefore := func(at int) bool { return at > 0 && at < k.prefixEnd }
	return isBefore(k.CallOf[i].Replaced) || isBefore(k.CallOf[i].Patched)
}

// mustShow reports whether at least an excerpt of result i has to be sent: no whole answer follows it, so the model has
// not seen it or is still using it. Once the provider has refused the request, nothing has to be sent.
func (k *Known) mustShow(i int) bool {
	newest := k.AnswersBefore[len(k.Request.Items)]
	if k.Request.AnswerGoesOn { // the model may still continue the last answer
		newest--
	}
	return k.AnswersBefore[i+1] >= newest && !k.Demand.Refused
}

// mayReplace reports whether an item has the role, and may become a stub or an excerpt: it is sent and no stub yet, its
// content is not opaque (Locked), and no Limit.Keep is set for its tool.
func (k *Known) mayReplace(v *view.View, i int, role conversation.Role) bool {
	it, f := &k.Request.Items[i], &v.Forms[i]
	isKept := k.Limits.toolLimit(k.CallOf[i].Tool).Keep
	return it.Role == role && !f.Gone && !f.Cleared && !it.Locked && !isKept
}

// ReadAgain returns how many results from item first on bring again what v had taken out when the model made their
// calls, and their tokens as they came: lookups whose earlier result is not sent whole, and reads of artifacts.
func (k *Known) ReadAgain(v *view.View, first int) (things, tokens int) {
	for i := first; i < k.prefixEnd; i++ {
		c := k.CallOf[i]
		isOut := c.Again > 0 && !v.Forms[c.Again].IsWhole()
		readsArtifact := c.Kind != activity.Write && k.namesArtifact(v, i, false)
		if c.State() == "ok" && (isOut || readsArtifact) {
			things++
			tokens += k.OfModel(k.Size(i, i+1))
		}
	}
	return things, tokens
}

// namesArtifact reports whether the call of result i names an artifact of the view's edits; those of what was added to
// the system prompt count if withAdded is set.
func (k *Known) namesArtifact(v *view.View, i int, withAdded bool) bool {
	const most = 4 << 10 // bytes of arguments
	arguments := k.CallOf[i].Arguments.Of(k.Request.Body)
	if len(arguments) > most {
		return false
	}
	isNamed := func(name string) bool { return bytes.Contains(arguments, []byte(name)) }
	for n := range v.Edits {
		e := &v.Edits[n]
		if (withAdded || e.Op != view.AppendSystem) && slices.ContainsFunc(e.Artifacts, isNamed) {
			return true
		}
	}
	return false
}
