// Package gateway speaks with the gateway that books charges on cards.
package gateway

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Charge is what a card is to be charged.
type Charge struct {
	Ref      string // our name of the charge
	Cents    int64
	Currency string
	Key      string // sent as Idempotency-Key, if it is not empty
}

// Receipt is a charge that was booked.
type Receipt struct {
	ID    string // the gateway's name of the charge
	Ref   string
	Cents int64
}

// Gateway books charges.
type Gateway interface {
	// Post books a charge. Errors are, or wrap, ErrRefused, ErrUnclear or a Busy.
	Post(ctx context.Context, c Charge) (Receipt, error)
	// Find returns the charge with a reference, and false if there is none.
	Find(ctx context.Context, ref string) (Receipt, bool, error)
}

var (
	// ErrRefused means that the card was not charged and never will be.
	ErrRefused = errors.New("gateway: refused")
	// ErrUnclear means that nobody told us whether the card was charged.
	ErrUnclear = errors.New("gateway: unclear")
)

// Busy means that the gateway took no notice of a charge, and wants us to wait.
type Busy struct {
	After time.Duration
}

func (b Busy) Error() string {
	return fmt.Sprintf("gateway: busy, try again after %v", b.After)
}
