package limits

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"epitome/unit"
)

// tableName is that of the table in the configuration file that Limits are.
const tableName = "rewrite"

// keyOf returns the row of the table with that name.
func keyOf(name string) (key, bool) {
	for _, part := range parts() {
		for i := range part { // a request may ask, so that no row is copied
			if part[i].Name == name {
				return part[i], true
			}
		}
	}
	return key{}, false
}

// value returns the number in l, as people write it.
func (k key) value(l *Limits) string {
	switch n := k.field(l).(type) {
	case *int:
		return strconv.Itoa(*n)
	case *float64:
		return fmt.Sprint(*n)
	case fmt.Stringer:
		return n.String()
	}
	panic("BUG: rewrite." + k.Name + " is of a type that no number has")
}

// isSound reports whether the number in l is within its bounds. What is not a number is not.
func (k key) isSound(l *Limits) bool {
	var n float64
	switch field := k.field(l).(type) {
	case *int:
		n = float64(*field)
	case *float64:
		n = *field
	case *unit.Bytes:
		n = float64(*field)
	case *unit.Duration:
		n = float64(*field)
	}
	return n >= k.Min && n <= k.Max
}

// read sets the number in l to what text says, and reports whether that is a number and within its bounds.
func (k key) read(l *Limits, text string) bool {
	var err error
	switch field := k.field(l).(type) {
	case *int:
		*field, err = strconv.Atoi(text)
	case *float64:
		*field, err = strconv.ParseFloat(text, 64)
	case *unit.Duration:
		err = field.UnmarshalText([]byte(text))
	default:
		return false
	}
	return err == nil && k.isSound(l)
}

// maySet reports whether a request may set the number: all but sizes.
func (k key) maySet() bool {
	_, size := k.field(&Limits{}).(*unit.Bytes)
	return !size
}

// advice says what to write as the number.
func (k key) advice() string {
	switch k.field(&Limits{}).(type) {
	case *unit.Duration:
		return "write a time with its unit, as 5m or 1h"
	case *unit.Bytes:
		return "write a size with its unit, as 16KB"
	case *int:
		return fmt.Sprintf("write a whole number of %s from %.0f to %.0f", k.Unit, k.Min, k.Max)
	}
	return fmt.Sprintf("write a %s from %v to %v", k.Unit, k.Min, k.Max)
}

// Check says which numbers of l make no sense, alone or together, as a *unit.KeyError.
func (l *Limits) Check() error {
	for k := range keys() {
		if !k.isSound(l) {
			return unit.Wrong([]string{tableName, k.Name}, "cannot use %s.%s %s: %s", tableName, k.Name, k.value(l), k.advice())
		}
	}
	if names := l.sharesOutOfOrder(); names != nil {
		err := &unit.KeyError{Err: fmt.Errorf("cannot use %s.%s: %s", tableName, l.lines(), order)}
		for _, name := range names {
			err.Keys = append(err.Keys, []string{tableName, name})
		}
		return err
	}
	if _, empty := l.Bound[""]; empty {
		return unit.Wrong([]string{tableName, "bound_thinking", ""},
			"cannot use %s.bound_thinking \"\": write a pattern such as claude-*, or leave it out", tableName)
	}
	for i, t := range l.ToolLimits {
		if t.Tool == "" || t.Tokens < 0 || t.Tokens == 0 && !t.Keep {
			return unit.Wrong([]string{tableName, "tools", strconv.Itoa(i)},
				"cannot use %s.tools %q: write a pattern as tool, and tokens above zero or keep = true", tableName, t.Tool)
		}
	}
	return nil
}

// order is what disordered goes by.
const order = "compact_to must be below compact_at, and clear_at not above it"

// sharesOutOfOrder returns the names of the shares of which one is above another that it must stay below; nil if none
// is.
func (l *Limits) sharesOutOfOrder() (names []string) {
	if l.Target >= l.CompactAt {
		names = append(names, "compact_to")
	}
	if l.ClearAt > l.CompactAt {
		names = append(names, "clear_at")
	}
	if names != nil {
		names = append([]string{"compact_at"}, names...)
	}
	return names
}

// lines returns the shares that disordered looks at, in a half sentence.
func (l *Limits) lines() string {
	return fmt.Sprintf("compact_at %v with compact_to %v and clear_at %v", l.CompactAt, l.Target, l.ClearAt)
}

// CheckAsked says which numbers that a request asks for make no sense beside the configured ones.
func (l *Limits) CheckAsked(configured *Limits) error {
	var asked []string
	for _, name := range l.sharesOutOfOrder() {
		if k, _ := keyOf(name); k.value(l) != k.value(configured) {
			asked = append(asked, name)
		}
	}
	if asked == nil {
		return nil
	}
	return fmt.Errorf("cannot use %s in x-epitome-set: it would be %s, but %s; set all three, or other numbers",
		strings.Join(asked, " and "), l.lines(), order)
}

// With is l with another number under the key of the given name. ok says that a request may set a number of that name.
// The error says what to write, and does not repeat the value. CheckAsked looks at numbers that belong together, when
// all are set.
func (l Limits) With(name, value string) (with Limits, ok bool, err error) {
	k, known := keyOf(name)
	if !known || !k.maySet() {
		return l, false, nil
	}
	changed := l
	if !k.read(&changed, value) {
		return l, true, errors.New(k.advice())
	}
	if name == priceKey {
		changed.FixPrice()
	}
	return changed, true, nil
}

// Names are those of the numbers that a request may set.
func Names() (names []string) {
	for k := range keys() {
		if k.maySet() {
			names = append(names, k.Name)
		}
	}
	return names
}

// WithPreset is l with the numbers of a preset. The error says what to write, and does not repeat the name.
func (l Limits) WithPreset(name string) (Limits, error) {
	if l.SetPreset(name) != nil {
		return l, errors.New("write one of " + presetNames())
	}
	return l, nil
}
