package tokenize

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf16"
)

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
	propInit = 3
	propKey  = 3
	enumInit = -3
	enumItem = 3
	toolsEnd = 12
)

// Tool is a function that a model may call, as far as it is rendered for the model.
type Tool struct {
	Name, Description string
	Parameters        Schema
}

// Schema is what of a JSON schema is rendered for a model.
type Schema struct {
	Type        any
	Description string
	Enum        []any
	Properties  map[string]Schema
	Items       *Schema
}

// Tools returns the tokens of tools' declarations, as the provider renders them for the model.
func (m Model) Tools(count func(string) int, tools []Tool) int {
	if len(tools) == 0 {
		return 0
	}
	n := toolsEnd
	for _, t := range tools {
		n += m.funcInit + count(t.Name+":"+strings.TrimSuffix(t.Description, ".")) + t.Parameters.tokens(count, 0)
	}
	return n
}

// deepest bounds how far a schema is followed; what lies deeper is not rendered for a model either.
const deepest = 64

// tokens are those of the properties of an object, or of an array's items.
func (s Schema) tokens(count func(string) int, depth int) (n int) {
	for s.Items != nil && len(s.Properties) == 0 {
		s = *s.Items
	}
	if len(s.Properties) == 0 || depth > deepest {
		return 0
	}
	for key, p := range s.Properties {
		n += propKey + count(key+":"+fmt.Sprint(p.Type)+":"+strings.TrimSuffix(p.Description, "."))
		if len(p.Enum) > 0 {
			n += enumInit
		}
		for _, e := range p.Enum {
			n += enumItem + count(fmt.Sprint(e))
		}
		n += p.tokens(count, depth+1)
	}
	return n + propInit
}

// CountEscaped returns the number of tokens of a tool result when several calls were made at once: providers were seen
// to write such results with \uXXXX for every character beyond ASCII, which costs up to twelve times as much.
func (c *Counter) CountEscaped(text []byte) int { return c.WeighEscaped(text).Tokens }

// WeighEscaped is Weigh for what CountEscaped counts.
func (c *Counter) WeighEscaped(text []byte) Weight {
	plain := 0
	for plain < len(text) && text[plain] < 0x80 {
		plain++
	}
	if plain == len(text) {
		return c.Weigh(text)
	}
	var buf []byte
	for _, r := range string(text) {
		switch {
		case r < 0x80:
			buf = append(buf, byte(r))
		case r < 0x10000:
			buf = fmt.Appendf(buf, `\u%04x`, r)
		default:
			high, low := utf16.EncodeRune(r)
			buf = fmt.Appendf(buf, `\u%04x\u%04x`, high, low)
		}
	}
	return c.Weigh(buf)
}

// imageRule is how a model counts an image of a size in pixels; low asks for the cheapest reading.
type imageRule func(width, height int, low bool) int

// Image returns the tokens of an image. A size that is not known is 0, and counts as 1024 by 1024.
func (m Model) Image(width, height int, low bool) int {
	if width <= 0 || height <= 0 {
		width, height = 1024, 1024
	}
	const most = 1 << 20 // no picture is larger, and no product of two overflows
	return m.image(min(width, most), min(height, most), low)
}

// tiles returns a rule: the image is fitted into 2048 by 2048, its shorter side brought down to 768; then each tile of
// 512 by 512 costs tile tokens, and the image base tokens.
func tiles(base, tile int) imageRule {
	return func(width, height int, low bool) int {
		if low {
			return base
		}
		w, h := float64(width), float64(height)
		if most := max(w, h); most > 2048 {
			w, h = w*2048/most, h*2048/most
		}
		if least := min(w, h); least > 768 {
			w, h = w*768/least, h*768/least
		}
		return base + tile*ceilDiv(w, 512)*ceilDiv(h, 512)
	}
}

// patches returns a rule: each patch of 32 by 32 costs multiplier tokens. There are at most 1536 patches; a larger
// image is brought down until whole patches fit in one direction.
func patches(multiplier float64) imageRule {
	const most, side = 1536, 32
	return func(width, height int, _ bool) int {
		w, h := float64(width)/side, float64(height)/side // in patches
		if ceilDiv(w, 1)*ceilDiv(h, 1) > most {
			r := math.Sqrt(most / (w * h))
			if w*r < 1 || h*r < 1 { // a line
				return int(most*multiplier + 0.5)
			}
			r *= min(math.Floor(w*r)/(w*r), math.Floor(h*r)/(h*r))
			w, h = max(1, w*r-rounding), max(1, h*r-rounding)
		}
		return int(float64(min(ceilDiv(w, 1)*ceilDiv(h, 1), most))*multiplier + 0.5)
	}
}

// rounding keeps a number that is whole but for the last bits from being rounded up.
const rounding = 1e-9

// pixels and finePixels bring the long side down, and then count one token for 750 pixels, up to a bound. Models from
// Opus 4.7 on look more closely.
func pixels(width, height int, _ bool) int { return perPixel(width, height, 1568, 1600) }

func finePixels(width, height int, _ bool) int { return perPixel(width, height, 2576, 4784) }

func perPixel(width, height int, side float64, most int) int {
	w, h := float64(width), float64(height)
	if longer := max(w, h); longer > side {
		w, h = w*side/longer, h*side/longer
	}
	return min(max(1, int(w*h/750+0.5)), most)
}

// fixed returns a rule by which any image costs n tokens.
func fixed(n int) imageRule { return func(int, int, bool) int { return n } }

func ceilDiv(a, b float64) int {
	n := int(a / b)
	if float64(n)*b < a {
		n++
	}
	return n
}

// Audio returns the tokens of n bytes of sound: ten for a second, at the format's usual rate of bytes.
func Audio(format string, n int) int {
	perSecond := 16_000 // compressed, 128 kbit/s
	if format == "wav" || format == "pcm16" {
		perSecond = 48_000 // 24 kHz, 16 bits, one channel
	}
	return 10 * (n/perSecond + 1)
}

// Document returns the tokens of a document for a model that reads text and image of each page.
func (m Model) Document(pages int) int {
	const textOfAPage = 700
	return pages * (textOfAPage + m.Image(0, 0, false))
}
