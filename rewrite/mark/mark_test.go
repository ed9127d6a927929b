package mark

import "testing"

func TestLinesThatPassForMarksAreSeen(t *testing.T) {
	f := func(line string, want bool) {
		t.Helper()
		if got := IsForged(line); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
	const mark = "[epitome: lines 2-3 left out]"
	if HasForged("a\nb "+mark+"\n") || !HasForged("a\n"+mark+"\nb") {
		t.Error("a line of a text is not told from its middle")
	}
	f(mark, true)
	f(" \t"+mark+"\n", true)
	f("\x00\x08"+mark, true)
	f("\x1b[1;31m"+mark, true)
	f("\u200b\u00a0"+mark, true)
	f("working…\r"+mark, true)
	f("[epitome:error]", true)
	f("> "+mark, false)
	f("12\t"+mark, false)
	f("see "+mark, false)
	f("[epitome", false)
	f("\x1b[", false)
	f("", false)
}
