package chat

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"epitome/prose"
	"epitome/rewrite/answer"
	"epitome/rewrite/conversation"
	"epitome/rewrite/jsonspan"
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
	limit, stream := usualCap, ""
	if f.OtherCap {
		limit = otherCap
	}
	if f.Stream {
		stream = `,"stream":true`
	}
	return fmt.Appendf(nil, `{"model":%s,"messages":[%s,%s],"%s":%d%s}`, jsonspan.Quoted(model),
		message(conversation.System, system), d.UserMessage(user), limit, f.MaxOutput, stream)
}

func (Dialect) Adapt(f prose.Form, refusal []byte) (other prose.Form, ok bool) {
	if !f.OtherCap && (bytes.Contains(refusal, []byte(usualCap)) || bytes.Contains(refusal, []byte(otherCap))) {
		f.OtherCap = true
		return f, true
	}
	return answer.Adapt(f, refusal, nil)
}
