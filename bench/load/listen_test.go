package load

import "testing"

func TestOnlyLoopbackIsMeasured(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", ":0", "192.0.2.1:80"} {
		if ln, err := Listen(addr); err == nil {
			ln.Close()
			t.Errorf("listening on %q was allowed", addr)
		}
	}
}
