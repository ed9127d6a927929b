package proxy

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"epitome/event"
	"epitome/proxy/wire"
)

// ClientConfig is one table [clients.NAME] of config.toml, where each key is explained for users.
type ClientConfig struct {
	Keys              []string `toml:"keys"`      // hashes, as HashOfKey makes them
	Upstreams         []string `toml:"upstreams"` // names; none are all
	RequestsPerMinute int      `toml:"requests_per_minute"`
	TokensPerMinute   int      `toml:"tokens_per_minute"`
}

func (c *ClientConfig) limits() [2]int { return [2]int{c.RequestsPerMinute, c.TokensPerMinute} }

// clients are those of a configuration by the hashes of their keys; nil if it has none. They do not change once made.
type clients map[[sha256.Size]byte]*client

// client is one that has keys. A nil client is nobody in particular, without limits.
type client struct {
	name     string
	config   ClientConfig
	requests *rate.Limiter // nil: without limit
	tokens   *rate.Limiter
}

// newClients makes the clients of a configuration. They go on with the limiters that known has of them for the same
// limits, so that a reload does not reset these.
func newClients(all map[string]ClientConfig, known clients) (clients, error) {
	if len(all) == 0 {
		return nil, nil
	}
	byHash := make(clients)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		c := &client{name: name, config: all[name]}
		c.requests, c.tokens = perMinute(c.config.RequestsPerMinute), perMinute(c.config.TokensPerMinute)
		for _, old := range known {
			if old.name == name && old.config.limits() == c.config.limits() {
				c.requests, c.tokens = old.requests, old.tokens
			}
		}
		for _, text := range c.config.Keys {
			hash, err := readHash(text)
			if err != nil {
				return nil, fmt.Errorf("cannot use a key of client %s: %w", name, err)
			}
			if other := byHash[hash]; other != nil {
				return nil, fmt.Errorf("cannot use a key of client %s: it is one of client %s already; "+
					"give each its own, as 'epitome key %s' makes it", name, other.name, name)
			}
			byHash[hash] = c
		}
	}
	return byHash, nil
}

// CheckClients returns an error if the keys of clients cannot be used.
func CheckClients(all map[string]ClientConfig) error {
	_, err := newClients(all, nil)
	return err
}

// perMinute returns a limiter of n in a minute, all of which may come at once; nil if n is 0, which is no limit.
func perMinute(n int) *rate.Limiter {
	if n == 0 {
		return nil
	}
	return rate.NewLimiter(rate.Limit(n)/60, n)
}

// keyHeader is the request header that carries a key beside a credential for the provider.
const keyHeader = wire.OwnPrefix + "key"

// owner returns the client whose key stands in a header line; nil if none does. It is found by a hash, so that the
// time of the look-up says nothing about keys.
func (b clients) owner(l *wire.Lines) *client {
	key := l.Value
	switch {
	case l.Is("authorization"):
		if _, after, found := bytes.Cut(key, []byte(" ")); found { // the scheme does not matter
			key = bytes.TrimSpace(after)
		}
	case l.Is(keyHeader), l.Is("x-api-key"), l.Is("api-key"):
	default:
		return nil
	}
	return b[sha256.Sum256(key)]
}

// find returns the client whose key the header lines of a request have first, and the lines without those that have a
// known key. The error refuses a request without a known key.
func (b clients) find(head []byte) (found *client, left []byte, err error) {
	if b == nil {
		return nil, head, nil
	}
	for l := wire.LinesOf(head); l.Next(); {
		if c := b.owner(&l); c != nil {
			found = cmp.Or(found, c)
		} else {
			left = l.AppendTo(left)
		}
	}
	if found == nil {
		return nil, head, refuse(401, "unknown_key", "the request has no key that this epitome knows: "+
			"send yours as Authorization: Bearer KEY, x-api-key or "+keyHeader, "WWW-Authenticate: Bearer\r\n", noRetry)
	}
	return found, left, nil
}

// admit counts a request to the upstream of that name. The error refuses it.
func (c *client) admit(upstream string, now time.Time) error {
	switch {
	case c == nil:
		return nil
	case len(c.config.Upstreams) > 0 && !slices.Contains(c.config.Upstreams, upstream):
		return refuse(403, "upstream_forbidden", fmt.Sprintf(
			"client %s may not use upstream %s: use %s, or have it added to clients.%s.upstreams",
			c.name, upstream, strings.Join(c.config.Upstreams, " or "), c.name), noRetry)
	case c.tokens != nil && c.tokens.TokensAt(now) < 1: // how many it will take is not known: one lets it begin
		return c.beyond("tokens", c.tokens, now)
	case c.requests != nil && !c.requests.AllowN(now, 1):
		return c.beyond("requests", c.requests, now)
	}
	return nil
}

// beyond refuses a request beyond a limit, until there is one of its quantity again.
func (c *client) beyond(quantity string, limit *rate.Limiter, now time.Time) error {
	after := max(1, int(math.Round((1-limit.TokensAt(now))/float64(limit.Limit()))))
	return refuse(429, "limit_reached", fmt.Sprintf(
		"client %s has used its %d %s per minute: try again in %d s, or have %s_per_minute of clients.%s raised",
		c.name, limit.Burst(), quantity, after, quantity, c.name), retryAfter(after))
}

// bytesPerToken estimates tokens where an answer does not state its tokens: mode off is no way around a limit.
const bytesPerToken = 4

// spend takes the tokens of an exchange from the client's limit, also if the client left before it was answered.
// Requests that only count tokens take none.
func (c *client) spend(x *exchange) {
	e := &x.event
	if c == nil || c.tokens == nil || e.Status > 299 || e.Sent == 0 || x.counts {
		return
	}
	tokens := e.Usage.Input + e.Usage.Output
	if e.Usage.Source != event.UsageProvider && (e.Method == "POST" || e.Status == 101) {
		bytes := e.ResponseBytes
		if tokens = ownCount(e); tokens == 0 {
			bytes += e.RequestBytes
		}
		tokens += int(bytes / bytesPerToken)
	}
	for now := time.Now(); tokens > 0; tokens -= c.tokens.Burst() {
		c.tokens.ReserveN(now, min(tokens, c.tokens.Burst())) // if there are too few, later requests wait for them
	}
}

const (
	keyPrefix  = "sk-epitome-" // some clients insist on "sk-"; scanners for secrets recognize the rest
	hashPrefix = "sha256:"
)

// NewKey makes a key that nobody can guess.
func NewKey() string { return keyPrefix + rand.Text() }

// HashOfKey returns the form of a key in the configuration. Keys have more than a hundred random bits, so nobody can
// try them out.
func HashOfKey(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hashPrefix + hex.EncodeToString(sum[:])
}

// readHash reads a result of HashOfKey. The error does not repeat the text, which may be the key itself.
func readHash(text string) (hash [sha256.Size]byte, err error) {
	digits, found := strings.CutPrefix(text, hashPrefix)
	sum, err := hex.DecodeString(digits)
	if !found || err != nil || len(sum) != sha256.Size {
		return hash, errors.New(`it is no hash; write "sha256:" and 64 hexadecimal digits, ` +
			`as 'epitome key' prints them, and not the key`)
	}
	return [sha256.Size]byte(sum), nil
}
