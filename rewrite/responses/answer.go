package responses

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/tidwall/gjson"

	"epitome/prose"
	"epitome/rewrite/span"
	"epitome/sse"
)

// This file reads what a model answers that was asked for a text.

// Bounds of an answer, in bytes. Events repeat the request's settings, tools and all.
const (
	mostDocument = 4 << 20 // one that is not streamed; with what was thought
	mostEvent    = 4 << 20
	mostText     = 1 << 20
	mostError    = 64 << 10
)

var (
	errLongText = errors.New("the text of the answer is too long")
	errNoAnswer = errors.New("the answer is not JSON")
)

// ReadAnswer reads an answer, whole or as a stream, whatever its type says: its texts, and nothing of what was thought.
// One that breaks off is io.ErrUnexpectedEOF.
func (Dialect) ReadAnswer(contentType string, body io.Reader) (prose.Answer, error) {
	s := speech{}
	if err := sse.ReadEither(contentType, body, sse.Most{Document: mostDocument, Event: mostEvent}, &s); err != nil {
		return prose.Answer{}, err
	}
	s.Text = s.said.String()
	if s.whole.Len() > 0 {
		s.Text = s.whole.String()
	}
	return s.Answer, nil
}

// speech is an answer as far as it has been heard. Its text comes piece by piece, and once more with each item that is
// whole, and once more at the end; some servers leave out the pieces, and some what comes at the end.
type speech struct {
	prose.Answer
	said, whole strings.Builder // by pieces, and by items
	ended       bool            // it was said how it ended
}

// Document hears an answer that is no stream.
func (s *speech) Document(doc []byte) error {
	switch {
	case len(bytes.TrimSpace(doc)) == 0:
		return io.ErrUnexpectedEOF
	case !span.Valid(doc):
		return errNoAnswer
	}
	a := gjson.ParseBytes(doc)
	if !a.Get("output").IsArray() {
		s.fail(doc)
		return nil
	}
	return s.end(a, doc)
}

// Event hears one event of a stream, and reports whether it was the last one.
func (s *speech) Event(e sse.Event) (last bool, err error) {
	data := bytes.TrimSpace(e.Data)
	step := stepOf([]byte(e.Type), data)
	switch {
	case step == errorStep:
		s.fail(data)
		return true, nil
	case len(data) == 0:
		return false, nil
	case string(data) == "[DONE]":
		return s.ended, nil
	case !span.Valid(data):
		return false, errNoAnswer
	}
	v := gjson.ParseBytes(data)
	if step == endStep {
		return true, s.end(v.Get("response"), data)
	}
	name := v.Get("type").Str
	if name == "" {
		name = strings.TrimSpace(e.Type)
	}
	switch name {
	case textPiece:
		s.said.WriteString(v.Get("delta").Str)
	case refusalPiece:
		s.Refused = true
	case itemWhole:
		err = s.hear(v.Get("item"))
	}
	if s.said.Len() > mostText {
		err = errLongText
	}
	return false, err
}

// End is an error unless it was said how the answer ended.
func (s *speech) End() error {
	if !s.ended {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// fail keeps what the provider says went wrong.
func (s *speech) fail(said []byte) { s.Error = bytes.Clone(said[:min(len(said), mostError)]) }

// end takes an answer as it is in the end. said is where that stands.
func (s *speech) end(a gjson.Result, said []byte) error {
	s.ended = true
	usage := a.Get("usage")
	s.Input, s.Output = tokensOf(usage.Get("input_tokens")), tokensOf(usage.Get("output_tokens"))
	s.Cached = tokensOf(usage.Get("input_tokens_details.cached_tokens"))
	switch a.Get("status").Str {
	case "failed", "cancelled":
		s.fail(said)
		return nil
	}
	switch a.Get("incomplete_details.reason").Str {
	case "":
		s.Cut = a.Get("status").Str == "incomplete"
	case "content_filter":
		s.Refused = true
	default:
		s.Cut = true
	}
	items := a.Get("output").Array()
	if len(items) > 0 {
		s.whole.Reset()
	}
	for _, item := range items {
		if err := s.hear(item); err != nil {
			return err
		}
	}
	return nil
}

// hear takes an item that is whole.
func (s *speech) hear(item gjson.Result) error {
	kind := item.Get("type").Str
	s.Called = s.Called || strings.HasSuffix(kind, "_call")
	if kind != messageItem {
		return nil
	}
	for _, part := range item.Get("content").Array() {
		switch part.Get("type").Str {
		case outputText:
			s.whole.WriteString(part.Get("text").Str)
		case refusalPart:
			s.Refused = true
		}
	}
	if s.whole.Len() > mostText {
		return errLongText
	}
	return nil
}
