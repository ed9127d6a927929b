package event

import "testing"

func TestASessionIsNamedByAHash(t *testing.T) {
	if got := SessionOf(""); got != "" {
		t.Errorf("no session is called %q", got)
	}
	id := "0f3a7c52-77a1-4a54-9f4e-2f1f3f1c7a11"
	got := SessionOf(id)
	if got == SessionOf(id+"0") || got != SessionOf([]byte(id)) || len(got) != 16 {
		t.Errorf("%q", got)
	}
}
