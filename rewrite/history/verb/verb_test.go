package verb

import (
	"strings"
	"testing"
)

func TestAsksOfARecordAndOfAFinding(t *testing.T) {
	f := func(name string, wantAsks, wantCheck bool) {
		t.Helper()
		if asks, isCheck := Asks(name); asks != wantAsks || isCheck != wantCheck {
			t.Errorf("%s: asks %v, is a check %v", name, asks, isCheck)
		}
	}
	f("get_job", true, false)
	f("check_health", true, true)
	f("lintSchema", true, true)
	f("pay", false, false)
	f("get_and_delete", false, false)
}

// A name is as long as its caller likes. No more than its end is read.
func TestLongNamesAreReadInPart(t *testing.T) {
	name := strings.Repeat("a_B_", 1_000_000) + "__get_job"
	looks := false
	if n := testing.AllocsPerRun(1, func() { looks, _ = Looks(name) }); n > 100 || !looks {
		t.Errorf("%.0f allocations, looks: %v", n, looks)
	}
}
