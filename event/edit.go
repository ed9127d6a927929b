package event

import (
	"cmp"
	"fmt"
)

// Edit is in what form an item is sent that is not sent whole. It is read from the recorded decision when one asks.
type Edit struct {
	Item     int    `json:"item"` // index in the request's messages, from 0
	Last     int    `json:"last"` // of several messages that it stands for, the index of the last one; else Item
	Rung     string `json:"rung"` // offload, clear or compact
	Code     Code   `json:"code"` // why
	Reason   string `json:"reason"`
	New      bool   `json:"new"`    // decided in this exchange
	Before   int    `json:"before"` // tokens as it came; 0 if not recorded
	After    int    `json:"after"`
	Text     string `json:"text"`               // what is sent in its place
	Artifact string `json:"artifact,omitempty"` // name of what stood there
	Readable string `json:"readable,omitempty"` // the same for a reader of lines
	// name of the item as it came, if what was thought in it is not sent
	Thinking string `json:"thinking,omitempty"`
}

// Messages says which messages of the request the edit is about. They count from 0, as in the texts for the model.
func (e Edit) Messages() string {
	if e.Last > e.Item {
		return fmt.Sprintf("messages %d–%d", e.Item, e.Last)
	}
	return fmt.Sprintf("message %d", e.Item)
}

// Name returns the name of the artifact that has the text of the messages; empty if none was kept.
func (e Edit) Name() string { return cmp.Or(e.Readable, e.Artifact, e.Thinking) }

// Edits are all edits of a request.
type Edits struct {
	Turn    int    `json:"turn"`
	List    []Edit `json:"edits"`
	Missing string `json:"missing,omitempty"` // why there are none to read: expired, or the store was lost
}
