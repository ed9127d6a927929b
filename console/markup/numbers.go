package markup

import (
	"strconv"
	"time"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"epitome/console/figure"
)

// Whole are the types that counts have.
type Whole interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// Datum is a number that the API tells as value, as it is shown; title has it in full, if that is more.
func Datum(value, title, shown string) g.Node {
	return h.DataEl(h.Value(value), g.If(title != "", h.Title(title)), g.Text(shown))
}

// Derived is a number that is worked out of some that the API tells; from says of which.
func Derived(value, from, shown string) g.Node {
	return h.DataEl(h.Value(value), h.Data("made", from), g.Text(shown))
}

// Unknown is what is not known, with the reason in words; empty if there is none.
func Unknown(why string) g.Node {
	return h.Span(h.Class("soft"), g.If(why != "", h.Title(why)), g.Text("unknown"))
}

func digits[N Whole](n N) string { return strconv.FormatInt(int64(n), 10) }

// Tokens shows a number of tokens that the API tells.
func Tokens[N Whole](n N) g.Node {
	return Datum(digits(n), figure.Thousands(int64(n))+" tokens", figure.Tokens(int64(n)))
}

// Made shows a number of tokens that is worked out.
func Made[N Whole](n N, from string) g.Node { return Derived(digits(n), from, figure.Tokens(int64(n))) }

// Count shows a number that the API tells.
func Count[N Whole](n N) g.Node { return Datum(digits(n), "", figure.Thousands(int64(n))) }

// Money shows nano-dollars that the API tells.
func Money(nano int64) g.Node { return Datum(digits(nano), "", figure.Dollars(nano)) }

// Saving shows what was saved; what cost more is called so.
func Saving(nano int64) g.Node {
	if nano < 0 {
		return extra(Datum(digits(nano), "", figure.Dollars(-nano)))
	}
	return Money(nano)
}

// Loss shows a saving below zero where it is called an extra cost already.
func Loss(nano int64) g.Node {
	return h.Span(h.Class("bad"), Datum(digits(nano), "", figure.Dollars(-nano)))
}

// MadeSaving shows a saving that is worked out.
func MadeSaving(nano int64, from string) g.Node {
	if nano < 0 {
		return extra(Derived(digits(nano), from, figure.Dollars(-nano)))
	}
	return Derived(digits(nano), from, figure.Dollars(nano))
}

func extra(cost g.Node) g.Node { return h.Span(h.Class("bad"), g.Text("extra cost "), cost) }

// Share shows a share of one that the API tells; below zero is unknown.
func Share(v float64) g.Node {
	if v < 0 {
		return Unknown("")
	}
	return Datum(strconv.FormatFloat(v, 'g', -1, 64), "", figure.Percent(v))
}

// Percent shows what part of the whole is.
func Percent[N Whole](part, whole N, from string) g.Node {
	if whole == 0 {
		return Unknown("")
	}
	v := float64(part) / float64(whole)
	return Derived(strconv.FormatFloat(v, 'f', 4, 64), from, figure.Percent(v))
}

// Signed shows parts of a million as percent with a sign.
func Signed(ppm int64) g.Node {
	shown := figure.Percent(float64(ppm) / 1e6)
	if ppm > 0 {
		shown = "+" + shown
	}
	return Datum(digits(ppm), "", shown)
}

// Took shows a time that something took.
func Took(d time.Duration) g.Node {
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
	return Datum(digits(d), "", shown)
}

// Size shows a number of bytes.
func Size(n int64) g.Node {
	shown := figure.Thousands(n) + " B"
	switch {
	case n >= 10<<20:
		shown = figure.Thousands(n>>20) + " MB"
	case n >= 10<<10:
		shown = figure.Thousands(n>>10) + " KB"
	}
	return Datum(digits(n), figure.Thousands(n)+" bytes", shown)
}

// Clock shows a time; the zero one is unknown.
func Clock(t time.Time, zone *time.Location) g.Node {
	if t.IsZero() {
		return Unknown("")
	}
	return h.Time(h.DateTime(t.UTC().Format(time.RFC3339Nano)), g.Text(t.In(zone).Format("Jan 2 15:04:05")))
}
