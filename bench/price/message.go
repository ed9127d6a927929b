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

// ReadItem measures one item of a request.
func ReadItem(r *conversation.Request, it conversation.Item) Reading {
	text, tokens := ContentOf(string(it.Content.Of(r.Body)))
	m := Reading{Text: text, Tokens: TokensOf(Size(text)) + tokens + MessageTokens}
	var values []string
	for _, call := range it.Calls {
		arguments := gjson.ParseBytes(call.Arguments.Of(r.Body)).String()
		m.Tokens += TokensOf(Size(arguments)+Size(call.Name)) + callTokens
		if call.FreeText {
			values = append(values, arguments)
			continue
		}
		values = append(values, leaves(arguments)...)
	}
	m.Args = strings.Join(values, "\n")
	return m
}

// ContentOf returns the text in a message's content, and the tokens of its other parts.
func ContentOf(content string) (text string, tokens int) {
	v := gjson.Parse(content)
	if !v.IsArray() {
		return v.String(), 0
	}
	var texts []string
	v.ForEach(func(_, part gjson.Result) bool {
		if t := part.Get("text"); t.Type == gjson.String {
			texts = append(texts, t.Str)
		} else {
			tokens += partTokens
		}
		return true
	})
	return strings.Join(texts, "\n"), tokens
}
