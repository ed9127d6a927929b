package policy

import (
	"fmt"

	"epitome/bench/price"
	"epitome/rewrite/chat"
	"epitome/rewrite/conversation"
)

// Asking is a shaper's own request to a model, in tokens.
type Asking struct {
	Held   int // of the request, those that the conversation's request before had in the same place
	New    int // of the request, all others
	Output int // of the answer
}

// NewAsking measures a shaper's own request. before is the conversation's request before it, as it was sent; it is
// empty if there was none. A before that begins with another message is of another kind: the provider has cached
// nothing.
func NewAsking(unit price.Unit, before, request []byte, answer string) (Asking, error) {
	now, err := chat.Read(request)
	if err != nil {
		return Asking{}, fmt.Errorf("cannot price a request of the shaper's own: %w", err)
	}
	tools := now.Tools.Of(request)
	meter, err := unit.Meter(now.Model)
	if err != nil {
		return Asking{}, fmt.Errorf("cannot price a request of the shaper's own: %w", err)
	}
	a := Asking{New: meter.Fixed(now), Output: meter.Text(answer)}
	var held []conversation.Item
	if r, err := chat.Read(before); err == nil && string(r.Tools.Of(before)) == string(tools) {
		held = r.Items
	}
	for i, it := range now.Items {
		tokens := meter.ReadItem(now, i).Tokens
		if i >= len(held) || string(held[i].Of(before)) != string(it.Of(request)) {
			held = nil
			a.New += tokens
			continue
		}
		a.Held, a.New = a.Held+a.New+tokens, 0
	}
	return a, nil
}
