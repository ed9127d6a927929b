package figures

import (
	"fmt"
	"strconv"
	"strings"
)

// Kind is the figures of the sessions of one kind: that which their files' names begin with, as in KIND-NAME.json,
// or else what their tools are for; or of one conversation, under its name.
type Kind struct {
	Kind          string `json:"kind"`
	IsOne         bool   `json:"-"` // the figures are of one conversation, and Kind is its name
	Conversations int    `json:"conversations"`
	Requests      int    `json:"requests"`
	Rows          []Row  `json:"rows"`
}

// title stands over the tables; it has a place for the window.
func (k Kind) title() string {
	if k.IsOne {
		return fmt.Sprintf("Conversation %s, requests: %d, window of %%d tokens", escapedPercent(k.Kind), k.Requests)
	}
	return fmt.Sprintf("Kind %s, conversations: %d, requests: %d, window of %%d tokens", escapedPercent(k.Kind),
		k.Conversations, k.Requests)
}

// escapedPercent quotes a name for a text with places: file names may have the sign of one.
func escapedPercent(name string) string { return strings.ReplaceAll(strconv.Quote(name), "%", "%%") }
