package chat

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"epitome/prose"
	"epitome/rewrite/conversation"
	"epitome/rewrite/jsonspan"
	"epitome/rewrite/reply"
	"epitome/sse"
)

// The names of a cap on the output. Most providers want the first one, newer models of the API's maker the other.
const (
	usualCap = "max_tokens"
	otherCap = "max_completion_tokens"
)

func (Dialect) Path() string { return "/v1" + pathEnd }

func (Dialect) Authorize(key string) (headers [][2]string) {
	return [][2]string{{"Authorization", "Bearer " + key}}
}

// dropped are settings that would keep the answer from being one plain text, or were made for another answer.
var dropped = [...]string{
	"n", "stop", "response_format", "logprobs", "top_logprobs", "store", "metadata", "stream_options",
	"parallel_tool_calls", "prediction", "modalities", "audio",
	"guided_json", "guided_regex", "guided_choice", "guided_grammar", "structured_outputs", "grammar", "json_schema",
	"tool_choice", "function_call", "stream",
}

// Continue puts an instruction behind the conversation in body, as a user's message, and asks for one plain text: tools
// stay, but none may be called. Every other byte stays as it is.
func (d Dialect) Continue(body []byte, instruction string, f prose.Form) ([]byte, error) {
	o, err := jsonspan.WholeObject(body)
	if err != nil {
		return nil, err
	}
	messages := o.Value("messages")
	if messages.Empty() || body[messages.Start] != '[' {
		return nil, errors.New("the body has no messages")
	}
	used, other := usualCap, otherCap
	if !o.Value(otherCap).Empty() != f.OtherCap {
		used, other = other, used
	}
	o.TakeOut(dropped[:]...)
	o.TakeOut(other)
	if jsonspan.HasElements(body, o.Value("tools")) {
		o.Set("tool_choice", `"none"`)
	}
	if jsonspan.HasElements(body, o.Value("functions")) {
		o.Set("function_call", `"none"`)
	}
	o.Set(used, strconv.Itoa(f.MaxOutput))
	if f.Stream {
		o.Set("stream", "true")
	}
	said := jsonspan.AddElement(body, messages, d.UserMessage(instruction))
	out, err := jsonspan.Splice(body, append(o.Edits(), said))
	if err != nil {
		return nil, fmt.Errorf("cannot continue the conversation: %w", err)
	}
	return out, nil
}

func (d Dialect) Prompt(model, system, user string, f prose.Form) []byte {
	limit := usualCap
	if f.OtherCap {
		limit = otherCap
	}
	b := jsonspan.AppendQuoted([]byte(`{"model":`), model)
	b = append(append(b, `,"messages":[`...), message(conversation.System, system)...)
	b = append(append(b, ','), d.UserMessage(user)...)
	b = fmt.Appendf(b, `],"%s":%d`, limit, f.MaxOutput)
	if f.Stream {
		b = append(b, `,"stream":true`...)
	}
	return append(b, '}')
}

func (Dialect) Adapt(f prose.Form, refusal []byte) (other prose.Form, ok bool) {
	switch {
	case !f.OtherCap && (bytes.Contains(refusal, []byte(usualCap)) || bytes.Contains(refusal, []byte(otherCap))):
		f.OtherCap = true
	case reply.WantsStream(f, refusal):
		f.Stream = true
	default:
		return f, false
	}
	return f, true
}

// maxEvent is the most of an event, in bytes.
const maxEvent = 1 << 20

// ReadAnswer reads an answer, whole or as a stream, whatever its type says. One that breaks off is io.ErrUnexpectedEOF.
func (Dialect) ReadAnswer(contentType string, body io.Reader) (prose.Answer, error) {
	var a answer
	most := sse.Most{Document: reply.MostDocument, Event: maxEvent}
	if err := sse.ReadEither(contentType, body, most, &a); err != nil {
		return prose.Answer{}, err
	}
	a.Text = a.text.String()
	return a.Answer, nil
}

// cutReasons are reasons to finish an answer that is not whole.
var cutReasons = [...]string{"length", "max_tokens", "model_length", "model_context_window_exceeded"}

// answer is what has been read of one. It implements sse.Hearer.
type answer struct {
	prose.Answer
	text      strings.Builder
	hasChoice bool
	isOver    bool
}

func (a *answer) Document(doc []byte) error {
	err := a.read(doc)
	if err == nil && !a.hasChoice {
		a.Error = reply.Failure(doc)
	}
	return err
}

// Event reads one event of a stream, and reports whether it was the last one.
func (a *answer) Event(e sse.Event) (last bool, err error) {
	data := bytes.TrimSpace(e.Data)
	switch {
	case len(data) == 0:
		return false, nil
	case string(data) == "[DONE]":
		return true, nil
	case strings.TrimSpace(e.Type) == "error":
		a.Error = reply.Failure(data)
		return true, nil
	}
	err = a.read(data)
	return a.Error != nil, err
}

// End is an error unless the stream said that the answer ended.
func (a *answer) End() error {
	if !a.isOver {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// read reads an answer, or a piece of one.
func (a *answer) read(doc []byte) error {
	v, err := reply.Parse(doc)
	if err != nil {
		return err
	}
	if !isEmpty(v.Get("error")) {
		a.Error = reply.Failure(doc)
	}
	used := readUsage(v.Get("usage"))
	a.Input, a.Output = max(a.Input, used.Input), max(a.Output, used.Output)
	a.Cached, a.Written = max(a.Cached, used.Read), max(a.Written, used.Write5m)
	v.Get("choices").ForEach(func(_, choice gjson.Result) bool {
		if choice.Get("index").Int() == 0 {
			a.hasChoice = true
			reason := choice.Get("finish_reason").Str
			a.isOver = a.isOver || reason != ""
			a.Cut = a.Cut || slices.Contains(cutReasons[:], reason)
			a.Refused = a.Refused || reason == "content_filter" || reason == "refusal"
			a.say(choice.Get("message"))
			a.say(choice.Get("delta"))
		}
		return true
	})
	if a.text.Len() > reply.MostText {
		return reply.ErrLongText
	}
	return nil
}

// say adds a message or a piece of one. Reasoning has fields of its own, which are not read.
func (a *answer) say(said gjson.Result) {
	content := said.Get("content")
	a.text.WriteString(content.Str)
	for _, part := range content.Array() {
		if kind := part.Get("type").Str; kind == "text" || kind == "" {
			a.text.WriteString(part.Get("text").Str)
		}
	}
	a.Refused = a.Refused || said.Get("refusal").Str != ""
	a.Called = a.Called || !isEmpty(said.Get("tool_calls")) || !isEmpty(said.Get("function_call"))
}
