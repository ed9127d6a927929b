package ledger

import "epitome/event"

// Op is what an edit does to its items.
type Op uint8

const (
	ReplaceText  Op = iota + 1 // one text of one item
	Clear                      // all that an item says becomes one text
	Drop                       // items go, with Text in their place (a summary) or nothing
	DropThinking               // reasoning that the provider would no longer accept
	AppendSystem               // context files and memory, behind the system prompt
)

// Step is the step of the ladder that made an edit.
type Step string

const (
	StepOffload Step = "offload"
	StepClear   Step = "clear"
	StepCompact Step = "compact"
	StepFilter  Step = "filter"
	StepAdd     Step = "add"
)

// Edit is what is sent in the place of some items. Items are counted from the first of the request.
type Edit struct {
	First     int        `json:"i"`
	Count     int        `json:"n,omitempty"` // items; 0 for AppendSystem
	Op        Op         `json:"o"`
	Message   int        `json:"m"`           // of the first item, counted from 0
	Last      int        `json:"q,omitempty"` // message of the last item
	Part      int        `json:"p,omitempty"` // which part of the item
	Text      string     `json:"t,omitempty"` // as a person reads it; the dialect quotes it
	Artifacts []string   `json:"a,omitempty"` // names of what it takes out; the first is the one that Text speaks of
	Tokens    int        `json:"k,omitempty"` // of what is sent instead
	Saved     int        `json:"s,omitempty"` // by this edit
	At        int        `json:"c,omitempty"` // answers there were when it was made: rent is reckoned from it
	Step      Step       `json:"r"`
	Why       event.Code `json:"w,omitempty"`
	Prose     string     `json:"z,omitempty"` // what a model says in Text, for the next summary to update
	Told      int        `json:"u,omitempty"` // items that Prose is about
	Contexts  []string   `json:"x,omitempty"` // whose files AppendSystem lists
	Memory    int        `json:"y,omitempty"` // tokens of AppendSystem that are what earlier sessions have learned
}

// End returns the item behind the last that the edit is about.
func (e *Edit) End() int { return e.First + e.Count }

// covers reports whether e takes the place of an earlier edit.
func (e *Edit) covers(earlier *Edit) bool {
	switch {
	case earlier.Op == AppendSystem || e.Op == AppendSystem:
		return e.Op == earlier.Op
	case e.Op == Drop:
		return earlier.First >= e.First && earlier.End() <= e.End()
	case e.Op == Clear && earlier.Op != DropThinking:
		return earlier.First == e.First && earlier.Op != Drop
	}
	return earlier.First == e.First && earlier.Op == e.Op && earlier.Part == e.Part
}

// Add returns the edits with more of them, without those whose place these take. It does not change edits.
func Add(edits []Edit, more ...Edit) []Edit {
	all := make([]Edit, 0, len(edits)+len(more))
	all = append(all, edits...)
	for k := range more {
		kept := all[:0]
		for i := range all {
			if !more[k].covers(&all[i]) {
				kept = append(kept, all[i])
			}
		}
		all = append(kept, more[k])
	}
	return all
}

// record is a recorded list of edits: those that are new, and the list that they add to.
type record struct {
	Base  string `json:"b,omitempty"`
	Edits []Edit `json:"e"`
}
