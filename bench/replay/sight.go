package replay

import (
	"strings"

	"epitome/bench/report"
	"epitome/rewrite/conversation"
)

// result is a tool's result of the client's.
type result struct {
	reading bool // it is what a file, a listing or a search holds
	looked  bool // for lines that tell; most results are never changed when they come, and need no look
	telling []string
}

// tellingLines returns the distinct lines of the result that tell what went wrong, as lines are compared.
func (r *result) tellingLines(text string) []string {
	if !r.looked {
		r.looked, r.telling = true, tellingLines(text)
	}
	return r.telling
}

// resultsOf returns the results of a conversation that differ from all before them.
func resultsOf(c *recording) map[int]*result {
	calls := make(map[string]conversation.Call)
	results := make(map[int]*result)
	for i, it := range c.request.Items {
		for _, call := range it.Calls {
			calls[call.ID] = call
		}
		m := c.messages[i]
		if m.role != conversation.Tool || m.origin != i {
			continue
		}
		call := calls[it.Answers]
		results[i] = &result{reading: isReading(call.Name, string(call.Arguments.Of(c.request.Body)))}
	}
	return results
}

// tellingLines returns the distinct lines of a text that tell what went wrong.
func tellingLines(text string) (lines []string) {
	seen := make(map[string]bool)
	for line := range strings.SplitSeq(text, "\n") {
		if line = compared(line); seen[line] || !tells(line) {
			continue
		}
		seen[line] = true
		lines = append(lines, line)
	}
	return lines
}

// sighted is what requests show of results in the request in which they come first; but for seen, of those that are
// changed there. Reads and searches are left out.
type sighted struct {
	seen    share // lines that tell what went wrong in all new results, those sent whole too
	telling share // lines that tell what went wrong
	first   share // results of which the first such line is shown; of as many
	needed  share // lines that hold a name which the next call needs and that stands nowhere else
}

func (s *sighted) join(x sighted) {
	s.seen.join(x.seen)
	s.telling.join(x.telling)
	s.first.join(x.first)
	s.needed.join(x.needed)
}

// sight counts what the request shows of the results that are new with it. One over the window shows nothing.
func (p *player) sight(bound int, now request) {
	start := 0
	if bound > 0 {
		start = p.recording.bounds[bound-1]
	}
	over := now.tokens > p.window
	for i := start; i < p.recording.bounds[bound]; i++ {
		r := p.recording.results[i]
		if r == nil || r.reading {
			continue
		}
		s, lines := &p.tally.sight, r.tellingLines(p.recording.messages[i].Text)
		if p.sentIn[i] == p.tally.requests {
			for range lines {
				s.seen.count(!over)
			}
			continue
		}
		for k, line := range lines {
			shown := !over && p.shows(line, now)
			s.seen.count(shown)
			s.telling.count(shown)
			if k == 0 {
				s.first.count(shown)
			}
		}
		for _, line := range p.recording.neededLines(bound, i) {
			s.needed.count(!over && p.shows(line, now))
		}
	}
}

// neededLines returns the distinct lines of message i that hold a name which the answer at a boundary needs and which
// no other message before it has.
func (c *recording) neededLines(bound, i int) (lines []string) {
	seen := make(map[string]bool)
	for _, n := range c.needs[bound] {
		if n.line || !c.isOnlyIn(n.mention, bound, i) {
			continue
		}
		for line := range c.messages[i].linesOf() {
			if !seen[line] && n.mention.In(line) {
				seen[line] = true
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// isOnlyIn reports whether of the messages before a boundary none but i, and such as are equal to it, holds the name.
func (c *recording) isOnlyIn(m *mention, bound, i int) bool {
	found := false
	for _, at := range m.at {
		if at >= c.bounds[bound] {
			break
		}
		if c.messages[at].origin != i {
			return false
		}
		found = true
	}
	return found
}

// percent returns a share of things that count alike; nil if there are none.
func (s share) percent() *float64 { return report.Ratio(100*float64(s.met), float64(s.of)) }

func (s *share) join(x share) {
	s.met += x.met
	s.of += x.of
}
