package stamp

import "testing"

func TestWhatStandsBeforeALineIsTakenOff(t *testing.T) {
	f := func(line, want string, indent int, clock int32) {
		t.Helper()
		if body, in := Strip(line); body != want || in != indent || Clock(line[:min(len(line), Longest)]) != clock {
			t.Errorf("%q: %q, %d, %d", line, body, in, Clock(line))
		}
	}
	f("", "", 0, -1)
	f("  all is well\r\n", "all is well", 2, -1)
	f("\tall is well", "all is well", 4, -1)
	f("2026-11-20T09:31:14Z ERROR no", "ERROR no", 1, 9*3600+31*60+14)
	f("[ 12%] Building x", "Building x", 1, -1)
	f("#12 3.456 all is well", "all is well", 1, -1)
	f("web-1  | all is well", "all is well", 1, -1)
	f("@shop/cart test: all is well", "all is well", 1, -1)
	f("\x1b[31mred\x1b[0m", "red", 0, -1)
	f("refund.go:31:9: undefined: x", "refund.go:31:9: undefined: x", 0, -1)
}
