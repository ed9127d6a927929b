package answer

import (
	"testing"

	"github.com/tidwall/gjson"

	"epitome/event"
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

func TestTheLastUsageIsFound(t *testing.T) {
	f := func(heard, want string) {
		t.Helper()
		if got := LastUsage([]byte(heard), "n").Raw; got != want {
			t.Errorf("%s: got %q, want %q", heard, got, want)
		}
	}
	f(`{"usage":{"n":1}}`, `{"n":1}`)
	f(`..."b"}],"usage" : {"n":2} , "c":3 }`, `{"n":2}`)
	f("data: {\"usage\":{\"n\":1}}\n\ndata: {\"usage\":{\"n\":2}}\n\ndata: {\"usage\":null}\n\n", `{"n":2}`)
	f(`{"usage":{"n":1},"tools":[{"usage":{"n":{}}},"usage"]}`, `{"n":1}`)
	f(`{"a":"\"usage\":{\"n\":2}"}`, "")
	f(`{"usage":{"n":`, "")
}

func TestCountsAreCompleted(t *testing.T) {
	f := func(input, output, total int, want event.Usage) {
		t.Helper()
		if got := Complete(event.Usage{Input: input, Charged: 5}, output, total); got != want {
			t.Errorf("%d, %d, %d: %+v, want %+v", input, output, total, got, want)
		}
	}
	usage := func(output int) event.Usage {
		return event.Usage{Source: event.UsageProvider, Input: 100, Output: output, Charged: 5}
	}
	f(100, 10, 110, usage(10))
	f(100, 10, Unknown, usage(10))
	f(100, 10, 135, usage(35)) // with the reasoning
	f(100, Unknown, 135, usage(35))
	f(100, Unknown, Unknown, event.Usage{Charged: 5})
	f(0, 0, 110, event.Usage{Charged: 5})
}
