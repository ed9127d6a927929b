package conversation

import (
	"bytes"
	"encoding/base64"
	"image"
	_ "image/gif"
	_ "image/jpeg"
	_ "image/png"
	"io"
	"slices"

	"epitome/rewrite/span"
	"epitome/tokenize"
)

// Scale measures conversations in tokens.
type Scale struct {
	Model   tokenize.Model
	Counter *tokenize.Counter // of the model's vocabulary
	Memo    *tokenize.Memo
	Ratio   float64 // tokens of the model that one token of the vocabulary is
}

// MostCounted is how many bytes of one text are looked at. All the tokens of a longer one are estimated from them: how
// many those are depends on the text alone, so that every machine counts alike.
const MostCounted = 1 << 20

// IsEstimate reports whether the tokens of a text of so many bytes are estimated. No model is shown such a number.
func IsEstimate(size int) bool { return size > MostCounted }

// HasEstimate reports whether a part of what the request counts is estimated. A picture is no text, however large.
func HasEstimate(r *Request) bool {
	large := func(v span.Span) bool { return IsEstimate(v.End - v.Start) }
	return IsEstimate(len(r.Body)) && (large(r.Tools) || large(r.Instructions) ||
		slices.ContainsFunc(r.Items, func(it Item) bool { return large(it.Place()) && hasLargeText(r, &it) }))
}

// hasLargeText reports whether a text of the item is estimated.
func hasLargeText(r *Request, it *Item) bool {
	large := func(v span.Span) bool { return IsEstimate(v.End - v.Start) }
	isText := func(p Part) bool { return p.Kind == TextPart || p.Kind == OtherPart }
	parts, err := r.Parts(it)
	return err != nil && large(it.Content) || IsEstimate(len(it.Name)) ||
		slices.ContainsFunc(parts, func(p Part) bool { return isText(p) && large(p.Value) }) ||
		slices.ContainsFunc(it.Calls, func(c Call) bool { return IsEstimate(len(c.Name)) || large(c.Arguments) }) ||
		slices.ContainsFunc(it.Thinking, func(t Thought) bool { return large(t.Text) })
}

// InModelTokens is a number of the vocabulary's tokens in those of the model.
func (s Scale) InModelTokens(tokens int) int { return int(float64(tokens) * s.Ratio) }

// Size is how many tokens a request is, by what they are spent on, counted in the scale's vocabulary: the model's
// ratio is not in it.
type Size struct {
	System, Tools, User, Assistant, Results int
	Summary                                 int // what epitome says in the place of messages that it left out
	Images                                  int // and sound and documents, whoever sent them
	Other                                   int // unknown roles, and what a request costs by itself
}

// Total returns the tokens of the whole request.
func (s Size) Total() int {
	return s.System + s.Tools + s.User + s.Assistant + s.Results + s.Summary + s.Images + s.Other
}

// CountFixed measures what stands beside the items behind the head.
func (r *Request) CountFixed(s Scale) Size {
	size := Size{Other: tokenize.PerReply, Tools: r.countTools(s)}
	for i := range r.Items[:r.Head] {
		n, media := r.MeasureItem(s, &r.Items[i], false)
		size.Add(System, n, media)
	}
	if !r.Instructions.Empty() {
		n, media := r.CountContent(s, &Item{Content: r.Instructions}, false)
		size.Add(System, n, media)
	}
	return size
}

// Add counts one item in.
func (s *Size) Add(role Role, n, media int) {
	s.Images += media
	switch role {
	case System:
		s.System += n
	case User:
		s.User += n
	case Assistant:
		s.Assistant += n
	case Tool:
		s.Results += n
	default:
		s.Other += n
	}
}

// Plus returns the sum of both sizes.
func (s Size) Plus(t Size) Size {
	return Size{
		s.System + t.System, s.Tools + t.Tools, s.User + t.User, s.Assistant + t.Assistant, s.Results + t.Results,
		s.Summary + t.Summary, s.Images + t.Images, s.Other + t.Other,
	}
}

// CountItem measures one item with all that is in it.
func (r *Request) CountItem(s Scale, i int) int {
	n, media := r.MeasureItem(s, &r.Items[i], r.AnswersOneOfSeveral(i))
	return n + media
}

// AnswersOneOfSeveral reports whether the item is the result of one call of several: one of those directly behind the
// message that called.
func (r *Request) AnswersOneOfSeveral(i int) bool {
	if r.Items[i].Role != Tool {
		return false
	}
	const far = 4000 // items; nobody calls so often at once
	least := max(0, i-far)
	for i--; i >= least && r.Items[i].Role == Tool; i-- {
	}
	return i >= 0 && r.Items[i].Role == Assistant && len(r.Items[i].Calls) > 1
}

// MeasureItem counts an item: its text, and apart from that what its pictures, sound and documents cost. escaped says
// that its text is counted as it stands in JSON.
func (r *Request) MeasureItem(s Scale, it *Item, escaped bool) (n, media int) {
	n = tokenize.PerMessage + 1 // every role is one token
	if it.Name != "" {
		n += tokenize.PerName + s.CountPlain(it.Name)
	}
	if it.Role == Tool {
		n += tokenize.PerResult
	}
	for k, c := range it.Calls {
		n += tokenize.PerCall + s.CountPlain(c.Name) + s.CountText(c.Arguments.Of(r.Body), false)
		if k == 1 {
			n += tokenize.PerCallBatch
		}
	}
	n += CountThinking(r, s, it)
	content, media := r.CountContent(s, it, escaped)
	return n + content, media
}

// CountContent measures what an item says and shows.
func (r *Request) CountContent(s Scale, it *Item, escaped bool) (n, media int) {
	parts, err := r.Parts(it)
	for _, p := range parts {
		if p.Kind == TextPart || p.Kind == OtherPart {
			n += s.CountText(p.Value.Of(r.Body), escaped)
		} else {
			media += s.countMedia(p, r.Body)
		}
	}
	if err != nil { // parts that are not as expected cost what they are written with
		n += s.CountText(it.Content.Of(r.Body), false)
	}
	return n, media
}

// MarkOpaque finds what nobody knows here the cost of. Items before the one at from were looked at in an earlier
// request.
func (r *Request) MarkOpaque(from int) {
	for i := range r.Items {
		it := &r.Items[i]
		if i >= from {
			list, err := r.Parts(it)
			it.Opaque = it.Opaque || err != nil ||
				slices.ContainsFunc(list, func(p Part) bool { return p.Kind == OtherPart })
		}
		r.Opaque = r.Opaque || it.Opaque
	}
}

// The kinds of counts that are remembered beside that of a text as it stands.
const (
	countUnquoted uint8 = iota + 1
	countEscaped
	countTools
	countAbout
	countAboutEscaped
)

// CountText counts the tokens of a JSON value: of a string those of its text, of anything else those of its bytes.
func (s Scale) CountText(v []byte, escaped bool) int {
	if IsEstimate(len(v)) {
		return s.estimate(v, escaped)
	}
	if len(v) < 2 || v[0] != '"' {
		return s.Memo.Count(s.Counter, v)
	}
	if escaped && s.Model.Exact {
		return s.Memo.Remember(s.Counter, countEscaped, v,
			func(v []byte) int { return s.Counter.CountEscaped(span.TextOf(v)) })
	}
	if bytes.IndexByte(v, '\\') < 0 {
		return s.Memo.Count(s.Counter, v[1:len(v)-1])
	}
	return s.Memo.Remember(s.Counter, countUnquoted, v, func(v []byte) int { return s.Counter.Count(span.TextOf(v)) })
}

// CountPlain counts a text that stands in no JSON: a name, or what epitome has made.
func (s Scale) CountPlain(text string) int {
	if IsEstimate(len(text)) {
		return tokenize.About([]byte(text), MostCounted, s.Counter.Count)
	}
	return s.Counter.CountString(text)
}

// estimate is about what CountText says.
func (s Scale) estimate(v []byte, escaped bool) int {
	escaped = escaped && s.Model.Exact
	kind := countAbout
	if escaped {
		kind = countAboutEscaped
	}
	return s.Memo.Remember(s.Counter, kind, v, func(v []byte) int {
		if len(v) > 1 && v[0] == '"' {
			v = v[1 : len(v)-1]
		}
		return tokenize.About(v, MostCounted, func(sample []byte) int {
			text := textOfPart(sample)
			if escaped {
				return s.Counter.CountEscaped(text)
			}
			return s.Counter.Count(text)
		})
	})
}

// textOfPart is the text of a part of a JSON string, without an escape that is cut off at either end.
func textOfPart(part []byte) []byte {
	const longest = 12 // bytes: two times \uXXXX
	if bytes.IndexByte(part, '\\') < 0 {
		return part
	}
	quoted := append(append([]byte{'"'}, part...), '"')
	for from := range 2 {
		for end := len(quoted); end > max(from+1, len(quoted)-longest); end-- {
			quoted[from], quoted[end-1] = '"', '"'
			if text, err := span.Unquote(quoted[from:end]); err == nil {
				return []byte(text)
			}
		}
		copy(quoted[1:], part)
		quoted[len(quoted)-1] = '"'
	}
	return part
}

func (r *Request) countTools(s Scale) int {
	if r.Tools.Empty() {
		return 0
	}
	if raw := r.Tools.Of(r.Body); IsEstimate(len(raw)) {
		return s.estimate(raw, false)
	}
	return s.Memo.Remember(s.Counter, countTools, r.Tools.Of(r.Body), func(raw []byte) int {
		list := r.Dialect.Tools(raw)
		if list == nil { // not as expected: as many as it is written with
			return s.Counter.Count(raw)
		}
		return s.Model.Tools(s.Counter.CountString, list)
	})
}

// pageBytes is about what a page of a document takes, for those whose pages are not counted.
const pageBytes = 50_000

// countMedia counts what is not text. A size that cannot be seen from here is taken for a usual one.
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

// pictureSize reads the size of an image that is given as data, with or without a scheme; 0 and 0 if it cannot be seen.
func pictureSize(url []byte) (width, height int) {
	_, data, ok := bytes.Cut(url, []byte(";base64,"))
	if !ok { // the data alone, or an address, which is none
		data = url
	}
	const head = 256 << 10 // bytes in which the size of a picture must stand
	c, _, err := image.DecodeConfig(io.LimitReader(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(data)), head))
	if err != nil {
		return 0, 0
	}
	return c.Width, c.Height
}

// Times returns the size in tokens of a model of which one token of the vocabulary is ratio.
func (s Size) Times(ratio float64) Size {
	if ratio == 1 {
		return s
	}
	f := func(n int) int { return int(float64(n)*ratio + 0.5) }
	return Size{
		f(s.System), f(s.Tools), f(s.User), f(s.Assistant), f(s.Results), f(s.Summary), f(s.Images), f(s.Other),
	}
}
