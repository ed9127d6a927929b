package answer

import (
	"testing"

	"github.com/tidwall/gjson"

	"epitome/pattern"
	"epitome/prose"
)

func TestRefusalsTellHowToAsk(t *testing.T) {
	most := pattern.Of(`at most ([0-9]+)`)
	f := func(refusal string, form, want prose.Form) {
		t.Helper()
		if got, ok := Adapt(form, []byte(refusal), most); got != want || ok != (got != form) {
			t.Errorf("%s: got %+v, %v", refusal, got, ok)
		}
	}
	usual := prose.Form{MaxOutput: 100}
	f("at most 50", usual, prose.Form{MaxOutput: 50})
	f("at most 100", usual, usual)
	f("at most 0", usual, usual)
	f("at most 99999999999999999999", usual, usual)
	f("too much", usual, usual)
	f("Streaming is required", usual, prose.Form{MaxOutput: 100, Stream: true})
	f("Streaming is required", prose.Form{Stream: true}, prose.Form{Stream: true})
	f("the upstream is busy", usual, usual)
}

func TestEventsAreReadByTheirNames(t *testing.T) {
	f := func(kind, data, wantName string, wantBegins, wantFails bool) {
		t.Helper()
		asked := ""
		format := Format{Step: func(name string, _ gjson.Result) Step {
			asked = name
			return map[string]Step{"said": SaidStep, "end": EndStep, "bad": ErrorStep}[name]
		}}
		begins, fails := format.Begins([]byte(kind), []byte(data)), format.Fails([]byte(kind), []byte(data))
		if begins != wantBegins || fails != wantFails || asked != wantName {
			t.Errorf("%s %s: begins %v, fails %v, and the name is %q", kind, data, begins, fails, asked)
		}
	}
	f("Error", `{"type":"said"}`, "", false, true)
	f("said", " ", "", false, false)
	f("end", "[DONE]", "", true, false)
	f("bad", `{"type":"said"}`, "said", true, false)
	f(" end ", `{"x":1}`, "end", true, true)
	f("", `{"type":"bad"}`, "bad", false, true)
	f("", `{"type":"frame"}`, "frame", false, false)
}
