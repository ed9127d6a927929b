// Package spent is what an answer says of its tokens and its price, made one record for all dialects.
//
// It promises numbers that can be true: none is negative or more than any model holds, and those that contradict one
// another are marked. It does not promise that a provider counts right. The names of the numbers are the dialects'.
package spent

import (
	"math"

	"github.com/tidwall/gjson"

	"epitome/event"
	"epitome/rewrite/reply"
)

// Unsaid is a number that an answer does not say.
const Unsaid = -1

// Said is what an answer says, in tokens; each number may be Unsaid.
type Said struct {
	Input     int // the whole request, with what a cache had and took up
	Read      int // of it, what a cache had
	Write5m   int // of it, what a cache took up, for five minutes or a time that is not said
	Write1h   int // and for an hour
	Output    int
	Reasoning int
	Total     int
	Charged   int64 // nano-dollars; 0 is not said
}

// Nothing returns what an answer says that says nothing.
func Nothing() Said { return Said{Unsaid, Unsaid, Unsaid, Unsaid, Unsaid, Unsaid, Unsaid, 0} }

// Tokens returns a number of tokens; Unsaid if it is none that can be true.
func Tokens(v gjson.Result) int {
	if n, ok := reply.Tokens(v); ok {
		return n
	}
	return Unsaid
}

// mostDollars is more than any answer costs.
const mostDollars = 1e6

// Dollars returns nano-dollars; 0 if it is no amount that can be true.
func Dollars(v gjson.Result) (nano int64) {
	if v.Type == gjson.Number && v.Num > 0 && v.Num <= mostDollars {
		return int64(math.Round(v.Num * 1e9))
	}
	return 0
}

// Usage returns the record. Without input and output there is none, nor of an input of 0: no request has so few tokens,
// and servers that do not count say so.
func (s Said) Usage() event.Usage {
	// Some servers leave what was thought out of the output, but not out of the total.
	if s.Total > s.Input && s.Input > 0 {
		s.Output = max(s.Output, s.Total-s.Input)
	}
	if s.Input <= 0 || s.Output < 0 {
		return event.Usage{Charged: s.Charged}
	}
	u := event.Usage{
		Source: event.UsageProvider, Input: s.Input, Read: max(s.Read, 0), Write5m: max(s.Write5m, 0),
		Write1h: max(s.Write1h, 0), Output: s.Output, Reasoning: max(s.Reasoning, 0), Charged: s.Charged,
		CacheUnknown: s.Read < 0 && s.Write5m < 0 && s.Write1h < 0,
	}
	u.Odd = u.Read+u.Write5m+u.Write1h > u.Input
	return u
}
