package chart

import "strings"

// Plot is the scale of a chart: what is counted across, and an amount upwards.
type Plot struct {
	Left, Top     float64 // of its corner
	Width, Height float64
	Count         int     // of what stands side by side
	Most          float64 // the amount at the upper end
}

// X returns the place of the one with the number, from 1.
func (p Plot) X(number int) float64 {
	if p.Count < 2 {
		return p.Left + p.Width/2
	}
	return p.Left + p.Width*float64(number-1)/float64(p.Count-1)
}

// Y returns the place of an amount.
func (p Plot) Y(amount int) float64 { return p.Top + p.Height*(1-float64(amount)/p.Most) }

// Up returns the grid's lines for amounts of tokens.
func (p Plot) Up() (all []Tick) {
	for _, v := range Steps(0, p.Most) {
		all = append(all, Tick{Units(p.Y(int(v))), TokensText(int(v))})
	}
	return all
}

// Line returns the points of a line through the amounts at places, where the amount at place i is of the one with the
// number numberOf(i). A single point is there twice, so that it is drawn.
func (p Plot) Line(amounts, places []int, numberOf func(place int) int) string {
	if len(places) == 1 {
		places = []int{places[0], places[0]}
	}
	points := make([]string, len(places))
	for i, place := range places {
		points[i] = Units(p.X(numberOf(place))) + "," + Units(p.Y(amounts[place]))
	}
	return strings.Join(points, " ")
}

// Thin chooses at most most values, at least four, by their places: the first, the last, and of each of equal
// stretches between them the smallest and the largest, so that no peak and no drop goes missing.
func Thin(values []int, most int) (places []int) {
	if len(values) <= most {
		for i := range values {
			places = append(places, i)
		}
		return places
	}
	places = []int{0}
	inner, stretches := len(values)-2, (most-2)/2
	for s := range stretches {
		low := 1 + inner*s/stretches
		high := low
		for i := low + 1; i < 1+inner*(s+1)/stretches; i++ {
			if values[i] < values[low] {
				low = i
			}
			if values[i] > values[high] {
				high = i
			}
		}
		places = append(places, min(low, high))
		if low != high {
			places = append(places, max(low, high))
		}
	}
	return append(places, len(values)-1)
}

// Evenly chooses at most most of the numbers, at even distances.
func Evenly(numbers []int, most int) []int {
	out := make([]int, 0, min(len(numbers), most))
	for i := range cap(out) {
		out = append(out, numbers[i*len(numbers)/cap(out)])
	}
	return out
}
