// Package ladder decides what a request leaves out, in the cheapest order: offload, clear, compact, rescue.
//
// Each step is a function over a State and adds edits to it. The newest groups, whatever the model has not seen yet and
// the user's words stay. It stops at the first step that suffices, depends on the State alone, and does no I/O but
// through Artifacts and a Prose.
//
// Files: offload.go, clear.go (rent or buy), compact.go (cut, summary), rescue.go (stages), filter.go (the user's own
// rules), stub.go (what stands in the place of a result), thinking.go.
package ladder

import (
	"slices"

	"epitome/event"
	"epitome/prose"
	"epitome/rewrite/activity"
	"epitome/rewrite/conversation"
	"epitome/rewrite/ledger"
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
	Known    int             // items of the deepest recorded prefix: those behind it are new
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
	Reason     Reason            // why nothing more was done
	Causes     event.Causes      // what the steps that made edits observed
	Compared   int               // tokens that were held against the line for clearing
	Compaction *event.Compaction // that was made or tried
	Stage      Stage             // of a rescue

	end     int    // of the prefix that may be decided on
	forms   []form // of each item
	total   int    // tokens of the request as it is sent
	answers []int  // of the model, up to and with each item
	results map[int]*activity.Call
}

// form is how an item is sent.
type form struct {
	tokens    int  // that it takes; those of a summary count at its first item
	first     int  // that it took when it was sent first: whole, or offloaded at once
	dropped   bool // it is not sent
	cleared   bool // a stub stands in the place of all that it says
	shortened bool // a text of it is shorter
	thinks    bool // its thinking is sent
}

// Reason is why nothing more was done: a code, and a sentence where there is more to say, as numbers.
type Reason struct {
	Code event.Code
	Text string
}

// Prepare computes whatever the steps need of the fields that are set.
func (s *State) Prepare() {
	items := s.Request.Items
	s.end, s.Content = s.Request.End(), map[string][]byte{}
	s.forms, s.answers = make([]form, len(items)), make([]int, len(items))
	n := 0
	for i := range items {
		if items[i].StartsAnswer {
			n++
		}
		s.answers[i] = n
	}
	s.results = make(map[int]*activity.Call, len(s.Calls))
	for k := range s.Calls {
		if c := &s.Calls[k]; c.Result >= 0 {
			s.results[c.Result] = c
		}
	}
	s.measure()
}

// measure sets the form of each item, and what the request takes.
func (s *State) measure() {
	for i := range s.forms {
		size := s.Size(i)
		s.forms[i] = form{tokens: size, first: size, thinks: len(s.Request.Items[i].Thinking) > 0}
	}
	s.total = s.Fixed.Total()
	for k := range s.Edits {
		e := &s.Edits[k]
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
		case ledger.Clear:
			f.cleared = true
		case ledger.DropThinking:
			f.thinks = false
		default:
			f.shortened = true
		}
		switch {
		case e.First < s.Request.Dead:
		case e.Op == ledger.Drop:
			f.tokens = e.Tokens
		default:
			f.tokens -= e.Saved
		}
		if e.Step == ledger.StepOffload {
			f.first -= e.Saved
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

// Add adds edits, which take the place of those that they cover.
func (s *State) Add(edits ...ledger.Edit) {
	for k := range edits {
		e := &edits[k]
		e.At = s.answers[len(s.answers)-1]
		e.Message = s.Request.MessagesIn(0, e.First+1) - 1
		e.Last = s.Request.MessagesIn(0, e.End()) - 1
	}
	s.Edits = ledger.Add(s.Edits, edits...)
	s.Added = ledger.Add(s.Added, edits...)
	s.measure()
}

// addIfSmaller adds edits if they make the request more than least tokens smaller.
func (s *State) addIfSmaller(least int, edits []ledger.Edit) bool {
	total, old, added := s.total, s.Edits, s.Added
	if s.Add(edits...); total-s.total > least {
		return true
	}
	s.Edits, s.Added = old, added
	s.measure()
	return false
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
	if len(edits) == 0 {
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

// keep names content, which is put when the decision is recorded.
func (s *State) keep(content []byte) string {
	name := s.Artifacts.Name(s.Scope, content)
	if _, known := s.Content[name]; !known {
		s.Content[name] = content
	}
	return name
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
	if i < s.Request.Dead || s.Request.Items[i].Locked {
		return true
	}
	c := s.results[i]
	return c != nil && s.Limits.Conf.toolLimit(c.Tool).Keep
}

// mayCut reports whether an item is a result of which less may be sent than is.
func (s *State) mayCut(i int) bool {
	f := &s.forms[i]
	return s.Request.Items[i].Role == conversation.Tool && !f.dropped && !f.cleared && !s.isKept(i)
}

// mayDecideOlder reports whether items that were sent before may be decided on: not because of what stands behind them
// alone, so that the decision for a prefix depends on the prefix.
func (s *State) mayDecideOlder() bool {
	return s.Asked || s.Refused || s.end > s.Known || s.Decision.OtherModel
}

// because notes what made a step add edits.
func (s *State) because(c event.Cause) { s.Causes |= event.CausesOf(c) }
