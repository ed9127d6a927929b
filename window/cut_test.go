package window

import (
	"testing"

	"pgregory.net/rapid"
)

func TestSilentCutsAreNoticed(t *testing.T) {
	f := func(used, counted, believed, size int) {
		t.Helper()
		got, ok := Truncated(used, counted, believed)
		if ok != (size > 0) || ok && got.Size != size {
			t.Errorf("Truncated(%d, %d, %d) is %v, %v; want %d", used, counted, believed, got, ok, size)
		}
	}
	f(2_048, 16_101, 128_000, 2_048)
	f(4_096, 5_000, 128_000, 4_096)
	f(40_960, 60_000, 128_000, 40_960)
	f(8_000, 9_500, 128_000, 8_000)
	f(1_026, 16_101, 128_000, 2_048)      // about half of a window is kept
	f(16_500, 60_000, 128_000, 32_768)    // likewise
	f(500, 16_101, 128_000, 1_024)        // and no window is smaller
	f(8_300, 14_000, 128_000, 8_300)      // twice as much would have held it
	f(9_000, 20_000, 10_000, 10_000)      // not above the one believed
	f(202_752, 230_000, 202_752, 202_752) // exactly the one believed
	f(202_752, 230_000, 1_000_000, 0)     // or by chance
	f(4_096, 4_200, 128_000, 0)           // counts differ by so much
	f(9_600, 16_000, 128_000, 0)          // six tenths
	f(16_000, 16_000, 128_000, 0)         //
	f(20_000, 16_000, 128_000, 0)         //
	f(0, 16_000, 128_000, 0)              // not told
	f(100, 16_000, 128_000, 0)            // told wrong
	f(300, 900, 128_000, 0)               // small requests have large errors
	rapid.Check(t, func(t *rapid.T) {
		used, counted := rapid.IntRange(-10, 1<<40).Draw(t, "used"), rapid.IntRange(-10, 1<<40).Draw(t, "counted")
		believed := rapid.IntRange(0, 1<<40).Draw(t, "believed")
		cut, ok := Truncated(used, counted, believed)
		size := cut.Size
		if ok && (size < Least || size > Most || believed > 0 && size > believed || used >= counted ||
			size > counted) {
			t.Fatalf("Truncated(%d, %d, %d) is %d", used, counted, believed, size)
		}
	})
}
