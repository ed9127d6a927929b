package limits

import (
	"slices"
	"strconv"
)

// Bounds are what the limits come to at one window, in the order of the table. In JSON they are an object of numbers.
type Bounds []Bound

// Bound is what one limit comes to at a window: tokens of the model; of the floor bytes, and of protect_groups groups.
type Bound struct {
	Name  string // as in the configuration file
	Value int
}

// Bounds returns what the limits come to at a window of so many tokens, of which usable may be filled.
func (l *Limits) Bounds(window, usable int) Bounds {
	s := l.EffectiveAt(window, usable, 1)
	var all Bounds
	for k := range keys() {
		if k.at != nil {
			all = append(all, Bound{k.Name, k.at(s)})
		}
	}
	return all
}

// Of returns what the limit of that name comes to. It panics if that is none that is told.
func (b Bounds) Of(name string) int {
	i := slices.IndexFunc(b, func(one Bound) bool { return one.Name == name })
	if i < 0 {
		panic("BUG: nobody tells what " + name + " comes to")
	}
	return b[i].Value
}

// MarshalJSON writes an object with the names as keys.
func (b Bounds) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, one := range b {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(strconv.AppendQuote(out, one.Name), ':')
		out = strconv.AppendInt(out, int64(one.Value), 10)
	}
	return append(out, '}'), nil
}
