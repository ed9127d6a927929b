package responses

import (
	"epitome/rewrite/span"
)

// Claims reports whether a body has what only requests of this dialect have: an input that is a list of items, or a
// text beside a setting that no other API has.
func Claims(body []byte) bool {
	var input span.Span
	own, other := false, false
	err := span.Document(body, func(key []byte, i int) (int, error) {
		end, err := span.EndOfValue(body, i)
		switch string(key) {
		case "input":
			input = span.Span{Start: i, End: end}
		case "instructions", outputCap, "previous_response_id", "context_management", "prompt_cache_options", "text":
			own = true
		case "messages":
			other = true
		}
		return end, err
	})
	if err != nil || other || input.Empty() {
		return false
	}
	switch body[input.Start] {
	case '"':
		return own
	case '[':
	default:
		return false
	}
	first := span.SkipSpace(body, input.Start+1)
	return own || body[first] == '{' // others have texts in theirs
}
