// Package ladder decides what a request leaves out, in the cheapest order: offload, clear, compact, rescue.
//
// Each step is a function over a State and adds edits to it. The newest groups, whatever the model has not seen yet and
// the user's words stay. It stops at the first step that suffices, depends on the State alone, and does no I/O but
// through Artifacts and a Summarizer.
//
// Files: offload.go, clear.go (rent or buy), compact.go (cut, place), rescue.go (stages), filter.go (the user's own
// rules), stub.go (what stands in the place of a result), thinking.go.
package ladder

import (
	"math"
	"slices"

	"epitome/event"
	"epitome/prose"
	"epitome/rewrite/activity"
	"epitome/rewrite/conversation"
	"epitome/rewrite/ledger"
)

// Artifacts names and finds whatever is taken out. It stores nothing: State.Content holds what is to be put before the
// decision is recorded.
type Artifacts interface {
	// Name returns the name of content in the conversation's scope.
	Name(content []byte) string
	// Address returns where content of that name can be read by a model; empty if it cannot.
	Address(name string) string
	// Has reports whether there is content of that name.
	Has(name string) bool
}

// State is a request on its way through the ladder. Tokens are those of the vocabulary.
type State struct {
	Request  *conversation.Request
	Scale    conversation.Scale
	Calls    []activity.Call
	Fixed    conversation.Tokens // of system prompt, tools and the request itself
	Known    int                 // items of the deepest recorded prefix: those behind it are new
	Decision ledger.Decision     // of that prefix
	Edits    []ledger.Edit       // those that stand, the new ones too
	Added    []ledger.Edit       // the new ones
	Limits   Effective

	Asked        bool // a compaction was asked for
	Refused      bool // the provider refused the request as too long
	OverBudget   bool // the conversation has used up the user's budget
	CacheCold    bool // the provider has forgotten the conversation: clearing costs nothing
	Binds        bool // the model accepts thinking only behind an unchanged prefix
	ArtifactsOff bool // artifacts are full, or do not outlive the process: results stay whole up to the line
	ReadsByTool  bool // the model reads artifacts with epitome's own tool, not by their addresses
	Artifacts    Artifacts
	Style        prose.Style           // of summaries
	Prose        Prose                 // nil if no model may be asked for one
	Note         func(item int) string // what a model wrote about a result, or nothing; nil if none was asked

	Content    map[string][]byte // by name: what new edits take out
	Reason     Reason            // why nothing more was done
	Causes     event.Causes      // what the steps that made edits observed
	Compared   int               // tokens that were held against the line for clearing
	Compaction *event.Compaction // that was made or tried
	Stage      Stage             // of a rescue

	end     int   // of the prefix that may be decided on
	sent    []int // tokens of each item as it is sent; those of a summary count at its first item
	answers []int // of the model, up to and with the item
	results map[int]*activity.Call
	named   map[string]bool // artifacts that standing edits name
}

// Reason is why nothing more was done: a code, and the sentence with its numbers.
type Reason struct {
	Code event.Code
	Text string
}

// Prepare computes whatever the steps need of the fields that are set.
func (s *State) Prepare() {
	items := s.Request.Items
	s.end, s.Content = s.Request.End(), map[string][]byte{}
	s.sent, s.answers = make([]int, len(items)), make([]int, len(items))
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
	s.named = map[string]bool{}
	for k := range s.Edits {
		for _, name := range s.Edits[k].Artifacts {
			s.named[name] = true
		}
	}
	s.measure()
}

// measure sets what each item takes as it is sent.
func (s *State) measure() {
	for i := range s.sent {
		s.sent[i] = s.Size(i)
	}
	for k := range s.Edits {
		if e := &s.Edits[k]; e.Op == ledger.Drop {
			for i := e.First; i < e.End(); i++ {
				s.sent[i] = 0
			}
		}
	}
	for k := range s.Edits {
		switch e := &s.Edits[k]; {
		case e.Op == ledger.AppendSystem, e.First < s.Request.Dead:
		case e.Op == ledger.Drop:
			s.sent[e.First] += e.Tokens
		default:
			s.sent[e.First] -= e.Saved
		}
	}
}

// Size returns what an item takes as it came; nothing if the provider passes over it.
func (s *State) Size(i int) int {
	if i < s.Request.Dead {
		return 0
	}
	return s.Request.Items[i].Size.Total()
}

// Add adds edits, which take the place of those that they cover.
func (s *State) Add(edits ...ledger.Edit) {
	for k := range edits {
		if len(s.answers) > 0 {
			edits[k].At = s.answers[len(s.answers)-1]
		}
		for _, name := range edits[k].Artifacts {
			s.named[name] = true
		}
		edits[k].Message = s.Request.MessagesIn(0, edits[k].First+1) - 1
		edits[k].Last = s.Request.MessagesIn(0, edits[k].End()) - 1
	}
	s.Edits = ledger.Add(s.Edits, edits...)
	s.Added = ledger.Add(s.Added, edits...)
	s.measure()
}

// checkpoint is the edits of a State, to go back to.
type checkpoint struct{ edits, added []ledger.Edit }

func (s *State) checkpoint() checkpoint { return checkpoint{s.Edits, s.Added} }

func (s *State) undo(c checkpoint) {
	s.Edits, s.Added = c.edits, c.added
	s.measure()
}

// Tokens returns the size of the request as it is sent, by kind.
func (s *State) Tokens() conversation.Tokens {
	t := s.Fixed
	for i := range s.Request.Items {
		it := &s.Request.Items[i]
		media := 0
		if s.sent[i] == s.Size(i) {
			media = min(it.Size.Media, s.sent[i])
		}
		t.Add(it.Role, s.sent[i]-media, media)
	}
	for k := range s.Edits {
		switch e := &s.Edits[k]; e.Op {
		case ledger.Drop:
			t.Add(s.Request.Items[e.First].Role, -e.Tokens, 0)
			t.Summary += e.Tokens
		case ledger.AppendSystem:
			t.System += e.Tokens
		}
	}
	return t
}

// Total returns the size of the request as it is sent.
func (s *State) Total() int {
	n := s.Fixed.Total()
	for _, tokens := range s.sent {
		n += tokens
	}
	for k := range s.Edits {
		if s.Edits[k].Op == ledger.AppendSystem {
			n += s.Edits[k].Tokens
		}
	}
	return n
}

// count counts a text.
func (s *State) count(text string) int { return s.Scale.CountText(text) }

// keep names content, which is put when the decision is recorded.
func (s *State) keep(content []byte) string {
	name := s.Artifacts.Name(content)
	if _, known := s.Content[name]; !known {
		s.Content[name] = content
	}
	return name
}

// editOf returns the standing edit of an item's content: a cleared result, or the first of its shortened texts; nil if
// it is sent whole. dropped says that the item is not sent at all.
func (s *State) editOf(i int) (e *ledger.Edit, dropped bool) {
	for k := range s.Edits {
		switch at := &s.Edits[k]; {
		case at.Op == ledger.Drop && at.First <= i && i < at.End():
			return at, true
		case at.First == i && at.Op != ledger.DropThinking && at.Op != ledger.AppendSystem && at.Op != ledger.Drop:
			e = at
		}
	}
	return e, false
}

// edited returns for each item whether it is dropped, cleared or shortened.
func (s *State) edited() (dropped, cleared, shortened []bool) {
	n := len(s.Request.Items)
	dropped, cleared, shortened = make([]bool, n), make([]bool, n), make([]bool, n)
	for k := range s.Edits {
		switch e := &s.Edits[k]; e.Op {
		case ledger.Drop:
			for i := e.First; i < e.End(); i++ {
				dropped[i] = true
			}
		case ledger.Clear:
			cleared[e.First] = true
		case ledger.ReplaceText, ledger.DropImage:
			shortened[e.First] = true
		}
	}
	return dropped, cleared, shortened
}

// isUnseen reports whether the model has not seen an item yet: no answer stands behind it.
func (s *State) isUnseen(i int) bool {
	newest := s.answers[len(s.answers)-1]
	if s.Request.AnswerGoesOn {
		newest--
	}
	return s.answers[i] >= newest
}

// mustShow reports whether something of a result has to be sent: the model has not seen it. Once the provider has
// refused the request, nothing must.
func (s *State) mustShow(i int) bool { return !s.Refused && s.isUnseen(i) }

// isKept reports whether an item never changes: by its kind, or by a rule of the user's for its tool.
func (s *State) isKept(i int) bool {
	if i < s.Request.Dead || s.Request.Items[i].Locked {
		return true
	}
	c := s.results[i]
	return c != nil && s.Limits.Conf.IsKept(c.Tool)
}

// mayDecideOlder reports whether items that were sent before may be decided on: not because of what stands behind them
// alone, so that the decision for a prefix depends on the prefix.
func (s *State) mayDecideOlder() bool {
	return s.Asked || s.Refused || s.end > s.Known || s.Decision.OtherModel
}

// because notes what made a step add edits.
func (s *State) because(c event.Cause) { s.Causes |= event.CausesOf(c) }

// never is an answer that does not come.
const never = math.MaxInt

// lastCompacted is the answer at which the conversation was compacted last; -1 if it never was.
func (s *State) lastCompacted() int {
	at := -1
	for k := range s.Edits {
		if s.Edits[k].Op == ledger.Drop && s.Edits[k].Step == ledger.StepCompact {
			at = max(at, s.Edits[k].At)
		}
	}
	return at
}

// isPinned reports whether a group has an item that has to stay where it is.
func (s *State) isPinned(g conversation.Group) bool {
	return slices.ContainsFunc(s.Request.Items[g.First:g.End], func(it conversation.Item) bool {
		return it.Pinned || it.Locked || it.Role == conversation.Unknown
	})
}

// Sent returns what an item takes as it is sent.
func (s *State) Sent(i int) int { return s.sent[i] }
