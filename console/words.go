package console

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"epitome/event"
	"epitome/event/journal"
)

// phrases are the texts that apply.
type phrases []string

func (p *phrases) add(applies bool, text string) {
	if applies {
		*p = append(*p, text)
	}
}

// changes says in a few words what was newly done to a request.
func changes(e event.Exchange) string {
	var p phrases
	p.add(e.Offloaded > 0, plural(e.Offloaded, "new result")+" shortened (offload)")
	p.add(e.Cleared > 0, plural(e.Cleared, "old result")+" cleared")
	p.add(e.Compacted > 0, plural(e.Compacted, "old message")+" compacted into a summary")
	p.add(slices.Contains(e.Causes, event.CodeRestored), "earlier messages sent whole again")
	p.add(e.Rescue.Rescued, "the provider refused the first try and answered a later one")
	p.add(e.Rescue.Kind != "" && !e.Rescue.Rescued, "the provider refused every try")
	isAsBefore := len(p) == 0 && e.Action != event.ActionNone && e.Action != event.ActionAdd
	p.add(isAsBefore, "nothing new; earlier changes were sent in the same form")
	return cmp.Or(strings.Join(p, "; "), "nothing")
}

// changed reports whether something was newly done to a request, or failed.
func changed(e event.Exchange) bool { return event.Step(&e) != "" || e.Action == event.ActionBypass }

// sentence returns a text that begins with a capital and ends with a full stop.
func sentence(text string) string {
	return strings.ToUpper(text[:min(len(text), 1)]) + strings.TrimSuffix(text[min(len(text), 1):], ".") + "."
}

// failed says how an exchange failed; empty if it did not.
func failed(e event.Exchange) string {
	var p phrases
	p.add(e.Status >= 400, "answered "+strconv.Itoa(e.Status))
	p.add(e.Fault != event.None, strings.ReplaceAll(string(e.Fault), "_", " "))
	p.add(e.Err != "", e.Err)
	p.add(e.Action == event.ActionBypass, "sent unchanged after a fault in epitome: "+cmp.Or(e.Inner, e.Reason))
	return strings.Join(p, ": ")
}

// Functions are what templates call. Amounts may be of any integer type.
var Functions = template.FuncMap{
	// numbers
	"tokens": func(n any) string { return Tokens(amount(n)) }, "dollars": Dollars,
	"count":  func(n any) string { return humanize.Comma(amount(n)) },
	"bytes":  func(n any) string { return humanize.IBytes(uint64(amount(n))) },
	"ratio":  ratio,
	"times":  func(part, whole any) string { return fmt.Sprintf("%.1f", float64(amount(part))/float64(amount(whole))) },
	"share":  share,
	"plural": plural,
	// times
	"clock": func(t time.Time) string { return t.Local().Format("Jan 2 15:04:05") },
	"took":  took,
	"day": func(date string) int64 { // counts days
		at, _ := time.Parse(time.DateOnly, date) // as a Report writes it
		return at.Unix() / (24 * 60 * 60)
	},
	// texts
	"short":    func(most int, text string) string { return Shorten(text, most) },
	"contains": strings.Contains,
	"base":     path.Base,
	"self":     func() string { return Self },
	"head":     func(column string) string { return strings.ToUpper(column[:1]) + strings.ToLower(column[1:]) },
	"line": func(text string) string { // the beginning of the first line that is not empty
		line, _, _ := strings.Cut(strings.TrimLeft(text[:min(len(text), 4096)], "\n "), "\n")
		return Shorten(line, 160)
	},
	// figures
	"figures": func() []Figure { return Figures },
	"figure":  func(f Figure, s journal.Sums) string { return cmp.Or(f.Text(s), "–") },
	"sums":    journal.SumsOf, "billed": Billed, "gain": Gain, "cards": cards,
	// words for what happened
	"parts": Parts, "changes": changes, "changed": changed, "failed": failed, "sentence": sentence,
	"glyph": func(step string) string { return glyphs[step] },
}

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
	v := float64(nano) / 1e9
	switch {
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
	if v != 0 && math.Abs(v) < .0995 {
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
	runes := []rune(text[:min(len(text), utf8.UTFMax*(most+1))])
	if len(runes) > most {
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

// share returns a part of the whole in percent, to two digits behind the point.
func share(part, whole any) float64 {
	return math.Round(1e4*float64(amount(part))/float64(amount(whole))) / 100
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
