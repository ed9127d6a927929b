package report

import (
	"math"
	"slices"
	"time"
)

// Percentile returns the nearest-rank p-th percentile, 0 < p ≤ 100: the smallest sample that at least p percent of the
// samples do not exceed. 0 for no samples. xs is left as it is.
func Percentile(xs []float64, p float64) float64 {
	if len(xs) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(xs))
	rank := int(math.Ceil(p / 100 * float64(len(sorted))))
	return sorted[min(max(rank, 1), len(sorted))-1]
}

// Median returns the middle sample, or the mean of the two in the middle. 0 for no samples. xs is left as it is.
func Median(xs []float64) float64 {
	if len(xs) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(xs))
	mid := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[mid]
	}
	return (sorted[mid-1] + sorted[mid]) / 2
}

// Ratio returns a/b; nil if b is not above zero, as the ratio then says nothing.
func Ratio(a, b float64) *float64 {
	if b <= 0 {
		return nil
	}
	r := a / b
	return &r
}

// Differences returns a[i]−b[i] for each index both have.
func Differences(a, b []float64) []float64 {
	n := min(len(a), len(b))
	out := make([]float64, n)
	for i := range n {
		out[i] = a[i] - b[i]
	}
	return out
}

// Milliseconds returns d as a figure of a report.
func Milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// Microseconds returns d as a figure of a report.
func Microseconds(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
