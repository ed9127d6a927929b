package conversation

import (
	"bytes"
	"slices"

	"epitome/event"
	"epitome/rewrite/jsonspan"
	"epitome/tokenize"
)

// Scale counts tokens for one model. Counts are in tokens of the vocabulary; the model's own are Ratio times as many.
type Scale struct {
	Model   tokenize.Model
	Counter *tokenize.Counter // of the model's vocabulary
	Memo    *tokenize.Memo
	Ratio   float64
}

// maxCounted bounds the bytes of one text that are counted; of a longer one that many are, and the rest is estimated.
const maxCounted = 1 << 20

// Size is what one item takes, in tokens.
type Size struct{ Text, Media int } // media are pictures, sound and documents

// Total returns all tokens.
func (s Size) Total() int { return s.Text + s.Media }

// In returns the field of t that counts the texts of a role.
func (r Role) In(t *event.Tokens) *int {
	return [...]*int{&t.Other, &t.System, &t.User, &t.Assistant, &t.Results}[r]
}

// Count sets the sizes of all items that were not counted before, and returns what the request takes beside its items:
// system prompt, tools, and the request itself.
func (r *Request) Count(s Scale) event.Tokens {
	if r.fixed.Other > 0 {
		return r.fixed
	}
	for i := range r.Items {
		if r.Items[i].Size == (Size{}) {
			r.Items[i].Size = r.measure(s, i)
		}
	}
	for _, text := range r.Prompts {
		r.fixed.System += s.count(text.Of(r.Body), false)
	}
	if raw := r.Tools.Of(r.Body); len(raw) > 0 {
		r.fixed.Tools = s.Memo.Remember(s.Counter, countTools, raw, func(raw []byte) int {
			if list := r.Dialect.Declared(raw); list != nil {
				return s.Model.Tools(s.CountText, list)
			}
			return s.CountText(string(raw))
		})
	}
	r.fixed.Other = tokenize.PerReply
	return r.fixed
}

// Estimated reports whether a text of an item is too long to be counted whole.
func (r *Request) Estimated() bool {
	isLong := func(p Part) bool { return p.Kind == TextPart && p.Value.End-p.Value.Start > maxCounted }
	hasLong := func(it Item) bool { return slices.ContainsFunc(it.Parts, isLong) }
	return len(r.Body) > maxCounted && slices.ContainsFunc(r.Items, hasLong)
}

// measure counts item i.
func (r *Request) measure(s Scale, i int) (size Size) {
	it := &r.Items[i]
	size.Text = tokenize.PerMessage + 1 + r.CountThinking(s, it) // every role is one token
	if it.Name != "" {
		size.Text += tokenize.PerName + s.CountText(it.Name)
	}
	if it.Role == Tool {
		size.Text += tokenize.PerResult
	}
	if len(it.Calls) > 1 {
		size.Text += tokenize.PerCallBatch
	}
	for _, call := range it.Calls {
		size.Text += tokenize.PerCall + s.CountText(call.Name) + s.count(call.Arguments.Of(r.Body), false)
	}
	for _, p := range it.Parts {
		if p.Kind == TextPart || p.Kind == OtherPart {
			size.Text += r.CountIn(s, i, p.Value.Of(r.Body))
		} else {
			size.Media += s.countMedia(p, r.Body)
		}
	}
	return size
}

// CountThinking counts the reasoning of an item that goes with Thinking.
func (r *Request) CountThinking(s Scale, it *Item) (n int) {
	for _, t := range it.Thinking {
		n += s.count(t.Text.Of(r.Body), false)
	}
	return n
}

// CountIn counts a JSON value that stands in item i: of a string, what it says. Some models count it as it is written
// in a result that answers one of several calls of a message.
func (r *Request) CountIn(s Scale, i int, v []byte) int {
	isOneOfSeveral := false
	if r.Items[i].Role == Tool {
		caller := r.Callers()[i]
		isOneOfSeveral = caller >= 0 && len(r.Items[caller].Calls) > 1
	}
	return s.count(v, isOneOfSeveral && s.Model.Exact)
}

// CountText counts a text. Of one that is longer than maxCounted, the rest is estimated.
func (s Scale) CountText(text string) int {
	return tokenize.About([]byte(text), maxCounted, s.Counter.Count)
}

// Ways in which a value is counted, so that the memo keeps them apart.
const (
	countUnquoted uint16 = iota + 1
	countEscaped
	countTools
)

// count counts a JSON value.
func (s Scale) count(v []byte, escaped bool) int {
	how, count := countUnquoted, s.Counter.Count
	if escaped {
		how, count = countEscaped, s.Counter.CountEscaped
	}
	return s.Memo.Remember(s.Counter, how, v, func(v []byte) int {
		return tokenize.About(jsonspan.TextOf(v), maxCounted, count)
	})
}

func (s Scale) countMedia(p Part, body []byte) int {
	data := bytes.Trim(p.Value.Of(body), `"`)
	detail := string(bytes.Trim(p.Detail.Of(body), `"`))
	switch size := len(data) / 4 * 3; p.Kind { // it is base64
	case AudioPart:
		return tokenize.Audio(detail, size)
	case FilePart:
		return s.Model.Document(size)
	}
	return s.Model.Picture(data, detail == "low")
}
