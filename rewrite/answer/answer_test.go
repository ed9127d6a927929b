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

func TestNumbersThatCannotBeTrueAreUnknown(t *testing.T) {
	f := func(text string, tokens int, nano int64) {
		t.Helper()
		v := gjson.Parse(text)
		if got, amount := Tokens(v), Dollars(v); got != tokens || amount != nano {
			t.Errorf("%s: %d tokens, %d nano-dollars", text, got, amount)
		}
	}
	f("12", 12, 12_000_000_000)
	f("0", 0, 0)
	f("0.0123456789", 0, 12_345_679)
	f("-1", Unknown, 0)
	f("1e300", Unknown, 0)
	f("100000000", 100_000_000, 0)
	f("100000001", Unknown, 0)
	f(`"12"`, Unknown, 0)
	f("null", Unknown, 0)
	f("{}", Unknown, 0)
	f("", Unknown, 0)
}

func TestOneRecordForAll(t *testing.T) {
	f := func(change func(s *Counts), want event.Usage) {
		t.Helper()
		s := NoCounts()
		s.Input, s.Output = 100, 10
		change(&s)
		if got := s.Usage(); got != want {
			t.Errorf("%+v: %+v, want %+v", s, got, want)
		}
	}
	usage := event.Usage{Source: event.UsageProvider, Input: 100, Output: 10, CacheUnknown: true}
	f(func(*Counts) {}, usage)
	f(func(s *Counts) { s.Total = 110 }, usage)
	thinking := usage
	thinking.Output = 35
	f(func(s *Counts) { s.Total = 135 }, thinking)
	f(func(s *Counts) { s.Output, s.Total = Unknown, 135 }, thinking)
	told := event.Usage{Source: event.UsageProvider, Input: 100, Output: 10}
	f(func(s *Counts) { s.Read = 0 }, told)
	told.Read, told.Write5m = 60, 40
	f(func(s *Counts) { s.Read, s.Write5m = 60, 40 }, told)
	told.Write1h, told.Odd = 1, true
	f(func(s *Counts) { s.Read, s.Write5m, s.Write1h = 60, 40, 1 }, told)
	f(func(s *Counts) { s.Output = Unknown }, event.Usage{})
	f(func(s *Counts) { s.Input, s.Output = 0, 0 }, event.Usage{})
	f(func(s *Counts) { s.Input, s.Read, s.Total, s.Charged = 0, 0, 110, 5 }, event.Usage{Charged: 5})
	f(func(s *Counts) { s.Input, s.Charged = Unknown, 5 }, event.Usage{Charged: 5})
	f(func(s *Counts) { *s = NoCounts() }, event.Usage{})
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
