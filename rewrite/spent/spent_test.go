package spent

import (
	"testing"

	"github.com/tidwall/gjson"

	"epitome/event"
)

func TestNumbersThatCannotBeTrueAreUnsaid(t *testing.T) {
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
	f("-1", Unsaid, 0)
	f("1e300", Unsaid, 0)
	f("100000000", 100_000_000, 0)
	f("100000001", Unsaid, 0)
	f(`"12"`, Unsaid, 0)
	f("null", Unsaid, 0)
	f("{}", Unsaid, 0)
	f("", Unsaid, 0)
}

func TestOneRecordForAll(t *testing.T) {
	f := func(change func(s *Said), want event.Usage) {
		t.Helper()
		s := Nothing()
		s.Input, s.Output = 100, 10
		change(&s)
		if got := s.Usage(); got != want {
			t.Errorf("%+v: %+v, want %+v", s, got, want)
		}
	}
	usage := event.Usage{Source: event.UsageProvider, Input: 100, Output: 10, CacheUnknown: true}
	f(func(*Said) {}, usage)
	f(func(s *Said) { s.Total = 110 }, usage)
	thinking := usage
	thinking.Output = 35
	f(func(s *Said) { s.Total = 135 }, thinking)
	f(func(s *Said) { s.Output, s.Total = Unsaid, 135 }, thinking)
	told := event.Usage{Source: event.UsageProvider, Input: 100, Output: 10}
	f(func(s *Said) { s.Read = 0 }, told)
	told.Read, told.Write5m = 60, 40
	f(func(s *Said) { s.Read, s.Write5m = 60, 40 }, told)
	told.Write1h, told.Odd = 1, true
	f(func(s *Said) { s.Read, s.Write5m, s.Write1h = 60, 40, 1 }, told)
	f(func(s *Said) { s.Output = Unsaid }, event.Usage{})
	f(func(s *Said) { s.Input, s.Output = 0, 0 }, event.Usage{})
	f(func(s *Said) { s.Input, s.Read, s.Total, s.Charged = 0, 0, 110, 5 }, event.Usage{Charged: 5})
	f(func(s *Said) { s.Input, s.Charged = Unsaid, 5 }, event.Usage{Charged: 5})
	f(func(s *Said) { *s = Nothing() }, event.Usage{})
}
