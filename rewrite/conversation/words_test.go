package conversation_test

import (
	"strings"
	"testing"

	"epitome/rewrite/chat"
)

func TestTitleIsWhatTheUserTypedFirst(t *testing.T) {
	f := func(content, want string) {
		t.Helper()
		r, err := chat.Dialect{}.Read([]byte(`{"model":"m","messages":[{"role":"system","content":"Be kind."},`+
			`{"role":"user","content":"`+content+`"},{"role":"user","content":"Later."}]}`), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Title(); got != want {
			t.Errorf("%.60s is called %q, want %q", content, got, want)
		}
	}
	f(`Fix\n the  tests.`, "Fix the tests.")
	f(`<system-reminder>Monday</system-reminder>\nFix the tests.`, "Fix the tests.")
	f(`<system-reminder>Monday</system-reminder>`, "Later.")
	f(strings.Repeat("ä", 61), strings.Repeat("ä", 59)+"…")
}
