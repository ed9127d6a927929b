package chat

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"

	"epitome/prose"
	"epitome/rewrite/conversation"
	"epitome/rewrite/span"
	"epitome/sse"
)

// This file asks a model for a text of its own in the chat-completions dialect, and reads its answer.

// The names of a cap on the output. Most providers want the first one, newer models of the dialect's maker the other.
const (
	usualCap = "max_tokens"
	otherCap = "max_completion_tokens"
)

// isDropped reports whether a setting would keep the answer from being one plain text, or was made for another answer.
func isDropped(key string) bool {
	switch key {
	case "n", "stop", "response_format", "logprobs", "top_logprobs", "store", "metadata", "stream", "stream_options",
		"parallel_tool_calls", "prediction", "modalities", "audio",
		"guided_json", "guided_regex", "guided_choice", "guided_grammar", "structured_outputs", "grammar", "json_schema":
		return true
	}
	return false
}

// setting is a key of a body with its value.
type setting struct {
	span.Span
	key   string
	value span.Span
}

// continuation is the body of a client as it becomes one that asks for another text. It owns its edits.
type continuation struct {
	body     []byte
	form     prose.Form
	all      []setting
	messages span.Span
	edits    []span.Edit
}

// member notes the member of the body whose value begins at i.
func (c *continuation) member(key []byte, i int) (int, error) {
	end, err := span.EndOfValue(c.body, i)
	if err != nil {
		return 0, err
	}
	colon := bytes.LastIndexByte(c.body[:i], ':')
	quote := bytes.LastIndexByte(c.body[:colon], '"')
	m := setting{span.Span{Start: quote - len(key) - 1, End: end}, string(key), span.Span{Start: i, End: end}}
	if m.key == "messages" && c.body[i] == '[' {
		c.messages = m.value
	}
	c.all = append(c.all, m)
	return end, nil
}

// say puts a user's message behind the others.
func (c *continuation) say(text string) {
	with := chatMessage(conversation.User, text)
	if span.SkipSpace(c.body, c.messages.Start+1) != c.messages.End-1 {
		with = "," + with
	}
	at := c.messages.End - 1
	c.edits = append(c.edits, span.Edit{Span: span.Span{Start: at, End: at}, With: []byte(with)})
}

// settle makes the settings those of the form. It sets or takes out what stands there, and puts what is missing last.
func (c *continuation) settle() {
	set := c.settings()
	stay := -1 // the last member that stays
	for i, m := range c.all {
		want, known := set[m.key]
		delete(set, m.key)
		switch {
		case known && want != "":
			c.edits = append(c.edits, span.Edit{Span: m.value, With: []byte(want)})
		case known || isDropped(m.key):
			if i+1 < len(c.all) {
				c.edits = append(c.edits, span.Edit{Span: span.Span{Start: m.Start, End: c.all[i+1].Start}, With: nil})
			}
			continue
		}
		stay = i
	}
	c.trim(stay)
	end := c.all[len(c.all)-1].End
	for _, key := range [...]string{"tool_choice", "function_call", usualCap, otherCap, "stream"} {
		if want := set[key]; want != "" {
			c.edits = append(c.edits, span.Edit{Span: span.Span{Start: end, End: end},
				With: []byte(`,"` + key + `":` + want)})
		}
	}
}

// trim takes out all behind member stay, the last one that stays, with the comma. One always does: the messages.
func (c *continuation) trim(stay int) {
	last := len(c.all) - 1
	if stay == last {
		return
	}
	from := c.all[stay].End
	kept := c.edits[:0]
	for _, e := range c.edits {
		if e.Start < from || e.Start == e.End {
			kept = append(kept, e)
		}
	}
	c.edits = append(kept, span.Edit{Span: span.Span{Start: from, End: c.all[last].End}, With: nil})
}

// settings returns the settings that the answer needs, as JSON. An empty one is to be taken out.
func (c *continuation) settings() map[string]string {
	used, other := usualCap, otherCap
	set := map[string]string{"tool_choice": "", "function_call": ""}
	for _, m := range c.all {
		switch {
		case m.key == otherCap:
			used, other = otherCap, usualCap
		case m.key == "tools" && c.filled(m.value):
			set["tool_choice"] = `"none"`
		case m.key == "functions" && c.filled(m.value):
			set["function_call"] = `"none"`
		}
	}
	if c.form.OtherCap {
		used, other = other, used
	}
	set[used], set[other] = strconv.Itoa(c.form.MaxOutput), ""
	if c.form.Stream {
		set["stream"] = "true"
	}
	return set
}

// filled reports whether a value is an array with something in it.
func (c *continuation) filled(v span.Span) bool {
	return c.body[v.Start] == '[' && span.SkipSpace(c.body, v.Start+1) != v.End-1
}

// streamWord matches a complaint about streams, and none about an upstream.
var streamWord = regexp.MustCompile(`(?i)\bstream(?:ing|ed)?\b`)

// Bounds of an answer, in bytes.
const (
	mostDocument = 4 << 20 // one that is not streamed; with its reasoning
	mostEvent    = 1 << 20
	mostText     = 1 << 20
	mostError    = 64 << 10
)

var errLongAnswer = errors.New("the answer is too long")

// readStream reads an answer's events to their end.
func readStream(in io.Reader) (prose.Answer, error) {
	events := sse.NewReader(in, mostEvent)
	var s speech
	for done := false; !done && s.Error == nil; {
		e, err := events.Next()
		switch {
		case errors.Is(err, io.EOF) && s.finished:
			return s.answer(), nil
		case errors.Is(err, io.EOF):
			return prose.Answer{}, io.ErrUnexpectedEOF
		case err != nil:
			return prose.Answer{}, err
		}
		if done, err = s.event(e.Data, strings.TrimSpace(e.Type) == "error"); err != nil {
			return prose.Answer{}, err
		}
	}
	return s.answer(), nil
}

// speech is an answer as far as it has been heard.
type speech struct {
	prose.Answer
	said     strings.Builder // its text
	chosen   bool            // there was an answer at all
	finished bool            // and it was said that it ended
}

func (s *speech) answer() prose.Answer {
	s.Text = s.said.String()
	return s.Answer
}

// event hears one event of a stream, and reports whether it was the last one.
func (s *speech) event(data []byte, failed bool) (done bool, err error) {
	data = bytes.TrimSpace(data)
	switch {
	case len(data) == 0:
		return false, nil
	case string(data) == "[DONE]":
		return true, nil
	case failed:
		s.Error = bytes.Clone(data[:min(len(data), mostError)])
		return false, nil
	}
	return false, s.hear(data)
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
		s.Error = bytes.Clone(doc[:min(len(doc), mostError)])
	}
	s.Input = max(s.Input, c.Usage.PromptTokens)
	s.Cached = max(s.Cached, c.Usage.Details.CachedTokens, c.Usage.CacheHits)
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
	if s.said.Len() > mostText {
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
	if !span.Valid(body) {
		return body, false
	}
	c := continuation{body: body}
	if _, err := span.Members(body, span.SkipSpace(body, 0), c.member); err != nil {
		return body, false
	}
	var edits []span.Edit
	for _, m := range c.all {
		n, err := strconv.Atoi(string(m.value.Of(body)))
		if (m.key == usualCap || m.key == otherCap) && err == nil && n > tokens {
			edits = append(edits, span.Edit{Span: m.value, With: []byte(strconv.Itoa(tokens))})
		}
	}
	out, err := span.Splice(body, edits)
	if err != nil || len(edits) == 0 {
		return body, false
	}
	return out, true
}
