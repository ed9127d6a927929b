package fee

import (
	"testing"

	"dunning/calendar"
	"dunning/invoice"
	"dunning/money"
)

// TestLate has the examples that accounting sent along.
func TestLate(t *testing.T) {
	due := calendar.Must("2026-02-10")
	for _, test := range []struct {
		name string
		open money.Amount
		days int
		want money.Amount
	}{
		{"not late", 100000, 0, 0},
		{"just late", 100000, 5, 0},
		{"a month", 123400, 36, 1850},
		{"three months", 98765, 90, 2960},
	} {
		i := invoice.Invoice{Class: invoice.Private, Due: due, Total: test.open}
		if got := Late(i, due+calendar.Day(test.days)); got != test.want {
			t.Errorf("%s: %v open for %d days: %v, want %v", test.name, test.open, test.days, got, test.want)
		}
	}
}
