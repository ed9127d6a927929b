package ledger

import (
	"time"

	"epitome/event"
	"epitome/rewrite/view"
)

// Decision is all edits for a prefix, and what later requests must know about the request that was sent with them.
type Decision struct {
	Items        int    `json:",omitzero"` // length of the prefix
	Conversation string `json:",omitzero"` // ID of the conversation
	Origin
	Leading string `json:",omitzero"` // of the request: see Request

	// Since the last compaction of the conversation.

	Tokens    int  `json:",omitzero"` // of the model that were sent
	Compacted int  `json:",omitzero"` // answers that there were then
	Prepared  int  `json:",omitzero"` // items before the cut whose summary was begun ahead of need
	Waits     bool `json:",omitzero"` // the user was told that a compaction is due and waits

	Warned     bool      `json:",omitzero"` // the user was told that compaction cannot help
	NearlyFull bool      `json:",omitzero"` // likewise that newest_messages will leave some out
	Sent       time.Time `json:",omitzero"` // when the request was sent: a pause makes the cache cold
	Touched    time.Time `json:",omitzero"` // when its edits and their artifacts were touched last
	Added      int       `json:",omitzero"` // how many of Edits, the last ones, this decision added
	Undone     bool      `json:",omitzero"` // Restore took its edits back; Edits has them all the same
	Restored   int       `json:",omitzero"` // items that the user wants whole since then, if they fit
	Refused    bool      `json:",omitzero"` // the provider refused edits, and not for their size
	Pictures   int       `json:",omitzero"` // how many were refused as too many or too large; 0: none
	Ratio      float64   `json:",omitzero"` // tokens of the model for one of the vocabulary
	List       string    `json:",omitzero"` // key of the names of Edits; empty if there never was one

	// Life is how long the provider caches the request, by the last answer that said so before it; 0 if none did.
	Life time.Duration `json:",omitzero"`

	Edits      []view.Edit `json:"-"`
	OtherModel bool        `json:"-"` // it was recorded for another model or upstream

	Parent string `json:"-"` // ID of the conversation from which Record saw this one branch off
	Key    string `json:"-"` // of At and Restore; empty if it goes on from no recorded decision

	stored []view.Edit // Edits as the store has them under List
	from   int         // items of the longest prefix of the conversation that Find has found
}

// Origin tells decisions for the same prefix apart: of each origin, the newest one is kept.
type Origin struct {
	Upstream  string `json:",omitzero"` // of the request, like Model
	Model     string `json:",omitzero"`
	Additions string `json:",omitzero"` // of the conversation's first request: see Request
	Opening   string `json:",omitzero"` // of a first request: see Request
	Began     string `json:",omitzero"` // Leading of the conversation's first request
}

// InPlaceOf returns d, which could not be recorded, as what goes on from found.
func (d Decision) InPlaceOf(found Decision) Decision {
	d.Additions, d.Key, d.from = found.Additions, found.Key, found.from
	return d
}

// Undo takes the edits of messages out of d and returns them. What is added to the system prompt, or mends pairs,
// stays.
func (d *Decision) Undo() (undone []view.Edit) {
	edits := d.Edits
	d.Edits = nil
	for _, e := range edits {
		if e.Op == view.AppendSystem || e.Reason == event.CodeUnpaired {
			d.Edits = append(d.Edits, e)
		} else {
			undone = append(undone, e)
		}
	}
	return undone
}

// keyIn returns the key of a decision in the record that has a key.
func (o *Origin) keyIn(record string) string {
	return record + "/" + Hash(o.Upstream, o.Model, o.Additions, o.Opening, o.Began)
}
