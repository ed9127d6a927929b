package aside

import (
	"math"
	"strconv"

	"github.com/tidwall/gjson"

	"epitome/rewrite/span"
)

// AddUsage adds what two rounds say of their tokens: numbers of one name, at any depth. What is no number is as the
// second says it. One that says nothing is empty.
func AddUsage(before, now []byte) []byte {
	a, b := gjson.ParseBytes(before), gjson.ParseBytes(now)
	switch {
	case !b.IsObject():
		return before
	case !a.IsObject():
		return now
	}
	return appendSum(nil, a, b)
}

func appendSum(dst []byte, a, b gjson.Result) []byte {
	switch {
	case a.Type == gjson.Number && b.Type == gjson.Number:
		return append(dst, sum(a, b)...)
	case !b.IsObject() && b.Type != gjson.Null || !a.IsObject():
		if b.Type == gjson.Null && a.Exists() {
			return append(dst, a.Raw...)
		}
		return append(dst, b.Raw...)
	case b.Type == gjson.Null:
		return append(dst, a.Raw...)
	}
	dst = append(dst, '{')
	first := len(dst)
	member := func(key string) {
		if len(dst) > first {
			dst = append(dst, ',')
		}
		dst = append(span.AppendQuoted(dst, key), ':')
	}
	b.ForEach(func(key, v gjson.Result) bool {
		member(key.Str)
		dst = appendSum(dst, valueOf(a, key.Str), v)
		return true
	})
	a.ForEach(func(key, v gjson.Result) bool {
		if !valueOf(b, key.Str).Exists() {
			member(key.Str)
			dst = append(dst, v.Raw...)
		}
		return true
	})
	return append(dst, '}')
}

// valueOf is the value of a key, whatever characters it has.
func valueOf(object gjson.Result, key string) (found gjson.Result) {
	if !object.IsObject() {
		return found
	}
	object.ForEach(func(k, v gjson.Result) bool {
		if k.Str == key {
			found = v
		}
		return !found.Exists()
	})
	return found
}

// sum is two numbers added, whole ones exactly. Where it is too large to be written, it is the second.
func sum(a, b gjson.Result) string {
	x, errX := strconv.ParseInt(a.Raw, 10, 62)
	y, errY := strconv.ParseInt(b.Raw, 10, 62)
	if errX == nil && errY == nil {
		return strconv.FormatInt(x+y, 10)
	}
	n := a.Num + b.Num
	if math.IsInf(n, 0) || math.IsNaN(n) { // which JSON does not have
		return b.Raw
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}
