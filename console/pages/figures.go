package pages

import (
	"fmt"
	"html/template"
	"net/url"
	"strconv"
	"strings"
	"time"

	"epitome/console/chart"
	"epitome/console/figure"
	"epitome/event"
)

// functions are what the templates call.
func functions(zone *time.Location) template.FuncMap {
	return template.FuncMap{
		"tokens": tokens, "count": count, "money": money, "saving": saving, "share": share, "percent": percent,
		"took": took, "size": size, "made": made, "madeMoney": madeMoney, "unknown": unknown,
		"clock": func(t time.Time) template.HTML { return clock(t, zone) },
		"text":  text, "short": short, "path": segment, "thousands": func(n any) string { return thousands(whole(n)) },
		"what": what, "why": why, "miss": missWords, "unpriced": unpricedWords, "fault": faultWords, "cached": cached,
		"billed": billed, "saved": saved, "part": partsOf, "sub": func(a, b int) int { return a - b },
		"add": func(a, b int) int { return a + b }, "signed": signed, "message": message, "lookAt": lookAt,
		"firstLine": firstLine, "watched": isWatched, "ended": ended, "plural": plural, "rung": rungWords,
		"stop": func(s string) string { return strings.TrimRight(text(s), ". ") },
	}
}

// markup is code of a page. Whoever calls it has escaped all texts within.
func markup(code string) template.HTML { return template.HTML(code) } //nolint:gosec // numbers and escaped texts

// datum is a number that the API tells as value, as it is shown; title has it in full, if that is more.
func datum(value, title, shown string) template.HTML {
	if title != "" {
		title = ` title="` + template.HTMLEscapeString(title) + `"`
	}
	return markup(`<data value="` + value + `"` + title + `>` + template.HTMLEscapeString(shown) + `</data>`)
}

// derived is a number that is worked out of some that the API tells; from says of which.
func derived(value, from, shown string) template.HTML {
	return markup(`<data value="` + value + `" data-made="` + template.HTMLEscapeString(from) + `">` +
		template.HTMLEscapeString(shown) + `</data>`)
}

// unknown is what is not known, with the reason in words.
func unknown(why string) template.HTML {
	if why == "" {
		return `<span class="soft">unknown</span>`
	}
	return markup(`<span class="soft" title="` + template.HTMLEscapeString(why) + `">unknown</span>`)
}

// thousands writes a number in groups of three digits.
func thousands[N int | int64 | uint64](n N) string { return figure.Thousands(int64(n)) }

// short writes a number of tokens as a reader takes it in.
func short(n int) string { return figure.Tokens(int64(n)) }

// tokens shows a number of tokens that the API tells.
func tokens(n any) template.HTML {
	v := whole(n)
	return datum(strconv.FormatInt(v, 10), thousands(v)+" tokens", short(int(v)))
}

// made shows a number of tokens that is worked out.
func made(n any, from string) template.HTML {
	v := whole(n)
	return derived(strconv.FormatInt(v, 10), from, short(int(v)))
}

// count shows a number that the API tells.
func count(n any) template.HTML {
	v := whole(n)
	return datum(strconv.FormatInt(v, 10), "", thousands(v))
}

// whole takes any of the types that counts have.
func whole(n any) int64 {
	switch n := n.(type) {
	case int:
		return int64(n)
	case int32:
		return int64(n)
	case int64:
		return n
	case uint64:
		return int64(n) //nolint:gosec // exchanges are fewer
	}
	panic(fmt.Sprintf("BUG: %T is shown as a number", n))
}

// dollars writes nano-dollars.
func dollars(nano int64) string { return figure.Dollars(nano) }

// money shows nano-dollars that the API tells.
func money(nano int64) template.HTML { return datum(strconv.FormatInt(nano, 10), "", dollars(nano)) }

// madeMoney shows nano-dollars that are worked out.
func madeMoney(nano int64, from string) template.HTML {
	return derived(strconv.FormatInt(nano, 10), from, dollars(nano))
}

// saving shows what was saved; what cost more is called so.
func saving(nano int64) template.HTML {
	if nano < 0 {
		return `<span class="bad">extra cost ` + datum(strconv.FormatInt(nano, 10), "", dollars(-nano)) + `</span>`
	}
	return money(nano)
}

// share shows a share of one that the API tells; below zero is unknown.
func share(v float64) template.HTML {
	if v < 0 {
		return unknown("")
	}
	return datum(strconv.FormatFloat(v, 'g', -1, 64), "", percentText(v))
}

// percent shows what part of the whole is.
func percent(part, all any, from string) template.HTML {
	if whole(all) == 0 {
		return unknown("")
	}
	v := float64(whole(part)) / float64(whole(all))
	return derived(strconv.FormatFloat(v, 'f', 4, 64), from, percentText(v))
}

func percentText(v float64) string { return figure.Percent(v) }

// signed shows parts of a million as percent with a sign.
func signed(ppm int64) template.HTML {
	shown := percentText(float64(ppm) / 1e6)
	if ppm > 0 {
		shown = "+" + shown
	}
	return datum(strconv.FormatInt(ppm, 10), "", shown)
}

// took shows a time that something took.
func took(d time.Duration) template.HTML {
	shown := ""
	switch {
	case d < time.Millisecond:
		shown = strconv.FormatFloat(float64(d)/1e6, 'f', 2, 64) + " ms"
	case d < time.Second:
		shown = strconv.FormatFloat(float64(d)/1e6, 'f', 0, 64) + " ms"
	case d < 100*time.Second:
		shown = strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	default:
		shown = d.Round(time.Second).String()
	}
	return datum(strconv.FormatInt(int64(d), 10), "", shown)
}

// size shows a number of bytes.
func size(n int64) template.HTML {
	shown := thousands(n) + " B"
	switch {
	case n >= 10<<20:
		shown = thousands(n>>20) + " MB"
	case n >= 10<<10:
		shown = thousands(n>>10) + " KB"
	}
	return datum(strconv.FormatInt(n, 10), thousands(n)+" bytes", shown)
}

// clock shows a time; the zero one is unknown.
func clock(t time.Time, zone *time.Location) template.HTML {
	if t.IsZero() {
		return unknown("")
	}
	return markup(`<time datetime="` + t.UTC().Format(time.RFC3339Nano) + `">` +
		t.In(zone).Format("Jan 2 15:04:05") + `</time>`)
}

// mostSegment bounds, in characters, a name within an address. Names of epitome's own are shorter.
const mostSegment = 200

// segment returns a name as a part of an address.
func segment(name string) string { return url.PathEscape(chart.Shortened(name, mostSegment)) }

// mostText bounds, in characters, what a page shows of one text that came from outside.
const mostText = 2000

// text returns a text as a page may show it: bounded, and with what cannot be seen made visible.
func text(s string) string { return textWithin(s, mostText) }

func textWithin(s string, most int) string { return chart.Plain(chart.Shortened(s, most)) }

// cached shows the share of a request that the provider's cache had.
func cached(e event.Exchange) template.HTML {
	u := e.Usage
	switch {
	case u.Source != event.UsageProvider || u.Input == 0:
		return unknown("the answer says nothing of its tokens")
	case u.CacheUnknown:
		return unknown("the answer says nothing of the cache")
	case u.Odd:
		return unknown("the numbers in the answer contradict each other")
	}
	return percent(u.Read, u.Input, "usage.read/usage.input")
}

// billed shows what an exchange cost, as measured.
func billed(e event.Exchange) template.HTML {
	b := e.Bill
	switch {
	case !b.Measured:
		return unknown(unpricedWords(b.Unpriced))
	case b.Most > b.Billed:
		return money(b.Billed) + " to " + money(b.Most)
	}
	return money(b.Billed)
}

// saved shows what an exchange cost less for being shaped.
func saved(e event.Exchange) template.HTML {
	b := e.Bill
	switch {
	case isWatched(e) && b.Ruled && b.Saved() >= 0:
		return `<span title="mode observe: it was sent as it came">would be ` +
			madeMoney(b.Saved(), "bill.raw_nano-bill.sent_nano") + `</span>`
	case isWatched(e):
		return `<span class="soft" title="mode observe: it was sent as it came">nothing</span>`
	case b.Beyond:
		return `<span title="as it came, the request would have been refused: it has no price">kept alive</span>`
	case !b.Ruled:
		return unknown(unpricedWords(b.Unpriced))
	case b.Saved() < 0:
		return `<span class="bad">extra cost ` + derived(strconv.FormatInt(b.Saved(), 10), "bill.raw_nano-bill.sent_nano",
			dollars(-b.Saved())) + `</span>`
	}
	return madeMoney(b.Saved(), "bill.raw_nano-bill.sent_nano")
}

// part is what a request spends tokens on.
type part struct {
	Name          string
	Class         string // of its colour
	Before, After int
	of            func(t *event.Tokens) int
}

// allParts are the parts of a request, in the order in which charts stack them.
var allParts = [...]part{
	{Name: "system prompt", Class: "p0", of: func(t *event.Tokens) int { return t.System }},
	{Name: "tools", Class: "p1", of: func(t *event.Tokens) int { return t.Tools }},
	{Name: "user", Class: "p2", of: func(t *event.Tokens) int { return t.User }},
	{Name: "assistant", Class: "p3", of: func(t *event.Tokens) int { return t.Assistant }},
	{Name: "tool results", Class: "p4", of: func(t *event.Tokens) int { return t.Results }},
	{Name: "summaries", Class: "p7", of: func(t *event.Tokens) int { return t.Summary }},
	{Name: "images and documents", Class: "p5", of: func(t *event.Tokens) int { return t.Images }},
	{Name: "other", Class: "p6", of: func(t *event.Tokens) int { return t.Other }},
}

// partsOf lists what a request spends tokens on, without what is empty.
func partsOf(before, after event.Tokens) (all []part) {
	for _, p := range allParts {
		if p.Before, p.After = p.of(&before), p.of(&after); p.Before != 0 || p.After != 0 {
			all = append(all, p)
		}
	}
	return all
}
