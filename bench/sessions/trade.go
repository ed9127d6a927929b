package sessions

import (
	"slices"
	"strings"

	"epitome/rewrite/conversation"
)

// trades are kinds of session by what the names of their tools hold; of two that fit, the first.
var trades = []struct {
	kind  string
	words []string
}{
	{"browsing", []string{"browser", "click", "navigate", "screenshot", "goto"}},
	{"coding", []string{"bash", "shell", "exec", "edit", "patch", "write", "read", "grep", "glob", "terminal"}},
	{"research", []string{"search", "visit", "fetch", "crawl"}},
}

// Trade is what most of the calls of a conversation are for.
func Trade(items []conversation.Item) string {
	counts := make(map[string]int)
	calls := 0
	for _, it := range items {
		for _, call := range it.Calls {
			calls++
			counts[tradeOf(strings.ToLower(call.Name))]++
		}
	}
	if calls == 0 {
		return "talk"
	}
	kind := ""
	for _, trade := range trades {
		if counts[trade.kind] > counts[kind] {
			kind = trade.kind
		}
	}
	if kind == "" {
		return "other tools"
	}
	return kind
}

// tradeOf returns the trade of a tool; it is empty if none is known.
func tradeOf(tool string) string {
	for _, trade := range trades {
		if slices.ContainsFunc(trade.words, func(word string) bool { return strings.Contains(tool, word) }) {
			return trade.kind
		}
	}
	return ""
}
