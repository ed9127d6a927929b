package policy

import (
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"epitome/event/money"
)

// The unit of published figures, which knows no model.
const (
	CharsPerToken = 3.6
	MessageTokens = 4    // framing of a message
	callTokens    = 12   // framing of a call
	partTokens    = 1000 // an image, or another part that is no text
)

// Prices of a token: one that the provider finds in its prompt cache, one that is new to it, and one that the model
// writes.
const (
	cachedPrice = 0.1
	NewPrice    = 1.0
	outputPrice = 5.0
)

// CacheLife is how long what was sent is held, at the least.
const CacheLife = money.CacheLife

// Dearer is the cost relative to sending everything from which a conversation counts as dearer.
const Dearer = 1.02

// TokensOf returns the tokens of chars characters in the unit.
func TokensOf(chars int) int { return int(float64(chars)/CharsPerToken) + 1 }

// Input is the tokens of a request, and how many of them stood in the same place in the request before.
type Input struct{ Tokens, Held int }

// Tariff is how a provider charges for a request, relative to a token that is new to it, and what its cache is taken to
// have, as in the figures by which epitome tells what it saves. In the unit of published figures all that the cache
// holds costs a tenth.
type Tariff struct {
	Cached float64 // price of a token that the cache has
	Write  float64 // price of a token that is new to it
	Output float64 // price of a token that the model writes

	IsUsual bool          // the cache has what money.CachedTokens says; else all that was held
	Life    time.Duration // for which the cache holds a request; 0 is without end
}

// PlainTariff returns the tariff of published figures, which stay as they are whatever is asked for.
func PlainTariff() Tariff { return Tariff{Cached: cachedPrice, Write: NewPrice, Output: outputPrice} }

// BillTariff returns the tariff of a provider that asks write for a token that is new to its cache.
func BillTariff(write float64) Tariff {
	t := PlainTariff()
	t.Write, t.IsUsual, t.Life = write, true, CacheLife
	return t
}

// Expires reports whether the cache has lost the request before after such a pause.
func (t Tariff) Expires(pause time.Duration) bool { return t.Life > 0 && pause > t.Life }

// Price returns what a request costs.
func (t Tariff) Price(l Input) float64 {
	held := max(min(l.Held, l.Tokens), 0)
	if t.IsUsual {
		held = money.CachedTokens(l.Tokens, l.Held)
	}
	return t.Cached*float64(held) + t.Write*float64(l.Tokens-held)
}

// declared returns the tokens of tools' declarations in published figures: as Python's json.dumps writes them, with
// ", " and ": " and all but ASCII escaped.
func declared(tools []byte) int {
	if len(tools) == 0 {
		return TokensOf(len("[]"))
	}
	return TokensOf(dumpedLength(string(tools)))
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

// decoded returns the text of a JSON string with its quotes.
func decoded(quoted string) string {
	var s string
	if json.Unmarshal([]byte(quoted), &s) != nil {
		return quoted
	}
	return s
}

// deepestLeaf is the nesting of a call's arguments below which values are not taken apart.
const deepestLeaf = 64

// leaves returns the values in a call's arguments, a line each: strings as they read, others as they stand. Arguments
// that are no JSON object have none.
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

// Size returns the number of characters in a text.
func Size(text string) int { return utf8.RuneCountInString(text) }
