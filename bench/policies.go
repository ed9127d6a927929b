package bench

import "epitome/rewrite"

// The baselines' names in the report.
const (
	rawName      = "send everything"
	truncateName = "truncate oldest to 50 %"
)

// baselines are what every policy has to be compared with.
func baselines() []Policy {
	return []Policy{
		{Name: rawName, Open: func(int) (Shaping, error) { return Shaping{Shaper: identity{}}, nil }},
		{Name: truncateName, Open: func(window int) (Shaping, error) { return Shaping{Shaper: &truncation{window: window}}, nil }},
	}
}

type identity struct{}

func (identity) Shape(body []byte) (Shaped, error) { return Shaped{Body: body}, nil }

// The lines of truncation, as shares of the window.
const (
	truncateAt = 0.95
	truncateTo = 0.5
)

// truncation drops the oldest groups behind the first user's message when a request comes near the window. System
// messages stay. It keeps its place in one conversation whose requests extend one another.
type truncation struct {
	window int
	tokens []int // of each message so far
	total  int   // of what is not dropped, with what stands beside the messages
	head   int   // messages that stay; settled with the first cut
	cut    int   // from the head to here is dropped; 0: nothing is
}

// Shape drops what lies before the cut.
func (t *truncation) Shape(body []byte) (Shaped, error) {
	r, err := rewrite.ReadChat(body)
	if err != nil {
		return Shaped{Body: body}, err
	}
	if len(t.tokens) == 0 {
		t.total = fixedTokens(r.Tools.Of(body))
	}
	for _, it := range r.Items[min(len(t.tokens), len(r.Items)):] {
		n := readMessage(r, it).tokens
		t.tokens = append(t.tokens, n)
		t.total += n
	}
	was := t.cut
	if float64(t.total) > truncateAt*float64(t.window) {
		t.drop(r.Items)
	}
	if t.cut == 0 {
		return Shaped{Body: body}, nil
	}
	sent, err := rewrite.Splice(body, t.edits(r.Items))
	return Shaped{Body: sent, Decided: t.cut != was}, err
}

// drop moves the cut on, group by group, until the rest is small enough.
func (t *truncation) drop(items []rewrite.Item) {
	if t.cut == 0 {
		t.head = headEnd(items)
	}
	cut := max(t.cut, t.head)
	for cut < len(items) && float64(t.total) > truncateTo*float64(t.window) {
		first := cut
		for cut++; cut < len(items) && items[cut].Role == rewrite.Tool; {
			cut++
		}
		for i := first; i < cut; i++ {
			if items[i].Role != rewrite.System {
				t.total -= t.tokens[i]
			}
		}
	}
	t.cut = cut
}

// edits takes out what is dropped, with the commas before it.
func (t *truncation) edits(items []rewrite.Item) []rewrite.Edit {
	var edits []rewrite.Edit
	for i := t.head; i < t.cut; i++ {
		if items[i].Role == rewrite.System {
			continue
		}
		gone := rewrite.Span{Start: items[i-1].End, End: items[i].End}
		edits = append(edits, rewrite.Edit{Span: gone})
	}
	return edits
}

// headEnd is the number of messages through the first user's, if that is among the first six; else the first alone.
func headEnd(items []rewrite.Item) int {
	for i := range items[:min(6, len(items))] {
		if items[i].Role == rewrite.User {
			return i + 1
		}
	}
	return 1
}
