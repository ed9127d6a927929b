package plan

import (
	"epitome/rewrite/conversation"
	"epitome/rewrite/decision"
	"epitome/rewrite/history"
	"epitome/rewrite/shorten"
	"epitome/rewrite/span"
)

// Whole is all that an item says, as it goes to the shelf.
type Whole struct {
	Patch   decision.Patch // what takes its place, without the text of that
	Text    string         // as a reader of lines finds it on the shelf
	Content                // what that text is made of
}

// soleText is what the item says whose one text is w.
func soleText(p *Plan, i int, w *Passage, tokens int) Whole {
	q := decision.Patch{Place: w.Place, Index: w.Index,
		Artifact: p.Shelf.Name(p.Route.Scope, span.ContentOfText(w.Raw, w.Text))}
	if f := p.Forms[i]; f != nil && len(f.Patches) == 1 && f.Patches[0].Artifact == q.Artifact {
		q.Readable = f.Patches[0].Readable
	}
	return Whole{q, w.Text,
		Content{Lines: shorten.CountLines(w.Text), Tokens: tokens, Readable: q.Readable}}
}

// PartsOf is what an item says whose content is no text, but a list of parts or the like. On the shelf that is JSON,
// with all that is in it; where somebody can read it there, its texts lie beside it.
func PartsOf(p *Plan, i int) Whole {
	it := &p.Req.Items[p.Req.Head+i]
	q := decision.Patch{Place: conversation.WholeContent,
		Artifact: p.Shelf.Name(p.Route.Scope, span.ContentOf(it.Content.Of(p.Req.Body)))}
	text := history.Readable(p.Req, it.Content)
	if len(text) > 0 && AddressOf(p, q.Artifact) != "" {
		q.Readable = p.Shelf.Name(p.Route.Scope, text)
	}
	return Whole{q, string(text), Content{
		Lines: shorten.CountLines(string(text)), Tokens: p.Hist.Sizes[i] - p.Hist.Media[i], Readable: q.Readable,
		InParts: true, Media: history.MediaIn(p.Req, it.Content),
	}}
}
