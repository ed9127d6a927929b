package chat

import "testing"

func TestOnlyItsOwnRequestsAreClaimed(t *testing.T) {
	f := func(body string, want bool) {
		t.Helper()
		if got := Claims([]byte(body)); got != want {
			t.Errorf("%s: %v", body, got)
		}
	}
	f(`{"messages":[{"role":"user","content":"a"}]}`, false)
	f(`{"messages":[{"role":"system","content":"b"},{"role":"user","content":"a"}]}`, true)
	f(`{"thinking":{"type":"enabled"},"messages":[{"role":"user","content":"a"}]}`, true)
	f(`{"thinking":{"type":"enabled","budget_tokens":1024},"messages":[{"role":"user","content":"a"}]}`, false)
	f(`{"thinking":{"type":"disabled"},"messages":[{"role":"user","content":"a"}]}`, false)
	f(`{"thinking":null,"messages":[{"role":"user","content":"a"}]}`, false)
	f(`{"messages":[{"role":"developer","content":"b"}]}`, true)
	f(`{"messages":[{"role":"user","content":"a"}],"tools":[{"type":"function","function":{"name":"ls"}}]}`, true)
	f(`{"messages":[{"role":"user","content":"a"}],"tools":[{"name":"ls","input_schema":{}}]}`, false)
	f(`{"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"1","function":{"name":"ls","arguments":"{}"}}]}]}`, true)
	f(`{"messages":[{"role":"function","name":"ls","content":"x"}]}`, true)
	f(`{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"1"}]}]}`, false)
	f(`{"system":"b","messages":[{"role":"user","content":"a"},{"role":"system","content":"c"}]}`, false)
	f(`{}`, false)
}
