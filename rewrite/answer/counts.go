package answer

import (
	"bytes"
	"math"
	"slices"

	"github.com/tidwall/gjson"

	"epitome/event"
	"epitome/rewrite/jsonspan"
	"epitome/unit"
)

// Unknown is a number that an answer does not say.
const Unknown = -1

// Counts are what an answer says of its tokens; each number may be Unknown.
type Counts struct {
	Input     int // the whole request, with what a cache had and took up
	Read      int // of it, what a cache had
	Write5m   int // of it, what a cache took up, for five minutes or a time that is not said
	Write1h   int // and for an hour
	Output    int
	Reasoning int
	Total     int
	Charged   int64 // nano-dollars; 0 if it is not said
}

// NoCounts returns the counts of an answer that says none.
func NoCounts() Counts {
	return Counts{Unknown, Unknown, Unknown, Unknown, Unknown, Unknown, Unknown, 0}
}

// Tokens returns a number of tokens; Unknown if it cannot be true.
func Tokens(v gjson.Result) int {
	if v.Type != gjson.Number || v.Int() < 0 || v.Int() > unit.MostTokens {
		return Unknown
	}
	return int(v.Int())
}

// Dollars returns nano-dollars; 0 if the amount cannot be true.
func Dollars(v gjson.Result) (nano int64) {
	const most = 1e6 // no answer costs more
	if v.Type == gjson.Number && v.Num > 0 && v.Num <= most {
		return int64(math.Round(v.Num * 1e9))
	}
	return 0
}

// Usage returns the record; there is none without input and output. Servers that do not count say an input of 0.
func (c Counts) Usage() event.Usage {
	// Some servers leave what was thought out of the output, but not out of the total.
	if c.Total > c.Input && c.Input > 0 {
		c.Output = max(c.Output, c.Total-c.Input)
	}
	if c.Input <= 0 || c.Output < 0 {
		return event.Usage{Charged: c.Charged}
	}
	u := event.Usage{
		Source: event.UsageProvider, Input: c.Input, Read: max(c.Read, 0), Write5m: max(c.Write5m, 0),
		Write1h: max(c.Write1h, 0), Output: c.Output, Reasoning: max(c.Reasoning, 0), Charged: c.Charged,
		CacheUnknown: c.Read < 0 && c.Write5m < 0 && c.Write1h < 0,
	}
	u.Odd = u.Read+u.Write5m+u.Write1h > u.Input
	return u
}

// LastMember returns the last value under key in tail that fits; empty if none does. tail is the end of a JSON text, or
// a text with JSON in it. Only the last few places where the key stands are looked at.
func LastMember(tail []byte, key string, fits func(v jsonspan.Span) bool) jsonspan.Span {
	const tries = 4
	name, at := jsonspan.AppendQuoted(nil, key), len(tail)
	for range tries {
		if at = bytes.LastIndex(tail[:at], name); at < 0 {
			break
		}
		i := jsonspan.SkipSpace(tail, at+len(name))
		if i >= len(tail) || tail[i] != ':' {
			continue
		}
		i = jsonspan.SkipSpace(tail, i+1)
		if end, err := jsonspan.EndOfValue(tail, i); err == nil && fits(jsonspan.Span{Start: i, End: end}) {
			return jsonspan.Span{Start: i, End: end}
		}
	}
	return jsonspan.Span{}
}

// Closes reports whether the text behind a value closes that many nested objects and says nothing else.
func Closes(rest []byte, objects int) bool {
	return jsonspan.Valid(slices.Concat(bytes.Repeat([]byte(`{"":`), objects), []byte("0"), rest))
}
