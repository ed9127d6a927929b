// Package money has amounts in cents and rates in parts of a million.
package money

import (
	"fmt"
	"strconv"
	"strings"
)

// Amount is a sum of money in cents.
type Amount int64

// Rate is a share in parts of a million: 1 % is 10000.
type Rate int64

// Percent returns the rate of so many hundredths of a percent.
func Percent(hundredths int64) Rate {
	return Rate(hundredths * 100)
}

// Parse reads an amount such as 1250.00, 7.5 or -3.
func Parse(text string) (Amount, error) {
	rest, negative := strings.CutPrefix(text, "-")
	whole, part, dotted := strings.Cut(rest, ".")
	if whole == "" || dotted && (part == "" || len(part) > 2) {
		return 0, fmt.Errorf("money: %q is not an amount", text)
	}
	for len(part) < 2 {
		part += "0"
	}
	cents, err := strconv.ParseUint(whole+part, 10, 62)
	if err != nil {
		return 0, fmt.Errorf("money: %q is not an amount", text)
	}
	if negative {
		return -Amount(cents), nil
	}
	return Amount(cents), nil
}

// String returns the amount with two decimals.
func (a Amount) String() string {
	sign := ""
	if a < 0 {
		sign, a = "-", -a
	}
	return fmt.Sprintf("%s%d.%02d", sign, a/100, a%100)
}

// Fine is an amount in millionths of a cent, in which sums stay exact until they are rounded.
type Fine int64

// Times returns the exact share of an amount.
func (a Amount) Times(r Rate) Fine {
	return Fine(int64(a) * int64(r))
}

// Floor rounds towards zero to a multiple of step, which is at least a cent.
func (f Fine) Floor(step Amount) Amount {
	cents := int64(f) / 1_000_000
	return Amount(cents - cents%int64(step))
}

// HalfUp rounds to the nearest multiple of step, and half a step away from zero.
func (f Fine) HalfUp(step Amount) Amount {
	unit := int64(step) * 1_000_000
	if f < 0 {
		return -(-f).HalfUp(step)
	}
	return Amount((int64(f) + unit/2) / unit * int64(step))
}
