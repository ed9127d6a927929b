// Package table writes readings as lines for the archive.
package table

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"meterd/record"
)

// Write writes a line for each reading: time, meter, quantity, value, unit.
func Write(w io.Writer, readings []record.Reading) error {
	out := bufio.NewWriter(w)
	for _, r := range readings {
		fmt.Fprintf(out, "%s;%d;%s;%s;%s\n", r.At.Format(time.DateTime), r.Meter, r.Quantity, Decimal(r.Micro), r.Unit)
	}
	return out.Flush()
}

// Decimal returns millionths as a number without zeros at its end.
func Decimal(micro int64) string {
	sign := ""
	if micro < 0 {
		sign, micro = "-", -micro
	}
	text := fmt.Sprintf("%s%d.%06d", sign, micro/1_000_000, micro%1_000_000)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// Count is how often a code came.
type Count struct {
	Code  byte
	Times int
}

// Counts returns how often each code came, the most frequent first.
func Counts(codes []byte) []Count {
	times := map[byte]int{}
	for _, code := range codes {
		times[code]++
	}
	var counts []Count
	for code, n := range times {
		counts = append(counts, Count{code, n})
	}
	slices.SortFunc(counts, func(a, b Count) int {
		if a.Times != b.Times {
			return b.Times - a.Times
		}
		return int(a.Code) - int(b.Code)
	})
	return counts
}
