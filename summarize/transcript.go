package summarize

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"epitome/prose"
)

// How a transcript is cut down: first the longer texts, step by step, then the oldest groups.
const (
	toolText  = 2_000 // characters of a call or result
	shortText = 200   // characters that are never cut
	shrinkBy  = 0.8   // of a text, at each step
	cutSteps  = 5
	lastStep  = cutSteps + 4
)

// shareAt returns the share of the transcript that a step leaves, once groups are dropped.
func shareAt(step int) float64 {
	return [...]float64{0.75, 0.5, 0.25, 0.125}[step-cutSteps-1]
}

// transcript tells the span as text. Each entry begins with a line that has the tag. step says how much is left out.
func transcript(entries []prose.Entry, tag string, step int) string {
	var b strings.Builder
	told := make([]string, len(entries))
	total := 0
	for i := range entries {
		told[i] = tell(&entries[i], tag, min(step, cutSteps))
		total += len(told[i])
	}
	from := 0
	if step > cutSteps {
		from = newest(entries, told, int(shareAt(step)*float64(total)))
	}
	if groups := groupsIn(entries[:from]); groups > 0 {
		fmt.Fprintf(&b, "[%s %d older groups of messages are left out]\n", tag, groups)
	}
	for _, text := range told[from:] {
		b.WriteString(text)
	}
	return b.String()
}

// newest returns where the newest groups that have room begin. The last group always has.
func newest(entries []prose.Entry, told []string, room int) int {
	from, have := len(entries), 0
	for i := len(entries) - 1; i >= 0; i-- {
		have += len(told[i])
		last := entries[i].Group == entries[len(entries)-1].Group
		if have > room && !last {
			break
		}
		if i == 0 || entries[i-1].Group != entries[i].Group {
			from = i
		}
	}
	return from
}

func groupsIn(entries []prose.Entry) (n int) {
	for i := range entries {
		if i == 0 || entries[i-1].Group != entries[i].Group {
			n++
		}
	}
	return n
}

// tell returns one entry as text.
func tell(e *prose.Entry, tag string, step int) string {
	most := math.MaxInt
	if e.Kind == prose.Call || e.Kind == prose.Result {
		most = toolText
	}
	return tellWithin(e, tag, most, step)
}

// tellWithin returns one entry as text, cut to most characters and by a step.
func tellWithin(e *prose.Entry, tag string, most, step int) string {
	head := string(e.Kind)
	if e.Tool != "" {
		head += " " + line(e.Tool)
	}
	if e.State != "" {
		head += ", " + line(e.State)
	}
	return fmt.Sprintf("[%s %s]\n%s\n", tag, head, shorten(e.Text, most, step))
}

// line returns a name or a state, on one line and not long.
func line(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > shortText {
		s = strings.ToValidUTF8(s[:shortText], "")
	}
	return s
}

// shorten cuts a text to most characters, and to a share of that at each step. Its head and tail stay.
func shorten(text string, most, step int) string {
	if len(text) <= shortText {
		return text
	}
	have := utf8.RuneCountInString(text)
	keep := max(int(float64(min(have, most))*math.Pow(shrinkBy, float64(step))), shortText)
	if have <= keep {
		return text
	}
	head, tail := keep-keep/2, keep/2
	return fmt.Sprintf("%s\n[… %d characters left out …]\n%s",
		text[:after(text, head)], have-keep, text[before(text, tail):])
}

// after returns where the text's n-th character ends.
func after(text string, n int) (i int) {
	for ; n > 0; n-- {
		_, size := utf8.DecodeRuneInString(text[i:])
		i += size
	}
	return i
}

// before returns where the last n characters begin.
func before(text string, n int) int {
	i := len(text)
	for ; n > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(text[:i])
		i -= size
	}
	return i
}
