package messages

import (
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
	case "compaction":
		r.Upkeep.By = conversation.ClientSummarises
	case "thread":
		r.Upkeep.Before = v
		if r.Upkeep.By != conversation.ClientSummarises {
			r.Upkeep.By = conversation.ProviderRemembers
		}
	case "context_management":
		if r.Upkeep.By == conversation.NobodyElse && clearsThere(r.Body, v) {
			r.Upkeep.By = conversation.ProviderClears
		}
	}
}

// clearsThere reports whether the provider is to edit more than thoughts. Those it keeps, or takes out as it always
// did.
func clearsThere(body []byte, v span.Span) (clears bool) {
	o, err := span.ObjectAt(body, v.Start)
	if err != nil {
		return false
	}
	edits := o.Value("edits")
	if edits.Empty() || body[edits.Start] != '[' {
		return false
	}
	_, err = span.Elements(body, edits.Start, func(i int) (int, error) {
		end, err := span.EndOfValue(body, i)
		if err != nil {
			return 0, err
		}
		edit, err := span.ObjectAt(body, i)
		if err != nil {
			return 0, err
		}
		kind, err := span.ShortText(edit.Value("type").Of(body))
		clears = clears || !strings.HasPrefix(kind, "clear_thinking")
		return end, err
	})
	return clears && err == nil
}

// noteSummary notes that the last text of the user's last words has the conversation summed up.
func noteSummary(r *conversation.Request) {
	last := len(r.Items) - 1
	for last >= 0 && r.Items[last].Role == conversation.System {
		last--
	}
	if last < 0 || r.Items[last].Role != conversation.User {
		return
	}
	texts := r.TextSpans(&r.Items[last])
	if n := len(texts); n > 0 && conversation.AsksForSummary(texts[n-1].Of(r.Body)) {
		r.Upkeep.By = conversation.ClientSummarises
	}
}
