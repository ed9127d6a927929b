package terminal

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"epitome/console/figure"
	"epitome/console/story"
	"epitome/event"
)

// unknown stands where nothing is known.
const unknown = "–"

// share writes a share of one; below zero is unknown.
func share(v float64) string {
	if v < 0 {
		return unknown
	}
	return figure.Percent(v)
}

// part writes how much of the whole a part is.
func part(of, whole int64) string {
	if whole == 0 {
		return unknown
	}
	return figure.Percent(float64(of) / float64(whole))
}

// billed writes what providers charge, where it is known.
func billed(m story.Money) string {
	switch {
	case m.Measured == 0:
		return unknown
	case m.AtLeast > 0:
		return "≥ " + figure.Dollars(m.Billed)
	case m.Most > m.Billed:
		return figure.Dollars(m.Billed) + " to " + figure.Dollars(m.Most)
	}
	return figure.Dollars(m.Billed)
}

// besideBilled writes what no bill has in it: what epitome's own requests for summaries cost.
func besideBilled(m story.Money) string {
	if m.Own == 0 {
		return ""
	}
	return " and " + figure.Dollars(m.Own) + " for summaries"
}

// saved writes what was saved, where it is known; what cost more has a sign.
func saved(m story.Money) string {
	if m.Ruled == 0 && m.Own == 0 {
		return unknown
	}
	return figure.Dollars(m.Saved)
}

// barLength is how many characters a whole window has.
const barLength = 8

// bar draws a share of one.
func bar(v float64) string {
	n := min(max(int(v*barLength+.5), 0), barLength)
	return strings.Repeat("█", n) + strings.Repeat("·", barLength-n)
}

// ago writes how long ago something was.
func ago(d time.Duration) string {
	switch {
	case d < time.Second:
		return "now"
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d d", int(d.Hours()/24))
}

// lastDecision writes what was decided last; nil is nothing.
func lastDecision(d *story.Decided) string {
	if d == nil {
		return ""
	}
	return plain(d.String())
}

// cached writes what part of an exchange's request the provider's cache had.
func cached(u event.Usage) string {
	if u.Source != event.UsageProvider || u.CacheUnknown || u.Odd {
		return unknown
	}
	return part(int64(u.Read), int64(u.Input))
}

// cost writes what an exchange cost, where it is known.
func cost(b event.Bill) string {
	switch {
	case !b.Measured:
		return unknown
	case b.AtLeast:
		return "≥ " + figure.Dollars(b.Billed)
	case b.Most > b.Billed:
		return figure.Dollars(b.Billed) + " to " + figure.Dollars(b.Most)
	}
	return figure.Dollars(b.Billed)
}

// changes writes what was done to a request.
func changes(e event.Exchange) string {
	var all []string
	add := func(what string, n int) {
		if n > 0 {
			all = append(all, fmt.Sprintf("%s %d", what, n))
		}
	}
	if e.Added > 0 && e.Turn <= 1 { // it stands in all that follow
		all = append(all, "add")
	}
	add("offload", e.Offloaded)
	add("clear", e.Cleared)
	add("compact", e.Compacted)
	if e.Rescue.Kind != "" {
		all = append(all, e.Rescue.Outcome())
	}
	if e.Action == event.ActionBypass {
		all = append(all, e.Action)
	}
	if len(all) > 0 && e.Mode == event.ModeObserve {
		return "would " + strings.Join(all, ", ")
	}
	return strings.Join(all, ", ")
}

// whyOf writes what went wrong with an exchange, or else why nothing more was done, or what caused what was.
func whyOf(e event.Exchange) string {
	for _, text := range [...]string{e.Err, e.Inner, e.Reason, e.Causes.Sentences(), string(e.Fault)} {
		if text != "" {
			return plain(text)
		}
	}
	if e.Status >= http.StatusBadRequest {
		return http.StatusText(e.Status)
	}
	return ""
}
