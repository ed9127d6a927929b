package replay

import (
	"bytes"
	"index/suffixarray"
	"slices"

	"epitome/bench/policy"
	"epitome/rewrite/conversation"
)

// What an agent's call names: at most so many names and so many lines are looked for per answer.
const (
	mostNames = 60
	mostLines = 40
)

// recentGroups is how many groups back a need counts as recent.
const recentGroups = 5

// need is something that an answer's calls name and that the conversation held before.
type need struct {
	mention *mention
	line    bool // a line of text, not a name
	age     int  // how many groups before it was last seen
}

// mention is a name or line with the messages that hold it, by their place among the client's, in order.
type mention struct {
	policy.Name
	at []int
}

// needsOf returns, for each boundary of a conversation, what the answer there needs of what was said before. No answer
// to the last request is known.
func needsOf(c *recording) [][]need {
	needs := make([][]need, len(c.bounds))
	ix := newIndex(c.messages)
	groups := make([]int, len(c.messages))
	for i, m := range c.messages {
		if i > 0 {
			groups[i] = groups[i-1]
		}
		if m.role == conversation.Assistant {
			groups[i]++
		}
	}
	for b, k := range c.bounds[:len(c.bounds)-1] {
		add := func(found []policy.Name, line bool) {
			for _, n := range found {
				m := ix.mention(n, line)
				if before, _ := slices.BinarySearch(m.at, k); before > 0 {
					newest := m.at[before-1]
					needs[b] = append(needs[b], need{m, line, groups[k] - groups[newest]})
				}
			}
		}
		add(policy.Find(c.messages[k].Args, mostNames), false)
		add(policy.LongLines(c.messages[k].Args, mostLines), true)
	}
	return needs
}

// index finds texts in the messages of a conversation. Its memory is five times that of the conversation.
type index struct {
	text   []byte
	starts []int // of each message in text
	array  *suffixarray.Index
	known  map[string]*[2]*mention // by text, of names and of lines
}

func newIndex(messages []*message) *index {
	ix := &index{known: make(map[string]*[2]*mention)}
	var all bytes.Buffer
	for _, m := range messages {
		ix.starts = append(ix.starts, all.Len())
		all.WriteString(m.Text + "\x00" + m.Args + "\x00")
	}
	ix.text = all.Bytes()
	ix.array = suffixarray.New(ix.text)
	return ix
}

// mention looks a name or line up. Whether it needs word borders is settled by its first time.
func (ix *index) mention(n policy.Name, line bool) *mention {
	both := ix.known[n.Text]
	if both == nil {
		both = new([2]*mention)
		ix.known[n.Text] = both
	}
	m := &both[0]
	if line {
		m = &both[1]
	}
	if *m == nil {
		*m = &mention{n, ix.where(n)}
	}
	return *m
}

func (ix *index) where(n policy.Name) []int {
	var at []int
	for _, offset := range ix.array.Lookup([]byte(n.Text), -1) {
		if !n.Word || policy.Bordered(ix.text, offset, offset+len(n.Text)) {
			i, exact := slices.BinarySearch(ix.starts, offset)
			if !exact {
				i--
			}
			at = append(at, i)
		}
	}
	slices.Sort(at)
	return slices.Compact(at)
}
