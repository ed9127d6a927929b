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

// takesHeader reports whether a header may set the number: all but sizes.
func (k key) takesHeader() bool {
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

// CheckAsked says which headers have made of the configured limits some that make no sense together.
func (l *Limits) CheckAsked(configured *Limits) error {
	var headers []string
	for _, name := range l.sharesOutOfOrder() {
		if k, _ := keyOf(name); k.value(l) != k.value(configured) {
			headers = append(headers, headerOf(name))
		}
	}
	if headers == nil {
		return nil
	}
	return fmt.Errorf("cannot use %s: it would be %s, but %s; send headers for all three, or other numbers",
		strings.Join(headers, " and "), l.lines(), order)
}

// headerOf returns the name of the header that sets the number of that name.
func headerOf(name string) string {
	return "x-epitome-" + strings.ReplaceAll(strings.ToLower(name), "_", "-")
}

// With is l with another number under the key of the given name, in which dashes stand for underscores as in
// "clear-at", or with the numbers of the preset that value names. The error says what to write, and does not repeat
// the value. CheckAsked looks at numbers that belong together, when all are set.
func (l Limits) With(name, value string) (Limits, error) {
	key := strings.ReplaceAll(strings.ToLower(name), "-", "_")
	if key == "preset" {
		return l.withPreset(value)
	}
	k, known := keyOf(key)
	if !known || !k.takesHeader() {
		return l, unknownHeader(name)
	}
	changed := l
	if !k.read(&changed, value) {
		return l, fmt.Errorf("cannot use x-epitome-%s: %s", strings.ToLower(name), k.advice())
	}
	if key == priceKey {
		changed.FixPrice()
	}
	return changed, nil
}

func (l Limits) withPreset(name string) (Limits, error) {
	if l.SetPreset(name) != nil {
		return l, errors.New("cannot use x-epitome-preset: write one of " + presetNames())
	}
	return l, nil
}

// mostWrong is how many letters of a header's name may be wrong for another one to be meant.
const mostWrong = 3

// unknownHeader says which header may have been meant.
func unknownHeader(name string) error {
	names := []string{"mode", "preset", "compact", "context", "project", "summarize-mode", "summarize-detail"}
	for k := range keys() {
		if k.takesHeader() {
			names = append(names, strings.ReplaceAll(k.Name, "_", "-"))
		}
	}
	advice, least := "write x-epitome-mode, x-epitome-preset, x-epitome-compact, x-epitome-context, x-epitome-project, "+
		"x-epitome-summarize-mode, x-epitome-summarize-detail, or x-epitome-KEY with the KEY of a number of [rewrite]", mostWrong+1
	for _, known := range names {
		if n := unit.Distance(strings.ToLower(name), known); n < least && n < len(known)-1 {
			advice, least = "did you mean x-epitome-"+known+"?", n
		}
	}
	return fmt.Errorf("unknown header x-epitome-%.60s; %s", strings.ToLower(name), advice)
}
