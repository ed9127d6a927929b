package ladder

import (
	"slices"

	"epitome/event"
	"epitome/prose"
	"epitome/rewrite/activity"
	"epitome/rewrite/conversation"
	"epitome/rewrite/ledger"
	"epitome/rewrite/recap"
)

// Artifacts names whatever is taken out. It stores nothing: State.Content holds what is to be put before the decision
// is recorded.
type Artifacts interface {
	// Name returns the name of content in a scope.
	Name(scope string, content []byte) string
	// Address returns where content of that name can be read by a model; empty if it cannot.
	Address(name string) string
}

// State is a request on its way through the ladder. Tokens are those of the vocabulary.
type State struct {
	Request  *conversation.Request
	Scale    conversation.Scale
	Calls    []activity.Call
	Fixed    event.Tokens    // of system prompt, tools and the request itself
	Recorded int             // items of the deepest recorded prefix: those behind it are new
	Decision ledger.Decision // of that prefix
	Edits    []ledger.Edit   // those that stand, the new ones too
	Added    []ledger.Edit   // the new ones
	Limits   Effective

	Asked        bool // a compaction was asked for
	Refused      bool // the provider refused the request as too long
	OverBudget   bool // the conversation has used up the user's budget
	CacheCold    bool // the provider has forgotten the conversation: clearing costs nothing
	Binds        bool // the model accepts thinking only behind an unchanged prefix
	ArtifactsOff bool // artifacts are full, or do not outlive the process: results stay whole up to the line
	ReadsByTool  bool // the model reads artifacts with epitome's own tool, not by their addresses
	Artifacts    Artifacts
	Scope        string                // in which artifacts are named
	Style        prose.Style           // of summaries
	Prose        Prose                 // nil if no model may be asked for one
	Note         func(item int) string // what a model wrote about a result, or nothing; nil if none was asked

	Content    map[string][]byte // by name: what new edits take out
	Reason     event.Code        // why nothing more was done
	Causes     event.Causes      // what the steps that made edits observed
	Compared   int               // tokens that were held against the line for clearing
	Compaction *event.Compaction // that was made or tried
	Stage      Stage             // of a rescue

	end     int              // of the items that may be decided on (Request.End)
	answers []int            // of the model, up to and with each item
	results []*activity.Call // of each item, the call that it answers; an empty one if none is known
	forms   []form           // of each item
	total   int              // tokens of the request as it is sent
	done    int              // end of the items that the last compaction left out
	says    recap.Says       // what a model said about them
}

// form is how an item is sent.
type form struct {
	tokens    int  // that it takes; those of a summary count at its first item
	dropped   bool // it is not sent
	cleared   bool // a stub stands in the place of all that it says
	shortened bool // a text of it is shorter
	thinks    bool // its thinking is sent
}

// Prepare computes whatever the steps need of the fields that are set.
func (s *State) Prepare() {
	items := s.Request.Items
	s.end, s.Content = s.Request.End(), map[string][]byte{}
	s.forms, s.answers, s.results = make([]form, len(items)), make([]int, len(items)), make([]*activity.Call, len(items))
	n, none := 0, &activity.Call{Exit: -1}
	for i := range items {
		if items[i].StartsAnswer {
			n++
		}
		s.answers[i], s.results[i] = n, none
	}
	for k := range s.Calls {
		if i := s.Calls[k].Result; i >= 0 {
			s.results[i] = &s.Calls[k]
		}
	}
	s.setEdits(s.Edits, s.Added)
}

// setEdits sets the edits, the form of each item, and what the request takes.
func (s *State) setEdits(edits, added []ledger.Edit) {
	s.Edits, s.Added, s.total = edits, added, s.Fixed.Total()
	s.done, s.says = s.Request.Head, recap.Says{}
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
			if e.First >= s.Request.Dead {
				f.tokens = e.Tokens
			}
			if e.Step == ledger.StepCompact {
				s.done = max(s.done, e.End())
			}
			if e.Prose != "" {
				s.says = recap.Says{Text: e.Prose, Until: e.Told}
			}
		case ledger.Clear:
			f.cleared = true
		case ledger.DropThinking:
			f.thinks = false
		default:
			f.shortened = true
		}
		if e.Op != ledger.Drop {
			f.tokens -= e.Saved
		}
	}
	for i := range s.forms {
		s.forms[i].tokens = max(0, s.forms[i].tokens) // what was decided for another model may be counted otherwise
		s.total += s.forms[i].tokens
	}
}

// Size returns what an item takes as it came; nothing if the provider passes over it.
func (s *State) Size(i int) int {
	if i < s.Request.Dead {
		return 0
	}
	return s.Request.Items[i].Size.Total()
}

// Sent returns what an item takes as it is sent.
func (s *State) Sent(i int) int { return s.forms[i].tokens }

// Total returns the size of the request as it is sent.
func (s *State) Total() int { return s.total }

// OfModel returns tokens in the model's own.
func (s *State) OfModel(tokens int) int { return int(float64(tokens) * s.Scale.Ratio) }

// Tokens returns the size of the request as it is sent, by kind.
func (s *State) Tokens() event.Tokens {
	t := s.Fixed
	for i := range s.Request.Items {
		it, sent := &s.Request.Items[i], s.forms[i].tokens
		media := 0
		if sent == s.Size(i) {
			media = min(it.Size.Media, sent)
		}
		*it.Role.In(&t) += sent - media
		t.Images += media
	}
	for k := range s.Edits {
		switch e := &s.Edits[k]; e.Op {
		case ledger.Drop:
			*s.Request.Items[e.First].Role.In(&t) -= e.Tokens
			t.Summary += e.Tokens
		case ledger.AppendSystem:
			t.System += e.Tokens
		}
	}
	return t
}

// Add adds edits, which take the place of those that they cover, for what a step observed.
func (s *State) Add(cause event.Cause, edits ...ledger.Edit) {
	if len(edits) == 0 {
		return
	}
	for k := range edits {
		e := &edits[k]
		e.At = s.answers[len(s.answers)-1]
		e.Message = s.Request.MessagesIn(0, e.First+1) - 1
		e.Last = s.Request.MessagesIn(0, e.End()) - 1
	}
	s.Causes |= event.CausesOf(cause)
	s.setEdits(ledger.Add(s.Edits, edits...), ledger.Add(s.Added, edits...))
}

// addIfSmaller adds edits if they make the request more than least tokens smaller.
func (s *State) addIfSmaller(least int, cause event.Cause, edits []ledger.Edit) bool {
	total, undo := s.total, s.undo()
	if s.Add(cause, edits...); total-s.total > least {
		return true
	}
	undo()
	return false
}

// undo returns what takes all back that is added from now on.
func (s *State) undo() func() {
	edits, added, causes := s.Edits, s.Added, s.Causes
	return func() {
		s.Causes = causes
		s.setEdits(edits, added)
	}
}

// drops returns edits that take items [first, end) out, in whole groups, but for those that stay where they are. All
// name one transcript, and the first one still needs a text.
func (s *State) drops(first, end int, step ledger.Step, why event.Code) (edits []ledger.Edit) {
	items, behind := s.Request.Items, conversation.Unknown // who speaks in what stays behind a group
	if end < len(items) {
		behind = items[end].Role
	}
	for _, g := range slices.Backward(s.Request.Groups()) {
		role := items[g.First].Role
		switch n := len(edits); {
		case g.First < first || g.End > end:
		case s.isPinned(g), s.stays(g) && behind != conversation.User: // Messages takes no user behind the system
			behind = role
		case n > 0 && edits[n-1].First == g.End:
			edits[n-1].First, edits[n-1].Count = g.First, edits[n-1].Count+g.End-g.First
		default:
			edits = append(edits, ledger.Edit{First: g.First, Count: g.End - g.First, Op: ledger.Drop, Step: step, Why: why})
		}
	}
	slices.Reverse(edits)
	goesInPart := func(e ledger.Edit) bool { // one made before a late result tied other items together
		return e.Op == ledger.Drop && slices.ContainsFunc(edits, func(o ledger.Edit) bool {
			return e.First < o.End() && o.First < e.End() && (e.First < o.First || e.End() > o.End())
		})
	}
	if len(edits) == 0 || slices.ContainsFunc(s.Edits, goesInPart) {
		return nil
	}
	artifacts := s.keepItems(edits[0].First, edits[len(edits)-1].End())
	for k := range edits {
		e := &edits[k]
		e.Artifacts = artifacts
		for i := e.First; i < e.End(); i++ {
			e.Saved += s.Size(i)
		}
	}
	return edits
}

// setText puts a text in the place of the items that an edit drops.
func (s *State) setText(e *ledger.Edit, text string) {
	e.Text, e.Tokens = text, s.count(text)
	e.Saved -= e.Tokens
}

// stays reports whether a group stays where it is, whatever is left out around it: it cannot be moved, or is a message
// of the system that was not left out before.
func (s *State) stays(g conversation.Group) bool {
	return s.isPinned(g) || s.Request.Items[g.First].Role == conversation.System && !s.forms[g.First].dropped
}

// isPinned reports whether a group has an item that has to stay where it is.
func (s *State) isPinned(g conversation.Group) bool {
	return slices.ContainsFunc(s.Request.Items[g.First:g.End], func(it conversation.Item) bool {
		return it.Locked || it.Role == conversation.Unknown
	})
}

// count counts a text.
func (s *State) count(text string) int { return s.Scale.CountText(text) }

// now is how many answers there are in the prefix that may be decided on.
func (s *State) now() int {
	if s.end == 0 {
		return 0
	}
	return s.answers[s.end-1]
}

// mustShow reports whether something of a result has to be sent: the model has not seen it, as no answer stands behind
// it. Once the provider has refused the request, nothing must.
func (s *State) mustShow(i int) bool {
	newest := s.answers[len(s.answers)-1]
	if s.Request.AnswerGoesOn {
		newest--
	}
	return s.answers[i] >= newest && !s.Refused
}

// isKept reports whether an item never changes: by its kind, or by a rule of the user's for its tool.
func (s *State) isKept(i int) bool {
	return i < s.Request.Dead || s.Request.Items[i].Locked || s.Limits.Conf.toolLimit(s.results[i].Tool).Keep
}

// mayReplace reports whether an item of a role is sent, and may become a stub.
func (s *State) mayReplace(i int, role conversation.Role) bool {
	f := &s.forms[i]
	return s.Request.Items[i].Role == role && !f.dropped && !f.cleared && !s.isKept(i)
}

// mayCut reports whether an item is a result of which less may be sent than is.
func (s *State) mayCut(i int) bool { return s.mayReplace(i, conversation.Tool) }
