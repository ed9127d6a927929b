package window

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// sizes are what the numbers of a text say, in tokens; 0 is unknown.
type sizes struct {
	limit, input, output int
	whole                int // the request, with its output where that is counted
	largest              int // of all numbers, whatever they count
}

var (
	// number has groups for the digits, for k or m, and for what makes it a number of something else.
	number = regexp.MustCompile(`(?:^|[^a-z0-9.$@#-])(-?\d{1,3}(?:,\d{3})+|-?\d+)(?:(k|m)\b)?([a-z0-9%]|[.-]\d|` +
		`[ -](?:[kmgt]?i?b|bytes?|char\w*|px|pixels?|m?s|(?:sec|min)\w*|hours?|pages?|images?|files?|requests?|usd)\b)?`)
	limitBefore = regexp.MustCompile(`\b(?:max\w*|largest|limit\w*|ceiling|cap|capacity|windows?|ctx|range|at most|` +
		`up to|only|context (?:length|size|limit|of|is)|allow\w*|accept\w*|support\w*|exceed\w*|surpass\w*|` +
		`beyond|above|over|under|below|within|fit in|full|than)\b|[<>]|超过|上限|最大`)
	limitAfter = regexp.MustCompile(`^[ -]?(?:tokens?)? ?(?:(?:input|prompt|context|model|token) )?` +
		`(?:max(?:imum)?|limit|ceiling|cap|windows?|context|allowed|available|supported)\b`)
	outputBefore = regexp.MustCompile(`\b(?:maxout|completion|outputs?)(?: is too large)?[^a-z]*(?:of |is |to )?\(?$|\+ $`)
	outputAfter  = regexp.MustCompile(`^[ -]?(?:tokens?)?(?: of| in| for| as)?(?: the| your)? ?` +
		`(?:maxout|completions?|outputs?|response|new)\b`)
	inputAfter = regexp.MustCompile(`^ \+|^[ -]?(?:tokens?)?(?: of| in| from| for)?(?: the| your)?` +
		`(?: (?:text|tool|image|chat))? ?(?:inputs?|prompts?|messages?|functions?|tools?|history)\b`)
)

// readSizes reads the numbers of a text. A request that is too long is larger than what is allowed: of several numbers
// beside a word for a limit, the largest below another number is the limit.
func readSizes(text string) (n sizes) {
	var limits []int
	top, inputs, from := 0, 0, 0
	for all := number.FindAllStringSubmatchIndex(text, -1); len(all) > 0; all = all[1:] {
		at, next := all[0], len(text)
		if len(all) > 1 {
			next = all[1][2]
		}
		left, right := text[from:at[2]], text[at[1]:next]
		left = left[strings.LastIndexByte(left, '|')+1:]
		value, _ := strconv.Atoi(strings.ReplaceAll(text[at[2]:at[3]], ",", ""))
		if at[4] >= 0 {
			value *= map[byte]int{'k': 1_000, 'm': 1_000_000}[text[at[4]]]
		}
		n.largest = max(n.largest, value)
		if value <= 1 || value > 100*Most { // as in [1, 6000]
			continue
		}
		from = at[1]
		switch {
		case at[6] >= 0:
			continue
		case outputBefore.MatchString(left), outputAfter.MatchString(right):
			n.output = max(n.output, value)
			continue
		case limitAfter.MatchString(right), limitBefore.MatchString(left) && !strings.HasPrefix(right, " +"):
			limits = append(limits, value)
		case inputAfter.MatchString(right):
			inputs += value
			n.input = max(n.input, value)
		}
		top = max(top, value)
	}
	for _, value := range limits {
		if value < top {
			n.limit = max(n.limit, value)
		}
	}
	if n.limit == 0 && len(limits) > 0 {
		n.limit = slices.Min(limits)
	}
	if top > n.limit && n.limit > 0 {
		n.whole = top
	}
	if inputs == n.whole || inputs+n.output == n.whole { // else some parts are told twice
		n.input = inputs
	}
	n.input = cmp.Or(n.input, max(n.whole-n.output, 0))
	n.whole = max(n.whole, n.input+n.output)
	return n
}

// room is how much output fits behind the input; 0 or less if none does, or if that cannot be known.
func (n sizes) room(text string, s Sent) int {
	const margin = 64
	counted := s.Tokens + s.Tokens/20 // providers may count more
	if n.limit > 0 && n.input > 0 {
		in := n.input
		if strings.Contains(text, "at least") || strings.Contains(text, " about ") {
			in = max(in+in/64, counted)
		}
		room := n.limit - in - margin
		if n.output == 0 && 0 < s.MaxOutput && s.MaxOutput <= room {
			return 0 // what was asked for fits: something else is the matter
		}
		return room
	}
	limit := cmp.Or(n.limit, s.Window)
	if !outputWords.MatchString(text) || s.Tokens+s.MaxOutput <= limit {
		return 0
	}
	return limit - counted - margin
}
