package view

import (
	"epitome/event"
	"epitome/summarize"
)

// Op is what an edit does to its items.
type Op uint8

const (
	ReplaceText  Op = iota + 1 // puts Text in the place of one text part or picture of one item
	Clear                      // puts Text in the place of all that one item says
	Drop                       // takes items out, and puts Text (a summary) in their place if it is not empty
	DropThinking               // takes out the reasoning of one item, which the provider would no longer accept
	AppendSystem               // adds Text (context files and memory) to the end of the system prompt
	AddResult                  // adds Text as the result of a call that has none
)

// Step is the step that made an edit.
type Step string

const (
	StepOffload Step = "offload"
	StepClear   Step = "clear"
	StepCompact Step = "compact"
	StepFilter  Step = "filter"
	StepAdd     Step = event.ActionAdd // adds context files and memory to a new conversation; no step of the ladder
)

// Edit is what is sent in the place of some items. Tokens are tokens of the vocabulary.
type Edit struct {
	First     int            `json:"first"`           // index of the first item in the request
	Count     int            `json:"count,omitempty"` // of items; 0 for AppendSystem
	Op        Op             `json:"op"`
	Part      int            `json:"part,omitempty"`      // index of the part that ReplaceText replaces, or of a call
	Text      string         `json:"text,omitempty"`      // plain text; the dialect quotes it when the body is built
	Artifacts []string       `json:"artifacts,omitempty"` // of what it takes out, that for models first; or listed files
	Tokens    int            `json:"tokens,omitempty"`    // of Text
	Saved     int            `json:"saved,omitempty"`     // tokens that the edit makes the request smaller by
	Step      Step           `json:"step"`
	Reason    event.Code     `json:"why,omitempty"`  // as users see it
	Words     summarize.Says `json:"words,omitzero"` // of a model, in a summary, for the next one to update
	Added     *Added         `json:"added,omitempty"`
	Messages  [2]int         `json:"messages"` // indexes of the messages that hold the first and the last item
	Name      string         `json:"-"`        // its key in the store, a hash of all else; empty if it has none
}

// Added says what AppendSystem adds.
type Added struct {
	Contexts []string `json:"contexts,omitempty"` // names of the contexts whose files it lists
	Memory   int      `json:"memory,omitempty"`   // tokens of the edit's Text that are memory
}

// End returns the index of the item behind the last one of the edit.
func (e *Edit) End() int { return e.First + e.Count }

// covers reports whether e takes the place of an earlier edit of the same bytes, which then leaves the view.
func (e *Edit) covers(earlier *Edit) bool {
	switch {
	case earlier.Op == AppendSystem, e.Op == AppendSystem: // it edits no item, and only another one covers it
		return e.Op == earlier.Op
	case e.Op == Drop: // covers all edits of its items, even an earlier summary
		return earlier.First >= e.First && earlier.End() <= e.End()
	case earlier.First != e.First, earlier.Op == Drop: // only another Drop covers a Drop
		return false
	case e.Op == Clear && earlier.Op == ReplaceText:
		return true
	}
	return earlier.Op == e.Op && earlier.Part == e.Part // the same edit with another text
}
