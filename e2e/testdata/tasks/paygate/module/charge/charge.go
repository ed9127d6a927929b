// Package charge charges cards, each order once.
package charge

import (
	"context"
	"errors"
	"fmt"

	"paygate/clock"
	"paygate/gateway"
	"paygate/journal"
)

// Order is what a customer owes.
type Order struct {
	Ref   string
	Cents int64
}

// ErrOpen means that it is not known whether an order was charged. The nightly run settles such orders.
var ErrOpen = errors.New("charge: open")

// Service charges orders.
type Service struct {
	Gateway gateway.Gateway
	Clock   clock.Clock
	Journal *journal.Journal
}

// Run charges an order, writes into the journal what became of it, and returns the receipt. The error is, or wraps,
// gateway.ErrRefused or ErrOpen, unless the journal or ctx fails.
func (s Service) Run(ctx context.Context, o Order) (gateway.Receipt, error) {
	receipt, err := s.book(ctx, o)
	state := journal.Booked
	switch {
	case errors.Is(err, gateway.ErrRefused):
		state = journal.Refused
	case err != nil:
		state = journal.Open
	}
	if wrote := s.Journal.Add(s.Clock.Now(), o.Ref, state, receipt.ID); wrote != nil {
		return receipt, errors.Join(err, wrote)
	}
	return receipt, err
}

// book charges an order.
func (s Service) book(ctx context.Context, o Order) (gateway.Receipt, error) {
	receipt, err := s.Gateway.Post(ctx, gateway.Charge{Ref: o.Ref, Cents: o.Cents, Currency: "EUR"})
	if err != nil && !errors.Is(err, gateway.ErrRefused) {
		return receipt, fmt.Errorf("%w: %w", ErrOpen, err)
	}
	return receipt, err
}
