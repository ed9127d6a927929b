// Package chart has what charts need that are drawn as SVG by the program: round numbers for axes, lengths, lines of
// bounded size, and texts that every reader of SVG and HTML takes.
//
// It promises that equal figures make equal charts, and that no text that went through Plain can change how the rest
// of a page is read. It draws nothing itself and knows nothing of what is shown: who shows it places what it works out.
package chart

import (
	"math"
	"strconv"
)

// Tick is a line of a grid with its number.
type Tick struct {
	At   string
	Text string
}

// Units writes a length.
func Units(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }

// AxisEnd returns the first round number that is at least most. most is above zero.
func AxisEnd(most float64) float64 { return step(most) * math.Ceil(most/step(most)-1e-9) }

// Steps returns the round numbers from one to the other.
func Steps(from, to float64) (all []float64) {
	if to <= from {
		return nil
	}
	by := step(to - from)
	for i := math.Ceil(from/by - 1e-9); i*by <= to*(1+1e-9); i++ {
		all = append(all, i*by+0) // never −0
	}
	return all
}

// TokensText writes a round number of tokens shortly.
func TokensText(n int) string {
	switch {
	case n >= 1_000_000:
		return strconv.FormatFloat(float64(n)/1e6, 'f', -1, 64) + "M"
	case n >= 1000 && n%100 == 0:
		return strconv.FormatFloat(float64(n)/1e3, 'f', -1, 64) + "k"
	}
	return strconv.Itoa(n)
}

// step returns the distance between round numbers, three to eight of which make up the range.
func step(over float64) float64 {
	size := math.Pow(10, math.Floor(math.Log10(over)))
	switch share := over / size; {
	case share < 1.5:
		return size / 5
	case share < 3:
		return size / 2
	case share < 7:
		return size
	}
	return 2 * size
}
