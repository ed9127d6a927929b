package fakeapi

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// client keeps a conversation with a provider: what it and the model said.
type client struct {
	t        *testing.T
	provider *Provider
	api      API
	model    string
	settings string
	said     []string
}

// body is a request that says all of this.
func (c *client) body(said ...string) string {
	list := strings.Join(said, ",")
	form := `{"model":%q,"tools":[{"type":"function","function":{"name":"sh"}}]%s,"messages":[%s]}`
	if c.api == Responses {
		form = `{"model":%q,"store":false,"include":["reasoning.encrypted_content"]%s,"input":[%s]}`
	}
	if c.api == Messages {
		form = `{"model":%q,"max_tokens":2000,"tools":[{"name":"sh","input_schema":{}}]%s,"messages":[%s]}`
	}
	return fmt.Sprintf(form, c.model, c.settings, list)
}

// post sends a request, and returns the status and the answer.
func (c *client) post(body string) (answer string) {
	c.t.Helper()
	path := map[API]string{Chat: "/v1/chat/completions", Messages: "/v1/messages", Responses: "/v1/responses"}[c.api]
	r, err := http.NewRequest(http.MethodPost, c.provider.URL+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("anthropic-version", "2023-06-01")
	resp, err := Direct().Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return fmt.Sprint(resp.StatusCode, " ", string(text))
}

// says has the client say something, and takes the answer into the conversation.
func (c *client) says(what ...string) {
	c.t.Helper()
	c.said = append(c.said, what...)
	answer := c.post(c.body(c.said...))
	parsed := gjson.Parse(strings.TrimPrefix(answer, "200 "))
	switch {
	case !strings.HasPrefix(answer, "200 "):
		c.t.Fatal(answer)
	case c.api == Chat:
		c.said = append(c.said, parsed.Get("choices.0.message").Raw)
	case c.api == Messages:
		c.said = append(c.said, `{"role":"assistant","content":`+parsed.Get("content").Raw+`}`)
	default:
		for _, item := range parsed.Get("output").Array() {
			c.said = append(c.said, item.Raw)
		}
	}
}

// refused wants a refusal of what was said when one text of it is replaced, or no refusal where want is empty.
func (c *client) refused(old, now, want string) {
	c.t.Helper()
	body := c.body(c.said...)
	if !strings.Contains(body, old) {
		c.t.Fatalf("%q is not in %s", old, body)
	}
	answer := c.post(strings.Replace(body, old, now, 1))
	if want == "" && !strings.HasPrefix(answer, "200 ") || !strings.Contains(answer, want) {
		c.t.Errorf("%s for %s: got %s, want %s", now, old, answer, want)
	}
}

// thinking has a model think and call a tool twice, and then say something.
func thinking() func(Exchange) []Part {
	n := 0
	return func(Exchange) []Part {
		if n++; n < 3 {
			return []Part{Think(fmt.Sprintf("thought %d", n)), Call(fmt.Sprintf("call_%d", n), "sh", `{"c":"ls"}`)}
		}
		return []Part{Text("Found.")}
	}
}

func TestProviderHoldsRulesOfChat(t *testing.T) {
	c := &client{t: t, api: Chat, model: "gpt-5", provider: StartProvider(t, Options{Answer: thinking()})}
	result := func(n int) string {
		return fmt.Sprintf(`{"role":"tool","tool_call_id":"call_%d","content":"r%d"}`, n, n)
	}
	c.says(`{"role":"user","content":"Look."}`)
	c.says(result(1))
	c.said = append(c.said, result(2))
	for _, rule := range []struct{ old, now, want string }{
		{`"role":"user"`, `"role":"critic"`, "Invalid value: 'critic'"},
		{`"Look."`, `[]`, "Invalid value for 'content'"},
		{`"tools"`, `"max_completion_tokens":1000000,"tools"`, "max_tokens is too large"},
		{result(1) + ",", "", "did not have response messages: call_1"},
		{"," + result(2), "", "did not have response messages: call_2"},
		{c.said[1] + ",", "", "must be a response to a preceeding message with 'tool_calls'"},
		{result(2), result(2) + "," + result(2), "must be a response to a preceeding message with 'tool_calls'"},
		{`"arguments":"{\"c\":\"ls\"}"`, `"arguments":"{"`, "expected JSON in a string"},
		{c.said[1] + "," + result(1) + ",", "", ""}, // a whole round may go
	} {
		c.refused(rule.old, rule.now, rule.want)
	}
}

func TestProviderHoldsRulesOfMessages(t *testing.T) {
	c := &client{t: t, api: Messages, model: "claude-opus-5-5", provider: StartProvider(t, Options{Answer: thinking()})}
	result := func(n int) string {
		return fmt.Sprintf(`{"type":"tool_result","tool_use_id":"call_%d","content":"r%d"}`, n, n)
	}
	user := func(blocks string) string { return `{"role":"user","content":[` + blocks + `]}` }
	c.says(`{"role":"user","content":"Look."}`)
	c.says(user(result(1)))
	c.said = append(c.said, user(result(2)))
	const text = `{"type":"text","text":"Go on."}`
	marks := strings.Repeat(`{"type":"text","text":"m","cache_control":{"type":"ephemeral"}},`, 5)
	first := gjson.Parse(c.said[1]).Get("content.0").Raw + ","
	second := gjson.Parse(c.said[3]).Get("content.0").Raw + ","
	for _, rule := range []struct{ old, now, want string }{
		{`"max_tokens":2000,`, ``, "max_tokens: Field required"},
		{`"max_tokens":2000`, `"max_tokens":2000000`, "which is the maximum allowed number of output tokens"},
		{`"max_tokens":2000`, `"max_tokens":2000,"max":1`, "max: Extra inputs are not permitted"},
		{`"max_tokens"`, `"thinking":{"type":"enabled","budget_tokens":1024},"max_tokens"`, "is not supported"},
		{`"max_tokens"`, `"tool_choice":{"type":"tool","name":"sh"},"max_tokens"`, "Thinking may not be enabled"},
		{`"Look."`, `""`, "all messages must have non-empty content"},
		{`"Look."`, `[{"type":"text","text":""}]`, "text content blocks must be non-empty"},
		{`"Look."`, `[` + marks + `{"type":"text","text":"m"}]`, "A maximum of 4 blocks with cache_control"},
		{`"role":"user"`, `"role":"tool"`, `Unexpected role \"tool\"`},
		{`"role":"user"`, `"role":"assistant"`, `first message must use the \"user\" role`},
		{`{"role":"user","content":"Look."}`, `{"role":"system","content":"Look."}`, "use the top-level 'system'"},
		{c.said[0] + ",", "", `first message must use the \"user\" role`},
		{"," + user(result(2)), "", "does not support assistant message prefill"},
		{result(2), text, "`tool_use` ids were found without `tool_result` blocks immediately after: call_2"},
		{result(2), text + "," + result(2), "`tool_use` ids were found without"},
		{result(2), result(2) + "," + result(1), "unexpected `tool_use_id` found in `tool_result` blocks: call_1"},
		{result(2), result(2) + "," + result(2), "each tool_use must have a single result"},
		{`"id":"call_2"`, `"id":"call_1"`, "`tool_use` ids must be unique"},
		{`"input":{"c":"ls"}`, `"input":"ls"`, "Input should be a valid dictionary"},
		{`"type":"tool_use"`, `"type":"call"`, "does not match any of the expected tags"},
		{`"signature":"`, `"signature":"x`, "Invalid `signature` in `thinking` block"},
		{`"Look."`, `"See."`, "bound to a different conversation"},
		{`{"name":"sh","input_schema":{}}`, `{"name":"zsh","input_schema":{}}`, "The `tools` differ."},
		{`"r1"`, `"r"`, "bound to a different conversation"},
		{first, "", ""}, // the oldest thinking may be missing
		{second, "", ""},
		{second, second + second, "Invalid `signature` in `thinking` block"},
		{`"Look."`, `[{"text":"Look.","cache_control":{"type":"ephemeral"},"type":"text"}]`, ""},
		{`"r2"`, `"r"`, ""}, // nothing was thought behind it
	} {
		c.refused(rule.old, rule.now, rule.want)
	}
}

func TestProviderHoldsRulesOfResponses(t *testing.T) {
	c := &client{t: t, api: Responses, model: "gpt-5", provider: StartProvider(t, Options{Answer: thinking()})}
	output := func(n int) string {
		return fmt.Sprintf(`{"type":"function_call_output","call_id":"call_%d","output":"r%d"}`, n, n)
	}
	c.says(`{"role":"user","content":"Look."}`)
	c.says(output(1))
	c.said = append(c.said, output(2))
	reasoning, call := c.said[1]+",", c.said[2]+","
	for _, rule := range []struct{ old, now, want string }{
		{`"model":"gpt-5",`, "", "Missing required parameter: 'model'"},
		{`"store":false`, `"store":false,"streams":true`, "Unknown parameter: 'streams'."},
		{`"store":false`, `"store":false,"max_output_tokens":1`, "integer below minimum value"},
		{`"store":false`, `"store":false,"tool_choice":{"type":"function","name":"sh"}`, "not found in 'tools'"},
		{`"store":false`, `"store":false,"previous_response_id":"resp_0"`, "id 'resp_0' not found."},
		{`"role":"user"`, `"role":"tool"`, "Invalid value: 'tool'"},
		{`"content":"Look."`, `"content":[{"type":"output_text","text":"x"}]`, "Invalid value: 'output_text'"},
		{`"output":"r1"`, `"output":{"r":1}`, "Invalid type for 'input[3].output'"},
		{`"type":"function_call_output"`, `"type":"tool_output"`, "Invalid value: 'tool_output'"},
		{output(1) + ",", "", "No tool output found for function call call_1."},
		{call + output(1) + ",", "", "was provided without its required following item"},
		{reasoning + call, "", "No tool call found for function call output with call_id call_1."},
		{output(1), output(1) + "," + output(1), "Duplicate tool output found"},
		{call, call + call, "Duplicate item found with id"},
		{reasoning, "", "was provided without its required 'reasoning' item"},
		{reasoning + call + output(1), call + output(1) + "," + c.said[1], "without its required 'reasoning' item"},
		{`"encrypted_content":"`, `"encrypted_content":"x`, "could not be verified"},
		{`"summary":[]`, `"summary":[],"content":null`, ""},
		{output(1), `{"type":"compaction_trigger"},` + output(1), "must be the last input item"},
		{output(2), output(2) + `,{"id":"msg_9"}`, "Items are not persisted when `store` is set to false."},
		{reasoning + call + output(1) + ",", "", ""}, // a whole round may go
	} {
		c.refused(rule.old, rule.now, rule.want)
	}
}

func TestProviderAccountsItsCache(t *testing.T) {
	long := strings.Repeat("word ", 4000) // 5,000 tokens
	for api, want := range map[API][]Usage{
		Chat:      {{Input: 5016}, {Input: 5027, Read: 4992}, {Input: 5027}},
		Messages:  {{Input: 5351, Written: 5351}, {Input: 5362, Read: 5351}, {Input: 5362, Written: 5351}},
		Responses: {{Input: 5004}, {Input: 5015, Read: 4992}, {Input: 5015}},
	} {
		c := &client{t: t, api: api, model: "gpt-5", provider: StartProvider(t, Options{})}
		first := `{"role":"user","content":[{"type":"input_text","text":"` + long + `"}]}`
		if api != Responses {
			first = `{"role":"user","content":[{"type":"text","text":"` + long +
				`","cache_control":{"type":"ephemeral"}}]}`
		}
		c.says(first)
		c.says(`{"role":"user","content":"x"}`)
		c.said[0] = strings.Replace(c.said[0], "word", "Word", 1)
		c.post(c.body(c.said[:3]...))
		var got []Usage
		for _, x := range c.provider.Exchanges() {
			x.Usage.Output = 0
			got = append(got, x.Usage)
		}
		if !slices.Equal(got, want) {
			t.Errorf("API %d: got %+v, want %+v", api, got, want)
		}
	}
}

// A request that exceeds the window is refused at once or within a stream, and uses up no answer.
func TestProviderRefusesWhatExceedsItsWindow(t *testing.T) {
	says := map[Overflow][3]string{ // of Chat, of Messages, of Responses
		SaysTooLong:       {"400 {.*context length is 1000", "400 {.*prompt is too long: 1", "400 {.*exceeds the"},
		TooLarge:          {"413 ", "413 ", "413 "},
		FailsInStream:     {"data: .*{\"error\"", "message_start.*error.*prompt is too long", "failed.*exceeds the"},
		FailsWithoutWords: {"data: .*{\"error\"", "message_start.*event: error", "failed.*context_length_exceeded"},
		ErrorInStream:     {"200 data: .*data: {\"error\"", "200 event: message_start.*event: error", "event: error"},
		EndsAtOnce:        {`"finish_reason":"length"`, "model_context_window_exceeded", "response.incomplete"},
		CountsOutput:      {"exceed context limit: 1", "exceed context limit: 1", "exceed context limit: 1"},
	}
	for overflow, words := range says {
		for api, want := range words {
			m := ModelOf("gpt-5")
			m.Window, m.Overflow = 1000, overflow
			c := &client{t: t, api: API(api), model: "gpt-5", settings: `,"stream":true`,
				provider: StartProvider(t, Options{Models: map[string]Model{"gpt-5": m}})}
			got := c.post(c.body(`{"role":"user","content":"` + strings.Repeat("long ", 1000) + `"}`))
			for _, part := range strings.Split(want, ".*") {
				if !strings.Contains(got, part) {
					t.Errorf("overflow %d, API %d: got %s, want %s", overflow, api, got, part)
				}
			}
			if n := len(c.provider.Refusals()); n != 1 && overflow != EndsAtOnce {
				t.Errorf("overflow %d, API %d: %d refusals", overflow, api, n)
			}
		}
	}
}
