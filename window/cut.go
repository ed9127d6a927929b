package window

import (
	"math/bits"
	"slices"
)

// Cut is what an answer shows of a request that its provider seems to have cut without saying so.
type Cut struct {
	Size          int  // of the window, in tokens, about; not above the one believed
	Used, Counted int  // tokens of the request: as the provider counts, and by the best count of what was sent
	Exact         bool // what the provider counts is itself a size that windows have
}

// Truncated reports that a provider has cut a request without saying so: it counted far fewer tokens than were sent, or
// exactly as many as windows have. used is the whole prompt as the provider counted it, counted is the best count of
// what was sent.
func Truncated(used, counted, believed int) (c Cut, ok bool) {
	c = Cut{Used: used, Counted: counted}
	if used < leastUsed || counted < Least || used >= counted {
		return c, false
	}
	c.Exact = used == believed || isCommon(used) && counted-used >= used/10
	switch {
	case c.Exact:
		c.Size = used
	case used*10 < counted*6:
		for c.Size = Least; c.Size < used; c.Size *= 2 { // servers that cut keep half of a window or more of it
		}
		if c.Size >= counted {
			c.Size = used
		}
	}
	if believed > 0 {
		c.Size = min(c.Size, believed)
	}
	return c, c.Size >= Least && c.Size <= Most
}

// Confirms reports whether a later cut shows that the one before was none of the vocabulary's: more was sent, and the
// provider's count did not grow with it. A vocabulary that makes fewer tokens of everything counts a growing request
// with a growing number.
func (c Cut) Confirms(before Cut) bool {
	const most = .8 // of the growth; counts of other texts differ by less
	sent := float64(c.Counted) / float64(max(1, before.Counted))
	used := float64(c.Used) / float64(max(1, before.Used))
	return c.Size == before.Size && (c.Exact || used < most*sent)
}

// leastUsed is how many tokens a server keeps at least of what it cuts.
const leastUsed = 256

// isCommon reports whether a number is one that people choose for windows. So few are that chance hardly meets them.
func isCommon(n int) bool {
	return n >= Least && slices.Contains([]int{1, 3, 5, 125, 625}, n>>bits.TrailingZeros(uint(n)))
}
