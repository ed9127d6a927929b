package demo

import (
	"slices"
	"strconv"
	"strings"

	"epitome/internal/lazyregexp"
)

// This file finds out what became of a conversation: it compares what came to the model with what the agent has sent,
// and with what came before.

// The texts that epitome leaves in place of what it takes out.
var (
	anyStub     = lazyregexp.New(`(?m)^\[epitome: `)
	clearedStub = lazyregexp.New(`^\[epitome: [^\n]* cleared\. `)
	summaryText = lazyregexp.New(`(?ms)^\[epitome: summary ([0-9a-f]+) of (\d+) earlier messages.*^\[end of summary .*?\]`)
)

// Kinds of a Step.
const (
	Offload = "offload"
	Clear   = "clear"
	Compact = "compact"
	Unknown = "unknown" // what had been sent has changed, and nothing says why: a mistake
)

// Step is one thing that was done to a request and not to the one before. Its tokens are of what it was done to; those
// of a compaction are of the request before and of this one.
type Step struct {
	Kind    string `json:"kind"`
	Count   int    `json:"count"` // results; of a compaction, messages that the summary stands for
	Before  int    `json:"before"`
	After   int    `json:"after"`
	How     string `json:"how,omitempty"`     // in which way a result was shortened
	Summary int    `json:"summary,omitempty"` // tokens of the new summary
}

// compareArrivals notes which results were shortened when the model got them for the first time.
func (s *session) compareArrivals(t *Turn, h *hearing) {
	for _, a := range s.added.results {
		i := slices.IndexFunc(h.messages, func(m message) bool { return m.Answers == a.id })
		if i >= 0 && h.messages[i].Content != a.content {
			got := string(h.messages[i].Content)
			step := Step{Kind: Offload, Count: 1, Before: a.tokens, After: h.sizes[i], How: howOf(got)}
			t.Steps = append(t.Steps, step)
			if best := s.report.Excerpt; step.How == "excerpt" && (best == nil || step.After < best.After) {
				s.report.Excerpt = &Excerpt{t.Turn, step.Before, step.After, got}
			}
		}
	}
}

// howOf tells what became of a result, by what stands in its place.
func howOf(content string) string {
	switch {
	case strings.Contains(content, "[epitome: final screen of "):
		return "screen"
	case anyStub().MatchString(content):
		return "excerpt"
	}
	return "unknown"
}

// compare looks at what changed since the request before, and notes the steps.
func (s *session) compare(t *Turn, h *hearing) {
	if t.Extends = h.same == len(s.last.heard.messages); t.Extends {
		s.report.Extended++
		return
	}
	_, before, _ := summaryIn(s.last.heard)
	if text, id, n := summaryIn(h); id != before {
		t.Steps = append(t.Steps, Step{Kind: Compact, Count: n, Before: s.last.heard.tokens, After: h.tokens,
			Summary: s.agent.ruler.text(text)})
		s.report.Compactions++
	}
	if c := s.clearedResults(h); c.Count > 0 {
		t.Steps = append(t.Steps, c)
	}
	if len(t.Steps) == 0 {
		t.Steps = append(t.Steps, Step{Kind: Unknown})
		s.report.Unexplained++
	}
}

// clearedResults returns the results that were sent whole or shortened before, and of which only a line is left.
func (s *session) clearedResults(h *hearing) Step {
	was := map[string]int{}
	for i, m := range s.last.heard.messages {
		if m.Role == "tool" && !clearedStub().MatchString(string(m.Content)) {
			was[m.Answers] = s.last.heard.sizes[i]
		}
	}
	c := Step{Kind: Clear}
	for i, m := range h.messages {
		if size, there := was[m.Answers]; there && clearedStub().MatchString(string(m.Content)) {
			c.Count, c.Before, c.After = c.Count+1, c.Before+size, c.After+h.sizes[i]
		}
	}
	return c
}

// summaryIn returns the summary that a request holds: its text, its name and how many messages it stands for.
func summaryIn(h *hearing) (text, id string, messages int) {
	for _, m := range h.messages {
		if found := summaryText().FindStringSubmatch(string(m.Content)); found != nil {
			messages, _ = strconv.Atoi(found[2])
			return found[0], found[1], messages
		}
	}
	return "", "", 0
}
