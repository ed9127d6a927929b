package conversation

import (
	"strconv"

	"epitome/rewrite/jsonspan"
)

// CapOutput lowers the caps on the output that a body has under some keys to so many tokens. It returns false and the
// body as it is if no cap is higher.
func CapOutput(body []byte, tokens int, keys ...string) (capped []byte, ok bool) {
	o, err := jsonspan.WholeObject(body)
	if err != nil || tokens <= 0 {
		return body, false
	}
	var edits []jsonspan.Edit
	for _, key := range keys {
		if n, err := strconv.Atoi(o.Raw(key)); err == nil && n > tokens {
			edits = append(edits, jsonspan.Edit{Span: o.Value(key), With: strconv.AppendInt(nil, int64(tokens), 10)})
		}
	}
	capped, err = jsonspan.Splice(body, edits)
	return capped, err == nil && len(edits) > 0
}
