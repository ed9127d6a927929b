package conversation

import (
	"bytes"
	"slices"

	"epitome/event"
	"epitome/internal/jsonspan"
	"epitome/tokenize"
)

// Scale counts tokens for one model. All counts are in tokens of the vocabulary; Ratio converts them.
type Scale struct {
	Model tokenize.Model
	Memo  *tokenize.Memo // remembers counts from request to request
	Ratio float64        // tokens of the model for one token of the vocabulary
}

// The count of a text with more bytes than maxCounted is extrapolated from samples of so many in total, which bounds
// the time for one text.
const maxCounted = 1 << 20

// Size is the size of one item in tokens of the vocabulary. Media are pictures, audio and documents.
type Size struct{ Text, Media int }

func (s Size) Total() int { return s.Text + s.Media }

// In returns the field of t for the text of items with this role.
func (r Role) In(t *event.Tokens) *int {
	return [...]*int{Unknown: &t.Other, System: &t.System, User: &t.User, Assistant: &t.Assistant, Tool: &t.Results}[r]
}

// Count sets the sizes of all items and returns the tokens of the rest of the request: the system prompt outside of the
// items, the tools, and what the API adds once per request. Reused items keep their sizes.
func (r *Request) Count(s Scale) event.Tokens {
	if r.fixed.Other > 0 { // an earlier call has counted all: it sets this field last, and never to 0
		return r.fixed
	}
	for _, text := range r.Prompts {
		r.fixed.System += s.countJSON(text.Of(r.Body), false)
	}
	if jsonspan.HasElements(r.Body, r.Tools) {
		tools := r.Tools.Of(r.Body)
		count := func() int { return tokenize.Tools(s.CountText, tools) }
		r.fixed.Tools = s.Memo.Count(countDeclared, tools, count)
	}
	for i := range r.Items {
		if r.Items[i].Size == (Size{}) { // not reused: a counted item has some tokens at least
			r.Items[i].Size = r.sizeOf(s, i)
		}
	}
	r.fixed.Other = tokenize.PerReply
	return r.fixed
}

// Estimated reports whether sizes of items are estimates, as texts exceed maxCounted: no Ratio is learned from them.
func (r *Request) Estimated() bool {
	isLong := func(p Part) bool { return p.Kind < ImagePart && p.Value.Len() > maxCounted }
	hasLong := func(it Item) bool { return slices.ContainsFunc(it.Parts, isLong) }
	return len(r.Body) > 4*maxCounted || len(r.Body) > maxCounted && slices.ContainsFunc(r.Items, hasLong)
}

// sizeOf counts item i: its texts, media and calls, and what the API adds to a message and to a call.
func (r *Request) sizeOf(s Scale, i int) (size Size) {
	it := &r.Items[i]
	size.Text = tokenize.PerMessage + 1 // the name of any role is one token
	size.Text += r.CountThoughts(s, it.Thinking) + r.CountThoughts(s, it.Reasoning)
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
		size.Text += tokenize.PerCall + s.CountText(call.Name) + s.countJSON(call.Arguments.Of(r.Body), false)
	}
	for _, p := range it.Parts {
		if p.Kind < ImagePart {
			size.Text += r.CountContent(s, i, p.Value.Of(r.Body))
		} else {
			size.Media += s.CountMedia(p, r.Body)
		}
	}
	return size
}

// CountThoughts returns the tokens of reasoning. Those of encrypted reasoning are an estimate: base64 has four
// letters for three bytes, and about four bytes of text are a token.
func (r *Request) CountThoughts(s Scale, list []Thought) (n int) {
	for _, t := range list {
		text := t.Text.Of(r.Body)
		if len(text) > len(`""`) {
			n += s.countJSON(text, false)
		} else {
			n += len(t.Sealed.Of(r.Body)) * 3 / 4 / 4
		}
	}
	return n
}

// CountContent returns the tokens of JSON v as content of item i, present or new: of its text if v is a string, else of
// v. If a message has several calls, Exact models (tokenize.Model) were seen to get the results with non-ASCII escaped.
func (r *Request) CountContent(s Scale, i int, v []byte) int {
	isOneOfSeveral := false
	if r.Items[i].Role == Tool {
		caller := r.Callers()[i]
		isOneOfSeveral = caller >= 0 && len(r.Items[caller].Calls) > 1
	}
	return s.countJSON(v, isOneOfSeveral && s.Model.Exact)
}

// CountText returns the tokens of a text, an estimate if it is longer than maxCounted.
func (s Scale) CountText(text string) int {
	return tokenize.About(text, maxCounted, tokenize.CountString)
}

// Kinds of counts in the memo: the same bytes have another count in each of them.
const (
	countUnquoted uint16 = iota
	countEscaped
	countDeclared
)

// countJSON returns the tokens of a JSON value: of the text if it is a string, else of its source, in which letters count
// alike however the client escapes them. See CountContent for isEscaped.
func (s Scale) countJSON(v []byte, isEscaped bool) int {
	kind, count := countUnquoted, tokenize.Count
	if isEscaped {
		kind, count = countEscaped, tokenize.CountEscaped
	}
	return s.Memo.Count(kind, v, func() int {
		text := jsonspan.TextOf(v)
		if len(text) == len(v) { // it is no string
			text = jsonspan.Unescaped(v)
		}
		return tokenize.About(text, maxCounted, count)
	})
}

// CountMedia returns the tokens of an image, audio or file part. An address counts as a usual image or one page.
func (s Scale) CountMedia(p Part, body []byte) int {
	data := bytes.Trim(p.Value.Of(body), `"`)
	switch p.Kind {
	case AudioPart:
		const lettersPerToken = 16_000 / 10 * 4 / 3 // in base64: ten tokens for a second, 128 kbit
		return 1 + len(data)/lettersPerToken
	case FilePart:
		return s.Model.Document(data)
	}
	_, width, height := tokenize.PictureSize(data)
	return s.Model.Image(width, height, string(p.Detail.Of(body)) == `"low"`)
}
