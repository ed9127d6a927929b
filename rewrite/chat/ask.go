package chat

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"epitome/prose"
	"epitome/rewrite/reply"
	"epitome/rewrite/span"
	"epitome/sse"
)

// This file asks a model for a text of its own in the chat-completions dialect, and reads its answer.

// The names of a cap on the output. Most providers want the first one, newer models of the dialect's maker the other.
const (
	usualCap = "max_tokens"
	otherCap = "max_completion_tokens"
)

// dropped are settings that would keep the answer from being one plain text, or were made for another answer.
var dropped = [...]string{
	"n", "stop", "response_format", "logprobs", "top_logprobs", "store", "metadata", "stream_options",
	"parallel_tool_calls", "prediction", "modalities", "audio",
	"guided_json", "guided_regex", "guided_choice", "guided_grammar", "structured_outputs", "grammar", "json_schema",
}

// settle makes the settings of a body those that the answer needs.
func settle(o *span.Object, body []byte, f prose.Form) {
	used, other := usualCap, otherCap
	if !o.Value(otherCap).Empty() {
		used, other = otherCap, usualCap
	}
	if f.OtherCap {
		used, other = other, used
	}
	o.TakeOut(dropped[:]...)
	o.TakeOut("tool_choice", "function_call", other, "stream")
	if span.HasElements(body, o.Value("tools")) {
		o.Set("tool_choice", `"none"`)
	}
	if span.HasElements(body, o.Value("functions")) {
		o.Set("function_call", `"none"`)
	}
	o.Set(used, strconv.Itoa(f.MaxOutput))
	if f.Stream {
		o.Set("stream", "true")
	}
}

// mostEvent is the most of an event, in bytes.
const mostEvent = 1 << 20

var errLongAnswer = errors.New("the answer is too long")

// speech is an answer as far as it has been heard.
type speech struct {
	prose.Answer
	said     strings.Builder // its text
	chosen   bool            // there was an answer at all
	finished bool            // and it was said that it ended
}

// Document hears an answer that is no stream.
func (s *speech) Document(doc []byte) error {
	err := s.hear(doc)
	if err == nil && !s.chosen && s.Error == nil {
		s.Error = reply.Failure(doc)
	}
	return err
}

// End is an error unless it was said that the answer ended.
func (s *speech) End() error {
	if !s.finished {
		return io.ErrUnexpectedEOF
	}
	return nil
}

func (s *speech) answer() prose.Answer {
	s.Text = s.said.String()
	return s.Answer
}

// Event hears one event of a stream, and reports whether it was the last one.
func (s *speech) Event(e sse.Event) (last bool, err error) {
	data := bytes.TrimSpace(e.Data)
	switch {
	case len(data) == 0:
		return false, nil
	case string(data) == "[DONE]":
		return true, nil
	case strings.TrimSpace(e.Type) == "error":
		s.Error = reply.Failure(data)
		return true, nil
	}
	err = s.hear(data)
	return s.Error != nil, err
}

// chunk is an answer, or a piece of one.
type chunk struct {
	Choices []struct {
		Index          int
		FinishReason   string `json:"finish_reason"`
		Message, Delta utterance
	}
	Error json.RawMessage
	Usage struct {
		PromptTokens     int `json:"prompt_tokens"`
		CompletionTokens int `json:"completion_tokens"`
		Details          struct {
			CachedTokens int `json:"cached_tokens"`
			CacheWrite   int `json:"cache_write_tokens"`
		} `json:"prompt_tokens_details"`
		CacheHits int `json:"prompt_cache_hit_tokens"`
	}
}

// utterance is a message or a piece of one. Reasoning has fields of its own, which are not read.
type utterance struct {
	Content      json.RawMessage
	Refusal      string
	ToolCalls    []json.RawMessage `json:"tool_calls"`
	FunctionCall json.RawMessage   `json:"function_call"`
}

// hear adds a document to what was heard. A field of a kind that is not known is as good as none.
func (s *speech) hear(doc []byte) error {
	var c chunk
	var odd *json.UnmarshalTypeError
	if err := json.Unmarshal(doc, &c); err != nil && !errors.As(err, &odd) {
		if len(bytes.TrimSpace(doc)) == 0 {
			return io.ErrUnexpectedEOF
		}
		return errors.New("the answer is not JSON")
	}
	if present(c.Error) {
		s.Error = reply.Failure(doc)
	}
	s.Input = max(s.Input, c.Usage.PromptTokens)
	s.Cached = max(s.Cached, c.Usage.Details.CachedTokens, c.Usage.CacheHits)
	s.Written = max(s.Written, c.Usage.Details.CacheWrite)
	s.Output = max(s.Output, c.Usage.CompletionTokens)
	for i := range c.Choices {
		choice := &c.Choices[i]
		if choice.Index != 0 {
			continue
		}
		s.chosen = true
		s.finish(choice.FinishReason)
		for _, said := range [...]*utterance{&choice.Message, &choice.Delta} {
			s.said.WriteString(contentText(said.Content))
			s.Refused = s.Refused || said.Refusal != ""
			s.Called = s.Called || len(said.ToolCalls) > 0 || present(said.FunctionCall)
		}
	}
	if s.said.Len() > reply.MostText {
		return errLongAnswer
	}
	return nil
}

func present(v json.RawMessage) bool { return len(v) > 0 && string(v) != "null" }

func (s *speech) finish(reason string) {
	s.finished = s.finished || reason != ""
	switch reason {
	case "length", "max_tokens", "model_length", "model_context_window_exceeded":
		s.Cut = true
	case "content_filter", "refusal":
		s.Refused = true
	}
}

// contentText returns a content's text: of a string, or of an array's parts of text.
func contentText(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var parts []struct{ Type, Text string }
	_ = json.Unmarshal(content, &parts)
	for _, p := range parts {
		if p.Type == "text" || p.Type == "" {
			text += p.Text
		}
	}
	return text
}

// CapOutput lowers the cap on the output that a request asks for to so many tokens, under whatever name it stands. ok
// is false for a request without a cap, or with a lower one: it is as it was.
func (Wire) CapOutput(body []byte, tokens int) (capped []byte, ok bool) {
	o, err := span.WholeObject(body)
	if err != nil {
		return body, false
	}
	for _, key := range [...]string{usualCap, otherCap} {
		if n, err := strconv.Atoi(string(o.Value(key).Of(body))); err == nil && n > tokens {
			o.Set(key, strconv.Itoa(tokens))
		}
	}
	edits := o.Edits()
	out, err := span.Splice(body, edits)
	if err != nil || len(edits) == 0 {
		return body, false
	}
	return out, true
}
