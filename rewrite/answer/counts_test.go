package answer

import (
	"testing"

	"github.com/tidwall/gjson"

	"epitome/event"
	"epitome/rewrite/jsonspan"
)

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

func TestTheLastMemberThatFitsIsFound(t *testing.T) {
	f := func(tail, want string) {
		t.Helper()
		v := LastMember([]byte(tail), "n", func(v jsonspan.Span) bool { return Closes([]byte(tail)[v.End:], 1) })
		if got := string(v.Of([]byte(tail))); got != want {
			t.Errorf("%s: got %q, want %q", tail, got, want)
		}
	}
	f(`{"n":1}`, "1")
	f(`..."b"}],"n" : {"a":[2]} , "c":3 }`, `{"a":[2]}`)
	f(`{"n":1,"c":{"n":2}}`, "1")                  // the last one is in another object
	f(`{"n":1,"c":["n","n"]}`, "1")                // a text, and no key
	f(`{"a":"\"n\":2","b":{"n":3}}`, "")           // a text in a text
	f(`{"n":1}}`, "")                              // it closes more
	f(`{"n":1,"c":"n","d":["n","n","n","n"]}`, "") // too far away
	f(`{"n":`, "")
}
