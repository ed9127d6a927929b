package rules_test

import (
	"net/http"
	"strings"
	"testing"

	"epitome/scripted/responses/rules"
)

// sound is a request that is taken.
const sound = `{"model":"gpt-5","instructions":"You help.","stream":false,"store":false,"tool_choice":"auto",
"max_output_tokens":4096,"truncation":"disabled","include":["reasoning.encrypted_content"],"reasoning":{"effort":"low"},
"text":{"format":{"type":"text"}},"parallel_tool_calls":true,
"tools":[{"type":"function","name":"bash","parameters":{}},{"type":"web_search"},{"type":"namespace","name":"n","tools":[]}],
"input":[{"role":"developer","content":"Be brief."},{"type":"message","role":"user","content":[{"type":"input_text","text":"Look."}]},
{"type":"reasoning","id":"rs_1","summary":[],"content":null,"encrypted_content":"opaque"},
{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"I look.","annotations":[]}]},
{"type":"function_call","id":"fc_1","call_id":"call_1","name":"bash","arguments":"{\"c\":\"ls\"}"},
{"type":"custom_tool_call","call_id":"call_2","name":"patch","input":"*** Begin"},
{"type":"message","role":"assistant","content":"While that runs:"},
{"type":"function_call_output","call_id":"call_1","output":"a b"},
{"type":"custom_tool_call_output","call_id":"call_2","output":[{"type":"input_text","text":"ok"}]},
{"type":"function_call_output","output":"told by itself"},
{"type":"local_shell_call","id":"lsh_1","call_id":"call_3","action":{},"status":"completed"},
{"type":"local_shell_call_output","id":"lsh_1","output":"{\"out\":1}"},
{"type":"shell_call","call_id":"call_4","action":{}},
{"type":"shell_call_output","call_id":"call_4","output":[{"stdout":"x","stderr":"","outcome":{"type":"exit","exit_code":0}}]},
{"type":"apply_patch_call","call_id":"call_5","operation":{},"status":"completed"},
{"type":"apply_patch_call_output","call_id":"call_5","status":"completed"},
{"type":"web_search_call","id":"ws_1","status":"completed"},
{"role":"user","content":"Go on."}]}`

// judge reads a body and pairs what is in it.
func judge(body string) string {
	q, refused := rules.Read(http.Header{}, []byte(body), rules.Answer, rules.ModelOf)
	if refused == nil {
		refused = rules.CheckPairs(q.Items)
	}
	if refused != nil {
		return refused.Message
	}
	return ""
}

// breaking returns a table test: the sound request is refused with want once now stands in the place of old.
func breaking(t *testing.T) func(old, now, want string) {
	t.Helper()
	if got := judge(sound); got != "" {
		t.Fatalf("the sound request is refused: %s", got)
	}
	return func(old, now, want string) {
		t.Helper()
		if strings.Count(sound, old) != 1 {
			t.Fatalf("%q stands in the sound request %d times", old, strings.Count(sound, old))
		}
		got := judge(strings.Replace(sound, old, now, 1))
		if !strings.HasPrefix(got, want) || (want == "") != (got == "") {
			t.Errorf("%s\n instead of %s\n got %q\nwant %q", now, old, got, want)
		}
	}
}

func TestFieldsAreChecked(t *testing.T) {
	f := breaking(t)
	f(`{"model":"gpt-5"`, `{"model":`, "We could not parse the JSON body of your request.")
	f(`"model":"gpt-5",`, ``, "Missing required parameter: 'model'.")
	f(`"stream":false`, `"streams":false`, "Unknown parameter: 'streams'.")
	f(`"stream":false`, `"stream":"no"`, "Invalid type for 'stream': expected a boolean, but got a string instead.")
	f(`"stream":false`, `"background":true`, "Background mode requires store to be true.")
	f(`"stream":false`, `"stream_options":{}`, "The 'stream_options' parameter is only allowed when 'stream' is enabled.")
	f(`"stream":false`, `"previous_response_id":"resp_1","conversation":"conv_1"`, "Mutually exclusive parameters")
	f(`"stream":false`, `"previous_response_id":"chatcmpl-1"`,
		"Invalid 'previous_response_id': 'chatcmpl-1'. Expected an ID that begins with 'resp'.")
	f(`4096`, `15`, "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 15 instead.")
	f(`4096`, `128001`, "Invalid 'max_output_tokens': integer above maximum value. Expected a value <= 128000, but got 128001 instead.")
	f(`4096`, `"many"`, "Invalid type for 'max_output_tokens': expected an integer, but got a string instead.")
	f(`"disabled"`, `"middle"`, "Invalid value: 'middle'. Supported values are: 'auto' and 'disabled'.")
	f(`["reasoning.encrypted_content"]`, `["everything"]`, "Invalid value: 'everything'. Supported values are: 'code_interpreter_call.outputs'")
	f(`"effort":"low"`, `"effort":"huge"`, "Invalid value: 'huge'. Supported values are: 'none'")
	f(`"parallel_tool_calls":true`, `"temperature":0.5`, "Unsupported parameter: 'temperature' is not supported with this model.")
	f(`"reasoning":{"effort":"low"}`, `"temperature":0.5,"reasoning":{"effort":"none"}`, "")
	f(`"gpt-5"`, `"gpt-4.1"`, "Unsupported parameter: 'reasoning.effort' is not supported with this model.")
	f(`"tool_choice":"auto"`, `"tool_choice":"any"`, "Invalid value: 'any'. Supported values are: 'none', 'auto', and 'required'.")
	f(`"tool_choice":"auto"`, `"tool_choice":{"type":"function","name":"rm"}`, "Tool choice 'rm' not found in 'tools' parameter.")
	f(`"tool_choice":"auto"`, `"tool_choice":{"type":"function","name":"bash"}`, "")
	f(`{"type":"text"}`, `{"type":"poem"}`, "Invalid value: 'poem'. Supported values are: 'json_object'")
	f(`{"type":"text"}`, `{"type":"json_schema","name":"x"}`, "Missing required parameter: 'text.format.schema'.")
	f(`{"type":"web_search"}`, `{"type":"magic"}`, "Invalid value: 'magic'. Supported values are: 'function'")
	f(`{"type":"web_search"}`, `{"name":"x"}`, "Missing required parameter: 'tools[1].type'.")
	f(`{"type":"function","name":"bash",`, `{"type":"function",`, "Missing required parameter: 'tools[0].name'.")
	want := `One of "input" or "previous_response_id" or 'prompt' or 'conversation_id' must be provided.`
	if got := judge(`{"model":"m"}`); got != want {
		t.Errorf("without input: %q", got)
	}
	if got := judge(`{"model":"m","input":[]}`); !strings.HasPrefix(got, "Invalid 'input': empty array.") {
		t.Errorf("with an empty list: %q", got)
	}
	if got := judge(`{"model":"m","input":"Look.","tools":[],"tool_choice":"required"}`); !strings.HasPrefix(got, "Tool choice 'required'") {
		t.Errorf("a choice of no tools: %q", got)
	}
}

func TestItemsAreChecked(t *testing.T) {
	f := breaking(t)
	const said = `{"role":"user","content":"Go on."}`
	f(said, `{"type":"poem","content":"x"}`, "Invalid value: 'poem'. Supported values are: 'message'")
	f(said, `{"content":"x"}`, "Missing required parameter: 'input[17].type'.")
	f(said, `"Go on."`, "Invalid type for 'input[17]': expected an input item, but got a string instead.")
	f(said, `{"role":"tool","content":"x"}`, "Invalid value: 'tool'. Supported values are: 'assistant', 'system', 'developer', and 'user'.")
	f(said, `{"role":"user"}`, "Missing required parameter: 'input[17].content'.")
	f(said, `{"role":"user","content":null}`,
		"Invalid type for 'input[17].content': expected one of an array of objects or string, but got null instead.")
	f(said, `{"role":"user","content":"x","name":"y"}`, "Unknown parameter: 'input[17].name'.")
	f(said, `{"role":"user","content":[{"type":"output_text","text":"x"}]}`,
		"Invalid value: 'output_text'. Supported values are: 'input_text', 'input_image', 'input_file', and 'input_audio'.")
	f(said, `{"role":"assistant","content":[{"type":"input_text","text":"x"}]}`,
		"Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'.")
	f(said, `{"role":"user","content":[{"type":"input_text"}]}`, "Missing required parameter: 'input[17].content[0].text'.")
	f(said, `{"role":"user","content":[{"text":"x"}]}`, "Missing required parameter: 'input[17].content[0].type'.")
	f(said, `{"role":"user","content":"`+strings.Repeat("x", 10<<20+1)+`"}`,
		"Invalid 'input[17].content': string too long. Expected a string with maximum length 10485760, but got a string with length 10485761 instead.")
	f(said, `{"role":"user","id":"msg_1","content":"x"}`,
		"Duplicate item found with id msg_1. Remove duplicate items from your input and try again.")
	f(said, `{"role":"user","id":"u_1","content":"x"}`, "Invalid 'input[17].id': 'u_1'. Expected an ID that begins with 'msg'.")
	f(said, `{"role":"user","id":"msg_`+strings.Repeat("1", 61)+`","content":"x"}`,
		"Invalid 'input[17].id': string too long. Expected a string with maximum length 64, but got a string with length 65 instead.")
	f(`"id":"fc_1"`, `"id":"call_1"`, "Invalid 'input[4].id': 'call_1'. Expected an ID that begins with 'fc'.")
	f(`"call_id":"call_1","name"`, `"call_id":"","name"`, "Invalid 'input[4].call_id': empty string.")
	f(`"call_id":"call_1","name":"bash",`, `"name":"bash",`, "Missing required parameter: 'input[4].call_id'.")
	f(`"arguments":"{\"c\":\"ls\"}"`, `"arguments":{"c":"ls"}`,
		"Invalid type for 'input[4].arguments': expected a string, but got an object instead.")
	f(`"output":"a b"`, `"output":null`,
		"Invalid type for 'input[7].output': expected one of an array of objects or string, but got null instead.")
	f(`"output":"a b"`, `"output":[{"type":"text","text":"x"}]`, "Invalid value: 'text'. Supported values are: 'input_text'")
	f(`"output":"a b"`, `"output":""`, "")
	f(`"summary":[],`, ``, "Missing required parameter: 'input[2].summary'.")
	f(`"summary":[]`, `"summary":[{"type":"output_text","text":"x"}]`, "Invalid value: 'output_text'. Supported values are: 'summary_text'.")
	f(`"{\"out\":1}"`, `"shortened"`, "Invalid 'input[11].output': the string is not valid JSON.")
	f(`"stderr":"",`, ``, "Missing required parameter: 'input[13].output[0].stderr'.")
	f(`,"outcome":{"type":"exit","exit_code":0}`, `,"outcome":{}`, "Invalid value: ''. Supported values are: 'timeout' and 'exit'.")
	f(`[{"stdout":"x","stderr":"","outcome":{"type":"exit","exit_code":0}}]`, `"x"`,
		"Invalid type for 'input[13].output': expected an array of objects, but got a string instead.")
	f(`"call_id":"call_5","status":"completed"}`, `"call_id":"call_5"}`, "Missing required parameter: 'input[15].status'.")
	f(`"input":[`, `"input":[{"type":"compaction_trigger"},`, "Invalid 'input[0]': 'compaction_trigger' must be the last input item.")
	f(said, said+`,{"type":"compaction_trigger"}`, "")
	f(said, said+`,{"type":"compaction_trigger"},{"type":"compaction_trigger"}`, "Invalid 'input[18]': 'compaction_trigger' must be the last")
}

func TestCallsAndOutputsPair(t *testing.T) {
	f := breaking(t)
	output := `{"type":"function_call_output","call_id":"call_1","output":"a b"},`
	f(output, ``, "No tool output found for function call call_1.")
	f(`{"type":"function_call","id":"fc_1","call_id":"call_1","name":"bash","arguments":"{\"c\":\"ls\"}"},`, ``,
		"No tool call found for function call output with call_id call_1.")
	f(`"input":[`, `"input":[{"type":"function_call_output","call_id":"call_1","output":"early"},`,
		"No tool call found for function call output with call_id call_1.")
	f(output, output+output, "Duplicate tool output found for function call call_1.")
	f(`{"role":"user","content":"Go on."}`, `{"type":"function_call","call_id":"call_1","name":"bash","arguments":"{}"}`,
		"Duplicate function call found with call_id call_1.")
	f(`{"role":"user","content":"Go on."}`, `{"type":"function_call","call_id":"call_9","name":"bash","arguments":"{}"}`,
		"No tool output found for function call call_9.")
	f(`{"role":"user","content":"Go on."}`, `{"type":"function_call","call_id":"call_9","name":"bash","arguments":"{}","async":true}`, "")
	f(`"custom_tool_call_output","call_id":"call_2"`, `"custom_tool_call_output","call_id":"call_1"`,
		"No tool call found for custom tool call output with call_id call_1.")
	f(`{"type":"custom_tool_call_output","call_id":"call_2","output":[{"type":"input_text","text":"ok"}]},`, ``,
		"No tool output found for custom tool call call_2.")
	f(`{"type":"local_shell_call_output","id":"lsh_1","output":"{\"out\":1}"},`, ``,
		"No tool output found for local shell call call_3.")
	f(`"local_shell_call_output","id":"lsh_1"`, `"local_shell_call_output","id":"call_3"`, "")
	f(`"local_shell_call_output","id":"lsh_1"`, `"local_shell_call_output","id":"lsh_2"`,
		"No tool call found for local shell call output with id lsh_2.")
	f(`"shell_call","call_id":"call_4"`, `"shell_call","call_id":"call_6"`,
		"No tool call found for shell call output with call_id call_4.")
	f(`{"type":"apply_patch_call_output","call_id":"call_5","status":"completed"},`, ``,
		"No tool output found for apply patch call call_5.")
}

func TestOtherServersTakeLess(t *testing.T) {
	f := func(maker rules.Maker, item, want string) {
		t.Helper()
		models := func(string) rules.Model { return rules.Model{Maker: maker, Reasons: true} }
		got := ""
		if _, refused := rules.Read(http.Header{}, []byte(`{"model":"m","input":[`+item+`]}`), rules.Answer, models); refused != nil {
			got = refused.Message
		}
		if got != want {
			t.Errorf("%d, %s: got %q, want %q", maker, item, got, want)
		}
	}
	f(rules.LlamaCpp, `{"role":"user","content":"x"}`, "")
	f(rules.LlamaCpp, `{"type":"function_call_output","call_id":"c","output":"x"}`, "")
	f(rules.LlamaCpp, `{"type":"custom_tool_call","call_id":"c","name":"n","input":"x"}`, "Cannot determine type of 'item'")
	f(rules.LlamaCpp, `{"content":"x"}`, "Cannot determine type of 'item'")
	f(rules.LlamaCpp, `{"type":"reasoning","summary":[],"content":null}`, "item['content'] is not an array")
	f(rules.VLLM, `{"role":"assistant","content":"x"}`, "")
	f(rules.VLLM, `{"type":"message","role":"assistant","content":"x"}`,
		"1 validation error for ResponseOutputMessage: id and status: Field required")
	f(rules.Ollama, `{"type":"compaction","encrypted_content":"x"}`, `unknown input item type: "compaction"`)
	f(rules.Ollama, `{"type":"web_search_call","status":"completed"}`, "")
}

func TestEqualItemsHaveOneCanon(t *testing.T) {
	f := func(a, b string, same bool) {
		t.Helper()
		canon := func(item string) string {
			read, refused := rules.ReadItem([]byte(item), "input[0]", rules.OpenAI)
			if refused != nil {
				t.Fatal(refused)
			}
			return string(read.Canon)
		}
		if (canon(a) == canon(b)) != same {
			t.Errorf("%s\n%s\nare the same: %t, want %t", canon(a), canon(b), !same, same)
		}
	}
	f(`{"role":"user","content":"x"}`, `{"type":"message","id":"msg_1","content":[{"type":"input_text","text":"x"}],"role":"user"}`, true)
	f(`{"role":"user","content":[{"type":"input_text","text":"x","prompt_cache_breakpoint":{}}]}`, `{"role":"user","content":"x"}`, true)
	f(`{"role":"assistant","content":"x"}`,
		`{"role":"assistant","status":"completed","content":[{"type":"output_text","text":"x","annotations":[]}]}`, true)
	f(`{"role":"user","content":"x"}`, `{"role":"user","content":"y"}`, false)
	f(`{"role":"user","content":"x"}`, `{"role":"developer","content":"x"}`, false)
	f(`{"type":"function_call_output","call_id":"a","output":"x"}`, `{"type":"function_call_output","call_id":"b","output":"x"}`, false)
}
