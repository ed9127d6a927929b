package price

import (
	"bytes"
	"strings"

	"epitome/rewrite/conversation"

	"github.com/tidwall/gjson"
)

// Reading is what is measured of a message.
type Reading struct {
	Text   string
	Args   string // the values in its calls' arguments, a line each
	Tokens int
}

// ReadItem measures item i of a request.
func (m Meter) ReadItem(r *conversation.Request, i int) Reading {
	it := r.Items[i]
	text, others := contentOf(r, &it)
	var values []string
	for _, call := range it.Calls {
		arguments := gjson.ParseBytes(call.Arguments.Of(r.Body)).String()
		if call.FreeText {
			values = append(values, arguments)
			continue
		}
		values = append(values, leaves(arguments)...)
	}
	out := Reading{Text: text, Args: strings.Join(values, "\n")}
	if m.served {
		out.Tokens = m.inModelTokens(r.CountItem(m.scale, i))
		return out
	}
	out.Tokens = TokensOf(Size(text)) + others*partTokens + MessageTokens
	for _, call := range it.Calls {
		arguments := gjson.ParseBytes(call.Arguments.Of(r.Body)).String()
		out.Tokens += TokensOf(Size(arguments)+Size(call.Name)) + callTokens
	}
	return out
}

// contentOf returns the text in an item's content, and the number of its other parts. An item that is no message of its
// own has parts that only its dialect can read.
func contentOf(r *conversation.Request, it *conversation.Item) (text string, others int) {
	if !r.Nested {
		return ContentOf(string(it.Content.Of(r.Body)))
	}
	parts, err := r.Parts(it)
	if err != nil {
		return string(it.Content.Of(r.Body)), 0
	}
	var texts []string
	for _, p := range parts {
		if p.Kind == conversation.TextPart {
			texts = append(texts, gjson.ParseBytes(p.Value.Of(r.Body)).String())
		} else {
			others++
		}
	}
	return strings.Join(texts, "\n"), others
}

// ContentOf returns the text in a message's content, and the number of its other parts.
func ContentOf(content string) (text string, others int) {
	v := gjson.Parse(content)
	if !v.IsArray() {
		return v.String(), 0
	}
	var texts []string
	v.ForEach(func(_, part gjson.Result) bool {
		if t := part.Get("text"); t.Type == gjson.String {
			texts = append(texts, t.Str)
		} else {
			others++
		}
		return true
	})
	return strings.Join(texts, "\n"), others
}

// Marker is a mark for a provider's cache, as clients and epitome write it behind the last key of a block. It says
// nothing, and moves from request to request.
const Marker = `,"cache_control":{"type":"ephemeral"}`

// Bare returns what says the same without marks. A text that shows one has its quotes escaped.
func Bare(raw []byte) []byte {
	if !bytes.Contains(raw, []byte(Marker)) {
		return raw
	}
	return bytes.ReplaceAll(raw, []byte(Marker), nil)
}
