package plan

import (
	"fmt"
	"strings"

	"epitome/rewrite/conversation"
	"epitome/rewrite/history"
	"epitome/rewrite/span"
)

// Passage is a text of a result that may be shortened.
type Passage struct {
	Place  conversation.Place
	Index  int
	Raw    []byte // as it stands in the body
	Text   string
	Tokens int
	Spent  int // tokens that it takes of the item: results beside others cost as they are escaped
	Nth    int // which of the item's texts it is, the empty ones not counted; the first is 1
	Of     int // how many such texts there are
}

// Passages are the texts of item i, and how many tokens they have together. What is in no text is left as it is.
func (p *Plan) Passages(i int) (list []Passage, tokens int) {
	it := &p.Req.Items[p.Req.Head+i]
	if it.Content.Empty() {
		return nil, 0
	}
	beside := p.Req.AnswersOneOfSeveral(p.Req.Head + i)
	add := func(w Passage, v span.Span) {
		w.Raw = v.Of(p.Req.Body)
		text, err := span.Unquote(w.Raw)
		if err != nil {
			return
		}
		w.Text, w.Tokens = text, p.Scale.CountText(w.Raw, false)
		w.Spent = p.Scale.CountText(w.Raw, beside)
		list, tokens = append(list, w), tokens+w.Tokens
	}
	if p.Req.Body[it.Content.Start] == '"' {
		add(Passage{Place: conversation.WholeContent}, it.Content)
		return numbered(list), tokens
	}
	parts, err := p.Req.Parts(it)
	if err != nil {
		return nil, 0
	}
	for n, q := range parts {
		if q.Kind == conversation.TextPart && p.Req.Body[q.Value.Start] == '"' {
			place := conversation.PartText
			if q.Encoded {
				place = conversation.EncodedText
			}
			add(Passage{Place: place, Index: n}, q.Value)
		}
	}
	return numbered(list), tokens
}

// numbered tells each of the texts which one it is.
func numbered(list []Passage) []Passage {
	all := 0
	for k := range list {
		if list[k].Text != "" {
			all++
		}
		list[k].Nth = all
	}
	for k := range list {
		list[k].Of = all
	}
	return list
}

// UserSpeaks reports whether the user says or shows something in item i.
func UserSpeaks(p *Plan, i int) bool { return conversation.Speaks(p.Req, &p.Req.Items[p.Req.Head+i]) }

// OwnWords is what the user says in item i, without what the client has put beside it.
func OwnWords(p *Plan, i int) string {
	list, _ := p.Passages(i)
	var texts []string
	for _, w := range list {
		if own := conversation.OwnWords(w.Text); own != "" {
			texts = append(texts, own)
		}
	}
	return strings.Join(texts, "\n")
}

// TextOf is all the text of item i, as a reader of lines finds it.
func (p *Plan) TextOf(i int) string {
	list, _ := p.Passages(i)
	texts := make([]string, len(list))
	for k, w := range list {
		texts[k] = w.Text
	}
	return history.JoinTexts(texts)
}

// Size is how large the passage is, as a model is told it: an estimate is no number to show.
func (w *Passage) Size() string {
	if conversation.IsEstimate(len(w.Raw)) {
		return fmt.Sprintf("%d bytes", len(w.Text))
	}
	return fmt.Sprintf("%d tokens", w.Tokens)
}
