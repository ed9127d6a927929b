package fee

import (
	"testing"

	"dunning/calendar"
	"dunning/invoice"
	"dunning/money"
)

func TestHidden(t *testing.T) {
	due := calendar.Must("2026-01-20")
	dispute := func(from, to int) calendar.Span {
		return calendar.Span{From: due + calendar.Day(from), To: due + calendar.Day(to)}
	}
	for _, test := range []struct {
		name     string
		class    invoice.Class
		open     money.Amount
		days     int
		want     money.Amount
		disputes []calendar.Span
	}{
		{"the last free day", invoice.Private, 200000, 12, 0, nil},
		{"the first day with a fee", invoice.Private, 200000, 13, 1500, nil},
		{"day 28", invoice.Private, 200000, 28, 1500, nil},
		{"day 29", invoice.Private, 200000, 29, 3000, nil},
		{"the minimum", invoice.Private, 10000, 20, 450, nil},
		{"just below 35.00", invoice.Private, 3499, 60, 0, nil},
		{"35.00", invoice.Private, 3500, 60, 450, nil},
		{"the cap of private customers", invoice.Private, 500000, 60, 6200, nil},
		{"trade has another cap", invoice.Trade, 500000, 60, 11250, nil},
		{"the cap of trade", invoice.Trade, 100000, 400, 9000, nil},
		{"the cap of trade, rounded down", invoice.Trade, 101990, 400, 9170, nil},
		{"the cap before the minimum", invoice.Trade, 4000, 20, 360, nil},
		{"rounded down", invoice.Private, 123450, 20, 920, nil},
		{"rounded once", invoice.Private, 123400, 84, 2770, nil},
		{"disputed days do not count", invoice.Private, 200000, 22, 0, []calendar.Span{dispute(3, 12)}},
		{"disputed days, a day later", invoice.Private, 200000, 23, 1500, []calendar.Span{dispute(3, 12)}},
		{"authority on day 40", invoice.Gov, 500000, 40, 0, nil},
		{"authority on day 41", invoice.Gov, 500000, 41, 3800, nil},
		{"authority, later", invoice.Gov, 500000, 300, 3800, nil},
		{"authority, a small sum", invoice.Gov, 1200, 41, 3800, nil},
		{"authority, disputed", invoice.Gov, 90000, 41, 3800, []calendar.Span{dispute(5, 30)}},
	} {
		i := invoice.Invoice{Class: test.class, Due: due, Total: test.open + 500, Paid: 500, Disputes: test.disputes}
		if got := Late(i, due+calendar.Day(test.days)); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}
