// Package shorten makes a shorter text of a longer one: excerpts, final screens, names, and references to lines that
// stand elsewhere.
//
// It promises that excerpts are whole lines in their order with true counts, that what it calls the same is the same,
// and that its time grows with the text and no faster.
package shorten

import (
	"strings"
)

// widestToken is about the most bytes that one token covers: vocabularies hold runs of 128 spaces. What is longer than
// its budget of such tokens is not even counted.
const widestToken = 128

// Excerpt is the head and tail of a text, in whole lines. head + left + tail is the text.
type Excerpt struct {
	Head, Tail    string // each line with its end
	Omitted       string // what was left out; at least one line
	From, To      int    // numbers of the first and last line left out; the text's first line is 1
	OmittedTokens int
}

// ExcerptOf keeps about keep tokens of text: headShare of it (0 to 1) from its beginning, the rest from its end. A
// line that does not fit ends its side, and what one side does not use goes to the other. ok is false if nothing would
// be left out. Beside what is kept, and left once, only lines of about keep tokens are counted.
func ExcerptOf(text string, keep int, headShare float64, count func(string) int) (e Excerpt, ok bool) {
	c := cutter{middle: text, count: count}
	first := min(max(int(float64(keep)*headShare), 0), keep)
	budget := keep - first + c.fromHead(first)
	budget = c.fromTail(budget)
	c.fromHead(budget)
	if c.middle == "" {
		return Excerpt{}, false
	}
	head, tail := len(text)-len(c.middle)-c.tail, len(text)-c.tail
	e = Excerpt{Head: text[:head], Omitted: text[head:tail], Tail: text[tail:]}
	e.From = CountLines(e.Head) + 1
	e.To = e.From + CountLines(e.Omitted) - 1
	e.OmittedTokens = count(e.Omitted)
	return e, true
}

// cutter takes lines off both sides of a text.
type cutter struct {
	middle string // the middle that is not taken
	tail   int    // bytes taken from the end
	count  func(string) int
}

// fromHead takes lines off the beginning as long as they fit, and returns what is left of the budget.
func (c *cutter) fromHead(budget int) int {
	for c.middle != "" {
		end := strings.IndexByte(c.middle, '\n') + 1
		if end == 0 {
			end = len(c.middle)
		}
		n, ok := c.fits(c.middle[:end], budget)
		if !ok {
			break
		}
		budget -= n
		c.middle = c.middle[end:]
	}
	return budget
}

// fromTail takes lines off the end as long as they fit, and returns what is left of the budget.
func (c *cutter) fromTail(budget int) int {
	for c.middle != "" {
		start := strings.LastIndexByte(c.middle[:len(c.middle)-1], '\n') + 1
		n, ok := c.fits(c.middle[start:], budget)
		if !ok {
			break
		}
		budget -= n
		c.tail += len(c.middle) - start
		c.middle = c.middle[:start]
	}
	return budget
}

// fits counts a line, unless it is certain not to fit.
func (c *cutter) fits(line string, budget int) (n int, ok bool) {
	if len(line)/widestToken > budget {
		return 0, false
	}
	n = c.count(line)
	return n, n <= budget
}
