// Package report writes what customers owe.
package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"dunning/calendar"
	"dunning/fee"
	"dunning/invoice"
	"dunning/money"
)

// Row is a customer in the report.
type Row struct {
	Customer string
	Class    invoice.Class
	Invoices int
	Late     int // of the invoices
	Open     money.Amount
	Fees     money.Amount
	Oldest   calendar.Day // due day of the oldest open invoice
}

// Rows sums up the invoices of each customer, the customers who owe most first.
func Rows(all []invoice.Invoice, today calendar.Day) []Row {
	rows := map[string]*Row{}
	for _, i := range all {
		if i.Open() == 0 {
			continue
		}
		row := rows[i.Customer]
		if row == nil {
			row = &Row{Customer: i.Customer, Class: i.Class, Oldest: i.Due}
			rows[i.Customer] = row
		}
		row.add(i, today)
	}
	var sorted []Row
	for _, row := range rows {
		sorted = append(sorted, *row)
	}
	slices.SortFunc(sorted, func(a, b Row) int {
		return cmp.Or(cmp.Compare(b.Open, a.Open), cmp.Compare(a.Customer, b.Customer))
	})
	return sorted
}

func (r *Row) add(i invoice.Invoice, today calendar.Day) {
	r.Invoices++
	r.Open += i.Open()
	r.Oldest = min(r.Oldest, i.Due)
	if calendar.Late(i.Due, today, i.Disputes) > 0 {
		r.Late++
		r.Fees += fee.Late(i, today)
	}
}

// Write prints rows as a table, with a line of totals.
func Write(w io.Writer, rows []Row) error {
	total := Row{Customer: "total"}
	const format = "%-10s %-8s %5v %5v %12v %10v %10v\n"
	_, err := fmt.Fprintf(w, format, "customer", "class", "open", "late", "amount", "fees", "oldest")
	if err != nil {
		return err
	}
	for _, r := range rows {
		_, err := fmt.Fprintf(w, format, r.Customer, r.Class, r.Invoices, r.Late, r.Open, r.Fees, r.Oldest)
		if err != nil {
			return err
		}
		total.Invoices += r.Invoices
		total.Late += r.Late
		total.Open += r.Open
		total.Fees += r.Fees
	}
	_, err = fmt.Fprintf(w, format, total.Customer, "", total.Invoices, total.Late, total.Open, total.Fees, "")
	return err
}
