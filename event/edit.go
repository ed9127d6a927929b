package event

import (
	"fmt"
	"slices"
)

// Step returns the highest step of the ladder that an exchange newly took: rescue, compact, clear or offload; restore if
// it took edits back; empty if there was none. Its Action is what the conversation carries from earlier exchanges, too.
func Step(e *Exchange) string {
	switch {
	case e.Rescue.Kind != "":
		return "rescue"
	case e.Compacted > 0:
		return "compact"
	case e.Cleared > 0:
		return "clear"
	case e.Offloaded > 0:
		return "offload"
	case slices.Contains(e.Causes, CodeRestored):
		return "restore"
	}
	return ""
}

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
	Artifact string `json:"artifact,omitempty"` // name of what stood there, in lines; empty if none was kept
}

// Messages says which messages of the request the edit is about. They count from 1, as in the texts for the model.
func (e Edit) Messages() string {
	if e.Last > e.Item {
		return fmt.Sprintf("messages %d–%d", e.Item+1, e.Last+1)
	}
	return fmt.Sprintf("message %d", e.Item+1)
}

// Edits are all edits of a request.
type Edits struct {
	Turn    int    `json:"turn"`
	List    []Edit `json:"edits"`
	Missing string `json:"missing,omitempty"` // why there are none to read: expired, or the store was lost
}
