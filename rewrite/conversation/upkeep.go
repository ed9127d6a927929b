package conversation

import (
	"bytes"

	"epitome/rewrite/span"
)

// Upkeep says what others see to of a conversation: then less of it is decided here.
type Upkeep struct {
	By     Keeper
	Before span.Span // what names the messages that lie with the provider; empty if all are in the body
	Fixed  int       // items behind the head that never change, nor go: a provider's own compaction stands last
	Live   bool      // all the same they count: they are what that has left
	Held   int       // items behind the head that do not go
	Drops  bool      // the provider leaves out what its model does not hold, and refuses nothing for its size

	Preface int  // items behind those of Fixed in which the client speaks in the user's place, before the user does
	GoesOn  bool // the model may say more in its last item, behind which nobody spoke: nothing is decided of it yet
}

// Keeper is who else sees to what a conversation keeps.
type Keeper uint8

// Who sees to it.
const (
	NobodyElse        Keeper = iota
	ClientSummarises         // the request asks for the client's own summary of all before it
	ProviderClears           // the provider takes out what is old, or sums it up, by rules of the client
	ProviderRemembers        // earlier messages lie with the provider, and are not in the body
)

// signs are how the texts begin with which clients ask a model to sum their conversation up. A sign that is missing
// here costs little: the client's request is compacted as any other.
func signs() [5]string {
	return [...]string{
		"CRITICAL: Respond with TEXT ONLY",                                     // Claude Code
		"Your task is to create a detailed summary of the conversation so far", // its older versions, and its kin
		"Please create a detailed summary of the conversation so far",          // Copilot CLI
		"Provide a detailed prompt for continuing our conversation above",      // opencode
		"You are performing a CONTEXT CHECKPOINT COMPACTION",                   // Codex
	}
}

// AsksForSummary reports whether a text of the user's, as a JSON string, is a client's that has its conversation summed
// up.
func AsksForSummary(quoted []byte) bool {
	for _, sign := range signs() {
		if bytes.HasPrefix(quoted, []byte(`"`+sign)) {
			return true
		}
	}
	return false
}

// Dead is how many items behind the head the provider passes over: those before its own compaction.
func Dead(r *Request) int {
	if r.Upkeep.Live {
		return 0
	}
	return max(r.Upkeep.Fixed-1, 0)
}
