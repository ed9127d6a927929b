package summarize

import (
	"testing"
)

func TestRefusalsTellHowToAsk(t *testing.T) {
	f := func(refusal string, form, want Form) {
		t.Helper()
		if got, ok := adaptForm(form, []byte(refusal)); got != want || ok != (got != form) {
			t.Errorf("%s: got %+v, %v", refusal, got, ok)
		}
	}
	usual, other := Form{MaxOutput: 9_000}, Form{MaxOutput: 9_000, OtherCap: true}
	f("max_tokens: 9000 > 4096, which is the maximum allowed number", usual, Form{MaxOutput: 4_096})
	f("Invalid 'max_output_tokens': Expected a value <= 4096, but got 9000 instead.", usual, Form{MaxOutput: 4_096})
	f("max_tokens is too large: 9000. This model supports at most 4096 completion tokens", usual, Form{MaxOutput: 4_096})
	f("max_tokens: 9 > 99999999999999999999", other, other)
	f("Unsupported parameter: 'max_tokens' is not supported with this model.", usual, other)
	f("Unsupported parameter: max_output_tokens", other, other)
	f("Unsupported parameter: 'temperature' is not supported with this model.", usual, usual)
	f("Stream must be set to true", usual, Form{MaxOutput: 9_000, Stream: true})
	f("Streaming is required", Form{Stream: true}, Form{Stream: true})
	f("the upstream is busy", usual, usual)
}
