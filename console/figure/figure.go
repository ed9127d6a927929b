// Package figure writes numbers and foreign texts for people, the same on pages and in a terminal.
package figure

import (
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
)

// Tokens writes a number of tokens in three digits, such as 4.12k or 128k.
func Tokens(n int64) string {
	v, unit := float64(n), 0
	for ; math.Abs(v) >= 999.5 && unit < 3; unit++ {
		v /= 1000
	}
	return fmt.Sprintf("%.3g%s", v, [...]string{"", "k", "M", "G"}[unit])
}

// Dollars writes nano-dollars: from a dollar on to the cent, smaller amounts with more digits.
func Dollars(nano int64) string {
	switch v := float64(nano) / 1e9; {
	case nano < 0:
		return "−" + Dollars(-nano)
	case nano == 0 || v >= .9995:
		return "$" + humanize.FormatFloat("#,###.##", v)
	case v >= .01:
		return fmt.Sprintf("$%.3f", v)
	default:
		return fmt.Sprintf("$%.4f", v)
	}
}

// Percent writes a share of one: below a tenth with a digit behind the point.
func Percent(v float64) string {
	if a := math.Abs(v); a > 0 && a < .0995 {
		return fmt.Sprintf("%.1f %%", 100*v)
	}
	return fmt.Sprintf("%.0f %%", 100*v)
}

// Plain returns a text with each character replaced that Visible replaces. The result is valid UTF-8.
func Plain(text string) string { return strings.Map(Visible, text) }

// Visible returns r; in place of a control character its picture, and U+FFFD for any other character that is invisible
// or turns the direction of writing.
func Visible(r rune) rune {
	switch {
	case r < ' ':
		return '\u2400' + r
	case unicode.IsGraphic(r):
		return r
	}
	return unicode.ReplacementChar
}

// Shorten returns the text, or its beginning with an ellipsis, in at most most characters.
func Shorten(text string, most int) string {
	if runes := []rune(text[:min(len(text), utf8.UTFMax*(most+1))]); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}
