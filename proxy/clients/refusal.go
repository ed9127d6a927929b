package clients

import (
	"fmt"
	"time"

	"epitome/proxy/refuse"
)

// Unknown refuses a request without the key of a client.
func Unknown() error {
	return refuse.With(401, "unknown_key",
		"the request has no key that this epitome knows: send yours as Authorization: Bearer KEY, x-api-key or "+Header,
		"WWW-Authenticate: Bearer\r\n", refuse.NoRetry)
}

// beyond refuses a request beyond the limit of a quantity, until the next full minute begins.
func beyond(client string, what Quantity, most int, now time.Time) error {
	left := now.Truncate(time.Minute).Add(time.Minute).Sub(now)
	after := int((left + time.Second - 1) / time.Second)
	return refuse.With(429, "limit_reached", fmt.Sprintf(
		"client %s has used its %d %s per minute: try again in %d s, or have %s_per_minute of clients.%s raised",
		client, most, what, after, what, client), refuse.RetryAfter(after))
}
