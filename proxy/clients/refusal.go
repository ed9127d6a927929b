package clients

import (
	"fmt"
	"time"

	"epitome/proxy/refuse"
)

// patient is how long clients wait, at most, before they come again by themselves: what lasts longer is not to be tried
// again unasked.
const patient = time.Minute

// Unknown refuses a request without the key of a client.
func Unknown() error {
	return refuse.With(401, "unknown_key",
		"the request has no key that this epitome knows: send yours as Authorization: Bearer KEY, x-api-key or "+Header,
		"WWW-Authenticate: Bearer\r\n", refuse.NoRetry)
}

// limit is how much of a quantity a client may use in a span.
type limit struct {
	client string
	what   Quantity
	most   int
	span   span
}

// refuse refuses a request beyond the limit.
func (l limit) refuse(now time.Time) error {
	left := l.span.rest(now)
	after := int((left + time.Second - 1) / time.Second)
	lines := []string{refuse.RetryAfter(after)}
	if left > patient {
		lines = append(lines, refuse.NoRetry)
	}
	return refuse.With(429, "limit_reached", fmt.Sprintf(
		"client %s has used its %d %s per %s: try again in %d s, or have %s_per_%s of clients.%s raised",
		l.client, l.most, l.what, l.span.name, after, l.what, l.span.name, l.client), lines...)
}
