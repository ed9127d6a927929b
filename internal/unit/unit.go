// Package unit reads and prints the quantities a person writes in a
// configuration: durations ("90s", "15m"), sizes in bytes ("64MB", "32KB") and numbers of tokens
// ("32k", "32000").
//
// It promises that printing and reading again gives the same value, and that a
// negative number is refused, and a bare one of a duration or size: their unit is always written.
package unit

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Duration is a span of time, written as Go writes it: "1.5s", "2m", "720h". "0s" means what its key says.
type Duration time.Duration

// D returns d as the standard library's type.
func (d Duration) D() time.Duration { return time.Duration(d) }

func (d Duration) String() string { return time.Duration(d).String() }

// MarshalText writes d with its unit.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads a duration that is not negative.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil || v < 0 || !digitFirst(text) || string(text) == "0" {
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

// digitFirst keeps signs out.
func digitFirst(text []byte) bool { return len(text) > 0 && '0' <= text[0] && text[0] <= '9' }

// Bytes is a size, written with B, KB, MB or GB, each 1024 of the one before. KiB, MiB and GiB are the same.
type Bytes int64

// Common sizes.
const (
	B  Bytes = 1
	KB       = 1024 * B
	MB       = 1024 * KB
	GB       = 1024 * MB
)

var suffixes = []struct {
	name string
	size Bytes
}{{"GB", GB}, {"MB", MB}, {"KB", KB}, {"B", B}}

// String writes b in the largest unit that divides it.
func (b Bytes) String() string {
	for _, s := range suffixes {
		if b >= s.size && b%s.size == 0 {
			return strconv.FormatInt(int64(b/s.size), 10) + s.name
		}
	}
	return strconv.FormatInt(int64(b), 10) + "B"
}

// MarshalText writes b as String does.
func (b Bytes) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalTOML reads a size in quotes: a bare number has no unit.
func (b *Bytes) UnmarshalTOML(value []byte) error { return b.UnmarshalText(unquote(value)) }

// UnmarshalText reads a whole number with its unit.
func (b *Bytes) UnmarshalText(text []byte) error {
	for _, s := range suffixes {
		digits, ok := strings.CutSuffix(string(text), s.name)
		if !ok && s.size > B {
			digits, ok = strings.CutSuffix(string(text), s.name[:1]+"iB")
		}
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
		if err != nil || n < 0 || !digitFirst(text) || n > math.MaxInt64/int64(s.size) {
			break
		}
		*b = Bytes(n) * s.size
		return nil
	}
	return fmt.Errorf("cannot read size %q: write a whole number with its unit, as in 512B, 32KB, 64MB or 1GB", text)
}
