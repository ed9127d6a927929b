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

// number has groups for the digits, for k or m, and for what makes it a number of something else.
var number = regexp.MustCompile(`(?:^|[^a-z0-9.$@#-])(-?\d{1,3}(?:,\d{3})+|-?\d+)(?:(k|m)\b)?([a-z0-9%]|[.-]\d|` +
	`[ -](?:[kmgt]?i?b|bytes?|char\w*|px|pixels?|m?s|(?:sec|min)\w*|hours?|pages?|images?|files?|requests?|usd)\b)?`)

// What stands around a number, which is "#" here.
var (
	limitAround = regexp.MustCompile(`(?:\b(?:max\w*|largest|limit\w*|ceiling|cap|capacity|windows?|ctx|range|` +
		`at most|up to|only|context (?:length|size|limit|of|is)|allow\w*|accept\w*|support\w*|exceed\w*|surpass\w*|` +
		`beyond|above|over|under|below|within|fit in|full|than)\b|[<>]|超过|上限|最大).*#(?:[^ ]| [^+]|$)` +
		`|#[ -]?(?:tokens?)? ?(?:(?:input|prompt|context|model|token) )?` +
		`(?:max(?:imum)?|limit|ceiling|cap|windows?|context|allowed|available|supported)\b`)
	outputAround = regexp.MustCompile(
		`(?:\b(?:maxout|completion|outputs?)(?: is too large)?[^a-z]*(?:of |is |to )?\(?|\+ )#` +
			`|#[ -]?(?:tokens?)?(?: of| in| for| as)?(?: the| your)? ?(?:maxout|completions?|outputs?|response|new)\b`)
)

// readSizes reads the numbers of a text. A request that is too long is larger than what is allowed: of several numbers
// beside a word for a limit, the smallest is the limit, and of the others the largest is the request, or its input.
func readSizes(text string) (n sizes) {
	const around = 64 // bytes behind a number that may say what it is
	var others, limits []int
	from := 0
	for _, at := range number.FindAllStringSubmatchIndex(text, -1) {
		left, right := text[from:at[2]], text[at[1]:min(at[1]+around, len(text))]
		value, _ := strconv.Atoi(strings.ReplaceAll(text[at[2]:at[3]], ",", ""))
		if at[4] >= 0 {
			value *= map[byte]int{'k': 1_000, 'm': 1_000_000}[text[at[4]]]
		}
		n.largest = max(n.largest, value)
		if value <= 1 || value > 100*Most { // as in [1, 6000]
			continue
		}
		from = at[1]
		switch place := left[strings.LastIndexByte(left, '|')+1:] + "#" + right; {
		case at[6] >= 0:
		case outputAround.MatchString(place):
			n.output = max(n.output, value)
		case limitAround.MatchString(place):
			limits = append(limits, value)
		default:
			others = append(others, value)
		}
	}
	if len(limits) == 0 {
		return n
	}
	n.limit = slices.Min(limits)
	isLimit := func(value int) bool { return value == n.limit }
	others = slices.DeleteFunc(append(others, limits...), isLimit)
	n.input = slices.Max(append(others, 0))
	n.whole = n.input + n.output
	if n.input > n.limit && len(others) > 1 { // its parts are told, too
		n.input, n.whole = max(n.input-n.output, 0), n.input
	}
	return n
}

// room is how much output fits behind the input; 0 or less if none does, or if that cannot be known.
func (n sizes) room(text string, s Sent) int {
	const margin = 64
	counted := s.Tokens + s.Tokens/20 // providers may count more
	limit, in := n.limit, n.input
	switch {
	case limit == 0 || in == 0: // our own count decides
		limit, in = cmp.Or(n.limit, s.Window), counted
		if !says(text, "output") || s.Tokens+s.MaxOutput <= limit {
			return 0
		}
	case strings.Contains(text, "at least"), strings.Contains(text, " about "):
		in = max(in+in/64, counted)
	}
	room := limit - in - margin
	if n.output == 0 && 0 < s.MaxOutput && s.MaxOutput <= room {
		return 0 // what was asked for fits: something else is the matter
	}
	return room
}
