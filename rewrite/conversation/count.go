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
	Part    int     // one of so many bytes of each text is looked at, and the rest estimated; 0 and 1: all are
}

// What counting may cost. How much of a text is looked at depends on its item and on the items before it alone, so that
// every machine counts alike, whatever it has counted before. Pictures are no text.
const (
	// MostCounted is how many bytes of the texts of one item are looked at.
	MostCounted = 1 << 20
	// MostWork is what counting a conversation's items may cost until farPart of each further text is looked at, as
	// tokenize.Weight has it. Code, logs and prose of some two million tokens cost as much.
	MostWork = 2 << 20
	farPart  = 64
	// leastCounted is how many bytes of a text are looked at in any case.
	leastCounted = 32
)

// counts is how many bytes of a text of so many bytes are looked at.
func (s Scale) counts(size int) int {
	if s.Part <= 1 {
		return size
	}
	return max(size/s.Part, min(size, leastCounted))
}

// IsEstimate reports whether the tokens of a text of so many bytes are estimated. No model is shown such a number.
func (s Scale) IsEstimate(size int) bool { return s.counts(size) < size }

// Within is the scale for an item of the request, where counting the items before it has cost so much work.
func (s Scale) Within(r *Request, it *Item, work int) Scale {
	s.Part = 1
	if place := it.Place(); place.End-place.Start > MostCounted {
		s.Part = (textBytes(r, it) + MostCounted - 1) / MostCounted
	}
	if work > MostWork {
		s.Part = max(s.Part, farPart)
	}
	return s
}

// alone is the scale for one text that is no item's.
func (s Scale) alone(size int) Scale {
	s.Part = (size + MostCounted - 1) / MostCounted
	return s
}

// textBytes is how many bytes of the item are counted.
func textBytes(r *Request, it *Item) (n int) {
	n = len(it.Name)
	for _, c := range it.Calls {
		n += len(c.Name) + c.Arguments.End - c.Arguments.Start
	}
	for _, t := range it.Thinking {
		n += t.Text.End - t.Text.Start
	}
	parts, err := r.Parts(it)
	for _, p := range parts {
		if p.isText() {
			n += p.Value.End - p.Value.Start
		}
	}
	if err != nil {
		n += it.Content.End - it.Content.Start
	}
	return n
}

// isText reports whether the part is counted by its bytes.
func (p *Part) isText() bool { return p.Kind == TextPart || p.Kind == OtherPart }

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

// CountFixed measures what stands beside the items behind the head. estimated says that it is an estimate.
func (r *Request) CountFixed(s Scale) (size Size, estimated bool) {
	size.Other = tokenize.PerReply
	size.Tools, estimated = r.countTools(s)
	work := 0
	add := func(it *Item, m Measure) {
		size.Add(System, m.Text, m.Media)
		work, estimated = work+m.Work, estimated || m.Estimated
	}
	for i := range r.Items[:r.Head] {
		it := &r.Items[i]
		add(it, r.MeasureItem(s.Within(r, it, work), it, false))
	}
	if !r.Instructions.Empty() {
		it := &Item{Span: r.Instructions, Content: r.Instructions}
		add(it, r.CountContent(s.Within(r, it, work), it, false))
	}
	return size, estimated
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
	m := r.MeasureItem(s, &r.Items[i], r.AnswersOneOfSeveral(i))
	return m.Text + m.Media
}

// AnswersOneOfSeveral reports whether the item is the result of one call of several: one of those directly behind the
// message that called.
func (r *Request) AnswersOneOfSeveral(i int) bool {
	if r.Items[i].Role != Tool {
		return false
	}
	run := &r.found.results
	if i < run.First || i >= run.End {
		*run = Group{i, i + 1}
		for run.First > 0 && r.Items[run.First-1].Role == Tool {
			run.First--
		}
		for run.End < len(r.Items) && r.Items[run.End].Role == Tool {
			run.End++
		}
	}
	before := run.First - 1
	return before >= 0 && r.Items[before].Role == Assistant && len(r.Items[before].Calls) > 1
}

// Measure is what an item comes to.
type Measure struct {
	Text, Media int  // tokens: of what is written, and apart from that of pictures, sound and documents
	Work        int  // what counting costs, as tokenize.Weight has it
	Estimated   bool // not all of its texts were looked at
}

// add counts a text in.
func (m *Measure) add(w tokenize.Weight, estimated bool) {
	m.Text, m.Work, m.Estimated = m.Text+w.Tokens, m.Work+w.Work, m.Estimated || estimated
}

// addText counts a JSON value in.
func (m *Measure) addText(s Scale, v []byte, escaped bool) {
	m.add(s.weigh(v, escaped), s.IsEstimate(len(v)))
}

// addPlain counts a text in that stands in no JSON.
func (m *Measure) addPlain(s Scale, text string) { m.add(s.weighPlain(text), s.IsEstimate(len(text))) }

// MeasureItem counts an item. escaped says that its text is counted as it stands in JSON.
func (r *Request) MeasureItem(s Scale, it *Item, escaped bool) Measure {
	m := r.CountContent(s, it, escaped)
	m.Text += tokenize.PerMessage + 1 // every role is one token
	if it.Name != "" {
		m.Text += tokenize.PerName
		m.addPlain(s, it.Name)
	}
	if it.Role == Tool {
		m.Text += tokenize.PerResult
	}
	for k, c := range it.Calls {
		m.Text += tokenize.PerCall
		m.addPlain(s, c.Name)
		m.addText(s, c.Arguments.Of(r.Body), false)
		if k == 1 {
			m.Text += tokenize.PerCallBatch
		}
	}
	for _, t := range it.Thinking {
		m.addText(s, t.Text.Of(r.Body), false)
	}
	return m
}

// CountContent measures what an item says and shows.
func (r *Request) CountContent(s Scale, it *Item, escaped bool) (m Measure) {
	parts, err := r.Parts(it)
	for _, p := range parts {
		if p.isText() {
			m.addText(s, p.Value.Of(r.Body), escaped)
		} else {
			m.Media += s.countMedia(p, r.Body)
		}
	}
	if err != nil { // parts that are not as expected cost what they are written with
		m.addText(s, it.Content.Of(r.Body), false)
	}
	return m
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

// The kinds of counts that are remembered beside that of a text as it stands. Behind them, each with the part that is
// looked at, are those of estimates.
const (
	countUnquoted uint16 = iota + 1
	countEscaped
	countTools
	countAbout
)

// CountText counts the tokens of a JSON value: of a string those of its text, of anything else those of its bytes.
func (s Scale) CountText(v []byte, escaped bool) int { return s.weigh(v, escaped).Tokens }

// weigh is what counting a JSON value comes to.
func (s Scale) weigh(v []byte, escaped bool) tokenize.Weight {
	if s.IsEstimate(len(v)) {
		return s.estimate(v, escaped)
	}
	if len(v) < 2 || v[0] != '"' {
		return s.Memo.Weigh(s.Counter, v)
	}
	if escaped && s.Model.Exact {
		return s.Memo.Remember(s.Counter, countEscaped, v,
			func(v []byte) tokenize.Weight { return s.Counter.WeighEscaped(span.TextOf(v)) })
	}
	if bytes.IndexByte(v, '\\') < 0 {
		return s.Memo.Weigh(s.Counter, v[1:len(v)-1])
	}
	return s.Memo.Remember(s.Counter, countUnquoted, v,
		func(v []byte) tokenize.Weight { return s.Counter.Weigh(span.TextOf(v)) })
}

// CountPlain counts a text that stands in no JSON: a name, or what epitome has made.
func (s Scale) CountPlain(text string) int { return s.alone(len(text)).weighPlain(text).Tokens }

func (s Scale) weighPlain(text string) tokenize.Weight {
	if !s.IsEstimate(len(text)) {
		return s.Counter.WeighString(text)
	}
	return tokenize.About([]byte(text), s.counts(len(text)), s.Counter.Weigh)
}

// estimate is about what weigh says.
func (s Scale) estimate(v []byte, escaped bool) tokenize.Weight {
	kind := countAbout + uint16(s.Part)<<2 //nolint:gosec // a part of a body
	weigh := s.Counter.Weigh
	if escaped && s.Model.Exact {
		kind |= 1 << 15
		weigh = s.Counter.WeighEscaped
	}
	return s.Memo.Remember(s.Counter, kind, v, func(v []byte) tokenize.Weight {
		most := s.counts(len(v))
		if len(v) > 1 && v[0] == '"' {
			v = v[1 : len(v)-1]
		}
		return tokenize.About(v, most, func(sample []byte) tokenize.Weight { return weigh(textOfPart(sample)) })
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

// countTools counts the declarations of tools. estimated says that they are too large to be counted.
func (r *Request) countTools(s Scale) (n int, estimated bool) {
	if r.Tools.Empty() {
		return 0, false
	}
	raw := r.Tools.Of(r.Body)
	if s = s.alone(len(raw)); s.Part > 1 {
		return s.estimate(raw, false).Tokens, true
	}
	return s.Memo.Remember(s.Counter, countTools, raw, func(raw []byte) tokenize.Weight {
		list := r.Dialect.Tools(raw)
		if list == nil { // not as expected: as many as it is written with
			return s.Counter.Weigh(raw)
		}
		return tokenize.Weight{Tokens: s.Model.Tools(s.Counter.CountString, list)}
	}).Tokens, false
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
