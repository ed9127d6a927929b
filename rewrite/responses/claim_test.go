package responses

import "testing"

func TestOnlyRequestsOfTheDialectAreClaimed(t *testing.T) {
	f := func(body string, want bool) {
		t.Helper()
		if Claims([]byte(body)) != want {
			t.Errorf("%s: claimed %v", body, !want)
		}
	}
	f(`{"model":"m","input":[{"role":"user","content":"a"}]}`, true)
	f(`{"model":"m","input":[{"type":"function_call_output","call_id":"c","output":"a"}],"store":false}`, true)
	f(`{"model":"m","instructions":"b","input":"a"}`, true)
	f(`{"previous_response_id":"r","input":"a"}`, true)
	f(`{"input":[],"instructions":null}`, true)
	f(`{"model":"m","input":"a"}`, false) // it may want an embedding
	f(`{"model":"m","input":["a","b"]}`, false)
	f(`{"model":"m","input":[[1,2]]}`, false)
	f(`{"model":"m","messages":[{"role":"user","content":"a"}]}`, false)
	f(`{"input":[{"role":"user","content":"a"}],"messages":[]}`, false)
	f(`{"input":{"a":1},"instructions":"b"}`, false)
	f(`{"input":[{"role":"user"`, false)
	f(`hello`, false)
	f(``, false)
}
