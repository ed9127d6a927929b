// Package answer reads what models answer, whole or as a stream: the text, how it ends, and its counts of tokens.
//
// The package of each API says what is written where.
package answer

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"strings"

	"github.com/tidwall/gjson"

	"epitome/event"
	"epitome/prose"
	"epitome/rewrite/jsonspan"
	"epitome/sse"
)

const (
	maxBytes = 16 << 20 // of an answer; a stream is mostly envelope, and some repeat the request's tools
	maxError = 64 << 10 // of what a provider says went wrong
)

// ErrTooLong is returned for an answer that is not read to its end.
var ErrTooLong = errors.New("the answer is too long")

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
	// Usage reads the counts of an answer.
	Usage func(heard []byte, opening Counts) (u event.Usage, input int)
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

// Read reads an answer, whole or as a stream. One that breaks off is io.ErrUnexpectedEOF.
func (f *Format) Read(body io.Reader) (prose.Answer, error) {
	all, err := io.ReadAll(io.LimitReader(body, maxBytes+1))
	switch {
	case err != nil:
		return prose.Answer{}, err
	case len(all) > maxBytes:
		return prose.Answer{}, ErrTooLong
	}
	var a Answer
	isOver := false
	if sse.Looks(all) {
		isOver = f.readStream(&a, all)
	} else if isOver = jsonspan.Valid(all); isOver {
		f.add(&a, sse.Event{Data: all})
	}
	if !isOver {
		return prose.Answer{}, io.ErrUnexpectedEOF
	}
	u, _ := f.Usage(all, NoCounts())
	a.Text = a.Said.String()
	a.Input, a.Cached, a.Written, a.Output = u.Input, u.Read, u.Write5m+u.Write1h, u.Output
	return a.Answer, nil
}

// readStream reads events up to the last one, and reports whether it is there.
func (f *Format) readStream(a *Answer, all []byte) (isOver bool) {
	events := sse.NewReader(bytes.NewReader(all), len(all))
	for {
		e, err := events.Next()
		if err != nil {
			return false
		}
		if step := f.add(a, e); step == EndStep || step == ErrorStep {
			return true
		}
	}
}

// add takes in an event, or an answer that is not streamed. What is not JSON says nothing.
func (f *Format) add(a *Answer, e sse.Event) Step {
	step := f.StepOf([]byte(e.Type), e.Data)
	if step == ErrorStep {
		a.Error = bytes.Clone(e.Data[:min(len(e.Data), maxError)])
	} else if jsonspan.Valid(e.Data) {
		f.Add(a, gjson.ParseBytes(e.Data))
	}
	return step
}
