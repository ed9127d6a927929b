package tokenize

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"image"
	_ "image/gif" // sizes of pictures
	_ "image/jpeg"
	_ "image/png"
	"io"
	"math"
	"regexp"
	"strings"

	"github.com/tidwall/gjson"
	_ "golang.org/x/image/webp"
)

// Model is what counting needs to know about a model.
type Model struct {
	Ratio float64 // tokens of the model for one of Vocabulary, as far as is known before any answer
	Exact bool    // Vocabulary is the model's own, and the ratio 1
	image imageRule
}

// Ratios before anything has been measured. Sources: for Claude the multipliers that sammcj/ingest published (PR 65);
// for Gemini its documentation's four characters to a token, for DeepSeek its documentation's 0.3 tokens to a
// character, both against the 4.44 bytes to a token of English prose in o200k_base; the rest are byte-pair
// vocabularies of 100k to 150k tokens, for which nothing trustworthy is published.
const (
	ratioClaude    = 1.18
	ratioNewClaude = 1.53
	ratioGemini    = 1.11
	ratioDeepSeek  = 1.33
	ratioOther     = 1.1
)

// families is read from the top: the first holds whose expression fits the beginning of a name, without the provider in
// front. Models with ratio 1 are Exact. Other makers' names begin like those and go on with letters or digits.
var families = []struct {
	names *regexp.Regexp
	ratio float64
	image imageRule
}{
	{names(`gpt-(5|4\.1)-mini\b`), 1, patches(1.62)},
	{names(`gpt-(5|4\.1)-nano\b`), 1, patches(2.46)},
	{names(`gpt-5\b`), 1, tiles(70, 140)},
	{names(`gpt-4o-mini\b`), 1, tiles(2833, 5667)},
	{names(`(gpt-4\.[15]|(chat)?gpt-4o|gpt-oss)\b`), 1, tiles(85, 170)},
	{names(`(o4-mini|codex)\b`), 1, patches(1.72)},
	{names(`o[134]\b`), 1, tiles(75, 150)},
	{names(`computer-use\b`), 1, tiles(65, 129)},
	{names(`claude-([23]|instant|v|4-|sonnet-4|haiku-4)`), ratioClaude, pixels(1568, 1600)},
	{names(`claude-opus-4($|[:@]|-[01256]|\.[156])`), ratioClaude, pixels(1568, 1600)}, // 4-2 is 4 with its date
	{names(`claude`), ratioNewClaude, pixels(2576, 4784)},                              // they look more closely
	{names(`gemini`), ratioGemini, fixed(258)},
	{names(`deepseek-r1-distill`), ratioOther, fixed(765)},                    // other makers' vocabularies
	{names(`([a-z-]{1,20}\.deepseek\.|deepseek)`), ratioDeepSeek, fixed(765)}, // maybe behind a region
}

func names(expr string) *regexp.Regexp { return regexp.MustCompile("^" + expr) }

// ModelOf returns the model of a name as requests spell it: with a provider in front ("openai/gpt-4o",
// "us.anthropic.claude-…"), a variant behind (":free"), or fine-tuned ("ft:gpt-4o:…"). A name that nothing fits is
// counted with a ratio.
func ModelOf(name string) Model {
	name = strings.ToLower(name)
	if tuned, ok := strings.CutPrefix(name, "ft:"); ok {
		name, _, _ = strings.Cut(tuned, ":")
	}
	name = name[strings.LastIndexByte(name, '/')+1:]
	for _, maker := range []string{"anthropic.", "openai.", "openai:", "databricks-"} { // a region may stand before it
		if _, after, ok := strings.Cut(name, maker); ok {
			name = after
		}
	}
	for _, family := range families {
		if family.names.MatchString(name) {
			return Model{family.ratio, family.ratio == 1, family.image}
		}
	}
	return Model{Ratio: ratioOther, image: fixed(765)}
}

// What a request costs beyond its texts. The numbers are those of OpenAI's cookbook ("How to count tokens"), which
// equalled the API on its own examples; the provider calls them an estimate, and other providers' templates differ.
// Ratios take care of the rest.
const (
	PerMessage = 3 // each message, besides its role and content
	PerName    = 1 // a message's name, besides the name itself
	PerReply   = 3 // once, for the answer's beginning

	// PerCall is each tool call of an assistant message, besides the texts of its name and arguments, and PerResult
	// what ties a result to it. Undocumented: a call with its result was seen to cost about 25.
	PerCall   = 12
	PerResult = 12
	// PerCallBatch is what a second call in the same message costs once.
	PerCallBatch = 24
)

// The cookbook's numbers for tools.
const (
	toolInit = 7
	propInit = 3
	propKey  = 3
	enumInit = -3
	enumItem = 3
	toolsEnd = 12
)

// Tools returns the tokens of tools' declarations, a list in JSON, as the provider renders them for the model. Unless
// all are functions, as OpenAI's APIs have them, the JSON is counted as it is written.
func Tools(count func(string) int, tools []byte) int {
	n := toolsEnd
	for _, t := range gjson.ParseBytes(tools).Array() {
		isFunction := t.Get("type").Str == "function"
		if inner := t.Get("function"); inner.Exists() { // Chat Completions has the declaration in here
			t = inner
		}
		name := t.Get("name").Str
		if !isFunction || name == "" {
			return count(string(tools))
		}
		n += toolInit + count(name+":"+description(t)) + properties(count, t.Get("parameters"), 0)
	}
	return n
}

func description(v gjson.Result) string { return strings.TrimSuffix(v.Get("description").Str, ".") }

// properties returns the tokens of the properties of an object in a JSON schema, or of an array's items.
func properties(count func(string) int, schema gjson.Result, depth int) (n int) {
	const deepest = 10 // as each level is read again for those within it
	all, items := schema.Get("properties"), schema.Get("items")
	switch {
	case depth == deepest:
		return count(schema.Raw)
	case items.Exists() && !all.Exists():
		return properties(count, items, depth+1)
	}
	all.ForEach(func(key, p gjson.Result) bool {
		n += propKey + count(key.Str+":"+p.Get("type").String()+":"+description(p)) + properties(count, p, depth+1)
		enum := p.Get("enum").Array()
		if len(enum) > 0 {
			n += enumInit
		}
		for _, e := range enum {
			n += enumItem + count(e.String())
		}
		return true
	})
	if n > 0 {
		n += propInit
	}
	return n
}

// imageRule is how a model counts an image of a size in pixels; low asks for the cheapest reading.
type imageRule func(width, height float64, low bool) int

// Image returns the tokens of an image. A size that is not known is 0, and counts as 1024 by 1024.
func (m Model) Image(width, height int, low bool) int {
	if width <= 0 || height <= 0 {
		width, height = 1024, 1024
	}
	const most = 1 << 20 // no picture is larger
	return m.image(float64(min(width, most)), float64(min(height, most)), low)
}

// tiles returns a rule: the image is fitted into 2048 by 2048, its shorter side brought down to 768; then each tile of
// 512 by 512 costs tile tokens, and the image base tokens.
func tiles(base, tile int) imageRule {
	return func(w, h float64, low bool) int {
		if low {
			return base
		}
		shrink := min(1, 2048/max(w, h))
		shrink = min(shrink, 768/min(w, h))
		return base + tile*ceil(w*shrink/512)*ceil(h*shrink/512)
	}
}

// patches returns a rule: each patch of 32 by 32 costs multiplier tokens. A larger image than 1536 patches is brought down
// to somewhat fewer, and counts as so many.
func patches(multiplier float64) imageRule {
	return func(w, h float64, _ bool) int {
		const most = 1536
		return int(float64(min(ceil(w/32)*ceil(h/32), most))*multiplier + 0.5)
	}
}

// pixels returns a rule: the long side is brought down to a length, and then 750 pixels cost a token, up to a bound.
func pixels(side float64, most int) imageRule {
	return func(w, h float64, _ bool) int {
		shrink := min(1, side/max(w, h))
		return min(max(1, int(w*shrink*h*shrink/750+0.5)), most)
	}
}

// fixed returns a rule by which any image costs n tokens.
func fixed(n int) imageRule { return func(_, _ float64, _ bool) int { return n } }

// ceil rounds up, but for a number that is whole except for its last bits.
func ceil(x float64) int { return max(1, int(math.Ceil(x-1e-9))) }

var pageOfPDF = regexp.MustCompile(`/Type\s*/Page\b`) // the node above all pages has the type Pages

// Document returns the tokens of a document in base64, for a model that reads text and image of each page. The number
// of pages is an estimate by the size where none can be seen, as in a PDF whose objects are compressed.
func (m Model) Document(url []byte) int {
	const pageBytes, textOfAPage, mostPages = 50_000, 700, 1_000
	content, _ := base64.StdEncoding.DecodeString(string(url[bytes.LastIndexByte(url, ',')+1:]))
	pages := cmp.Or(len(pageOfPDF.FindAllIndex(content, mostPages)), 1+len(content)/pageBytes)
	return pages * (textOfAPage + m.Image(0, 0, false))
}

// PictureSize returns the format of an image in base64, with or without the beginning of a data URL, and its size in
// pixels; 0 if it cannot be read.
func PictureSize(url []byte) (format string, width, height int) {
	const head = 256 << 10 // bytes in which the size must stand
	decoder := base64.NewDecoder(base64.StdEncoding, bytes.NewReader(url[bytes.LastIndexByte(url, ',')+1:]))
	c, format, _ := image.DecodeConfig(io.LimitReader(decoder, head)) // zero after an error
	return format, c.Width, c.Height
}
