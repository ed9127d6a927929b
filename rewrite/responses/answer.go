package responses

import (
	"bytes"
	"io"
	"strings"

	"github.com/tidwall/gjson"

	"epitome/prose"
	"epitome/rewrite/reply"
	"epitome/rewrite/span"
	"epitome/sse"
)

// This file reads what a model answers that was asked for a text.

// mostEvent is the most of an event, in bytes: some repeat the settings of the request, tools and all.
const mostEvent = 4 << 20

// ReadAnswer reads an answer, whole or as a stream, whatever its type says: its texts, and nothing of what was thought.
// One that breaks off is io.ErrUnexpectedEOF.
func (Dialect) ReadAnswer(contentType string, body io.Reader) (prose.Answer, error) {
	s := speech{}
	most := sse.Most{Document: reply.MostDocument, Event: mostEvent}
	if err := sse.ReadEither(contentType, body, most, &s); err != nil {
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
	a, err := reply.Parse(doc)
	if err != nil {
		return err
	}
	if !a.Get("output").IsArray() {
		s.Error = reply.Failure(doc)
		return nil
	}
	return s.end(a, doc)
}

// Event hears one event of a stream, and reports whether it was the last one.
func (s *speech) Event(e sse.Event) (last bool, err error) {
	data := bytes.TrimSpace(e.Data)
	step := stepOf([]byte(e.Type), data)
	switch {
	case step == reply.ErrorStep:
		s.Error = reply.Failure(data)
		return true, nil
	case len(data) == 0:
		return false, nil
	case string(data) == "[DONE]":
		return s.ended, nil
	case !span.Valid(data):
		return false, reply.ErrNoJSON
	}
	v := gjson.ParseBytes(data)
	if step == reply.EndStep {
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
	if s.said.Len() > reply.MostText {
		err = reply.ErrLongText
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

// end takes an answer as it is in the end. said is where that stands.
func (s *speech) end(a gjson.Result, said []byte) error {
	s.ended = true
	usage := a.Get("usage")
	s.Input, _ = reply.Tokens(usage.Get("input_tokens"))
	s.Output, _ = reply.Tokens(usage.Get("output_tokens"))
	s.Cached, _ = reply.Tokens(usage.Get("input_tokens_details.cached_tokens"))
	s.Written, _ = reply.Tokens(usage.Get("input_tokens_details.cache_write_tokens"))
	switch a.Get("status").Str {
	case "failed", "cancelled":
		s.Error = reply.Failure(said)
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
	if s.whole.Len() > reply.MostText {
		return reply.ErrLongText
	}
	return nil
}
