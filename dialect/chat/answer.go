package chat

import (
	"slices"
	"strconv"

	"github.com/tidwall/gjson"

	"epitome/dialect/answer"
	"epitome/event"
	"epitome/internal/jsonspan"
)

// Step returns the meaning of an event for its answer. An answer counts as over with the first choice that ends.
func (Dialect) Step(_ string, e gjson.Result) answer.Step {
	choices := e.Get("choices").Array()
	if len(choices) == 0 && !e.Get("usage").IsObject() {
		return answer.SaidStep // unknown here, perhaps of another API: the stream is not held back
	}
	step := answer.FrameStep
	for _, choice := range choices {
		if choice.Get("finish_reason").Str != "" {
			return answer.EndStep // even if other choices go on: few clients ask for several, and epitome does not
		}
		choice.Get("delta").ForEach(func(key, v gjson.Result) bool {
			if key.Str != "role" && !isEmpty(v) { // text, a call, or reasoning, whose key differs by server
				step = answer.SaidStep
			}
			return true
		})
	}
	return step
}

func isEmpty(v gjson.Result) bool {
	return v.Type == gjson.Null || v.Raw == `""` || v.Raw == "[]" || v.Raw == "{}"
}

func (Dialect) Usage(text []byte) (u event.Usage, input int) {
	return answer.ReadUsage(text, "prompt", "completion")
}

// cutReasons are the finish reasons of an answer that was cut off, as a limit on its tokens was reached.
var cutReasons = [...]string{"length", "max_tokens", "model_length", "model_context_window_exceeded"}

// Add adds an answer, or a piece of a streamed one, to a. Reasoning has fields or parts of its own, not read here.
func (Dialect) Add(a *answer.Partial, v gjson.Result) {
	choice := v.Get("choices.0") // the only one, as epitome does not ask for more
	said := choice.Get("delta")
	if message := choice.Get("message"); message.Exists() {
		said = message
	}
	content := said.Get("content")
	a.Said.WriteString(content.Str)
	for _, part := range content.Array() {
		kind := part.Get("type").Str
		if kind == "text" || kind == "" {
			a.Said.WriteString(part.Get("text").Str)
		}
	}
	reason := choice.Get("finish_reason").Str
	a.Cut = a.Cut || slices.Contains(cutReasons[:], reason)
	a.Refused = a.Refused || reason == "content_filter" || said.Get("refusal").Str != ""
	a.Called = a.Called || !isEmpty(said.Get("tool_calls")) || !isEmpty(said.Get("function_call"))
}

// Continue puts an instruction behind the conversation in body, as a user's message, and asks for one plain text that
// is not stored: no tool may be called, but their declarations stay, as the provider's cache depends on them.
func (Dialect) Continue(body []byte, instruction string, f answer.Form) ([]byte, error) {
	used, unused := answer.UsualCap, answer.OtherCap
	clientUsesOther := gjson.GetBytes(body, answer.OtherCap).Exists()
	if clientUsesOther != f.OtherCap { // the client's name is used until it is refused, which f.OtherCap says
		used, unused = unused, used
	}
	asked, err := api.Ask(body, api.Message("user", instruction), f)
	if err != nil {
		return nil, err
	}
	return jsonspan.Set(jsonspan.Delete(asked, unused), used, strconv.Itoa(f.MaxOutput)), nil
}
