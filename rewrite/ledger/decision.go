package ledger

import (
	"encoding/json"
	"slices"
	"time"

	"epitome/event"
)

// Decision is all edits for a prefix, and what later requests must know about the request that was sent with them.
type Decision struct {
	Items        int       `json:"items"`                // length of the prefix
	Lists        []string  `json:"lists,omitempty"`      // keys of lists of perList names of Edits
	Names        []string  `json:"names,omitempty"`      // of the other Edits, which come behind those
	Added        int       `json:"added,omitempty"`      // how many of Edits, the last ones, this decision added
	Conversation string    `json:"conversation"`         // ID of the conversation
	Upstream     string    `json:"upstream,omitempty"`   // of the request; so are Model and Leading
	Model        string    `json:"model,omitempty"`      //
	Leading      string    `json:"leading,omitempty"`    // see Request
	Opening      string    `json:"opening,omitempty"`    // of a first request: see Request
	Additions    string    `json:"wish,omitempty"`       // of the conversation's first request: see Request
	Ratio        float64   `json:"ratio,omitempty"`      // tokens of the model for one of the vocabulary
	Sent         time.Time `json:"sent,omitzero"`        // when the request was sent: a pause makes the cache cold
	Touched      time.Time `json:"touched,omitzero"`     // when its edits and their artifacts were touched last
	Tokens       int       `json:"tokens,omitempty"`     // of the model, sent since the last compaction
	Compacted    int       `json:"compacted,omitempty"`  // answers that there were at the last compaction
	Waits        bool      `json:"waits,omitempty"`      // the user knows that a compaction is due and waits
	Prepared     int       `json:"ahead,omitempty"`      // items before the cut whose summary was begun ahead of need
	Undone       bool      `json:"undone,omitempty"`     // Restore took its edits back; Edits has them all the same
	Restored     int       `json:"restored,omitempty"`   // items that the user wants whole since then, if they fit
	Refused      bool      `json:"refused,omitempty"`    // the provider refused edits, and not for their size
	Pictures     int       `json:"pictures,omitempty"`   // how many were refused as too many or too large; 0: none
	Warned       bool      `json:"warned,omitempty"`     // the user knows that compaction cannot help
	NearlyFull   bool      `json:"nearlyFull,omitempty"` // the user knows that newest_messages will leave some out

	Edits      []Edit `json:"-"`
	OtherModel bool   `json:"-"` // it was recorded for another model or upstream

	Parent string `json:"-"` // ID of the conversation from which Record saw this one branch off
	Key    string `json:"-"` // of At and Restore; empty if it is not recorded

	found  int                 // Items as Find returned it
	stored []byte              // as it was read, by which Record notices that another one has replaced it
	lists  map[string][]string // names of edits, by the keys in Lists
	record *record             // that holds it
}

// InPlaceOf returns d, which could not be recorded, as what goes on from found.
func (d Decision) InPlaceOf(found Decision) Decision {
	d.Additions, d.found, d.Key, d.stored = found.Additions, found.found, found.Key, found.stored
	d.lists, d.record = found.lists, found.record
	return d
}

// Undo takes the edits of messages out of d and returns them. What is added to the system prompt, or mends pairs, stays.
func (d *Decision) Undo() (undone []Edit) {
	edits := d.Edits
	d.Edits = nil
	for _, e := range edits {
		if e.Op == AppendSystem || e.Reason == event.CodeUnpaired {
			d.Edits = append(d.Edits, e)
		} else {
			undone = append(undone, e)
		}
	}
	return undone
}

// kind tells the decisions for one prefix apart: of each kind, the newest one is kept.
func (d *Decision) kind() string {
	return Hash(d.Upstream, d.Model, d.Additions, d.Opening)
}

// isIn sets what a decision knows of its place: the record under a key.
func (d *Decision) isIn(recordKey string) {
	d.stored, _ = json.Marshal(d) // plain data
	d.Key, d.found = recordKey+"/"+d.kind(), d.Items
}

// record is what the store has under the key of a prefix.
type record struct {
	key   string
	value []byte
	list  []Decision // without edits, the newest last
}

// parse returns the decisions of a record, the newest last; none if it cannot be read.
func parse(record []byte, key string) (list []Decision) {
	if json.Unmarshal(record, &list) != nil {
		return nil
	}
	list = slices.DeleteFunc(list, func(d Decision) bool { return d.Items < 1 })
	for i := range list {
		list[i].isIn(key)
	}
	return list
}

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
	First       int        `json:"first"`           // index of the first item in the request
	Count       int        `json:"count,omitempty"` // of items; 0 for AppendSystem
	Op          Op         `json:"op"`
	Message     int        `json:"message"`             // index of the message that holds the first item
	LastMessage int        `json:"last,omitempty"`      // index of the message that holds the last item
	Part        int        `json:"part,omitempty"`      // index of the part that ReplaceText replaces, or of AddResult's call
	Text        string     `json:"text,omitempty"`      // plain text; the dialect quotes it when the body is built
	Artifacts   []string   `json:"artifacts,omitempty"` // names of what it takes out, the form for models first; or of listed files
	Tokens      int        `json:"tokens,omitempty"`    // of Text
	Saved       int        `json:"saved,omitempty"`     // tokens that the edit makes the request smaller by
	Step        Step       `json:"step"`
	Reason      event.Code `json:"why,omitempty"`      // as users see it
	Prose       string     `json:"prose,omitempty"`    // the part of a summary that a model wrote, for the next summary to update
	ProseEnd    int        `json:"told,omitempty"`     // index of the item behind those that Prose is about
	Contexts    []string   `json:"contexts,omitempty"` // names of the contexts whose files AppendSystem lists
	Memory      int        `json:"memory,omitempty"`   // tokens of an AppendSystem's Text that are memory of earlier sessions
	Name        string     `json:"-"`                  // its key in the store, a hash of all else; empty until it is recorded
}

// End returns the index of the item behind the last one of the edit.
func (e *Edit) End() int { return e.First + e.Count }

// covers reports whether e takes the place of an earlier edit of the same bytes, which then leaves the list.
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

// Add returns edits followed by the added ones, without the edits that an added one covers. It does not change edits.
func Add(edits []Edit, added ...Edit) []Edit {
	all := make([]Edit, 0, len(edits)+len(added)) // a copy, as other decisions may share edits
	all = append(all, edits...)
	for k := range added {
		kept := 0
		for i := range all {
			if added[k].covers(&all[i]) {
				continue
			}
			if kept < i { // an edit is large, and most cover none
				all[kept] = all[i]
			}
			kept++
		}
		all = append(all[:kept], added[k])
	}
	return all
}
