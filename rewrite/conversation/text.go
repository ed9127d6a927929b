package conversation

import "epitome/rewrite/span"

// text is a text of the body that was read.
type text struct {
	at   span.Span
	says string
}

// largeText is from how many bytes on a text is kept for who reads it next: one result is read for what is shown of it,
// for its name, and for the shelf, and each reading would be another copy of it.
const largeText = 256 << 10

// TextIn returns the text of the JSON string at v. Of large ones the last is kept.
func TextIn(r *Request, v span.Span) (string, error) {
	if v.End-v.Start < largeText {
		return span.Unquote(v.Of(r.Body))
	}
	if r.found.text.at == v {
		return r.found.text.says, nil
	}
	says, err := span.Unquote(v.Of(r.Body))
	if err == nil {
		r.found.text = text{v, says}
	}
	return says, err
}

// ContentOf is what the artifact of the value at v holds. It is not to be changed.
func ContentOf(r *Request, v span.Span) []byte {
	raw := v.Of(r.Body)
	if len(raw) > 0 && raw[0] == '"' {
		if says, err := TextIn(r, v); err == nil {
			return span.ContentOfText(raw, says)
		}
	}
	return raw
}
