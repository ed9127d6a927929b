package reply

import (
	"bytes"

	"github.com/tidwall/gjson"
)

// Step is what an event of a stream means for the answer.
type Step uint8

// The steps.
const (
	FrameStep Step = iota // nothing was said by it
	SaidStep              // a piece of the answer, or what is none of the dialect's
	EndStep               // the answer is over
	ErrorStep             // it failed
)

// ReadStep reads an event of a stream. of tells of one that is an object and has a name, in itself or by its kind.
func ReadStep(kind, data []byte, of func(name string, event gjson.Result) Step) Step {
	if bytes.EqualFold(bytes.TrimSpace(kind), []byte("error")) {
		return ErrorStep
	}
	data = bytes.TrimSpace(data)
	if len(data) == 0 {
		return FrameStep
	}
	event := gjson.ParseBytes(data)
	if !event.IsObject() {
		return SaidStep
	}
	name := event.Get("type").Str
	if name == "" {
		name = string(bytes.TrimSpace(kind))
	}
	return of(name, event)
}

// HasError reports whether an event has something to say of an error.
func HasError(event gjson.Result) bool {
	v := event.Get("error")
	return v.IsObject() || v.Str != ""
}

// Begins reports whether an event is more than the frame of an answer: a piece of what is said, its end, or what is
// none of the dialect's.
func (s Step) Begins() bool { return s == SaidStep || s == EndStep }

// Fails reports whether an event tells of an error, or, as it is the first one that Begins, of an end before anything
// was said.
func (s Step) Fails() bool { return s == ErrorStep || s == EndStep }
