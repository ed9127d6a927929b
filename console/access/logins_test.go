package access

import (
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

// redeemed shows a code and wants it to be good.
func redeemed(t *testing.T, l *Logins, code, current string) string {
	t.Helper()
	session, ok := l.Redeem(code, current)
	if !ok || !l.Has(session) {
		t.Fatalf("the code opens nothing: %q, %v", session, ok)
	}
	return session
}

func refused(t *testing.T, l *Logins, code, current string) {
	t.Helper()
	if session, ok := l.Redeem(code, current); ok || session != "" {
		t.Fatalf("a code that is no good has opened %q", session)
	}
}

func TestCodeIsGoodOnce(t *testing.T) {
	var l Logins
	refused(t, &l, "", "")
	refused(t, &l, "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "")
	first := redeemed(t, &l, l.NewCode(0), "")
	used := l.NewCode(0)
	session := redeemed(t, &l, used, "")
	if first == session {
		t.Error("two logins share a session")
	}
	refused(t, &l, used, "")
	if l.Has(session) {
		t.Error("two have shown one code, and its session lives on")
	}
	if !l.Has(first) {
		t.Error("another session has ended with it")
	}
}

// A page that is loaded again, and a link that is followed twice, are no strangers.
func TestCodeShownAgainInItsOwnSession(t *testing.T) {
	var l Logins
	used := l.NewCode(0)
	session := redeemed(t, &l, used, "")
	if again := redeemed(t, &l, used, session); again != session {
		t.Error("the session has changed")
	}
	another := l.NewCode(0)
	if same := redeemed(t, &l, another, session); same != session {
		t.Error("a session that is open was not kept")
	}
	refused(t, &l, another, "")
	if l.Has(session) {
		t.Error("a stranger has shown the code, and the session lives on")
	}
	stranger := l.Open()
	if got := redeemed(t, &l, "NOCODE", stranger); got != stranger {
		t.Error("a code that nobody made has ended a session")
	}
}

func TestCodesAndSessionsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Logins
		short, long, longest := l.NewCode(0), l.NewCode(time.Hour), l.NewCode(1000*time.Hour)
		good := l.NewCode(0)
		time.Sleep(CodeLife - 1)
		session := redeemed(t, &l, good, "")
		time.Sleep(time.Nanosecond)
		refused(t, &l, short, "")
		redeemed(t, &l, long, "")
		time.Sleep(SessionLife - CodeLife)
		refused(t, &l, longest, "")
		if !l.Has(session) {
			t.Error("the session has ended too early")
		}
		time.Sleep(CodeLife - 1)
		if l.Has(session) {
			t.Error("the session lives on")
		}
	})
}

func TestSessionsAreClosed(t *testing.T) {
	var l Logins
	a, b, code := l.Open(), l.Open(), l.NewCode(0)
	l.Close(a)
	if l.Has(a) || !l.Has(b) {
		t.Error("another session was closed than the one that is meant")
	}
	l.CloseAll()
	if l.Has(b) {
		t.Error("a session was left open")
	}
	refused(t, &l, code, "")
}

func TestOwnerIsWhoWasLetIn(t *testing.T) {
	r := httptest.NewRequest("GET", "/-/", nil)
	if Owner(r) || !Owner(AsOwner(r)) {
		t.Error("a request does not say whose it is")
	}
}
