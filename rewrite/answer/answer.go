// Package answer reads the answers of models, whole or as a stream: the text, how it ends, and its counts of tokens.
// It has the part that all APIs share. A Format, from the package of each API, knows the JSON names of that API.
package answer

import (
	"bytes"
	"cmp"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"epitome/event"
	"epitome/internal/sse"
	"epitome/internal/unit"
	"epitome/rewrite/jsonspan"
	"epitome/summarize/prose"
)

// maxBytes bounds an answer that is read. A stream is mostly envelope, and some streams repeat the request's tools.
const maxBytes = 16 << 20

// Step is the meaning of an event of a stream for the answer. While all steps are FrameStep, the proxy holds the stream
// back, as the provider may still refuse the request, which is then sent in another form.
type Step uint8

const (
	FrameStep Step = iota // the envelope: the model has said nothing in this event
	SaidStep              // a piece of the answer, or an unknown event, behind which nothing is held back
	EndStep               // the answer is over; its token counts may still follow
	ErrorStep             // the answer failed
)

// Format is how one API writes answers.
type Format struct {
	// Step returns the meaning of an event that is an object and reports no error. name is its type.
	Step func(name string, event gjson.Result) Step
	// Add adds to a what an event says. An answer that is not streamed comes as one event.
	Add func(a *Answer, event gjson.Result)
	// Usage reads the token counts of an answer, and how many tokens of the model its request had.
	Usage func(answer []byte) (u event.Usage, input int)
}

// Answer is an answer as far as it has been read.
type Answer struct {
	prose.Answer
	Said strings.Builder // the text read so far; Text is set at the end
}

// StepOf returns the meaning of an event with that data. kind is the name of the event in the stream, outside its data.
func (f *Format) StepOf(kind, data []byte) Step {
	kind, data = bytes.TrimSpace(kind), bytes.TrimSpace(data)
	event := gjson.ParseBytes(data)
	name, problem := cmp.Or(event.Get("type").Str, string(kind)), event.Get("error")
	switch {
	case bytes.EqualFold(kind, []byte("error")), name == "error", problem.IsObject(), problem.Str != "":
		return ErrorStep
	case len(data) == 0:
		return FrameStep
	case !event.IsObject(): // the mark [DONE] of Chat Completions, or an unknown event
		return SaidStep
	}
	return f.Step(name, event)
}

// Read reads an answer, whole or as a stream. An answer that breaks off or is too long is io.ErrUnexpectedEOF.
func (f *Format) Read(body io.Reader) (prose.Answer, error) {
	all, err := io.ReadAll(io.LimitReader(body, maxBytes))
	if err != nil {
		return prose.Answer{}, err
	}
	var a Answer
	events, isOver := sse.Events(all), false
	if !sse.Looks(all) { // a whole answer is read as the only event of a stream
		if !jsonspan.Valid(all) {
			return prose.Answer{}, io.ErrUnexpectedEOF
		}
		events, isOver = slices.Values([]sse.Event{{Data: all}}), true
	}
	for e := range events {
		step := f.StepOf([]byte(e.Type), e.Data)
		if step == ErrorStep {
			a.Error = e.Data
		} else if jsonspan.Valid(e.Data) { // events that are not JSON, such as [DONE], have no text
			f.Add(&a, gjson.ParseBytes(e.Data))
		}
		if isOver = isOver || step == EndStep || step == ErrorStep; isOver {
			break
		}
	}
	if !isOver {
		return prose.Answer{}, io.ErrUnexpectedEOF
	}
	u, _ := f.Usage(all) // with the events behind EndStep, which may have the counts
	a.Text = a.Said.String()
	a.Input, a.Cached, a.Written, a.Output = u.Input, u.Read, u.Write5m+u.Write1h, u.Output
	return a.Answer, nil
}

// Unknown is a number that an answer does not state.
const Unknown = -1

// Counts are the tokens of the model that an answer states; each number may be Unknown.
type Counts struct {
	Input                    int   // of the whole request, with Read, Write5m and Write1h
	Read                     int   // of Input, the tokens that the provider's cache had
	Write5m                  int   // of Input, the tokens written to the cache, for five minutes or for a time not stated
	Write1h                  int   // of Input, the tokens written to the cache for an hour
	Output, Reasoning, Total int   // Reasoning is a part of Output, and Total is Input and Output
	Charged                  int64 // nano-dollars; 0 if the answer does not state them
}

// NoCounts returns the counts of an answer that states none.
func NoCounts() Counts {
	return Counts{Unknown, Unknown, Unknown, Unknown, Unknown, Unknown, Unknown, 0}
}

// Tokens returns v as a number of tokens; Unknown if it cannot be one.
func Tokens(v gjson.Result) int {
	if v.Type != gjson.Number || v.Int() < 0 || v.Int() > unit.MostTokens {
		return Unknown
	}
	return int(v.Int())
}

// Dollars returns an amount in dollars as nano-dollars; 0 if it cannot be true.
func Dollars(v gjson.Result) (nano int64) {
	const most = 1e6 // dollars: no answer costs more
	if v.Type != gjson.Number || v.Num < 0 || v.Num > most {
		return 0
	}
	return int64(math.Round(v.Num * 1e9))
}

// Usage returns the counts as they are recorded: without input or output, only the charge. An input of 0 is none, as it
// is stated by servers that do not count.
func (c Counts) Usage() event.Usage {
	if c.Total > c.Input && c.Input > 0 { // some servers count the reasoning in Total but not in Output
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
	u.Odd = u.Read+u.Write5m+u.Write1h > u.Input // these are parts of Input, so one of the numbers is wrong
	return u
}

// LastUsage returns the last object under "usage" in answer that has a number under key, as the last counts of a stream
// are the final ones. answer is an answer, whole or streamed, or its end. Trying only four places bounds the work.
func LastUsage(answer []byte, key string) gjson.Result {
	at := len(answer)
	for range 4 {
		if at = bytes.LastIndex(answer[:at], []byte(`"usage"`)); at < 0 {
			break
		}
		v := gjson.GetBytes(append([]byte{'{'}, answer[at:]...), "usage") // reads one value, not all behind it
		if v.Get(key).Type == gjson.Number && jsonspan.Valid([]byte(v.Raw)) {
			return v
		}
	}
	return gjson.Result{}
}

// ReadCounts reads a usage object as OpenAI's APIs write it. input and output are the words in their keys: "prompt" and
// "completion" in Chat Completions, "input" and "output" in Responses.
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
