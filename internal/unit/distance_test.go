package unit

import "testing"

func TestDistanceCountsWrongLetters(t *testing.T) {
	f := func(a, b string, want int) {
		t.Helper()
		if n := Distance(a, b); n != want {
			t.Errorf("from %q to %q: got %d, want %d", a, b, n, want)
		}
		if n := Distance(b, a); n != want {
			t.Errorf("from %q to %q: got %d, want %d", b, a, n, want)
		}
	}
	f("", "", 0)
	f("abc", "abc", 0)
	f("", "abc", 3)
	f("abc", "abd", 1)
	f("abc", "xabc", 1)
	f("listen", "lisetn", 2)
	f("kitten", "sitting", 3)
}
