package console

import (
	"fmt"
	"html/template"
	"math"
	"path"
	"reflect"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"epitome/event/journal"
)

// functions are what templates call. Amounts may be of any integer type.
var functions = template.FuncMap{
	// numbers
	"tokens": func(n any) string { return Tokens(amount(n)) }, "dollars": Dollars,
	"count":  func(n any) string { return humanize.Comma(amount(n)) },
	"bytes":  func(n any) string { return humanize.IBytes(uint64(amount(n))) },
	"ratio":  ratio,
	"times":  func(part, whole any) string { return fmt.Sprintf("%.1f", float64(amount(part))/float64(amount(whole))) },
	"plural": plural,
	// times
	"clock": func(t time.Time) string { return t.Local().Format("Jan 2 15:04:05") },
	"took":  took,
	// texts
	"short": func(most int, text string) string { return Shorten(text, most) },
	"base":  path.Base,
	// the version of a build from a checkout: without the time, and with the beginning of the commit alone
	"version": func(v string) string { return checkout.ReplaceAllString(v, "-$2") },
	"line":    firstLine,
	// figures with their names
	"tiles": sumTiles, "sums": journal.SumsOf,
	// words for what happened
	"parts": Parts, "changes": changes, "why": why, "failed": failed, "miss": missText, "lost": CacheLost,
	"again": ReadAgain, "left": leftText, "sumup": sumUp, "sentence": sentence,
	"glyph": func(step string) string { return glyphs[step] },
}

// checkout matches time and commit in the version of a build from a checkout.
var checkout = regexp.MustCompile(`-(0\.)?\d{14}-([0-9a-f]{7})[0-9a-f]*`)

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

// Billed writes what requests cost, with ≥ in front if it may be more.
func Billed(m journal.Money) string {
	if m.AtLeast > 0 {
		return "≥ " + Dollars(m.Billed)
	}
	return Dollars(m.Billed)
}

// Percent writes a share of one: below a tenth with a digit behind the point.
func Percent(v float64) string {
	if a := math.Abs(v); a > 0 && a < .0995 {
		return fmt.Sprintf("%.1f %%", 100*v)
	}
	return fmt.Sprintf("%.0f %%", 100*v)
}

// Plain returns a text for a terminal, with each character replaced that visible replaces. The result is valid UTF-8.
func Plain(text string) string { return strings.Map(visible, text) }

// PlainLines is Plain for a text of several lines: it keeps line breaks and tabs.
func PlainLines(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		return visible(r)
	}, text)
}

// visible returns r; in place of a control character its picture, and U+FFFD for any other character that is invisible
// or turns the direction of writing.
func visible(r rune) rune {
	switch {
	case r < ' ':
		return '\u2400' + r
	case r <= '~', unicode.IsGraphic(r): // most are ASCII, which needs no table
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

// amount returns an integer of any type.
func amount(n any) int64 {
	v := reflect.ValueOf(n)
	if v.CanUint() {
		return int64(v.Uint())
	}
	return v.Int()
}

// ratio returns a part of the whole in percent; empty if there is no whole.
func ratio(part, whole any) string {
	if amount(whole) == 0 {
		return ""
	}
	return Percent(float64(amount(part)) / float64(amount(whole)))
}

// plural returns a number with its noun: "1 turn", "12 turns".
func plural(n any, noun string) string {
	return humanize.Comma(amount(n)) + " " + english.PluralWord(int(amount(n)), noun, "")
}

// took returns a duration: from a second on in seconds, else in milliseconds.
func took(d time.Duration) string {
	if d >= time.Second {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%.1f ms", d.Seconds()*1000)
}

// firstLine returns the beginning of a text's first line that is not empty.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimLeft(text[:min(len(text), 4096)], "\n "), "\n")
	return Shorten(line, 160)
}
