package answer

import (
	"bytes"
	"math"

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

// LastUsage returns the last object under "usage" in heard that has a number under key. heard is an answer, whole or
// streamed, or the end of one. Only the last few places where it may stand are looked at.
func LastUsage(heard []byte, key string) gjson.Result {
	const tries = 4
	name, at := []byte(`"usage"`), len(heard)
	for range tries {
		if at = bytes.LastIndex(heard[:at], name); at < 0 {
			break
		}
		i := jsonspan.SkipSpace(heard, at+len(name))
		if i >= len(heard) || heard[i] != ':' {
			continue
		}
		i = jsonspan.SkipSpace(heard, i+1)
		if end, err := jsonspan.EndOfValue(heard, i); err == nil {
			if v := gjson.ParseBytes(heard[i:end]); v.Get(key).Type == gjson.Number {
				return v
			}
		}
	}
	return gjson.Result{}
}

// ReadCounts reads an object of usage as OpenAI's APIs write it: one says "prompt" and "completion" where the other says
// "input" and "output".
func ReadCounts(v gjson.Result, input, output string) Counts {
	c := NoCounts()
	c.Input, c.Output = Tokens(v.Get(input+"_tokens")), Tokens(v.Get(output+"_tokens"))
	c.Read = Tokens(v.Get(input + "_tokens_details.cached_tokens"))
	c.Write5m = Tokens(v.Get(input + "_tokens_details.cache_write_tokens"))
	c.Reasoning = Tokens(v.Get(output + "_tokens_details.reasoning_tokens"))
	c.Total = Tokens(v.Get("total_tokens"))
	c.Charged = Dollars(v.Get("cost")) // OpenRouter
	return c
}
