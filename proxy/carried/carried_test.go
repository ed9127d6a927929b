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

func TestTheSessionIsWhatTheClientCallsIt(t *testing.T) {
	f := func(want, block string) {
		t.Helper()
		if got := string(Session([]byte(block))); got != want {
			t.Errorf("of %q the session is %q, want %q", block, got, want)
		}
	}
	f("", "")
	f("", "Host: a\r\nX-Request-Id: 1\r\nthread-id: t\r\n")
	f("0f3a", "Host: a\r\nX-Claude-Code-Session-Id: 0f3a\r\n")
	f("s", "session_id: s\r\nthread-id: t\r\n")
	f("s", "Session-Id:  s \r\n")
	f("ses_1", "X-Session-Id: ses_1\r\nx-session-affinity: a\r\n")
	f("2", "x-session-id:\r\nsession-id: 2\r\n")
	f("1", "x-session-id: 1\r\nsession-id: 2\r\nX-Claude-Code-Agent-Id:\r\n")
	f("a1", "X-Claude-Code-Session-Id: 0f3a\r\nX-Claude-Code-Agent-Id: a1\r\n")
}
