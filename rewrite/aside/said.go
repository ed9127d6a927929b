package aside

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"epitome/rewrite/span"
)

// SaidIn is all text that the client was given in rounds, without blanks: some clients trim texts, or join them.
func SaidIn(rounds []Round) string {
	var b strings.Builder
	for i := range rounds {
		b.WriteString(Unblanked(rounds[i].Given))
	}
	return b.String()
}

// Unblanked is a text without its blanks.
func Unblanked(text string) string { return strings.Join(strings.Fields(text), "") }

// CutSaid takes what was said, which has no blanks, off the beginning of a text. left is what of it the text does not
// have, as it is at its end; rest begins without blanks. ok is false if the text says something else.
func CutSaid(text, said string) (rest, left string, ok bool) {
	for said != "" {
		text = strings.TrimLeftFunc(text, unicode.IsSpace)
		if text == "" {
			return "", said, true
		}
		_, n := utf8.DecodeRuneInString(text)
		if !strings.HasPrefix(said, text[:n]) {
			return "", "", false
		}
		text, said = text[n:], said[n:]
	}
	return strings.TrimLeftFunc(text, unicode.IsSpace), "", true
}

// textKey is the key under which parts of a content have their text, whatever the API.
const textKey = "text"

// CutParts takes what was said, which has no blanks, off the beginning of a list of parts: with is what stands in the
// place of those at then, and nothing if all of the list goes. Parts that say no more go; such as are no text stay.
func CutParts(body []byte, list span.Span, said string) (at span.Span, with []byte, ok bool) {
	var parts []span.Span
	_, err := span.Elements(body, list.Start, func(i int) (int, error) {
		end, err := span.EndOfValue(body, i)
		parts = append(parts, span.Span{Start: i, End: end})
		return end, err
	})
	n := 0
	for rest := ""; err == nil && n < len(parts) && rest == ""; n++ {
		part := parts[n].Of(body)
		if says := gjson.GetBytes(part, textKey); says.Type == gjson.String {
			if rest, said, ok = CutSaid(says.Str, said); !ok {
				return at, nil, false
			}
			if rest == "" {
				continue
			}
			part = withText(part, rest)
		} else if said == "" {
			break
		}
		with = append(append(with, part...), ',')
	}
	switch at = list; {
	case err != nil || said != "":
		return at, nil, false
	case n < len(parts):
		at = span.Span{Start: parts[0].Start, End: parts[n].Start}
	case len(with) > 0:
		at, with = span.Span{Start: parts[0].Start, End: parts[n-1].End}, with[:len(with)-1]
	}
	return at, with, true
}

// withText is a part with another text.
func withText(part []byte, text string) []byte {
	o, err := span.ObjectAt(part, 0)
	if err != nil {
		return part
	}
	o.Set(textKey, string(span.AppendQuoted(nil, text)))
	out, err := span.Splice(part, o.Edits())
	if err != nil {
		return part
	}
	return out
}
