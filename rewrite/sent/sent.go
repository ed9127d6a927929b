// Package sent tells in what forms the messages of a request were sent, read from what was decided for it.
//
// It promises that what it tells is what was sent, and what it names is what stood there. It decides nothing.
package sent

import (
	"strings"

	"epitome/event"
	"epitome/rewrite/conversation"
	"epitome/rewrite/decision"
	"epitome/rewrite/plan"
	"epitome/rewrite/span"
)

// Edit is one text in the place of another, in a request as it was sent. Messages are counted from 0, tokens are the
// model's.
type Edit struct {
	Item, Last int // the first and the last message that it is about
	Rung       string
	Code       event.Code // why
	New        bool       // decided for this very request
	// Tokens as it came and as it is sent: the first of several edits of one message has them. Before is 0 if unknown.
	Before, After int
	Text          string // what is sent in its place; empty if nothing is
	Artifact      string // name of what stood there; empty if the text is put behind what a message says
	Readable      string // name of the same for a reader of lines; empty if there is none
	Thinking      string // name of the message as it came, if what was thought in it is not sent
}

// Edits are the edits of a request, by the key of the forms in which it was sent, in the order of its messages. Nothing
// is found if one of those is not kept any more. dialect gives the dialect that has a key.
func Edits(g decision.Ledger, key string, dialect func(key string) conversation.Dialect) (list []Edit, found bool) {
	k, ok := decision.ParseKey(key)
	if !ok {
		return nil, false
	}
	if far, shared := g.(decision.Turns); shared {
		g = far.Turn(k.Tag)
	}
	forms, found := k.Forms(g)
	if !found {
		return nil, false
	}
	before, known := k.FormsBefore(g)
	for i, f := range forms {
		if f == nil || f.Gone {
			continue
		}
		e := Edit{Item: f.Item, Last: f.Last, Rung: f.Rung.String(), Code: plan.CodeOf(f), Thinking: f.Said,
			New: known && !f.SendsAs(before[i])}
		if f.Why == event.NoCode { // nor was its place noted
			e.Item, e.Last = i, i+max(f.Fold, 1)-1
		}
		e.Before, e.After = int(float64(f.Came())*k.Ratio), int(float64(f.Now)*k.Ratio)
		list = append(list, editsOf(f, e, dialect(k.Dialect))...)
	}
	return list, true
}

// editsOf are the edits that a form stands for; e is what they have in common. None if the item is sent whole again.
func editsOf(f *decision.Form, e Edit, in conversation.Dialect) (list []Edit) {
	if f.Fold > 0 {
		e.Artifact, e.Readable, e.Text = f.Kept, f.Text, messageText(in, f.With)
		if f.Why == event.CodeThinking {
			e.Thinking = f.Kept
		}
		return []Edit{e}
	}
	for _, q := range f.Patches {
		e.Text, e.Artifact, e.Readable = q.Text, q.Artifact, q.Readable
		list = append(list, e)
		e.Before, e.After = 0, 0
	}
	if len(list) == 0 && f.Said != "" {
		return []Edit{e}
	}
	return list
}

// messageText is what a message of epitome's own says.
func messageText(in conversation.Dialect, message string) string {
	if message == "" || in == nil {
		return message
	}
	r, err := in.ReadMessage([]byte(message))
	if err != nil || len(r.Items) == 0 {
		return message
	}
	var texts []string
	parts, err := r.Parts(&r.Items[0])
	for _, p := range parts {
		if p.Kind == conversation.TextPart {
			texts = append(texts, string(span.TextOf(p.Value.Of(r.Body))))
		}
	}
	if err != nil || len(texts) == 0 {
		return message
	}
	return strings.Join(texts, "\n")
}
