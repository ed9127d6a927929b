package plan

import (
	"bytes"
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

	Estimated bool // Tokens and Spent are estimates
}

// Passages are the texts of item i, and how many tokens they have together. What is in no text is left as it is.
func (p *Plan) Passages(i int) (list []Passage, tokens int) {
	beside, scale := p.Req.AnswersOneOfSeveral(p.Req.Head+i), ScaleOf(p, i)
	list = uncounted(p, i)
	all := 0
	for k := range list {
		w := &list[k]
		w.Tokens, w.Estimated = scale.CountText(w.Raw, false), scale.IsEstimate(len(w.Raw))
		w.Spent = scale.CountText(w.Raw, beside)
		if tokens += w.Tokens; w.Text != "" {
			all++
		}
		w.Nth = all
	}
	for k := range list {
		list[k].Of = all
	}
	return list, tokens
}

// uncounted are the passages of item i without their tokens and numbers.
func uncounted(p *Plan, i int) (list []Passage) {
	it := &p.Req.Items[p.Req.Head+i]
	if it.Content.Empty() {
		return nil
	}
	add := func(w Passage, v span.Span) {
		w.Raw = v.Of(p.Req.Body)
		if text, err := conversation.TextIn(p.Req, v); err == nil {
			w.Text = text
			list = append(list, w)
		}
	}
	if p.Req.Body[it.Content.Start] == '"' {
		add(Passage{Place: conversation.WholeContent}, it.Content)
		return list
	}
	parts, err := p.Req.Parts(it)
	if err != nil {
		return nil
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
	return list
}

// CostOf is what reading item i costs, in bytes of texts as they usually are: of its content, and of what its calls are
// given. However short they are, a line costs as much as one of leastLine bytes, what stands between two commas as
// leastPart, and an item or a call as leastItem. What is more than anybody reads of one is not looked at.
func CostOf(p *Plan, i int) int {
	const leastLine, leastPart, leastItem = 24, 8, 120
	const most = 8 << 20 // that anybody reads
	it := &p.Req.Items[p.Req.Head+i]
	cost := func(s span.Span) int {
		raw := s.Of(p.Req.Body)
		if len(raw) > most {
			return leastItem + len(raw)
		}
		lines, parts := bytes.Count(raw, []byte(`\n`)), bytes.Count(raw, []byte{','})
		return leastItem + max(len(raw), leastLine*lines, leastPart*parts)
	}
	n := cost(it.Content)
	for k := range it.Calls {
		n += cost(it.Calls[k].Arguments)
	}
	return n
}

// UserSpeaks reports whether the user says or shows something in item i.
func UserSpeaks(p *Plan, i int) bool { return conversation.Speaks(p.Req, &p.Req.Items[p.Req.Head+i]) }

// OwnWords is what the user says in item i, without what the client has put beside it.
func OwnWords(p *Plan, i int) string {
	var texts []string
	for _, text := range TextsOf(p, i) {
		if own := conversation.OwnWords(text); own != "" {
			texts = append(texts, own)
		}
	}
	return strings.Join(texts, "\n")
}

// TextsOf are the texts of item i, one for each part.
func TextsOf(p *Plan, i int) []string {
	list := uncounted(p, i)
	texts := make([]string, len(list))
	for k, w := range list {
		texts[k] = w.Text
	}
	return texts
}

// TextOf is all the text of item i, as a reader of lines finds it.
func (p *Plan) TextOf(i int) string {
	return history.JoinTexts(TextsOf(p, i))
}

// Size is how large the passage is, as a model is told it: an estimate is no number to show.
func (w *Passage) Size() string {
	if w.Estimated {
		return fmt.Sprintf("%d bytes", len(w.Text))
	}
	return fmt.Sprintf("%d tokens", w.Tokens)
}
