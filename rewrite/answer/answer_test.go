package answer

import (
	"testing"

	"github.com/tidwall/gjson"
)

func TestEventsAreReadByTheirNames(t *testing.T) {
	f := func(kind, data, wantName string, want Step) {
		t.Helper()
		asked := ""
		format := Format{Step: func(name string, _ gjson.Result) Step {
			asked = name
			return map[string]Step{"said": SaidStep, "end": EndStep}[name]
		}}
		if got := format.StepOf([]byte(kind), []byte(data)); got != want || asked != wantName {
			t.Errorf("%s %s: step %v, and the name is %q", kind, data, got, asked)
		}
	}
	f("Error", `{"type":"said"}`, "", ErrorStep)
	f("said", `{"error":"no"}`, "", ErrorStep)
	f("said", `{"type":"error"}`, "", ErrorStep)
	f("said", " ", "", FrameStep)
	f("end", "[DONE]", "", SaidStep)
	f("bad", `{"type":"said","error":null}`, "said", SaidStep)
	f(" end ", `{"x":1}`, "end", EndStep)
	f("", `{"type":"frame"}`, "frame", FrameStep)
}
