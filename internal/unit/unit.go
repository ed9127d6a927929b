// Package unit reads and prints the quantities of a configuration: durations ("90s", "15m"), sizes in bytes ("64MB")
// and numbers of tokens ("32k", "32000"). What is printed can be read again. Durations and sizes need a unit, and no
// quantity is negative. Match reads the patterns of names, and Expressions those that packages have beside their code.
package unit

import (
	"fmt"
	"math"
	"math/bits"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/match"
)

// Duration is a span of time, written as Go writes it: "1.5s", "2m", "720h".
type Duration time.Duration

// D returns d as the standard library's type.
func (d Duration) D() time.Duration { return time.Duration(d) }

func (d Duration) String() string { return time.Duration(d).String() }

// MarshalText writes d with its unit.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads a duration.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil || strings.Trim(string(text[:1]), "0123456789") != "" || string(text) == "0" {
		return fmt.Errorf("cannot read duration %q: write a number with its unit, as in 500ms, 90s, 15m or 720h", text)
	}
	*d = Duration(v)
	return nil
}

// UnmarshalTOML reads a duration in quotes: a bare number has no unit.
func (d *Duration) UnmarshalTOML(value []byte) error { return d.UnmarshalText(unquote(value)) }

// unquote returns the text in quotes; of anything else, a text that is no quantity.
func unquote(value []byte) []byte {
	if n := len(value); n >= 2 && (value[0] == '"' || value[0] == '\'') {
		return value[1 : n-1]
	}
	return fmt.Appendf(nil, "%s without quotes", value)
}

// Bytes is a size, written with B, KB, MB or GB, each 1024 of the one before. KiB, MiB and GiB are the same.
type Bytes int64

const prefixes = "KMG"

// String writes b in the largest unit that divides it.
func (b Bytes) String() string {
	n := min(bits.TrailingZeros64(uint64(b))/10, len(prefixes))
	if b == 0 || n == 0 {
		return strconv.FormatInt(int64(b), 10) + "B"
	}
	return strconv.FormatInt(int64(b>>(10*n)), 10) + prefixes[n-1:n] + "B"
}

// MarshalText writes b as String does.
func (b Bytes) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalTOML reads a size in quotes: a bare number has no unit.
func (b *Bytes) UnmarshalTOML(value []byte) error { return b.UnmarshalText(unquote(value)) }

var size = regexp.MustCompile(`^([0-9]+) *(?:([KMG])i?)?B$`)

// UnmarshalText reads a whole number with its unit.
func (b *Bytes) UnmarshalText(text []byte) error {
	if m := size.FindStringSubmatch(string(text)); m != nil {
		shift := 10 * (strings.Index(prefixes, m[2]) + len(m[2]))
		if n, err := strconv.ParseInt(m[1], 10, 64-shift); err == nil {
			*b = Bytes(n) << shift
			return nil
		}
	}
	return fmt.Errorf("cannot read size %q: write a whole number with its unit, as in 512B, 32KB, 64MB or 1GB", text)
}

// MostTokens is more than any model holds: a larger number is none of tokens.
const MostTokens = 100_000_000

// Tokens is a number of tokens, written as a number ("32000", "32_000"), or with k (1000) or M (1 000 000) behind it.
// It is the one quantity that needs no unit.
type Tokens int

// UnmarshalText reads a number of tokens. The smallest and the largest one are for who asks to judge.
func (t *Tokens) UnmarshalText(text []byte) error {
	digits, times := strings.ReplaceAll(string(text), "_", ""), uint64(1)
	switch {
	case strings.HasSuffix(strings.ToLower(digits), "k"):
		digits, times = digits[:len(digits)-1], 1000
	case strings.HasSuffix(strings.ToLower(digits), "m"):
		digits, times = digits[:len(digits)-1], 1_000_000
	}
	n, err := strconv.ParseUint(digits, 10, 32)
	if err != nil || n*times > math.MaxInt32 {
		return fmt.Errorf(`cannot read tokens %q: write a number of them, as in 128000, or "128k" or "1M" in quotes`,
			text)
	}
	*t = Tokens(n * times)
	return nil
}

// Match reports whether name fits the pattern, in which * stands for any run of characters and ? for one. Case does not
// matter.
func Match(pattern, name string) bool {
	return match.Match(strings.ToLower(name), strings.ToLower(pattern))
}

// Expressions returns the expressions of a text by their names. Each line has a name and an expression, or is a
// comment; expressions of one name are alternatives.
func Expressions(text string) map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(text) {
		name, expr, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name != "" && name != "#" {
			all[name] = strings.TrimPrefix(all[name]+"|"+expr, "|")
		}
	}
	return all
}
