package responses

import (
	"bytes"
	"fmt"
	"strconv"

	"epitome/prose"
	"epitome/rewrite/answer"
	"epitome/rewrite/conversation"
	"epitome/rewrite/jsonspan"
)

// outputCap is the setting that bounds an answer.
const outputCap = "max_output_tokens"

func (Dialect) Path() string { return "/v1" + path }

// Continue puts an instruction behind the conversation in body, and asks for one plain text: tools stay, but none may be
// called, and the provider keeps nothing of it. Behind encrypted reasoning the developer speaks: once the user does, the
// provider leaves that reasoning out, and all tokens behind it miss the cache.
func (Dialect) Continue(body []byte, instruction string, f prose.Form) ([]byte, error) {
	o, err := jsonspan.WholeObject(body)
	if err != nil {
		return nil, err
	}
	role := "user"
	if bytes.Contains(body, []byte(`"encrypted_content"`)) {
		role = "developer"
	}
	o.TakeOut("background", "context_management", "truncation", "include", "max_tool_calls", "tool_choice")
	o.In("text").TakeOut("format")
	o.In("prompt_cache_options").TakeOut("prewarm")
	if jsonspan.HasElements(body, o.Value("tools")) || bytes.Contains(body, []byte(`"additional_tools"`)) {
		o.Set("tool_choice", `"none"`)
	}
	o.Set("store", "false")
	if f.OtherCap {
		o.TakeOut(outputCap)
	} else {
		o.Set(outputCap, strconv.Itoa(f.MaxOutput))
	}
	return answer.Ask(body, o, "input", message(role, instruction), f)
}

// Prompt returns a request for one plain text. A form with another cap has none here.
func (d Dialect) Prompt(model, system, user string, f prose.Form) []byte {
	settings := ""
	if !f.OtherCap {
		settings = fmt.Sprintf(`,"%s":%d`, outputCap, f.MaxOutput)
	}
	if f.Stream {
		settings += `,"stream":true`
	}
	return fmt.Appendf(nil, `{"model":%s,"instructions":%s,"input":[%s],"store":false%s}`, jsonspan.Quoted(model),
		jsonspan.Quoted(system), d.UserMessage(user), settings)
}

func (Dialect) CapOutput(body []byte, tokens int) (capped []byte, ok bool) {
	return conversation.CapOutput(body, tokens, outputCap)
}
