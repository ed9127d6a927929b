// Package figure writes numbers as people read them, the same on pages and in a terminal.
package figure

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Thousands writes a number in groups of three digits.
func Thousands(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if digits[0] == '-' {
		sign, digits = "−", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// Tokens writes a number of tokens as a reader takes it in.
func Tokens(n int64) string {
	v := float64(n)
	switch a := math.Abs(v); {
	case a < 1000:
		return strconv.FormatInt(n, 10)
	case a < 9950:
		return strings.TrimSuffix(strconv.FormatFloat(v/1e3, 'f', 1, 64), ".0") + "k"
	case a < 999_500:
		return strconv.FormatFloat(v/1e3, 'f', 0, 64) + "k"
	}
	return strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(v/1e6, 'f', 2, 64), "0"), ".") + "M"
}

// Dollars writes nano-dollars: to the cent, below a dollar with three digits after the point, and below a cent with two
// digits that tell.
func Dollars(nano int64) string {
	switch v := float64(nano) / 1e9; {
	case nano < 0:
		return "−" + Dollars(-nano)
	case nano == 0 || v >= .9995:
		cents := int64(math.Round(100 * v))
		return fmt.Sprintf("$%s.%02d", Thousands(cents/100), cents%100)
	case v >= .01:
		return fmt.Sprintf("$%.3f", v)
	default:
		digits := 1 - int(math.Floor(math.Log10(v)))
		return "$" + strconv.FormatFloat(v, 'f', min(digits, 9), 64)
	}
}

// Percent writes a share of one.
func Percent(v float64) string {
	if a := math.Abs(v); a > 0 && a < .0995 {
		return strings.Replace(strconv.FormatFloat(100*v, 'f', 1, 64), "-", "−", 1) + " %"
	}
	return strings.Replace(strconv.FormatFloat(100*v, 'f', 0, 64), "-", "−", 1) + " %"
}
