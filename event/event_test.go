package event

import (
	"strings"
	"testing"
)

func TestClipBoundsTextsAndKeepsThemSound(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		if got := Clip(in); got != want {
			t.Errorf("%.20q… is %q, want %q", in, got, want)
		}
	}
	f("", "")
	f("short", "short")
	f("un\xffsound", "unsound")
	f(strings.Repeat("m", 200), strings.Repeat("m", 200))
	f(strings.Repeat("m", 200+1), strings.Repeat("m", 200))
	f(strings.Repeat("€", 200), strings.Repeat("€", 200/3))
}
