package pages

import (
	"encoding/json"
	"fmt"
	"html/template"
	"net/url"
	"reflect"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"epitome/console/figure"
	"epitome/console/story"
)

// functions are what templates call. Amounts may be of any integer type.
var functions = template.FuncMap{
	// numbers
	"tokens": func(n any) string { return figure.Tokens(amount(n)) },
	"count":  func(n any) string { return humanize.Comma(amount(n)) },
	"bytes":  func(n any) string { return humanize.IBytes(uint64(amount(n))) },
	"ratio":  ratio,
	"times":  func(part, whole any) string { return fmt.Sprintf("%.1f", float64(amount(part))/float64(amount(whole))) },
	"plural": plural,
	// times
	"clock": func(t time.Time) string { return t.Local().Format("Jan 2 15:04:05") },
	"took":  took,
	// texts
	"short":   func(most int, text string) string { return figure.Shorten(text, most) },
	"line":    firstLine,
	"escaped": escaped,
	// figures with their names
	"tiles": sumTiles, "sums": story.SumsOf,
	// words for what happened
	"changes": changes, "why": why, "failed": failed, "miss": missText, "observed": observed,
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
	return figure.Percent(float64(amount(part)) / float64(amount(whole)))
}

// plural returns a number with its noun: "1 turn", "12 turns".
func plural(n any, noun string) string {
	if amount(n) == 1 {
		return "1 " + noun
	}
	return humanize.Comma(amount(n)) + " " + noun + "s"
}

// took returns a duration with about three digits.
func took(d time.Duration) string {
	unit := time.Second / 10
	if d < time.Second {
		unit = time.Millisecond
	}
	if d < 10*time.Millisecond {
		unit = 10 * time.Microsecond
	}
	return d.Round(unit).String()
}

// firstLine returns the beginning of a text's first line that is not empty.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimLeft(text[:min(len(text), 4096)], "\n "), "\n")
	return figure.Shorten(line, 160)
}

// escaped returns a value as JSON in which no character has a meaning for HTML, for a script to read back.
func escaped(v any) (string, error) {
	text, err := json.Marshal(v)
	return url.PathEscape(string(text)), err
}
