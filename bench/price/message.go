package price

import (
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
	text, others := ContentOf(string(it.Content.Of(r.Body)))
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
