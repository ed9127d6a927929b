package report

import (
	"strings"
	"testing"

	"dunning/calendar"
	"dunning/invoice"
)

func TestRows(t *testing.T) {
	due, today := calendar.Must("2026-02-10"), calendar.Must("2026-02-14")
	rows := Rows([]invoice.Invoice{
		{Number: "R-1", Customer: "C1", Class: invoice.Trade, Due: due, Total: 5000},
		{Number: "R-2", Customer: "C2", Class: invoice.Gov, Due: due + 9, Total: 90000},
		{Number: "R-3", Customer: "C1", Class: invoice.Trade, Due: due - 3, Total: 700},
		{Number: "R-4", Customer: "C3", Class: invoice.Trade, Due: due, Total: 700, Paid: 700},
	}, today)
	if len(rows) != 2 || rows[0].Customer != "C2" || rows[1].Customer != "C1" {
		t.Fatalf("rows: %+v", rows)
	}
	if r := rows[1]; r.Invoices != 2 || r.Late != 2 || r.Open != 5700 || r.Oldest != due-3 {
		t.Errorf("row of C1: %+v", r)
	}
	if r := rows[0]; r.Late != 0 {
		t.Errorf("row of C2: %+v", r)
	}
	var text strings.Builder
	if err := Write(&text, rows); err != nil || strings.Count(text.String(), "\n") != 4 {
		t.Errorf("%v\n%s", err, text.String())
	}
}
