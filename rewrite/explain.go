package rewrite

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

// At is what the limits come to at a window of so many tokens, of which usable may be filled.
func (l *Limits) At(window, usable int) Bounds {
	s := l.at(window, usable, 1)
	var all Bounds
	for _, k := range Keys() {
		if k.at != nil {
			all = append(all, Bound{k.Name, k.at(s)})
		}
	}
	return all
}

// Of is what the limit of that name comes to. It panics if that is none that is told.
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

// Standing is the form of every item that is not sent whole, in their order: those of the report's changes, and those that
// were decided earlier, which have no reason. What stands in another item's
// form is not told again. r is the request as it came.
func (s Shaped) Standing(r *Request) []Change {
	if len(s.forms) == 0 {
		return nil
	}
	made := map[int]Change{}
	for _, c := range s.Report.Changes {
		made[c.Item] = c
	}
	calls := map[string]origin{} // of the last assistant's message, by id
	var list []Change
	for i, f := range s.forms {
		it := &r.Items[r.Head+i]
		if it.Role == Assistant {
			clear(calls)
		}
		for _, c := range it.Calls {
			calls[c.ID] = origin{name: c.Name, deed: deedOf(c.Name, said(c.Arguments.Of(r.Body)), c.FreeText)}
		}
		if f == nil || f.Gone {
			continue
		}
		c, ok := made[r.Head+i]
		if !ok {
			c = s.stands(f, calls[it.Answers])
			c.Item = r.Head + i
		}
		list = append(list, c)
	}
	return list
}

// stands is a change that was made earlier.
func (s Shaped) stands(f *form, o origin) Change {
	c := Change{Rung: f.Rung.String(), Tool: o.name, Argument: o.deed.key}
	c.Before, c.After = int(float64(f.Whole)*s.ratio), int(float64(f.Now)*s.ratio)
	if names := f.artifacts(); len(names) > 0 {
		c.Artifact = names[0]
	}
	return c
}
