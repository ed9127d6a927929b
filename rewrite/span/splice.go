package span

import (
	"cmp"
	"fmt"
	"slices"
)

// Edit puts other bytes in the place of a span.
type Edit struct {
	Span
	With []byte
}

// Splice makes a body with all edits done, in one pass; what no edit covers is copied as it is. Edits are sorted in
// place and must not overlap; of those at one place, an insertion comes first. The result is a slice of its own.
func Splice(body []byte, edits []Edit) ([]byte, error) {
	slices.SortStableFunc(edits, func(a, b Edit) int { return cmp.Or(a.Start-b.Start, a.End-b.End) })
	size, at := len(body), 0
	for _, e := range edits {
		if e.Start < at || e.End < e.Start || e.End > len(body) {
			return nil, fmt.Errorf("cannot splice bytes %d to %d: edits overlap, or lie outside of the body", e.Start, e.End)
		}
		size += len(e.With) - (e.End - e.Start)
		at = e.End
	}
	out := make([]byte, 0, size)
	at = 0
	for _, e := range edits {
		out = append(append(out, body[at:e.Start]...), e.With...)
		at = e.End
	}
	return append(out, body[at:]...), nil
}
