package wire

import "testing"

func TestOnlyLoopbackIsMeasured(t *testing.T) {
	at, err := ParseSite("http://127.0.0.1:7070/u/bench/")
	if err != nil || at.Addr != "127.0.0.1:7070" || at.Prefix != "/u/bench" {
		t.Errorf("parseSite = %+v, %v", at, err)
	}
	for _, base := range []string{"http://192.0.2.1:80", "https://127.0.0.1:443", "http://example.org:80",
		"http://127.0.0.1", "x"} {
		if at, err := ParseSite(base); err == nil {
			t.Errorf("parseSite(%q) = %+v, want an error", base, at)
		}
	}
	for _, addr := range []string{"0.0.0.0:0", ":0", "192.0.2.1:80"} {
		if ln, err := Listen(addr); err == nil {
			ln.Close()
			t.Errorf("listening on %q was allowed", addr)
		}
	}
}
