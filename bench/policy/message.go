package policy

import (
	"bytes"
	"strings"

	"epitome/rewrite/conversation"
)

// Reading is what is measured of a message.
type Reading struct {
	Text   string
	Args   string // the values in its calls' arguments, a line each
	Tokens int
}

// ReadItem measures item i of a request.
func (m Meter) ReadItem(r *conversation.Request, i int) Reading {
	it := &r.Items[i]
	var values []string
	for _, call := range it.Calls {
		arguments := string(call.ArgumentsIn(r.Body))
		if call.FreeText {
			values = append(values, arguments)
			continue
		}
		values = append(values, leaves(arguments)...)
	}
	out := Reading{Text: r.TextOf(it), Args: strings.Join(values, "\n")}
	if m.served {
		r.Count(m.scale)
		out.Tokens = m.inModelTokens(it.Size.Total())
		return out
	}
	out.Tokens = TokensOf(Size(out.Text)) + MessageTokens
	for _, p := range it.Parts {
		if p.Kind != conversation.TextPart {
			out.Tokens += partTokens
		}
	}
	for _, call := range it.Calls {
		out.Tokens += TokensOf(Size(string(call.ArgumentsIn(r.Body)))+Size(call.Name)) + callTokens
	}
	return out
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
