package ladder

import (
	"slices"

	"epitome/dialect/activity"
	"epitome/dialect/conversation"
	"epitome/event"
	"epitome/rewrite/ledger"
	"epitome/summarize"
)

// Artifacts names the content that is taken out. It stores nothing: the caller puts State.Content before it records the
// decision.
type Artifacts interface {
	// Name returns the name of content: the same each time within a scope, another one in another scope.
	Name(scope string, content []byte) string
	// Address returns where a model can read the content of a name; empty if it cannot.
	Address(name string) string
}

// State is a request on its way through the ladder. Tokens are those of the vocabulary, indexes those of items.
type State struct {
	Request  *conversation.Request
	Scale    conversation.Scale
	Calls    []activity.Call // of the whole request
	Fixed    event.Tokens    // of system prompt, tools and the request itself
	Recorded int             // items of the deepest prefix with a decision for this model; all behind it are new
	Decision ledger.Decision // of the deepest prefix, maybe one that was made for another model
	Edits    []ledger.Edit   // all that hold: those of the decision and the new ones
	Added    []ledger.Edit   // the new ones
	Limits   Effective

	Asked         bool // the client asked for a compaction, or the agent did
	ByAgent       bool // the agent asked, by a call of epitome's own tool
	Refused       bool // the provider refused the request, mostly as too long
	Fits          int  // tokens that fit by the refusal; 0 if it does not tell
	OverBudget    bool // the conversation has used up the user's budget
	CacheCold     bool // the provider has nothing of the conversation in its cache: clearing costs nothing
	Binds         bool // the model accepts thinking only behind an unchanged prefix
	ArtifactsOff  bool // artifacts are not to be had, or edits were refused: results stay whole up to ClearLine
	NothingKept   bool // no content can be stored: edits name no artifacts, and their texts say so
	ReadsByTool   bool // the model reads artifacts with epitome's own tool, not by their addresses
	Artifacts     Artifacts
	Scope         string // in which artifacts are named
	SummaryMode   summarize.Mode
	SummaryDetail summarize.Detail
	Prose         Prose // nil if no model may be asked for summaries

	Content    map[string][]byte // by name: what new edits take out, or recorded ones whose artifacts are lost
	Reason     event.Code        // why nothing more was done
	Compaction *event.Compaction // that was made or tried
	Stage      Stage             // of a rescue
	NearlyFull int               // messages that would be sent, when they first are four fifths of newest_messages
	Unkept     int               // lines that the user wants kept, but a new summary has no room for

	// prefixEnd is Request.End, the end of the last whole answer or result: a decision covers the items before it.
	// Later items may be others in the next request, such as reminders that clients move.
	prefixEnd    int
	answersUpTo  []int            // by item: how many answers of the model there are up to it, with it
	callOf       []*activity.Call // by item: the call that it answers; an empty call if none is known
	forms        []form           // by item
	total        int              // tokens of the request as it is sent
	dropsKept    bool             // the request does not fit otherwise: groups with results that Limit.Keep keeps go, too
	compactedEnd int              // end of the items that the last compaction dropped; the head if there was none
	lastSays     summarize.Says   // a model's words in the last summary
}

// form is how an item is sent.
type form struct {
	tokens    int  // that it takes; those of a summary count at the first item that it replaces
	dropped   bool // it is not sent
	cleared   bool // a stub replaces all that it says
	shortened bool // an excerpt or screen replaces one of its texts
	thinks    bool // its thinking is sent
}

// Prepare computes the unexported fields from the exported ones that are set. Call it again when Edits were set.
func (s *State) Prepare() {
	items := s.Request.Items
	s.prefixEnd, s.Content = s.Request.End(), map[string][]byte{}
	s.forms, s.answersUpTo = make([]form, len(items)), make([]int, len(items))
	s.callOf = make([]*activity.Call, len(items))
	answers, noCall := 0, &activity.Call{Exit: -1}
	for i := range items {
		if items[i].StartsAnswer {
			answers++
		}
		s.answersUpTo[i], s.callOf[i] = answers, noCall
	}
	for k := range s.Calls {
		if i := s.Calls[k].Result; i > s.Calls[k].Item { // the provider's own results are parts of an answer
			s.callOf[i] = &s.Calls[k]
		}
	}
	s.setEdits(s.Edits, s.Added)
}

// setEdits sets the edits, and from them the form of each item and the total.
func (s *State) setEdits(edits, added []ledger.Edit) {
	s.Edits, s.Added, s.total = edits, added, s.Fixed.Total()
	s.compactedEnd, s.lastSays = s.Request.Head, summarize.Says{}
	for i := range s.forms {
		s.forms[i] = form{tokens: s.Size(i), thinks: len(s.Request.Items[i].Thinking) > 0}
	}
	for k := range edits {
		e := &edits[k]
		if e.Op == ledger.AppendSystem {
			s.total += e.Tokens
			continue
		}
		f := &s.forms[e.First]
		switch e.Op {
		case ledger.Drop:
			for i := e.First; i < e.End(); i++ {
				s.forms[i].tokens, s.forms[i].dropped = 0, true
			}
			f.tokens = e.Tokens
			if e.Step == ledger.StepCompact {
				s.compactedEnd = max(s.compactedEnd, e.End())
			}
			if e.Prose != "" {
				s.lastSays = summarize.Says{Text: e.Prose, Until: e.Told}
			}
		case ledger.Clear:
			f.cleared = true
		case ledger.DropThinking:
			f.thinks = false
		case ledger.AddResult:
		default: // ReplaceText
			f.shortened = true
		}
		if e.Op != ledger.Drop {
			f.tokens -= e.Saved
		}
	}
	for i := range s.forms {
		s.forms[i].tokens = max(0, s.forms[i].tokens) // Saved may have been counted for another model
		s.total += s.forms[i].tokens
	}
}

// Size returns the tokens of an item as the client sent it.
func (s *State) Size(i int) int { return s.Request.Items[i].Size.Total() }

// Sent returns the tokens of an item as it is sent.
func (s *State) Sent(i int) int { return s.forms[i].tokens }

// Total returns the tokens of the request as it is sent.
func (s *State) Total() int { return s.total }

// OfModel converts tokens of the vocabulary to tokens of the model.
func (s *State) OfModel(tokens int) int { return int(float64(tokens) * s.Scale.Ratio) }

// Tokens returns the tokens of the request as it is sent, by kind.
func (s *State) Tokens() event.Tokens {
	t := s.Fixed
	for i := range s.Request.Items {
		it, sent, media := &s.Request.Items[i], s.forms[i].tokens, 0
		if sent == s.Size(i) { // an edited item is taken for text, as its media may be gone
			media = min(it.Size.Media, sent)
		}
		*it.Role.In(&t) += sent - media
		t.Images += media
	}
	for k := range s.Edits {
		switch e := &s.Edits[k]; e.Op {
		case ledger.Drop: // its summary was counted as text of its first item
			*s.Request.Items[e.First].Role.In(&t) -= e.Tokens
			t.Summary += e.Tokens
		case ledger.AppendSystem:
			t.System += e.Tokens
		}
	}
	return t
}

// Add adds edits, which take the place of those that they cover.
func (s *State) Add(edits ...ledger.Edit) {
	if len(edits) == 0 {
		return
	}
	for k := range edits {
		e := &edits[k]
		e.Message = s.Request.MessagesIn(0, e.First+1) - 1 // an index: one less than the messages up to the item
		e.Last = s.Request.MessagesIn(0, e.End()) - 1
		if s.NothingKept {
			e.Artifacts = nil
		}
	}
	s.setEdits(ledger.Add(s.Edits, edits...), ledger.Add(s.Added, edits...))
}

// addIfSmaller adds edits if they make the request more than least tokens smaller, and reports whether they do.
func (s *State) addIfSmaller(least int, edits []ledger.Edit) bool {
	total, undo := s.total, s.undo()
	if s.Add(edits...); total-s.total > least { // Saved would count again what covered edits saved
		return true
	}
	undo()
	return false
}

// undo returns a function that takes back all edits that are added from now on.
func (s *State) undo() func() {
	edits, added := s.Edits, s.Added
	return func() { s.setEdits(edits, added) }
}

// drops returns edits that drop items [first, end), in whole groups, except groups that stay in place: an edit for each
// run of groups between these. All share the artifacts of one transcript. The caller has to set a text on the first.
func (s *State) drops(first, end int, step ledger.Step, why event.Code) (edits []ledger.Edit) {
	items, roleBehind := s.Request.Items, conversation.Unknown // the role of the next item that stays
	if end < len(items) {
		roleBehind = items[end].Role
	}
	for _, g := range slices.Backward(s.Request.Groups()) {
		role := items[g.First].Role
		switch n := len(edits); {
		case g.First < first || g.End > end: // not wholly among the items
		case s.isPinned(g), s.isKept(g), s.staysInPlace(g) && roleBehind != conversation.User: // else a flaw
			roleBehind = role
		case n > 0 && edits[n-1].First == g.End:
			edits[n-1].First, edits[n-1].Count = g.First, edits[n-1].Count+g.End-g.First
		default:
			edits = append(edits, ledger.Edit{First: g.First, Count: g.End - g.First, Op: ledger.Drop, Step: step, Why: why})
		}
	}
	slices.Reverse(edits)
	if len(edits) == 0 {
		return nil
	}
	artifacts := s.keepItems(edits[0].First, edits[len(edits)-1].End()) // KeepAgain finds this range in the edits
	for k := range edits {
		e := &edits[k]
		e.Artifacts = artifacts
		for i := e.First; i < e.End(); i++ {
			e.Saved += s.Size(i)
		}
	}
	return edits
}

// messagesIn returns how many messages edits drop, in whole or in part.
func (s *State) messagesIn(edits []ledger.Edit) int {
	numbers := map[int]bool{}
	for k := range edits {
		for i := edits[k].First; i < edits[k].End(); i++ {
			numbers[s.Request.Items[i].Number] = true
		}
	}
	return len(numbers)
}

// setText sets the text that is sent in the place of the items that an edit drops.
func (s *State) setText(e *ledger.Edit, text string) {
	e.Text, e.Tokens = text, s.Scale.CountText(text)
	e.Saved -= e.Tokens
}

// staysInPlace reports whether a group stays in place, whatever is dropped around it: it is pinned or kept, or is a
// message of the system, whose instructions still hold, that was not dropped before.
func (s *State) staysInPlace(g conversation.Group) bool {
	isSystem := s.Request.Items[g.First].Role == conversation.System && !s.forms[g.First].dropped
	return isSystem || s.isPinned(g) || s.isKept(g)
}

// isKept reports whether a group that was not dropped before has a result of a tool with Limit.Keep, and may stay.
func (s *State) isKept(g conversation.Group) bool {
	if s.dropsKept || s.forms[g.First].dropped {
		return false
	}
	return slices.ContainsFunc(s.callOf[g.First:g.End], func(c *activity.Call) bool {
		return s.Limits.Conf.toolLimit(c.Tool).Keep
	})
}

// isPinned reports whether a group has an item of opaque or unknown content, which is never changed or moved.
func (s *State) isPinned(g conversation.Group) bool {
	return slices.ContainsFunc(s.Request.Items[g.First:g.End], func(it conversation.Item) bool {
		return it.Locked || it.Role == conversation.Unknown
	})
}

// AnswersInPrefix returns how many answers there are before prefixEnd: the conversation's age, as decisions count it.
func (s *State) AnswersInPrefix() int {
	if s.prefixEnd == 0 {
		return 0
	}
	return s.answersUpTo[s.prefixEnd-1]
}

// mustShow reports whether at least an excerpt of result i has to be sent: no whole answer follows it, so the model has
// not seen it or is still using it. Once the provider has refused the request, nothing has to be sent.
func (s *State) mustShow(i int) bool {
	newest := s.answersUpTo[len(s.answersUpTo)-1]
	if s.Request.AnswerGoesOn { // the model may still continue the last answer
		newest--
	}
	return s.answersUpTo[i] >= newest && !s.Refused
}

// mayReplace reports whether an item has the role, and may become a stub or an excerpt: it is sent and no stub yet, its
// content is not opaque (Locked), and no Limit.Keep is set for its tool.
func (s *State) mayReplace(i int, role conversation.Role) bool {
	it, f, keep := &s.Request.Items[i], &s.forms[i], s.Limits.Conf.toolLimit(s.callOf[i].Tool).Keep
	return it.Role == role && !f.dropped && !f.cleared && !it.Locked && !keep
}

// mayShorten reports whether an item is a result that may be cut or cleared.
func (s *State) mayShorten(i int) bool { return s.mayReplace(i, conversation.Tool) }

// isStale reports whether a later call, before prefixEnd, changed or repeated what result i shows.
func (s *State) isStale(i int) bool {
	isBefore := func(at int) bool { return at > 0 && at < s.prefixEnd }
	return isBefore(s.callOf[i].Replaced) || isBefore(s.callOf[i].Patched)
}
