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
	f("[rank3]:   File \"x.py\"", "File \"x.py\"", 3, -1)
	f("[rank3] is away", "[rank3] is away", 0, -1)
	f("(RayTrainWorker pid=4242, ip=10.2.0.7) all is well", "all is well", 1, -1)
	f("(raylet) all is well", "(raylet) all is well", 0, -1)
	f("(the pid=4242 is away) so", "(the pid=4242 is away) so", 0, -1)
	f("Nov 20 09:31:14 web-1 kernel: all is well", "all is well", 1, 9*3600+31*60+14)
	f("2026-11-20T09:31:14+0000 web-1 kernel: all is well", "all is well", 1, 9*3600+31*60+14)
	f("Nov 20 09:31:14 web-1 the new kernel: well", "web-1 the new kernel: well", 1, 9*3600+31*60+14)
	f("11-20 09:31:14.001  4242  4260 E AndroidRuntime: \tat x", "at x", 5, 9*3600+31*60+14)
	f("11-20 09:31:14.001  4242  4260 I chatty  : well", "I chatty  : well", 1, 9*3600+31*60+14)
	f("11-20 09:31:14 well", "11-20 09:31:14 well", 0, 9*3600+31*60+14)
	f("ERROR 11-20 09:31:14 [core.py:390]   File \"x.py\"", "File \"x.py\"", 3, 9*3600+31*60+14)
	f("ERROR 11-20 09:31:14 [core.py:390] no", "ERROR 11-20 09:31:14 [core.py:390] no", 0, 9*3600+31*60+14)
	f("9:41:05 AM - Found 1 error.", "Found 1 error.", 1, -1)
	f("10:41:05 PM - Found 1 error.", "Found 1 error.", 1, 10*3600+41*60+5)
	f("9:41:05 PM | CREATE_FAILED", "9:41:05 PM | CREATE_FAILED", 0, -1)
	f("9:41:05 is no time", "9:41:05 is no time", 0, -1)
	f("[09:31:14]: all is well", "all is well", 1, 9*3600+31*60+14)
	f("2026-11-20 09:31 all is well", "all is well", 1, 9*3600+31*60)
	f("2026/11/20T09:31\tall is well", "all is well", 4, 9*3600+31*60)
	f("[2026-11-20 09:31] all is well", "all is well", 1, 9*3600+31*60)
	f("2026-11-20 09:31", "09:31", 1, -1)
	f("2026-11-20 0931 all", "0931 all", 1, -1)
	f("refund.go:31:9: undefined: x", "refund.go:31:9: undefined: x", 0, -1)
}
