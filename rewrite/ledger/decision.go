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
