package conversation

import (
	"bytes"
	"encoding/base64"
	"image"
	_ "image/gif" // sizes of pictures
	_ "image/jpeg"
	_ "image/png"
	"io"

	"epitome/rewrite/jsonspan"
	"epitome/tokenize"
)

// Scale counts tokens for one model. Counts are in tokens of the vocabulary; Ratio of the model's own are one of those.
type Scale struct {
	Model   tokenize.Model
	Counter *tokenize.Counter // of the model's vocabulary
	Memo    *tokenize.Memo
	Ratio   float64
}

// maxCounted bounds the bytes of one text that are counted; of a longer one that many are, and the rest is estimated.
const maxCounted = 1 << 20

// Size is what one item takes, in tokens.
type Size struct {
	Text, Media int  // media are pictures, sound and documents
	Estimated   bool // a text was too long to be counted whole
}

// Total returns all tokens.
func (s Size) Total() int { return s.Text + s.Media }

// Tokens is the size of a request by kind.
type Tokens struct {
	System, Tools, User, Assistant, Results int
	Summary                                 int // in the place of items that were left out
	Images                                  int // and sound and documents, whoever sent them
	Other                                   int // unknown roles, and whatever a request costs by itself
}

// Total returns the size of the whole.
func (t Tokens) Total() int {
	return t.System + t.Tools + t.User + t.Assistant + t.Results + t.Summary + t.Images + t.Other
}

// Add counts n tokens of text and media under a role.
func (t *Tokens) Add(role Role, text, media int) {
	t.Images += media
	switch role {
	case System:
		t.System += text
	case User:
		t.User += text
	case Assistant:
		t.Assistant += text
	case Tool:
		t.Results += text
	default:
		t.Other += text
	}
}

// Times returns the size in the model's own tokens.
func (t Tokens) Times(ratio float64) Tokens {
	f := func(n int) int { return int(float64(n)*ratio + 0.5) }
	return Tokens{
		f(t.System), f(t.Tools), f(t.User), f(t.Assistant), f(t.Results), f(t.Summary), f(t.Images), f(t.Other),
	}
}

// Count sets the sizes of all items that were not counted before, and returns what the request takes
// beside its items: system prompt, tools, and the request itself.
func (r *Request) Count(s Scale) (fixed Tokens, estimated bool) {
	if r.counted {
		return r.fixed, r.estimatedSize
	}
	for i := range r.Items {
		it := &r.Items[i]
		if it.Size == (Size{}) {
			it.Size = r.measure(s, it, r.answersOneOfSeveral(i))
		}
		r.estimatedSize = r.estimatedSize || it.Size.Estimated
	}
	fixed.Other = tokenize.PerReply
	for _, text := range r.Prompts {
		fixed.System += s.count(text.Of(r.Body), false, &r.estimatedSize)
	}
	if !r.Tools.Empty() {
		fixed.Tools = r.countTools(s)
	}
	r.fixed, r.counted = fixed, true
	return fixed, r.estimatedSize
}

// answersOneOfSeveral reports whether a result answers one of several calls of a message: some models count it as
// escaped then.
func (r *Request) answersOneOfSeveral(i int) bool {
	if r.Items[i].Role != Tool {
		return false
	}
	caller := r.Callers()[i]
	return caller >= 0 && len(r.Items[caller].Calls) > 1
}

// measure counts an item; escaped says that its texts are counted as they are written.
func (r *Request) measure(s Scale, it *Item, escaped bool) (size Size) {
	size.Text = tokenize.PerMessage + 1 // every role is one token
	if it.Name != "" {
		size.Text += tokenize.PerName + s.CountText(it.Name)
	}
	if it.Role == Tool {
		size.Text += tokenize.PerResult
	}
	for k, call := range it.Calls {
		size.Text += tokenize.PerCall + s.CountText(call.Name) + s.count(call.Arguments.Of(r.Body), false, &size.Estimated)
		if k == 1 {
			size.Text += tokenize.PerCallBatch
		}
	}
	for _, t := range it.Thinking {
		size.Text += s.count(t.Text.Of(r.Body), false, &size.Estimated)
	}
	for _, p := range it.Parts {
		switch p.Kind {
		case TextPart, OtherPart:
			size.Text += s.count(p.Value.Of(r.Body), escaped, &size.Estimated)
		default:
			size.Media += s.countMedia(p, r.Body)
		}
	}
	return size
}

// CountThinking counts the reasoning of an item that goes with Thinking.
func (r *Request) CountThinking(s Scale, it *Item) (n int) {
	for _, t := range it.Thinking {
		n += s.count(t.Text.Of(r.Body), false, new(bool))
	}
	return n
}

// CountPart counts the text of one part of item i.
func (r *Request) CountPart(s Scale, i int, p *Part) int {
	return s.count(p.Value.Of(r.Body), r.answersOneOfSeveral(i), new(bool))
}

// CountAs counts a text that stands in the place of one of item i's.
func (r *Request) CountAs(s Scale, i int, text string) int {
	return s.count(jsonspan.AppendQuoted(nil, text), r.answersOneOfSeveral(i), new(bool))
}

// CountText counts a text.
func (s Scale) CountText(text string) int {
	if len(text) > maxCounted {
		return tokenize.About([]byte(text), maxCounted, s.Counter.Count)
	}
	return s.Counter.CountString(text)
}

// Ways in which a value is counted, so that the memo keeps them apart.
const (
	countUnquoted uint16 = iota + 1
	countEscaped
	countTools
)

// count counts a JSON value: of a string, what it says.
func (s Scale) count(v []byte, escaped bool, estimated *bool) int {
	isString := len(v) >= 2 && v[0] == '"'
	switch {
	case len(v) > maxCounted:
		*estimated = true
		return tokenize.About(jsonspan.TextOf(v), maxCounted, s.Counter.Count)
	case !isString:
		return s.Memo.Count(s.Counter, v)
	case escaped && s.Model.Exact:
		return s.Memo.Remember(s.Counter, countEscaped, v, func(v []byte) int {
			return s.Counter.CountEscaped(jsonspan.TextOf(v))
		})
	case bytes.IndexByte(v, '\\') < 0:
		return s.Memo.Count(s.Counter, v[1:len(v)-1])
	}
	return s.Memo.Remember(s.Counter, countUnquoted, v, func(v []byte) int {
		return s.Counter.Count(jsonspan.TextOf(v))
	})
}

// countTools counts the declarations of tools, as the model is shown them where that is known.
func (r *Request) countTools(s Scale) int {
	raw := r.Tools.Of(r.Body)
	if len(raw) > maxCounted {
		return s.count(raw, false, &r.estimatedSize)
	}
	return s.Memo.Remember(s.Counter, countTools, raw, func(raw []byte) int {
		list := r.Dialect.Declared(raw)
		if list == nil {
			return s.Counter.Count(raw)
		}
		return s.Model.Tools(s.Counter.CountString, list)
	})
}

// pageBytes is about what a page of a document takes.
const pageBytes = 50_000

func (s Scale) countMedia(p Part, body []byte) int {
	data := bytes.Trim(p.Value.Of(body), `"`)
	detail := string(bytes.Trim(p.Detail.Of(body), `"`))
	switch p.Kind {
	case AudioPart:
		return tokenize.Audio(detail, len(data)/4*3)
	case FilePart:
		return s.Model.Document(1 + len(data)/4*3/pageBytes)
	}
	width, height := pictureSize(data)
	return s.Model.Image(width, height, detail == "low")
}

// pictureSize reads the size of a picture from data in base64, with or without the beginning of a data URL; 0 if it
// cannot, as for an address.
func pictureSize(url []byte) (width, height int) {
	_, data, ok := bytes.Cut(url, []byte(";base64,"))
	if !ok {
		data = url
	}
	const head = 256 << 10 // bytes in which the size must stand
	c, _, err := image.DecodeConfig(io.LimitReader(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(data)), head))
	if err != nil {
		return 0, 0
	}
	return c.Width, c.Height
}
