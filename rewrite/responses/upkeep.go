package responses

import (
	"bytes"
	"strings"

	"epitome/rewrite/conversation"
	"epitome/rewrite/span"
)

// This file reads who else sees to what a conversation keeps.

// readUpkeep takes a setting that says so. The strongest counts.
func readUpkeep(r *conversation.Request, key []byte, v span.Span) {
	if span.UnlessNull(r.Body, v).Empty() {
		return
	}
	switch string(key) {
	case "previous_response_id", "conversation", "prompt":
		if r.Upkeep.Before.Empty() || string(key) != "prompt" { // what a prompt holds comes after what was said before
			r.Upkeep.Before = v
		}
		if r.Upkeep.By != conversation.ClientSummarises {
			r.Upkeep.By = conversation.ProviderRemembers
		}
	case "context_management":
		if r.Upkeep.By == conversation.NobodyElse && span.HasElements(r.Body, v) {
			r.Upkeep.By = conversation.ProviderClears
		}
	case "truncation":
		r.Upkeep.Drops = string(v.Of(r.Body)) == `"auto"`
	case "client_metadata":
		if bytes.Contains(v.Of(r.Body), []byte(`\"request_kind\":\"compaction\"`)) { // Codex
			r.Upkeep.By = conversation.ClientSummarises
		}
	}
}

// noteReferences notes how far entries reach that lie with the provider: what they are nobody knows here, so all up to
// them stays, with what may belong to them.
func noteReferences(r *conversation.Request) {
	held := 0
	for i := r.Head; i < len(r.Items); i++ {
		if !isOdd(&r.Items[i]) {
			continue
		}
		if e, err := readEntry(r.Body, r.Items[i].Start); err == nil && e.kind == referenceEntry {
			held = i + 1
		}
	}
	for ; held > 0 && held < len(r.Items); held++ {
		if it := &r.Items[held]; it.Begins || it.Role == conversation.User || it.Role == conversation.System {
			break
		}
	}
	r.Upkeep.Held = max(0, held-r.Head)
}

// noteSummary notes that the conversation is to be summed up: the last words of the user's have that done, or an entry
// that says nothing else.
func noteSummary(r *conversation.Request) {
	last := len(r.Items) - 1
	for last >= r.Head && r.Items[last].Role == conversation.System {
		last--
	}
	if last < r.Head {
		return
	}
	switch it := &r.Items[last]; {
	case isOdd(it):
		if e, err := readEntry(r.Body, it.Start); err == nil && e.kind == triggerEntry {
			r.Upkeep.By = conversation.ClientSummarises
		}
	case it.Role == conversation.User:
		texts := r.TextSpans(it)
		if n := len(texts); n > 0 && conversation.AsksForSummary(texts[n-1].Of(r.Body)) {
			r.Upkeep.By = conversation.ClientSummarises
		}
	}
}

// notePreface counts the messages before the first words of the user's in which the client tells of itself: where it
// runs, and what a file of rules says.
func notePreface(r *conversation.Request) {
	first := r.Head + r.Upkeep.Fixed
	for i := first; i+1 < len(r.Items) && r.Items[i+1].Role == conversation.User && isPreface(r, &r.Items[i]); i++ {
		r.Upkeep.Preface = i + 1 - first
	}
}

// isPreface reports whether the client alone speaks in an item in the user's place.
func isPreface(r *conversation.Request, it *conversation.Item) bool {
	if it.Role != conversation.User {
		return false
	}
	if !conversation.Speaks(r, it) {
		return true
	}
	texts := r.TextSpans(it)
	return len(texts) == 1 && strings.HasPrefix(string(span.TextOf(texts[0].Of(r.Body))), "# AGENTS.md instructions") // Codex
}
