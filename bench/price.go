package bench

import (
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// The unit of a replay is fixed, whatever the model: what is compared is policies, and published figures are in it.
const (
	charsPerToken = 3.6
	messageTokens = 4    // framing of a message
	callTokens    = 12   // framing of a call
	partTokens    = 1000 // an image, or another part that is no text
)

// Prices of an input token: one that the provider finds in its prompt cache, and one that is new to it.
const (
	cachedPrice = 0.1
	newPrice    = 1.0
)

// cacheLife is how long providers hold what was sent, at the least.
const cacheLife = 5 * time.Minute

// dearer is the cost relative to sending everything from which a conversation counts as dearer.
const dearer = 1.02

// tokensOf is the length of so many characters in the unit.
func tokensOf(chars int) int { return int(float64(chars)/charsPerToken) + 1 }

// tariff is what a provider asks for beside the price of a token that it finds in its cache.
type tariff struct {
	write float64       // price of a token that is new to the cache
	life  time.Duration // how long after a request the cache still holds it
}

// price is what a request costs of whose tokens so many are in the provider's cache.
func (t tariff) price(tokens, cached int) float64 {
	cached = min(cached, tokens)
	return cachedPrice*float64(cached) + t.write*float64(tokens-cached)
}

// expired reports whether the provider's cache has lost the request before. Where no time is known it has not.
func (t tariff) expired(c *recording, bound int) bool { return c.pause(bound) > t.life }

// fixedTokens is the size of what stands beside the messages: the declarations of tools as Python's json.dumps writes
// them, with ", " and ": " and all but ASCII escaped, as that is what the published figures count.
func fixedTokens(tools []byte) int {
	if len(tools) == 0 {
		return tokensOf(len("[]"))
	}
	return tokensOf(dumpedLength(string(tools)))
}

func dumpedLength(s string) int {
	n := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ' ', '\n', '\r', '\t':
		case ',', ':':
			n += 2
		case '"':
			raw := gjson.Parse(s[i:]).Raw
			n += 2 + escapedLength(decoded(raw))
			i += len(raw) - 1
		default:
			n++
		}
	}
	return n
}

func escapedLength(s string) int {
	n := 0
	for _, r := range s {
		switch {
		case strings.ContainsRune("\"\\\n\r\t\b\f", r):
			n += 2
		case r >= ' ' && r < 0x7f:
			n++
		case r > 0xffff:
			n += 12
		default:
			n += 6
		}
	}
	return n
}

// decoded is the text of a JSON string with its quotes.
func decoded(quoted string) string {
	var s string
	if json.Unmarshal([]byte(quoted), &s) != nil {
		return quoted
	}
	return s
}

// deepestLeaf is the nesting of a call's arguments below which values are not taken apart.
const deepestLeaf = 64

// leaves are the values in a call's arguments, a line each: strings as they read, others as they stand. Arguments that
// are no JSON object have none.
func leaves(arguments string) []string {
	if !json.Valid([]byte(arguments)) {
		return nil
	}
	v := gjson.Parse(arguments)
	if !v.IsObject() {
		return nil
	}
	return appendLeaves(nil, v, deepestLeaf)
}

func appendLeaves(to []string, v gjson.Result, depth int) []string {
	switch {
	case v.Type == gjson.String:
		return append(to, v.Str)
	case v.Type != gjson.JSON || depth == 0:
		return append(to, v.Raw)
	}
	v.ForEach(func(_, value gjson.Result) bool {
		to = appendLeaves(to, value, depth-1)
		return true
	})
	return to
}

// size is the number of characters in a text.
func size(text string) int { return utf8.RuneCountInString(text) }
