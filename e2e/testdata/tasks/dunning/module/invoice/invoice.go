// Package invoice reads invoices from the export of the ledger.
package invoice

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"dunning/calendar"
	"dunning/money"
)

// Class is the kind of a customer.
type Class string

const (
	Private Class = "private"
	Trade   Class = "trade"
	Gov     Class = "gov"
)

// Invoice is what the ledger knows of an invoice.
type Invoice struct {
	Number   string
	Customer string
	Class    Class
	Due      calendar.Day
	Total    money.Amount
	Paid     money.Amount
	Disputes []calendar.Span
}

// Open returns what has not been paid, and never less than zero.
func (i Invoice) Open() money.Amount {
	return max(0, i.Total-i.Paid)
}

// line is an invoice as the export has it.
type line struct {
	Number   string      `json:"no"`
	Customer string      `json:"customer"`
	Class    string      `json:"class"`
	Due      string      `json:"due"`
	Total    string      `json:"total"`
	Payments []payment   `json:"payments"`
	Disputes [][2]string `json:"disputes"`
}

type payment struct {
	Day    string `json:"day"`
	Amount string `json:"amount"`
}

// Read reads an export, an invoice a line.
func Read(r io.Reader) ([]Invoice, error) {
	var all []Invoice
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		if len(lines.Bytes()) == 0 {
			continue
		}
		read, err := parse(lines.Bytes())
		if err != nil {
			return nil, fmt.Errorf("invoice: line %d: %w", n, err)
		}
		all = append(all, read)
	}
	return all, lines.Err()
}

func parse(text []byte) (Invoice, error) {
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return Invoice{}, err
	}
	read := Invoice{Number: l.Number, Customer: l.Customer, Class: Class(l.Class)}
	if !slices.Contains([]Class{Private, Trade, Gov}, read.Class) {
		return Invoice{}, fmt.Errorf("%s: class %q is not known", l.Number, l.Class)
	}
	var err error
	if read.Due, err = calendar.Parse(l.Due); err != nil {
		return Invoice{}, err
	}
	if read.Total, err = money.Parse(l.Total); err != nil {
		return Invoice{}, err
	}
	for _, p := range l.Payments {
		amount, err := money.Parse(p.Amount)
		if err != nil {
			return Invoice{}, err
		}
		read.Paid += amount
	}
	for _, d := range l.Disputes {
		from, err := calendar.Parse(d[0])
		if err != nil {
			return Invoice{}, err
		}
		to, err := calendar.Parse(d[1])
		if err != nil {
			return Invoice{}, err
		}
		read.Disputes = append(read.Disputes, calendar.Span{From: from, To: to})
	}
	return read, nil
}
