package chat

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/tidwall/gjson"

	"epitome/dialect/answer"
	"epitome/dialect/conversation"
	"epitome/dialect/jsonspan"
)

// pathEnd ends the path of every request that holds a conversation; servers put paths of their own before it.
const pathEnd = "/chat/completions"

// Owns returns true: a body that no other API owns is taken to be of this one.
func (Dialect) Owns([]byte) bool { return true }

func (Dialect) Serves(path []byte) bool { return bytes.HasSuffix(path, []byte(pathEnd)) }

// Counts and Compacts return false: a client cannot ask this API to count a conversation's tokens, or to compact one.
func (Dialect) Counts([]byte) bool   { return false }
func (Dialect) Compacts([]byte) bool { return false }

// The names of the cap on the output. Most providers want the first one, newer models of OpenAI the other.
const (
	usualCap = "max_tokens"
	otherCap = "max_completion_tokens"
)

// Path is where epitome sends the requests that it makes itself (Continue, Prompt).
func (Dialect) Path() string { return "/v1" + pathEnd }

// Continue puts an instruction behind the conversation in body, as a user's message, and asks for one plain text that
// is not stored: no tool may be called, but their declarations stay, as the provider's cache depends on them.
func (d Dialect) Continue(body []byte, instruction string, f answer.Form) ([]byte, error) {
	asked, err := answer.Ask(body, "messages", d.UserMessage(instruction), f)
	if err != nil {
		return nil, err
	}
	used, unused := usualCap, otherCap
	clientUsesOther := gjson.GetBytes(body, otherCap).Exists()
	if clientUsesOther != f.OtherCap { // the client's name is used until it is refused, which f.OtherCap says
		used, unused = otherCap, usualCap
	}
	asked = jsonspan.Delete(asked, unused, "n", "stop", "response_format", "logprobs", "store", "parallel_tool_calls",
		"prediction", "modalities", "audio", "tool_choice")
	if gjson.GetBytes(body, "tools.0").Exists() { // without tools, servers may refuse a tool_choice
		asked = jsonspan.Set(asked, "tool_choice", `"none"`)
	}
	return jsonspan.Set(asked, used, strconv.Itoa(f.MaxOutput)), nil
}

func (d Dialect) Prompt(model, system, user string, f answer.Form) []byte {
	start := fmt.Appendf(nil, `{"model":%s,"messages":[%s]}`, jsonspan.Quoted(model),
		message(conversation.System, system))
	body, _ := d.Continue(start, user, f) // start has a list of messages
	return body
}

func (Dialect) CapOutput(body []byte, tokens int) (capped []byte, ok bool) {
	return answer.CapOutput(body, tokens, usualCap, otherCap)
}
