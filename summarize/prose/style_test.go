package prose

import (
	"testing"
)

func TestStyleIsSetByNames(t *testing.T) {
	f := func(name, value string, want Style, known bool, says string) {
		t.Helper()
		got, ok, err := Style{Mode: ModeIntent, Detail: DetailLow}.With(name, value)
		if got != want || ok != known || (err == nil) != (says == "") || err != nil && err.Error() != says {
			t.Errorf("%s: %s makes it %+v, %v, %v", name, value, got, ok, err)
		}
	}
	was := Style{Mode: ModeIntent, Detail: DetailLow}
	for _, mode := range Modes() {
		f("summarize_mode", mode, Style{Mode: mode, Detail: DetailLow}, true, "")
	}
	for _, detail := range Details() {
		f("summarize_detail", detail, Style{Mode: ModeIntent, Detail: detail}, true, "")
	}
	f("summarize_mode", "secret", was, true, "write one of auto, llm, intent, hybrid, window, lossless")
	f("summarize_mode", "", was, true, "write one of auto, llm, intent, hybrid, window, lossless")
	f("summarize_detail", "HIGH", was, true, "write one of high, medium, low, truncate")
	f("summarize", "llm", was, false, "")
	f("compact_at", "0.5", was, false, "")
}
