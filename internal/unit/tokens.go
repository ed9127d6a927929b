package unit

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

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
