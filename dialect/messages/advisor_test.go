package messages

import "testing"

// Calls of the tool advisor are another model's, which has its own price: they are not in the sum of the turn's calls.
func TestAdvisorIsNotCountedAsTheModel(t *testing.T) {
	u, _ := Dialect{}.Usage([]byte(`{"type":"message","usage":{"input_tokens":412,"output_tokens":531,"iterations":[
		{"type":"message","input_tokens":412,"output_tokens":89},
		{"type":"advisor_message","model":"claude-opus-4-6","input_tokens":823,"output_tokens":1612},
		{"type":"message","input_tokens":1348,"cache_read_input_tokens":412,"output_tokens":442}]}}`))
	if u.Input != 412+1348+412 || u.Read != 412 || u.Output != 531 {
		t.Errorf("counted are %+v", u)
	}
}
