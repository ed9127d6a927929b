package messages

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

// mostEvent is the most of an event, in bytes.
const mostEvent = 1 << 20

// ReadAnswer reads an answer, whole or as a stream, whatever its type says: its texts, and nothing of what was thought.
// One that breaks off is io.ErrUnexpectedEOF.
func (Dialect) ReadAnswer(contentType string, body io.Reader) (prose.Answer, error) {
	s := speech{usage: newUsage()}
	most := sse.Most{Document: reply.MostDocument, Event: mostEvent}
	if err := sse.ReadEither(contentType, body, most, &s); err != nil {
		return prose.Answer{}, err
	}
	s.Text = s.said.String()
	s.Written = max(s.usage.of[writtenToCache], 0)
	s.Input, s.Cached, s.Output = s.usage.sum(), max(s.usage.of[readFromCache], 0), max(s.usage.output, 0)
	return s.Answer, nil
}

// speech is an answer as far as it has been heard.
type speech struct {
	prose.Answer
	usage usage
	said  strings.Builder // its text
	ended bool            // it was said why it ended
}

// Document hears an answer that is no stream.
func (s *speech) Document(doc []byte) error {
	a, err := reply.Parse(doc)
	if err != nil {
		return err
	}
	if content := a.Get("content"); !content.IsArray() || a.Get("type").Str == "error" {
		s.Error = reply.Failure(doc)
		return nil
	}
	s.usage.take(a.Get("usage"))
	s.end(a.Get("stop_reason").Str)
	for _, block := range a.Get("content").Array() {
		if err := s.hear(block.Get("type").Str, block.Get("text").Str); err != nil {
			return err
		}
	}
	return nil
}

// Event hears one event of a stream, and reports whether it was the last one.
func (s *speech) Event(e sse.Event) (last bool, err error) {
	data := bytes.TrimSpace(e.Data)
	if stepOf([]byte(e.Type), data) == reply.ErrorStep {
		s.Error = reply.Failure(data)
		return true, nil
	}
	if !span.Valid(data) {
		if len(data) == 0 || string(data) == "[DONE]" {
			return len(data) > 0 && s.ended, nil
		}
		return false, reply.ErrNoJSON
	}
	switch v := gjson.ParseBytes(data); v.Get("type").Str {
	case "message_start":
		s.usage.take(v.Get("message.usage"))
	case "content_block_start":
		err = s.hear(v.Get("content_block.type").Str, v.Get("content_block.text").Str)
	case "content_block_delta":
		if v.Get("delta.type").Str == "text_delta" {
			err = s.hear("text", v.Get("delta.text").Str)
		}
	case "message_delta":
		s.usage.take(v.Get("usage"))
		s.end(v.Get("delta.stop_reason").Str)
	case "message_stop":
		return true, nil
	}
	return false, err
}

// End is an error unless it was said why the answer ended.
func (s *speech) End() error {
	if !s.ended {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// hear takes a block, or a piece of its text.
func (s *speech) hear(kindName, text string) error {
	switch kindOf(kindName) {
	case textBlock:
		s.said.WriteString(text)
	case callBlock:
		s.Called = true
	}
	if s.said.Len() > reply.MostText {
		return reply.ErrLongText
	}
	return nil
}

// end takes why the answer ended.
func (s *speech) end(reason string) {
	s.ended = s.ended || reason != ""
	switch reason {
	case "max_tokens", "model_context_window_exceeded":
		s.Cut = true
	case "refusal":
		s.Refused = true
	case "tool_use", "pause_turn": // one waits for a result, the other goes on with tools at the provider
		s.Called = true
	}
}
