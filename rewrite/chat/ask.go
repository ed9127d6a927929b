package chat

import (
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

// Continue puts an instruction behind the conversation in body, as a user's message, and asks for one plain text: tools
// stay, but none may be called. Every other byte stays as it is.
func (d Dialect) Continue(body []byte, instruction string, f prose.Form) ([]byte, error) {
	o, err := jsonspan.WholeObject(body)
	if err != nil {
		return nil, err
	}
	used, other := usualCap, otherCap
	if !o.Value(otherCap).Empty() != f.OtherCap {
		used, other = other, used
	}
	o.Set(used, strconv.Itoa(f.MaxOutput))
	o.TakeOut(other, "n", "stop", "response_format", "logprobs", "store", "parallel_tool_calls", "prediction",
		"modalities", "audio", "tool_choice")
	if jsonspan.HasElements(body, o.Value("tools")) {
		o.Set("tool_choice", `"none"`)
	}
	return answer.Ask(body, o, "messages", d.UserMessage(instruction), f)
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

func (Dialect) CapOutput(body []byte, tokens int) (capped []byte, ok bool) {
	return conversation.CapOutput(body, tokens, usualCap, otherCap)
}
