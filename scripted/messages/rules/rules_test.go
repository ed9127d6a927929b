package rules_test

import (
	"net/http"
	"strings"
	"testing"

	"epitome/scripted/messages/rules"
)

// sound is a request that older models take; fresh is one for the newest.
const (
	sound = `{"model":"claude-sonnet-4-5","max_tokens":4096,"stream":false,"temperature":1,
"tool_choice":{"type":"auto"},"thinking":{"type":"disabled"},
"system":[{"type":"text","text":"You help."},{"type":"text","text":"Briefly.","cache_control":{"type":"ephemeral","ttl":"1h"}}],
"tools":[{"name":"Bash","description":"runs","input_schema":{"type":"object"}},{"name":"Read","input_schema":{}}],
"messages":[{"role":"user","content":"Look."},
{"role":"assistant","content":[{"type":"text","text":"I look."},
{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"ls"}},
{"type":"tool_use","id":"toolu_2","name":"Read","input":{}}]},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"a b","is_error":false},
{"type":"tool_result","tool_use_id":"toolu_2","content":[{"type":"text","text":"c"}]},
{"type":"text","text":"And now?","cache_control":{"type":"ephemeral"}}]},
{"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}},
{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]},{"type":"text","text":"Found."}]},
{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}},
{"type":"text","text":"Go on."}]}]}`

	fresh = `{"model":"claude-opus-5-5","max_tokens":4096,"thinking":{"type":"adaptive"},"messages":[
{"role":"user","content":"Look."},{"role":"system","content":"Be brief."},{"role":"assistant","content":"Yes."},
{"role":"system","content":[],"output_config":{"effort":"low"}},{"role":"user","content":"Go on."}]}`
)

// judge reads a body that carries all headers.
func judge(body string, header ...string) string {
	h := http.Header{"Anthropic-Version": {"2023-06-01"}}
	for _, line := range header {
		name, text, _ := strings.Cut(line, ": ")
		h.Set(name, text)
	}
	if _, refused := rules.Read(h, []byte(body), false, rules.ModelOf); refused != nil {
		return refused.Message
	}
	return ""
}

// breaking returns a table test: base is sound, and refused with want once now stands in the place of old.
func breaking(t *testing.T, base string) func(old, now, want string) {
	t.Helper()
	if got := judge(base); got != "" {
		t.Fatalf("the sound request is refused: %s", got)
	}
	return func(old, now, want string) {
		t.Helper()
		if strings.Count(base, old) != 1 {
			t.Fatalf("%q stands in the sound request %d times", old, strings.Count(base, old))
		}
		got := judge(strings.Replace(base, old, now, 1))
		if !strings.HasPrefix(got, want) || (want == "") != (got == "") {
			t.Errorf("%s\n instead of %s\n got %q\nwant %q", now, old, got, want)
		}
	}
}

func TestFieldsAreChecked(t *testing.T) {
	f := breaking(t, sound)
	f(`{"model":"claude-sonnet-4-5"`, `{"model":`, "The request body is not valid JSON")
	f(`"model":"claude-sonnet-4-5",`, ``, "model: Field required")
	f(`"claude-sonnet-4-5"`, `""`, "model: String should have at least 1 character")
	f(`"max_tokens":4096,`, ``, "max_tokens: Field required")
	f(`4096`, `"many"`, "max_tokens: Input should be a valid integer")
	f(`4096`, `64001`, "max_tokens: 64001 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-4-5")
	f(`4096`, `64000`, "")
	f(`4096,"stream":false`, `0,"stream":true`, "max_tokens: 0 is not allowed with stream: true")
	f(`4096`, `0`, "")
	f(`"stream":false`, `"streams":false`, "streams: Extra inputs are not permitted")
	f(`"stream":false`, `"context_management":{}`, "context_management: Extra inputs are not permitted")
	f(`{"name":"Read",`, `{"name":"Bash",`, "tools: Tool names must be unique.")
	f(`{"name":"Read",`, `{`, "tools.1.custom.name: Field required")
	f(`,"input_schema":{}`, ``, "tools.1.custom.input_schema: Field required")
	f(`{"name":"Read",`, `{"name":"Read","parameters":{},`, "tools.1.custom.parameters: Extra inputs are not permitted")
	f(`{"name":"Read","input_schema":{}}`, `{"name":"Read","type":"bash_20250124"}`, "")
	f(`"messages":[{"role":"user","content":"Look."},`, `"messages":[{"role":"user"},`, "messages.0.content: Field required")
	f(`{"role":"user","content":"Look."}`, `{"role":"user","content":"Look.","name":"x"}`, "messages.0.name: Extra inputs are not permitted")
	f(`{"role":"user","content":"Look."}`, `"Look."`, "messages.0: Input should be an object")
	if got := judge(`{"model":"claude-x","max_tokens":1,"messages":[]}`); got != "messages: at least one message is required" {
		t.Errorf("no message: %q", got)
	}
}

func TestHeadersAreChecked(t *testing.T) {
	managed := strings.Replace(sound, `"stream":false`, `"context_management":{"edits":[]}`, 1)
	if got := judge(managed, "anthropic-beta: claude-code-20250219,context-management-2025-06-27"); got != "" {
		t.Errorf("with its beta header it is refused: %s", got)
	}
	_, refused := rules.Read(http.Header{}, []byte(sound), false, rules.ModelOf)
	if refused == nil || refused.Message != "anthropic-version: header is required" || refused.Status != 400 {
		t.Errorf("without a version: %v", refused)
	}
}

func TestBlocksAreChecked(t *testing.T) {
	f := breaking(t, sound)
	f(`{"type":"text","text":"Go on."}`, `{"text":"Go on."}`, "messages.4.content.1.type: Field required")
	f(`{"type":"text","text":"Go on."}`, `{"type":"poem","text":"Go on."}`,
		"messages.4.content.1: Input tag 'poem' found using 'type' does not match any of the expected tags: 'text', 'image'")
	f(`{"type":"text","text":"Go on."}`, `{"type":"text","text":"Go on.","mood":1}`,
		"messages.4.content.1.text.mood: Extra inputs are not permitted")
	f(`{"type":"text","text":"Go on."}`, `{"type":"tool_use","id":"t","name":"Bash","input":{}}`,
		"messages.4: `tool_use` blocks can only be in `assistant` messages")
	f(`{"type":"text","text":"Found."}`, `{"type":"tool_result","tool_use_id":"toolu_1"}`,
		"messages.3: `tool_result` blocks can only be in `user` messages")
	f(`{"type":"text","text":"Go on."}`, `{"type":"thinking","thinking":"x","signature":"y"}`,
		"messages.4: `thinking` blocks can only be in `assistant` messages")
	f(`{"type":"text","text":"c"}`, `{"type":"tool_use","id":"t","name":"Bash","input":{}}`,
		"messages.2.content.1.tool_result.content.0: Input tag 'tool_use' found using 'type' does not match")
	f(`{"type":"text","text":"You help."}`, `{"type":"image","source":{}}`, "system.0: Input tag 'image'")
	f(`"id":"toolu_1","name"`, `"name"`, "messages.1.content.1.tool_use.id: Field required")
	f(`"id":"toolu_1"`, `"id":"call:1"`, "messages.1.content.1.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'")
	f(`"input":{"command":"ls"}`, `"input":"ls"`, "messages.1.content.1.tool_use.input: Input should be a valid dictionary")
	f(`"tool_use_id":"toolu_1",`, ``, "messages.2.content.0.tool_result.tool_use_id: Field required")
	f(`"media_type":"image/png"`, `"media_type":"image/bmp"`, "messages.4.content.0.image.source.base64.media_type: Input should be")
	f(`"QUJD"`, `"`+strings.Repeat("A", 5<<20+1)+`"`,
		"messages.4.content.0.image.source.base64: image exceeds 5 MB maximum: 5242881 bytes > 5242880 bytes")
	f(`{"type":"text","text":"Found."}`, `{"type":"thinking","thinking":"x"}`, "messages.3.content.2.thinking.signature: Field required")
	f(`{"type":"text","text":"Found."}`, `{"type":"thinking","thinking":"x","signature":""}`, "messages.3.content.2.thinking.signature: Field required")
}

func TestEmptyTextsAreRefused(t *testing.T) {
	f := breaking(t, sound)
	const nothing, blank = "messages: text content blocks must be non-empty", "messages: text content blocks must contain non-whitespace text"
	f(`"text":"Go on."`, `"text":""`, nothing)
	f(`"text":"Go on."`, `"text":" \n"`, blank)
	f(`"text":"c"`, `"text":""`, nothing)
	f(`"text":"And now?"`, `"text":""`, "messages.2.content.2.text: cache_control cannot be set for empty text blocks")
	f(`"text":"You help."`, `"text":""`, "system: text content blocks must be non-empty")
	f(`"Look."`, `""`, "messages.0: all messages must have non-empty content except for the optional final assistant message")
	f(`"Look."`, `[]`, "messages.0: all messages must have non-empty content")
	f(`"Look."`, `"  "`, blank)
	f(`"content":"a b"`, `"content":""`, "")
	f(`"content":"a b",`, ``, "")
	f(`{"type":"text","text":"c"}`, ``, "")
}

func TestRolesAreChecked(t *testing.T) {
	f := breaking(t, sound)
	f(`"messages":[`, `"messages":[{"role":"tool","content":"x"},`, `messages: Unexpected role "tool". Allowed roles are "user" or "assistant"`)
	f(`"messages":[`, `"messages":[{"role":"system","content":"x"},`, "messages: role 'system' is not supported on this model")
	f(`{"role":"user","content":"Look."}`, `{"role":"assistant","content":"Look."}`, `messages: first message must use the "user" role`)
	f(`{"role":"user","content":"Look."}`, `{"role":"assistant","content":[{"type":"compaction","content":"All so far."}]}`, "")
	f(`{"role":"user","content":"Look."}`, `{"role":"user","content":"Look."},{"role":"user","content":"Look."}`, "")
	f(`"text":"Go on."}]}`, `"text":"Go on."}]},{"role":"assistant","content":"Sure"}`, "")
	f(`"text":"Go on."}]}`, `"text":"Go on."}]},{"role":"assistant","content":"Sure "}`,
		"messages: final assistant content cannot end with trailing whitespace")
	f(`"text":"Go on."}]}`, `"text":"Go on."}]},{"role":"assistant","content":""}`, "")
}

func TestSystemMessagesHaveTheirPlace(t *testing.T) {
	f := breaking(t, fresh)
	f(`"messages":[`, `"messages":[{"role":"system","content":"x"},`,
		"messages.0: use the top-level 'system' parameter for the initial system prompt; the directive-only form")
	f(`{"role":"user","content":"Go on."}`, `{"role":"system","content":"x"},{"role":"user","content":"Go on."}`,
		"messages.4: role 'system' must follow a 'user' message or an 'assistant' message ending in a server tool result;")
	f(`{"role":"user","content":"Go on."}`, `{"role":"user","content":"x"},{"role":"system","content":"x"},{"role":"user","content":"Go on."}`,
		"messages.5: role 'system' must precede an 'assistant' message or end the array;")
	f(`{"role":"user","content":"Go on."}`, `{"role":"user","content":"Go on."},{"role":"system","content":"x"}`, "")
	f(`"Be brief."`, `"Be brief."},{"role":"system","content":"x"`, "")
	f(`"Be brief."`, `[]`, "messages.1: system content must contain at least one block")
	f(`"content":[],"output_config"`, `"output_config"`, "")
	f(`"content":"Be brief."`, `"output_config":null`, "messages.1: system content must contain at least one block")
	f(`"Be brief."`, `""`, "messages.1: system content must contain at least one block")
	f(`"Be brief."`, `[{"type":"image","source":{}}]`, "messages.1.content.0: Input tag 'image'")
	f(`{"role":"user","content":"Go on."}`, `{"role":"user","content":"Go on."},{"role":"assistant","content":"Sure"}`,
		"This model does not support assistant message prefill. The conversation must end with a user message.")
	f(`{"role":"user","content":"Go on."}`, `{"role":"user","content":"Go on.","clear_at":"next_user_message"}`,
		"messages.4.clear_at: Extra inputs are not permitted")
	f(`"content":"Be brief."`, `"content":"Be brief.","clear_at":"next_user_message"`, "")
}

func TestCallsAndResultsPair(t *testing.T) {
	f := breaking(t, sound)
	const unanswered = "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1. Each `tool_use` block must have a corresponding `tool_result` block in the next message."
	const first = `{"type":"tool_result","tool_use_id":"toolu_1","content":"a b","is_error":false},`
	f(first, ``, unanswered)
	f(first, `{"type":"text","text":"Here:"},`+first,
		strings.Replace(unanswered, "toolu_1.", "toolu_1, toolu_2.", 1))
	f(`{"role":"user","content":[`+first, `{"role":"user","content":[`+first[:len(first)-1]+`]},{"role":"user","content":[`, "")
	f(`{"role":"user","content":[`+first, `{"role":"assistant","content":"Well."},{"role":"user","content":[`+first, "")
	f(`{"role":"user","content":[`+first, `{"role":"user","content":"Wait."},{"role":"user","content":[`+first,
		strings.Replace(unanswered, "toolu_1.", "toolu_1, toolu_2.", 1))
	f(`"tool_use_id":"toolu_2"`, `"tool_use_id":"toolu_1"`, strings.Replace(unanswered, "toolu_1.", "toolu_2.", 1))
	f(first, first+first, "messages.2.content.1: each tool_use must have a single result. Found multiple `tool_result` blocks with id: toolu_1")
	f(`{"type":"tool_use","id":"toolu_2","name":"Read","input":{}}`, `{"type":"text","text":"x"}`,
		"messages.2.content.1: unexpected `tool_use_id` found in `tool_result` blocks: toolu_2. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.")
	f(`{"role":"user","content":"Look."}`, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_0"}]}`,
		"messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_0.")
	f(`"id":"toolu_2"`, `"id":"toolu_1"`, "messages.1.content.2: `tool_use` ids must be unique")
	f(`{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]},`, ``,
		"messages.3.content.0: `web_search` tool use with id `srvtoolu_1` was found without a corresponding `web_search_tool_result` block")
	f(`{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}},`, ``,
		"messages.3.content.0: unexpected `tool_use_id` found in `web_search_tool_result` blocks: srvtoolu_1.")
	f(`"text":"Go on."}]}`, `"text":"Go on."}]},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_9","name":"Bash","input":{}}]}`,
		"messages.5: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_9.")
	f(`"text":"Go on."}]}`, `"text":"Go on."}]},{"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_9","name":"web_search","input":{}}]}`, "")
}

func TestMarkersAreChecked(t *testing.T) {
	f := breaking(t, sound)
	const mark = `"cache_control":{"type":"ephemeral"}`
	f(`{"name":"Read",`, `{"name":"Read","cache_control":{"type":"ephemeral","ttl":"1h"},`, "")
	f(`{"name":"Read",`, `{"name":"Read",`+mark+`,`,
		"system.1.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`.")
	f(`{"type":"text","text":"c"}`, `{"type":"text","text":"c",`+mark+`}`, "")
	f(`{"type":"text","text":"c"}]`, `{"type":"text","text":"c",`+mark+`},{"type":"text","text":"c",`+mark+`},{"type":"text","text":"c",`+mark+`}]`,
		"A maximum of 4 blocks with cache_control may be provided. Found 5.")
	f(`{"type":"text","text":"c"}]`, `{"type":"text","text":"c",`+mark+`}],`+mark, "")
	f(`"stream":false`, mark, "")
	f(`"stream":false`, `"cache_control":{"type":"ephemeral","ttl":"1h"}`,
		"cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m'")
	f(`"cache_control":{"type":"ephemeral"}`, `"cache_control":{"type":"for ever"}`, "messages.2.content.2.cache_control.type: Input should be 'ephemeral'")
	f(`"cache_control":{"type":"ephemeral"}`, `"cache_control":{"type":"ephemeral","ttl":"2h"}`, "messages.2.content.2.cache_control.ttl: Input should be '5m' or '1h'")
	f(`{"type":"text","text":"Found."}`, `{"type":"thinking","thinking":"x","signature":"y",`+mark+`}`,
		"messages.3.content.2.thinking.cache_control: Extra inputs are not permitted")
}

func TestFourMarkersWithTheAutomaticOne(t *testing.T) {
	const mark = `"cache_control":{"type":"ephemeral"}`
	marked := strings.Replace(sound, `"text":"c"`, `"text":"c",`+mark, 1)
	marked = strings.Replace(marked, `"QUJD"}`, `"QUJD"},`+mark, 1)
	f := breaking(t, marked)
	f(`"stream":false`, mark, "A maximum of 4 blocks with cache_control may be provided. Found 5.")
	f(`"text":"Go on."`, `"text":"Go on.",`+mark, "A maximum of 4 blocks with cache_control may be provided. Found 5.")
}

func TestSettingsAreChecked(t *testing.T) {
	f := breaking(t, sound)
	const disabled = `"thinking":{"type":"disabled"}`
	f(disabled, `"thinking":{"type":"enabled","budget_tokens":1024}`, "")
	f(disabled, `"thinking":{"type":"enabled","budget_tokens":1023}`, "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
	f(disabled, `"thinking":{"type":"enabled","budget_tokens":4095}`, "")
	f(disabled, `"thinking":{"type":"enabled","budget_tokens":4096}`, "`max_tokens` must be greater than `thinking.budget_tokens`.")
	f(disabled, `"thinking":{"type":"adaptive"}`, "adaptive thinking is not supported on this model")
	f(disabled, `"thinking":{"type":"deep"}`, "thinking: Input tag 'deep'")
	f(disabled, `"thinking":{"type":"enabled","budget":1}`, "thinking.enabled.budget: Extra inputs are not permitted")
	f(`"temperature":1,
"tool_choice":{"type":"auto"},`+disabled, `"temperature":0,"thinking":{"type":"enabled","budget_tokens":1024}`, "`temperature` may only be set to 1 when thinking is enabled.")
	f(`{"type":"auto"},`+disabled, `{"type":"any"},"thinking":{"type":"enabled","budget_tokens":1024}`,
		"Thinking may not be enabled when tool_choice forces tool use.")
	f(`{"type":"auto"}`, `{"type":"any"}`, "")
	f(`{"type":"auto"}`, `{"type":"tool","name":"Read"}`, "")
	f(`{"type":"auto"}`, `{"type":"tool","name":"Write"}`, "Tool 'Write' not found in provided tools")
	f(`{"type":"auto"}`, `{"type":"now"}`, "tool_choice: Input tag 'now'")
	if got := judge(strings.Replace(fresh, `"messages"`, `"tool_choice":{"type":"none"},"messages"`, 1)); got != "tool_choice: tool_choice may only be specified while providing tools." {
		t.Errorf("a choice without tools: %q", got)
	}
	g := breaking(t, fresh)
	g(`{"type":"adaptive"}`, `{"type":"enabled","budget_tokens":1024}`, `"thinking.type.enabled" is not supported for this model.`)
	g(`{"type":"adaptive"}`, `{"type":"adaptive","block_binding":{"prefix_mismatch_behavior":"drop_block"}}`,
		"thinking.adaptive.block_binding: Extra inputs are not permitted")
	bound := strings.Replace(fresh, `{"type":"adaptive"}`, `{"type":"adaptive","block_binding":{"prefix_mismatch_behavior":"drop_block"}}`, 1)
	if got := judge(bound, "anthropic-beta: "+rules.BindingBeta); got != "" {
		t.Errorf("drop_block with its header: %q", got)
	}
	both := strings.Replace(fresh, `"messages"`, `"compaction":{"type":"summarize"},"context_management":{},"messages"`, 1)
	if got := judge(both, "anthropic-beta: compact-2026-09-04,context-management-2025-06-27"); !strings.HasPrefix(got, "compaction: ") {
		t.Errorf("a compaction with context management: %q", got)
	}
}

func TestModelsAreToldByTheirNames(t *testing.T) {
	f := func(name string, binds, manual bool) {
		t.Helper()
		if m := rules.ModelOf(name); m.Binds != binds || m.Manual != manual || m.Window == 0 {
			t.Errorf("%s: binds %t, manual %t; want %t, %t", name, m.Binds, m.Manual, binds, manual)
		}
	}
	f("claude-fable-5-1", true, false)
	f("claude-fable-5", false, false)
	f("claude-opus-5-5-20261001", true, false)
	f("claude-haiku-5-5", true, false)
	f("claude-opus-5", false, false)
	f("claude-mythos-5-1", false, false)
	f("claude-sonnet-4-5", false, true)
	f("kimi-k3", false, true)
}

func TestCanonIsTheValue(t *testing.T) {
	f := func(a, b string, same bool) {
		t.Helper()
		read := func(raw string) string {
			block, refused := rules.ReadBlock([]byte(raw), "x", "user")
			if refused != nil {
				t.Fatal(refused)
			}
			return string(block.Canon)
		}
		if got := read(a) == read(b); got != same {
			t.Errorf("%s and %s are the same: %t", a, b, got)
		}
	}
	f(`{"type":"text","text":"a"}`, `{ "text":"a","citations":null,"cache_control":{"type":"ephemeral"}, "type":"text"}`, true)
	f(`{"type":"text","text":"a"}`, `{"type":"text","text":"b"}`, false)
	f(`{"type":"tool_result","tool_use_id":"t","content":"a"}`, `{"content":[{"type":"text","text":"a"}],"type":"tool_result","tool_use_id":"t"}`, true)
	f(`{"type":"tool_result","tool_use_id":"t","content":"a"}`, `{"type":"tool_result","tool_use_id":"t","content":"a","is_error":true}`, false)
}
