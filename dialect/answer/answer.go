// Package answer reads the answers of models, whole or as a stream: the text, how it ends, and its counts of tokens.
// It has the part that all APIs share. A Format, from the package of each API, knows the JSON names of that API.
//
// Lines of an event stream end with CR, LF or CRLF. As in browsers, names of fields are exact, one space behind the
// colon is not a part of the value, and several lines of data make one event. Unlike browsers it returns an event that
// ends with the stream and not with an empty line, as some servers omit that.
package answer

import (
	"bytes"
	"cmp"
	"io"
	"iter"
	"math"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"epitome/event"
	"epitome/internal/jsonspan"
	"epitome/internal/unit"
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
type Format interface {
	// Step returns the meaning of an event that is an object and reports no error. name is its type.
	Step(name string, event gjson.Result) Step
	// Add adds to a what an event says. An answer that is not streamed comes as one event.
	Add(a *Partial, event gjson.Result)
	// Usage reads an answer's counts of tokens, and how many tokens filled the window of the model, with those from a
	// cache; 0 if the answer does not say. text is all of an answer, or its beginning and its end on separate lines.
	Usage(text []byte) (u event.Usage, input int)
}

// Answer is the answer of a model to one request. Tokens are 0 if it does not state them.
type Answer struct {
	Text      string // without reasoning
	Refused   bool   // the model, or a filter, declined
	Cut       bool   // the cap on the output was reached
	Called    bool   // the model calls tools
	Compacted bool   // the provider of Responses has put its own summary of the conversation into the answer
	Error     []byte // of a provider that failed within the answer; nil if it did not

	Input, Cached, Written, Output int // tokens; the cache had Cached of Input, and took up Written
}

// Partial is an answer as far as it has been read.
type Partial struct {
	Answer
	Said strings.Builder // the text read so far; Text is set at the end
}

// StepOf returns the meaning of an event.
func StepOf(f Format, e Event) Step {
	event := gjson.ParseBytes(e.Data)
	name := cmp.Or(event.Get("type").Str, strings.TrimSpace(e.Type))
	switch {
	case strings.EqualFold(strings.TrimSpace(e.Type), "error"), name == "error", reportsError(event):
		return ErrorStep
	case len(bytes.TrimSpace(e.Data)) == 0:
		return FrameStep
	case !event.IsObject(): // the mark [DONE] of Chat Completions, or an unknown event
		return SaidStep
	}
	return f.Step(name, event)
}

// reportsError reports whether an event, of a stream of any API, says that the answer failed: gateways send the errors
// of one API in streams of another.
func reportsError(event gjson.Result) bool {
	problem := event.Get("error")
	return problem.IsObject() || problem.Str != "" || event.Get("response.error").IsObject()
}

// Read reads an answer, whole or as a stream. An answer that breaks off or is too long is io.ErrUnexpectedEOF, and comes
// without its Text and tokens.
func Read(f Format, body []byte) (Answer, error) {
	body = body[:min(len(body), maxBytes)]
	var a Partial
	isOver := false
	if jsonspan.Valid(body) { // a whole answer is read as the only event of a stream
		a.add(f, Event{Data: body})
		isOver = true
	}
	for e := range Events(body) {
		if isOver {
			break
		}
		step := a.add(f, e)
		isOver = step == EndStep || step == ErrorStep
	}
	if !isOver {
		return a.Answer, io.ErrUnexpectedEOF
	}
	u, _ := f.Usage(body) // with the events behind EndStep, which may have the counts
	a.Text = a.Said.String()
	a.Input, a.Output = u.Input, u.Output
	a.Cached, a.Written = u.Read, u.Write5m+u.Write1h
	return a.Answer, nil
}

// add adds what an event says, and returns its meaning.
func (a *Partial) add(f Format, e Event) Step {
	step := StepOf(f, e)
	if step == ErrorStep {
		a.Error = e.Data
	} else if jsonspan.Valid(e.Data) { // events that are not JSON, such as [DONE], have no text
		f.Add(a, gjson.ParseBytes(e.Data))
	}
	return step
}

// Unknown is a number that an answer does not state.
const Unknown = -1

// Tokens returns v as a number of tokens; Unknown if it cannot be one.
func Tokens(v gjson.Result) int {
	if v.Type != gjson.Number || v.Int() < 0 || v.Int() > unit.MostTokens {
		return Unknown
	}
	return int(v.Int())
}

// dollars returns an amount in dollars as nano-dollars; 0 if it cannot be true.
func dollars(v gjson.Result) (nano int64) {
	const most = 1e6 // dollars: no answer costs more
	if v.Type != gjson.Number || v.Num < 0 || v.Num > most {
		return 0
	}
	return int64(math.Round(v.Num * 1e9))
}

// Complete returns the counts u of an answer as they are recorded: without input or output, only the charge. u.Output
// and total, the sum of input and output, may be Unknown. An input of 0 is none, as it is stated by servers that do not
// count.
func Complete(u event.Usage, total int) event.Usage {
	if total > u.Input && u.Input > 0 { // some servers count the reasoning in total but not in output
		u.Output = max(u.Output, total-u.Input)
	}
	if u.Input <= 0 || u.Output < 0 {
		return event.Usage{Charged: u.Charged}
	}
	u.Source = event.UsageProvider
	u.Odd = u.Read+u.Write5m+u.Write1h > u.Input // these are parts of Input, so one of the numbers is wrong
	return u
}

// LastUsage returns the last object under "usage" in answer that has a number under key, as the last counts of a stream
// are the final ones. answer is an answer, whole or streamed, or its end. Trying only four places bounds the work.
func LastUsage(answer []byte, key string) gjson.Result {
	at := len(answer)
	for range 4 {
		at = bytes.LastIndex(answer[:at], []byte(`"usage"`))
		if at < 0 {
			break
		}
		v := gjson.GetBytes(append([]byte{'{'}, answer[at:]...), "usage") // reads one value, not all behind it
		if v.Get(key).Type == gjson.Number && jsonspan.Valid([]byte(v.Raw)) {
			return v
		}
	}
	return gjson.Result{}
}

// ReadUsage reads the last usage that an answer of OpenAI's APIs reports, and how many tokens the request had, with
// those of the cache; 0 if it does not say. text is all of an answer, whole or streamed, or its end. input and output
// are the words in the keys: "prompt" and "completion" in Chat Completions, "input" and "output" in Responses.
func ReadUsage(text []byte, input, output string) (u event.Usage, request int) {
	v := LastUsage(text, input+"_tokens")
	written := Tokens(v.Get(input + "_tokens_details.cache_write_tokens"))
	u = event.Usage{
		Input: max(Tokens(v.Get(input+"_tokens")), 0), Output: Tokens(v.Get(output + "_tokens")),
		Write5m: max(written, 0), CacheUnknown: written < 0,
		Charged:   dollars(v.Get("cost")), // OpenRouter
		Reasoning: max(Tokens(v.Get(output+"_tokens_details.reasoning_tokens")), 0),
		Life:      cacheLife(text),
	}
	cached := []string{input + "_tokens_details.cached_tokens", "cached_tokens", "prompt_cache_hit_tokens"}
	for _, key := range cached { // the last two are Moonshot's and DeepSeek's
		if n := Tokens(v.Get(key)); n >= 0 {
			u.Read = n
			u.CacheUnknown = false
		}
	}
	if v.Get("is_byok").Bool() { // OpenRouter calls a provider with the client's own key: its charge is beside cost
		u.Charged += dollars(v.Get("cost_details.upstream_inference_cost"))
	}
	return Complete(u, Tokens(v.Get("total_tokens"))), u.Input
}

// cacheLife returns how long an answer says that the provider keeps the request in its cache; 0 if it does not say.
func cacheLife(text []byte) time.Duration {
	at := bytes.LastIndex(text, []byte(`"prompt_cache_options"`))
	if at < 0 {
		return 0
	}
	applied := gjson.GetBytes(append([]byte{'{'}, text[at:]...), "prompt_cache_options.ttl")
	life, _ := time.ParseDuration(applied.Str)
	return max(life, 0)
}

// Event is one event of a stream.
type Event struct {
	Type string // empty if the stream does not say
	Data []byte // its lines, with LF between them
}

// Events returns the events of a whole stream that have data.
func Events(stream []byte) iter.Seq[Event] {
	stream = bytes.TrimPrefix(stream, []byte("\ufeff")) // a byte order mark
	stream = bytes.ReplaceAll(stream, []byte("\r\n"), []byte("\n"))
	stream = bytes.ReplaceAll(stream, []byte("\r"), []byte("\n"))
	return func(yield func(Event) bool) {
		var e Event
		for line := range bytes.SplitSeq(append(stream, '\n'), []byte("\n")) { // the end of the stream ends an event
			name, value, _ := bytes.Cut(line, []byte(":"))
			value = bytes.TrimPrefix(value, []byte(" "))
			switch {
			case len(line) == 0:
				if e.Data != nil && !yield(Event{e.Type, bytes.TrimSuffix(e.Data, []byte("\n"))}) {
					return
				}
				e = Event{}
			case string(name) == "event":
				e.Type = string(value)
			case string(name) == "data":
				e.Data = append(append(e.Data, value...), '\n')
			}
		}
	}
}
