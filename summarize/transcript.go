package summarize

import (
	"fmt"
	"math"
	"strings"

	"epitome/summarize/prose"
)

// A transcript that is too long is cut in steps: first the texts, then the oldest groups.
const (
	maxToolText = 2_000 // characters of a call or result
	minText     = 200   // characters that are never cut
	textSteps   = 5     // each leaves two thirds of a text
	groupSteps  = 4     // each leaves out one more fifth of the entries
	lastStep    = textSteps + groupSteps
)

// transcript returns the span of a question as text. Each entry begins with a line that has the tag.
func transcript(q *prose.Question, tag string, step int) string {
	var b strings.Builder
	first := 0
	if step > textSteps {
		first = len(q.Transcript) * (step - textSteps) / (groupSteps + 1)
		for first > 0 && q.Transcript[first-1].Group == q.Transcript[first].Group {
			first--
		}
	}
	if first > 0 {
		fmt.Fprintf(&b, "[%s %d older entries are left out]\n", tag, first)
	}
	for _, e := range q.Transcript[first:] {
		limit := math.MaxInt
		if e.Kind == prose.Call || e.Kind == prose.Result {
			limit = maxToolText
		}
		head := strings.Join(strings.Fields(fmt.Sprintf("%s %s, %s", e.Kind, e.Tool, e.State)), " ") // one line
		head = strings.TrimRight(strings.ToValidUTF8(head[:min(len(head), minText)], ""), ", ")
		fmt.Fprintf(&b, "[%s %s]\n%s\n", tag, head, cutMiddle(e.Text, limit, min(step, textSteps)))
	}
	return b.String()
}

// cutMiddle cuts a text to a limit in characters, and to less at each step. Head and tail stay.
func cutMiddle(text string, limit, step int) string {
	runes := []rune(text)
	limit = min(limit, len(runes))
	for range step {
		limit = limit * 2 / 3
	}
	if limit = max(limit, minText); len(runes) <= limit {
		return text
	}
	tail := limit / 2
	return fmt.Sprintf("%s\n[… %d characters left out …]\n%s",
		string(runes[:limit-tail]), len(runes)-limit, string(runes[len(runes)-tail:]))
}
