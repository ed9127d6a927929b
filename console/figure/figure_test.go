package figure

import "testing"

func TestAmountsAndTokensAreWrittenForPeople(t *testing.T) {
	money := func(nano int64, want string) {
		t.Helper()
		if got := Dollars(nano); got != want {
			t.Errorf("%d nano-dollars are %s, want %s", nano, got, want)
		}
	}
	money(0, "$0.00")
	money(1, "$0.000000001")
	money(1_234_567_890, "$1.23")
	money(1_235_000_000, "$1.24")
	money(204_400_000, "$0.204") // less 0.143 and 0.035
	money(26_500_000, "$0.027")
	money(-10_000_000, "−$0.010")
	money(999_499_999, "$0.999")
	money(999_500_000, "$1.00")
	money(9_999_999, "$0.0100")
	money(3_142_000, "$0.0031")
	money(-5_000_000_000_000, "−$5,000.00")
	tokens := func(n int64, want string) {
		t.Helper()
		if got := Tokens(n); got != want {
			t.Errorf("%d tokens are %s, want %s", n, got, want)
		}
	}
	tokens(0, "0")
	tokens(999, "999")
	tokens(1_000, "1k")
	tokens(6_149, "6.1k")
	tokens(9_949, "9.9k")
	tokens(9_951, "10k")
	tokens(41_234, "41k")
	tokens(999_499, "999k")
	tokens(1_234_567, "1.23M")
	tokens(-1_500, "-1.5k")
}
