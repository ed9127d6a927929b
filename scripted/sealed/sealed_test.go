package sealed_test

import (
	"testing"

	"epitome/scripted/sealed"
)

func TestWhatIsSealedOpensWithItsKeyAlone(t *testing.T) {
	text := sealed.Seal("k", map[string]int{"a": 1})
	f := func(key, text string, want bool) {
		t.Helper()
		var got map[string]int
		if ok := sealed.Open(key, text, &got); ok != want || ok && got["a"] != 1 {
			t.Errorf("%s opens with %s: %t, %v", text, key, ok, got)
		}
	}
	f("k", text, true)
	f("l", text, false)
	f("k", "A"+text[1:], false)
	f("k", text[4:], false)
	f("k", "", false)
	f("k", "no base64", false)
	if again := sealed.Seal("k", map[string]int{"a": 1}); again != text {
		t.Errorf("sealed anew it is %s, not %s", again, text)
	}
}
