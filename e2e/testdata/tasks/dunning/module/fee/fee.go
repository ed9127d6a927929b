// Package fee says what a late invoice costs its customer.
package fee

import (
	"dunning/calendar"
	"dunning/invoice"
	"dunning/money"
)

// Late returns the fee for an invoice that is open on the day today. It is a total, not what came since the last call.
func Late(i invoice.Invoice, today calendar.Day) money.Amount {
	return 0 // not done yet
}
