// Package answer is what the answers of all APIs have in common: how one is read whole or from a stream, what its
// events mean, what it says of its tokens, and what a refusal asks for.
//
// It knows no API by name: what only one of them writes is handed in by its dialect.
package answer

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"epitome/pattern"
	"epitome/prose"
	"epitome/rewrite/jsonspan"
	"epitome/sse"
)

// Bounds of an answer, in bytes.
const (
	MaxDocument = 4 << 20 // whole, or one event of a stream: some repeat the request's tools
	MaxText     = 1 << 20
	maxError    = 64 << 10
)

// Reasons why an answer is not read.
var (
	ErrLongText = errors.New("the text of the answer is too long")
	ErrNoJSON   = errors.New("the answer is not JSON")
)

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
	Step     func(name string, event gjson.Result) Step // of an event that is an object
	Document func(a *Answer, doc gjson.Result)          // reads an answer that is not streamed
	Event    func(a *Answer, name string, event gjson.Result) (last bool)
	DoneEnds bool // an event that says [DONE] ends an answer
}

// Answer is what has been read of one.
type Answer struct {
	prose.Answer
	Counts Counts
	Said   strings.Builder // becomes Text
	IsOver bool            // the stream said that the answer ended
	format *Format
}

// Fail keeps what the provider says went wrong.
func (a *Answer) Fail(said []byte) { a.Error = bytes.Clone(said[:min(len(said), maxError)]) }

// Read reads an answer, whole or as a stream, whatever its type says. One that breaks off is io.ErrUnexpectedEOF.
func (f *Format) Read(contentType string, body io.Reader) (prose.Answer, error) {
	a := Answer{Counts: NoCounts(), format: f}
	if err := sse.ReadEither(contentType, body, sse.Most{Document: MaxDocument, Event: MaxDocument}, &a); err != nil {
		return prose.Answer{}, err
	}
	a.Text = a.Said.String()
	a.Input, a.Output = max(a.Counts.Input, 0), max(a.Counts.Output, 0)
	a.Cached, a.Written = max(a.Counts.Read, 0), max(a.Counts.Write5m, 0)
	return a.Answer, nil
}

// Document implements sse.Hearer.
func (a *Answer) Document(doc []byte) error {
	switch {
	case len(bytes.TrimSpace(doc)) == 0:
		return io.ErrUnexpectedEOF
	case !jsonspan.Valid(doc):
		return ErrNoJSON
	}
	a.format.Document(a, gjson.ParseBytes(doc))
	return a.checkLength()
}

// Event implements sse.Hearer.
func (a *Answer) Event(e sse.Event) (last bool, err error) {
	data := bytes.TrimSpace(e.Data)
	name, event, step := a.format.read([]byte(e.Type), data)
	switch {
	case step == ErrorStep:
		a.Fail(data)
		return true, nil
	case len(data) == 0:
		return false, nil
	case string(data) == "[DONE]":
		a.IsOver = a.IsOver || a.format.DoneEnds
		return a.IsOver, nil
	case !jsonspan.Valid(data):
		return false, ErrNoJSON
	}
	return a.format.Event(a, name, event), a.checkLength()
}

// End implements sse.Hearer.
func (a *Answer) End() error {
	if !a.IsOver {
		return io.ErrUnexpectedEOF
	}
	return nil
}

func (a *Answer) checkLength() error {
	if a.Said.Len() > MaxText {
		return ErrLongText
	}
	return nil
}

// read returns what an event means, its name, which stands in it or is its kind, and what it says.
func (f *Format) read(kind, data []byte) (name string, event gjson.Result, s Step) {
	kind, data = bytes.TrimSpace(kind), bytes.TrimSpace(data)
	switch event = gjson.ParseBytes(data); {
	case bytes.EqualFold(kind, []byte("error")):
		return "", event, ErrorStep
	case len(data) == 0:
		return "", event, FrameStep
	case !event.IsObject():
		return "", event, SaidStep
	}
	if name = event.Get("type").Str; name == "" {
		name = string(kind)
	}
	return name, event, f.Step(name, event)
}

// Begins reports whether an event is a piece of what is said, the end, or of another API.
func (f *Format) Begins(kind, data []byte) bool {
	_, _, s := f.read(kind, data)
	return s == SaidStep || s == EndStep
}

// Fails reports whether an event is an error, or, as the first one that Begins, an end before anything was said.
func (f *Format) Fails(kind, data []byte) bool {
	_, _, s := f.read(kind, data)
	return s == ErrorStep || s == EndStep
}

// HasError reports whether an event says something of an error.
func HasError(event gjson.Result) bool {
	v := event.Get("error")
	return v.IsObject() || v.Str != ""
}

// streamWord matches a complaint about streams, and none about an upstream.
var streamWord = pattern.Of(`(?i)\bstream(?:ing|ed)?\b`)

// Adapt returns the form to ask in after a provider has refused f: with the cap on the output that the refusal names in
// the first group of highestCap, which may be nil, or as a stream. It is false if f is not what it complains of.
func Adapt(f prose.Form, refusal []byte, highestCap *pattern.Pattern) (prose.Form, bool) {
	if highestCap != nil {
		if found := highestCap.FindSubmatch(refusal); found != nil {
			n, err := strconv.Atoi(string(found[1]))
			if err != nil || n <= 0 || n >= f.MaxOutput {
				return f, false
			}
			f.MaxOutput = n
			return f, true
		}
	}
	if f.Stream || !streamWord.Match(refusal) {
		return f, false
	}
	f.Stream = true
	return f, true
}
