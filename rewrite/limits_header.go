package rewrite

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// With is l with another number under the key of the given name, in which dashes stand for underscores as in "clear-at".
// A name that is no number of the ladder changes nothing. The error says what to write, and does not repeat the value.
func (l Limits) With(name, value string) (Limits, error) {
	key := strings.ReplaceAll(strings.ToLower(name), "-", "_")
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Limits]()) { // those of embedded tables too, which stand on the same level
		if f.Tag.Get("toml") != key {
			continue
		}
		number := reflect.ValueOf(&l).Elem().FieldByIndex(f.Index)
		switch least, most := bounds(key, number.Kind()); number.Kind() {
		case reflect.Int:
			n, err := strconv.Atoi(value)
			if err != nil || float64(n) < least || float64(n) > most {
				return l, fmt.Errorf("cannot use x-epitome-%s: write a whole number from %v to %d", strings.ToLower(name), least, int(most))
			}
			number.SetInt(int64(n))
		case reflect.Float64:
			n, err := strconv.ParseFloat(value, 64)
			if err != nil || !(n >= least && n <= most) { // nor what is not a number
				return l, fmt.Errorf("cannot use x-epitome-%s: write a number from %v to %v", strings.ToLower(name), least, most)
			}
			number.SetFloat(n)
		}
	}
	return l, nil
}

// bounds are between what a number of the ladder makes sense: tokens, bytes and groups are counts, the others shares and factors.
func bounds(key string, kind reflect.Kind) (least, most float64) {
	switch {
	case key == "offload_tokens" || key == "offload_read_tokens":
		return 1, mostTokens
	case kind == reflect.Int:
		return 0, mostTokens
	case key == "rent":
		return 0, 1_000
	case key == "offload_share" || key == "clear_at":
		return 0.01, 1
	}
	return 0, 1
}

// mostTokens is more than any model holds.
const mostTokens = 100_000_000
