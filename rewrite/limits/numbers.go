package limits

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"

	"epitome/unit"
)

// number is one number that a user or a request may set.
type number struct {
	name, unit string
	min, max   float64
	value      any // *int, *float64 or *unit.Duration
}

// numbers returns the table of all numbers. The configuration file and headers are read by it.
func (l *Limits) numbers() []number {
	const most, least = unit.MostTokens, 0.01 // a smaller share is a slip of the pen
	return []number{
		{"offload_tokens", "tokens", 1, most, &l.Offload},
		{"offload_lookup_tokens", "tokens", 1, most, &l.Lookups},
		{"offload_read_tokens", "tokens", 1, most, &l.OffloadReads},
		{"offload_keep", "tokens", 0, most, &l.OffloadKeep},
		{"clear_at", "share", least, 1, &l.ClearAt},
		{"compact_at", "share", least, 1, &l.CompactAt},
		{"compact_to", "share", least, 1, &l.Target},
		{"keep_tokens", "tokens", 0, most, &l.KeepTail},
		{"warn_at", "tokens", 0, most, &l.WarnAt},
		{"cutover_at", "tokens", 0, most, &l.CutoverAt},
		{"protect_tokens", "tokens", 0, most, &l.Protect},
		{"rent", "factor", 0, 1000, &l.Rent},
		{"cached_price", "price", 0, 1, &l.CachedPrice},
		{"cache_life", "time", 0, math.MaxInt64, &l.CacheLife},
		{"newest_turns", "turns", 0, most, &l.Turns},
		{"newest_messages", "messages", 0, most, &l.Messages},
		{"newest_tool_results", "results", 0, most, &l.Pairs},
		{"assistant_tokens", "tokens", 0, most, &l.Assistant},
	}
}

// Names returns the names of the numbers that a request may set.
func Names() (names []string) {
	for _, n := range new(Limits).numbers() {
		names = append(names, n.name)
	}
	return names
}

// With returns l with another number under a name. ok says that there is a number of that name. The error says what to
// write, and does not repeat the value. CheckShares is for when all numbers are set.
func (l Limits) With(name, value string) (with Limits, ok bool, err error) {
	changed := l
	for _, n := range changed.numbers() {
		if n.name != name {
			continue
		}
		switch at := n.value.(type) {
		case *int:
			*at, err = strconv.Atoi(value)
		case *float64:
			*at, err = strconv.ParseFloat(value, 64)
		case *unit.Duration:
			err = at.UnmarshalText([]byte(value))
		}
		if err != nil || !n.isSound() {
			return l, true, errors.New(n.advice())
		}
		changed.priceFixed = changed.priceFixed || name == "cached_price"
		return changed, true, nil
	}
	return l, false, nil
}

// isSound reports whether the number is within its bounds. NaN is not.
func (n number) isSound() bool {
	v := reflect.ValueOf(n.value).Elem().Convert(reflect.TypeFor[float64]()).Float()
	return n.min <= v && v <= n.max
}

// advice says what to write as the number.
func (n number) advice() string {
	switch n.value.(type) {
	case *unit.Duration:
		return "write a time with its unit, as 5m or 1h"
	case *int:
		return fmt.Sprintf("write a whole number of %s from %.0f to %.0f", n.unit, n.min, n.max)
	}
	return fmt.Sprintf("write a %s from %v to %v", n.unit, n.min, n.max)
}

// Check says which numbers make no sense, alone or together, as a *unit.KeyError.
func (l *Limits) Check() error {
	for _, n := range l.numbers() {
		if !n.isSound() {
			return unit.Wrong([]string{"rewrite", n.name}, "cannot use rewrite.%s %v: %s",
				n.name, reflect.ValueOf(n.value).Elem(), n.advice())
		}
	}
	if _, empty := l.Bound[""]; empty {
		return unit.Wrong([]string{"rewrite", "bound_thinking", ""},
			"cannot use rewrite.bound_thinking \"\": write a pattern such as claude-*, or leave it out")
	}
	for i, t := range l.ToolLimits {
		if t.Tool == "" || t.Tokens < 0 || t.Tokens == 0 && !t.Keep {
			return unit.Wrong([]string{"rewrite", "tools", strconv.Itoa(i)},
				"cannot use rewrite.tools %q: write a pattern as tool, and tokens above zero or keep = true", t.Tool)
		}
	}
	return l.CheckShares()
}

// CheckShares says which shares make no sense together, as a *unit.KeyError.
func (l *Limits) CheckShares() error {
	if l.Target < l.CompactAt && l.ClearAt <= l.CompactAt {
		return nil
	}
	err := unit.Wrong([]string{"rewrite", "compact_at"}, "cannot use compact_at %v with compact_to %v and clear_at %v: "+
		"compact_to must be below compact_at, and clear_at not above it", l.CompactAt, l.Target, l.ClearAt)
	err.Keys = append(err.Keys, []string{"rewrite", "compact_to"}, []string{"rewrite", "clear_at"})
	return err
}
