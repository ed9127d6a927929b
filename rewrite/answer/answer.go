// Package answer reads what models answer, whole or as a stream: the text, how it ends, and its counts of tokens.
//
// The package of each API says what is written where.
package answer

import (
	"bytes"
	"cmp"
	"io"
	"math"
	"strings"

	"github.com/tidwall/gjson"

	"epitome/event"
	"epitome/prose"
	"epitome/rewrite/jsonspan"
	"epitome/sse"
	"epitome/unit"
)

// maxBytes bounds an answer that is read. A stream is mostly envelope, and some repeat the request's tools.
const maxBytes = 16 << 20

// Step is what an event of a stream means for the answer.
type Step uint8

const (
	FrameStep Step = iota // it says nothing
	SaidStep              // a piece of the answer, or an event of another API
	EndStep               // the answer is over
	ErrorStep             // it failed
)

// Format is how one API writes answers.
type Format struct {
	// Step returns what an event means that is an object and tells of no error. name is its type.
	Step func(name string, event gjson.Result) Step
	// Add takes in what an event says, or an answer that is not streamed.
	Add func(a *Answer, event gjson.Result)
	// Usage reads what an answer says of its tokens.
	Usage func(heard []byte) (u event.Usage, input int)
}

// Answer is what has been read of one so far.
type Answer struct {
	prose.Answer
	Said strings.Builder // becomes Text
}

// StepOf returns what an event means; kind is what the stream calls it.
func (f *Format) StepOf(kind, data []byte) Step {
	kind, data = bytes.TrimSpace(kind), bytes.TrimSpace(data)
	event := gjson.ParseBytes(data)
	name, problem := cmp.Or(event.Get("type").Str, string(kind)), event.Get("error")
	switch {
	case bytes.EqualFold(kind, []byte("error")), name == "error", problem.IsObject(), problem.Str != "":
		return ErrorStep
	case len(data) == 0:
		return FrameStep
	case !event.IsObject():
		return SaidStep
	}
	return f.Step(name, event)
}

// Read reads an answer, whole or as a stream. One that breaks off, or is too long, is io.ErrUnexpectedEOF.
func (f *Format) Read(body io.Reader) (prose.Answer, error) {
	all, err := io.ReadAll(io.LimitReader(body, maxBytes))
	if err != nil {
		return prose.Answer{}, err
	}
	var a Answer
	isStream, events := sse.Looks(all), sse.NewReader(bytes.NewReader(all), len(all))
	for isOver := false; !isOver; {
		e := sse.Event{Data: all}
		if isStream {
			e, err = events.Next()
		}
		step := f.StepOf([]byte(e.Type), e.Data)
		isOver = !isStream || step == EndStep || step == ErrorStep
		switch isJSON := jsonspan.Valid(e.Data); {
		case err != nil, !isStream && !isJSON:
			return prose.Answer{}, io.ErrUnexpectedEOF
		case step == ErrorStep:
			a.Error = bytes.Clone(e.Data)
		case isJSON: // anything else says nothing
			f.Add(&a, gjson.ParseBytes(e.Data))
		}
	}
	u, _ := f.Usage(all)
	a.Text = a.Said.String()
	a.Input, a.Cached, a.Written, a.Output = u.Input, u.Read, u.Write5m+u.Write1h, u.Output
	return a.Answer, nil
}

// Unknown is a number that an answer does not say.
const Unknown = -1

// Counts are what an answer says of its tokens; each number may be Unknown.
type Counts struct {
	Input                    int // the whole request, with what a cache had and took up
	Read                     int // of it, what a cache had
	Write5m                  int // of it, what a cache took up, for five minutes or a time that is not said
	Write1h                  int // and for an hour
	Output, Reasoning, Total int
	Charged                  int64 // nano-dollars; 0 if it is not said
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
	if v.Type != gjson.Number || v.Num < 0 || v.Num > most {
		return 0
	}
	return int64(math.Round(v.Num * 1e9))
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
	at := len(heard)
	for range 4 {
		if at = bytes.LastIndex(heard[:at], []byte(`"usage"`)); at < 0 {
			break
		}
		v := gjson.GetBytes(append([]byte{'{'}, heard[at:]...), "usage")
		if v.Get(key).Type == gjson.Number && gjson.Valid(v.Raw) {
			return v
		}
	}
	return gjson.Result{}
}

// ReadCounts reads an object of usage as OpenAI's APIs write it: one says "prompt" and "completion" where the other
// says "input" and "output".
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
