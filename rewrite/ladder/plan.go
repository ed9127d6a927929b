package ladder

import (
	"bytes"
	"slices"

	"epitome/dialect/activity"
	"epitome/dialect/conversation"
	"epitome/event"
	"epitome/internal/jsonspan"
	"epitome/rewrite/ledger"
	"epitome/summarize"
)

// Plan is how a request is sent, and what was noticed when that was decided.
type Plan struct {
	*Facts
	Decision ledger.Decision   // of the deepest prefix, maybe one that was made for another model
	Recorded int               // items that it covers for this model; all behind are new
	Edits    []ledger.Edit     // all that hold: those of the decision and the new ones
	Added    []ledger.Edit     // the new ones
	Content  map[string][]byte // by name: what new edits take out, or recorded ones whose artifacts are lost
	Total    int               // tokens of the request as it is sent
	Goal     int               // to which a compaction that the client asked for brings it; 0: it did not ask

	Reason     event.Code        // why nothing more was done
	Compaction *event.Compaction // that was made or tried
	Stage      Stage             // of a rescue
	NearlyFull int               // messages that would be sent, when they first are four fifths of newest_messages
	Faults     error             // of steps that failed and were left out
	Unkept     int               // lines that the user wants kept, but a new summary has no room for

	forms        []form         // by item
	dropsKept    bool           // the request does not fit otherwise: groups with results that Limit.Keep keeps go, too
	compactedEnd int            // end of the items that the last compaction dropped; the head if there was none
	lastWords    summarize.Says // a model's words in the last summary
}

// form is how an item is sent.
type form struct {
	tokens    int  // that it takes; those of a summary count at the first item that it replaces
	dropped   bool // it is not sent
	cleared   bool // a stub replaces all that it says
	shortened bool // an excerpt or screen replaces one of its texts
	thinks    bool // its thinking is sent
}

// isWhole reports whether the text of the item is sent as it came.
func (f *form) isWhole() bool { return !f.dropped && !f.cleared && !f.shortened }

// With returns another plan for the request, with other edits, none of them new. It knows what p has noticed.
func (p *Plan) With(edits []ledger.Edit) *Plan {
	next := *p
	next.Content = map[string][]byte{}
	next.setEdits(edits, nil)
	return &next
}

// setEdits sets the edits, and from them the form of each item and the total. It changes no copy of the plan.
func (p *Plan) setEdits(edits, added []ledger.Edit) {
	p.Edits, p.Added = edits, added
	p.Total = p.Fixed.Total()
	p.compactedEnd, p.lastWords = p.Request.Head, summarize.Says{}
	p.forms = make([]form, len(p.Request.Items))
	for i := range p.forms {
		p.forms[i] = form{tokens: p.Size(i, i+1), thinks: len(p.Request.Items[i].Thinking) > 0}
	}
	for k := range edits {
		e := &edits[k]
		switch e.Op {
		case ledger.AppendSystem:
			p.Total += e.Tokens
			continue
		case ledger.Drop:
			p.drop(e)
			continue
		case ledger.Clear:
			p.forms[e.First].cleared = true
		case ledger.ReplaceText:
			p.forms[e.First].shortened = true
		case ledger.DropThinking:
			p.forms[e.First].thinks = false
		}
		p.forms[e.First].tokens -= e.Saved
	}
	for i := range p.forms {
		p.forms[i].tokens = max(0, p.forms[i].tokens) // Saved may have been counted for another model
		p.Total += p.forms[i].tokens
	}
}

// drop sets the forms of the items that an edit drops, and what is known of the last summary.
func (p *Plan) drop(e *ledger.Edit) {
	tokens := e.Tokens // of its text, and those of earlier drops that it overlaps
	for i := e.First; i < e.End(); i++ {
		if p.forms[i].dropped {
			tokens += p.forms[i].tokens
		}
		p.forms[i] = form{dropped: true}
	}
	p.forms[e.First].tokens = tokens
	if e.Step == ledger.StepCompact {
		p.compactedEnd = max(p.compactedEnd, e.End())
	}
	if e.Prose != "" {
		p.lastWords = summarize.Says{Text: e.Prose, Until: e.ProseEnd}
	}
}

// Sent returns the tokens of items [first, end) as they are sent.
func (p *Plan) Sent(first, end int) (tokens int) {
	for i := first; i < end; i++ {
		tokens += p.forms[i].tokens
	}
	return tokens
}

// ReadAgain returns how many results from item first on bring again what p had taken out when the model made their
// calls, and their tokens as they came: lookups whose earlier result is not sent whole, and reads of artifacts.
func (p *Plan) ReadAgain(first int) (things, tokens int) {
	for i := first; i < p.prefixEnd; i++ {
		c := p.callOf[i]
		isOut := c.Again > 0 && !p.forms[c.Again].isWhole()
		readsArtifact := c.Kind != activity.Write && p.namesArtifact(i, false)
		if c.State() == "ok" && (isOut || readsArtifact) {
			things++
			tokens += p.OfModel(p.Size(i, i+1))
		}
	}
	return things, tokens
}

// namesArtifact reports whether the call of result i names an artifact of the plan's edits; those of what was added to
// the system prompt count if withAdded is set.
func (p *Plan) namesArtifact(i int, withAdded bool) bool {
	const most = 4 << 10 // bytes of arguments
	arguments := p.callOf[i].Arguments.Of(p.Request.Body)
	if len(arguments) > most {
		return false
	}
	isNamed := func(name string) bool { return bytes.Contains(arguments, []byte(name)) }
	for k := range p.Edits {
		e := &p.Edits[k]
		if (withAdded || e.Op != ledger.AppendSystem) && slices.ContainsFunc(e.Artifacts, isNamed) {
			return true
		}
	}
	return false
}

// Tokens returns the tokens of the request as it is sent, by kind.
func (p *Plan) Tokens() event.Tokens {
	t := p.Fixed
	for i := range p.Request.Items {
		it, sent := &p.Request.Items[i], p.forms[i].tokens
		media := 0
		if sent == p.Size(i, i+1) { // an edited item is taken for text, as its media may be gone
			media = min(it.Size.Media, sent)
		}
		*it.Role.In(&t) += sent - media
		t.Images += media
	}
	for k := range p.Edits {
		e := &p.Edits[k]
		switch e.Op {
		case ledger.Drop: // its summary was counted as text of its first item
			*p.Request.Items[e.First].Role.In(&t) -= e.Tokens
			t.Summary += e.Tokens
		case ledger.AppendSystem:
			t.System += e.Tokens
		}
	}
	return t
}

// Facts are about a request as the client sent it, and never change. Tokens are those of the vocabulary, indexes those
// of items. These numbers count items from the start, as those do that conversation.Request draws: Plan.Recorded is
// the prefixEnd of an earlier request, with whose decision the plan begins; the items behind it are new. A compaction
// drops the items from the Head to a cut: compactedEnd is the cut of the last one, and Decision.Prepared the cut of
// the next one, for which a model was asked ahead of need. Decision.Restored is the Recorded of the time at which the
// user wanted all items whole again.
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
	f := &Facts{
		Request: r, Scale: scale, Calls: calls, Fixed: r.Count(scale), Artifacts: artifacts, Scope: scope,
		prefixEnd: r.End(), answersUpTo: make([]int, len(r.Items)), callOf: make([]*activity.Call, len(r.Items)),
	}
	answers := 0
	noCall := &activity.Call{Exit: -1}
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

// edit returns the edit that sends text in the place of tokens of item i. Its step adds it (State.Add).
func (f *Facts) edit(op ledger.Op, i, tokens int, text string, artifacts []string) ledger.Edit {
	e := ledger.Edit{First: i, Count: 1, Op: op, Text: text, Artifacts: artifacts}
	e.Tokens = f.Request.CountContent(f.Scale, i, jsonspan.AppendQuoted(nil, text))
	e.Saved = tokens - e.Tokens
	return e
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
