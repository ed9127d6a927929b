package tokenize

import (
	"bytes"
	"testing"
)

// However long a text is, no more of it is looked at than was asked for.
func TestAboutLooksAtNoMore(t *testing.T) {
	f := func(text []byte, most int) {
		t.Helper()
		looked, samples := 0, 0
		n := About(text, most, func(sample []byte) int {
			looked, samples = looked+len(sample), samples+1
			return len(sample) / 4
		})
		if len(text) <= most && (looked != len(text) || samples > 1) || looked > max(most, 1) {
			t.Errorf("%d of %d bytes: %d are looked at, in %d samples", most, len(text), looked, samples)
		}
		if want := len(text) / 4; n < want-want/10-1 || n > want+want/10+1 {
			t.Errorf("%d of %d bytes: %d are told, not about %d", most, len(text), n, want)
		}
	}
	for _, size := range []int{0, 1, 300, 5_000, 100_000, 3_000_000} {
		for _, most := range []int{256, 4_000, 1 << 20} {
			f(bytes.Repeat([]byte("a"), size), most)
			f(bytes.Repeat([]byte("数"), size/3), most)
			f(bytes.Repeat([]byte{0x80}, size), most)
		}
	}
}
