package messages

import "testing"

func TestOnlyItsOwnRequestsAreClaimed(t *testing.T) {
	f := func(body string, want bool) {
		t.Helper()
		if got := Claims([]byte(body)); got != want {
			t.Errorf("%s: %v", body, got)
		}
	}
	f(`{"messages":[{"role":"user","content":"a"}]}`, false)
	f(`{"max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}]}`, false)
	f(`{"system":"b","messages":[{"role":"user","content":"a"}]}`, true)
	f(`{"thinking":{"type":"enabled","budget_tokens":1024},"messages":[{"role":"user","content":"a"}]}`, true)
	f(`{"thinking":{"type":"adaptive"},"messages":[{"role":"user","content":"a"}]}`, true)
	f(`{"thinking":{"type":"enabled"},"messages":[{"role":"user","content":"a"}]}`, false) // GLM, Kimi
	f(`{"thinking":{"type":"disabled"},"messages":[{"role":"user","content":"a"}]}`, false)
	f(`{"thinking":null,"messages":[{"role":"user","content":"a"}]}`, false)
	f(`{"system":null,"messages":[{"role":"user","content":"a"}]}`, false)
	f(`{"messages":[{"role":"user","content":"a"}],"tools":[{"name":"ls","input_schema":{}}]}`, true)
	f(`{"messages":[{"role":"user","content":"a"}],"tools":[{"type":"function","function":{"name":"input_schema"}}]}`, false)
	f(`{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"1"}]}]}`, true)
	f(`{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"ls","input":{}}]}]}`, true)
	f(`{"messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"x"}]}]}`, true)
	f(`{"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"1","function":{"name":"ls","arguments":"{}"}}]},`+
		`{"role":"tool","tool_call_id":"1","content":"x"}]}`, false)
	f(`{"system":"b","messages":`, false)
	f(`{"tools":[{"input_schema":`, false)
	f(`[]`, false)
}
