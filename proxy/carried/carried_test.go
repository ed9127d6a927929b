package carried

import "testing"

func TestOnlyWhoAsksIsCarried(t *testing.T) {
	f := func(want, block string) {
		t.Helper()
		if got := string(Lines([]byte(block))); got != want {
			t.Errorf("of %q is carried %q, want %q", block, got, want)
		}
	}
	f("", "")
	f("Authorization: Bearer k\r\n", "Host: a\r\nAuthorization: Bearer k\r\nCookie: c\r\n")
	f("cf-aig-authorization: k\r\nX-API-Key: k\r\n", "cf-aig-authorization: k\r\nX-API-Key: k\r\nX-Request-Id: 1\r\n")
	f("", "Connection: x-api-key\r\nX-API-Key: k\r\n")
	f("session_id: s\r\n", "Content-Type: application/json\r\nsession_id: s\r\nx-epitome-mode: on\r\n")
}
