package terminal

import (
	"epitome/console/figure"
	"epitome/console/story"
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

// saved writes what was saved, where it is known; what cost more has a sign.
func saved(m story.Money) string {
	if m.Ruled == 0 && m.Own == 0 {
		return unknown
	}
	return figure.Dollars(m.Saved)
}
