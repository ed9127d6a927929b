// Package calendar counts days.
package calendar

import (
	"fmt"
	"time"
)

// Day is a date without a time of day or a zone: days since 1970-01-01.
type Day int

// Parse reads a date such as 2026-03-31.
func Parse(text string) (Day, error) {
	at, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return 0, fmt.Errorf("calendar: %q is not a date", text)
	}
	return Day(at.Unix() / 86400), nil
}

// Must is Parse for dates that are known to be right.
func Must(text string) Day {
	day, err := Parse(text)
	if err != nil {
		panic(err)
	}
	return day
}

// String returns the date in the form that Parse reads.
func (d Day) String() string {
	return time.Unix(int64(d)*86400, 0).UTC().Format(time.DateOnly)
}

// Span is a range of days; both ends belong to it.
type Span struct {
	From, To Day
}

// Days returns how many days the span has, or 0 if it ends before it begins.
func (s Span) Days() int {
	return max(0, int(s.To-s.From)+1)
}

// Cut returns the part of s within other.
func (s Span) Cut(other Span) Span {
	return Span{max(s.From, other.From), min(s.To, other.To)}
}

// Late returns the number of days by which today is behind due, without the days of the spans. Spans may overlap, and
// a day counts once.
func Late(due, today Day, spans []Span) int {
	late := 0
	for day := due + 1; day <= today; day++ {
		if !within(day, spans) {
			late++
		}
	}
	return late
}

func within(day Day, spans []Span) bool {
	for _, span := range spans {
		if span.From <= day && day <= span.To {
			return true
		}
	}
	return false
}
