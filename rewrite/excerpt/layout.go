package excerpt

import (
	"bytes"
	"encoding/json"

	"epitome/rewrite/jsonspan"
)

// LaidOut returns JSON that stands in long lines with each value on a line of its own; false for any other text.
func LaidOut(text string) (lines string, ok bool) {
	const longLine, most, deepest = 500, 8 << 20, 16 // the first two are bytes
	var b bytes.Buffer
	isLong := len(text) >= longLine*CountLines(text) && len(text) <= most
	if !isLong || !jsonspan.IsFlat([]byte(text), deepest) || json.Indent(&b, []byte(text), "", " ") != nil {
		return "", false
	}
	return b.String(), true
}
