package policy

import (
	"fmt"
	"slices"

	"epitome/rewrite/conversation"
)

// Asking is a shaper's own request to a model, in tokens.
type Asking struct {
	Held   int // of the request, those that the conversation's request before had in the same place
	New    int // of the request, all others
	Output int // of the answer
}

// Exchange is a shaper's own request to a model as it was sent, and what was answered.
type Exchange struct {
	Dialect conversation.Dialect
	Before  []byte // the conversation's request before it, as it was sent; empty if there was none
	Request []byte
	Answer  string
}

// NewAsking measures an exchange. A request before that begins with another message is of another kind: the provider
// has cached nothing.
func NewAsking(unit Unit, x Exchange) (Asking, error) {
	now, err := x.Dialect.Read(x.Request, nil)
	if err != nil {
		return Asking{}, fmt.Errorf("cannot price a request of the shaper's own: %w", err)
	}
	meter, err := unit.Meter(now.Model)
	if err != nil {
		return Asking{}, fmt.Errorf("cannot price a request of the shaper's own: %w", err)
	}
	a := Asking{New: meter.Fixed(now), Output: meter.Text(x.Answer)}
	var held []conversation.Item
	if r, err := x.Dialect.Read(x.Before, nil); err == nil && string(beside(r)) == string(beside(now)) {
		held = r.Items
	}
	for i, it := range now.Items {
		tokens := meter.ReadItem(now, i).Tokens
		if i >= len(held) || string(Bare(held[i].Of(x.Before))) != string(Bare(it.Of(x.Request))) {
			held = nil
			a.New += tokens
			continue
		}
		a.Held, a.New = a.Held+a.New+tokens, 0
	}
	return a, nil
}

// beside is what a provider reads before the items.
func beside(r *conversation.Request) []byte {
	return slices.Concat(r.Tools.Of(r.Body), []byte{0}, r.System.Of(r.Body))
}
