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

// clients are those of a configuration; nil if it has none. They do not change once made.
type clients struct {
	byHash map[[sha256.Size]byte]*client
	named  map[string]*client
}

// client is one that has keys. A nil client is nobody in particular, without limits.
type client struct {
	name     string
	config   ClientConfig
	requests *rate.Limiter // nil: without limit
	tokens   *rate.Limiter
}

// newClients makes the clients of a configuration. They go on with the limiters that known has of them, so that a
// reload forgives nothing.
func newClients(all map[string]ClientConfig, known *clients) (*clients, error) {
	if len(all) == 0 {
		return nil, nil
	}
	b := &clients{byHash: make(map[[sha256.Size]byte]*client), named: make(map[string]*client)}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		c := &client{name: name, config: all[name]}
		var old client
		if o := known.byName(name); o != nil {
			old = *o
		}
		c.requests = perMinute(c.config.RequestsPerMinute, old.requests)
		c.tokens = perMinute(c.config.TokensPerMinute, old.tokens)
		b.named[name] = c
		for _, text := range c.config.Keys {
			hash, err := readHash(text)
			if err != nil {
				return nil, fmt.Errorf("cannot use a key of client %s: %w", name, err)
			}
			if other := b.byHash[hash]; other != nil {
				return nil, fmt.Errorf("cannot use a key of client %s: it is one of client %s already; "+
					"give each its own, as 'epitome key %s' makes it", name, other.name, name)
			}
			b.byHash[hash] = c
		}
	}
	return b, nil
}

// CheckClients says what is wrong with the keys of clients.
func CheckClients(all map[string]ClientConfig) error {
	_, err := newClients(all, nil)
	return err
}

// perMinute returns a limiter of n in a minute, all of which may come at once; old if that is one. nil is no limit.
func perMinute(n int, old *rate.Limiter) *rate.Limiter {
	switch {
	case n == 0:
		return nil
	case old != nil && old.Burst() == n:
		return old
	}
	return rate.NewLimiter(rate.Limit(n)/60, n)
}

// byName returns the client of that name; nil if there is none.
func (b *clients) byName(name string) *client {
	if b == nil {
		return nil
	}
	return b.named[name]
}

// keyHeader is the request header that carries a key beside a credential for the provider.
const keyHeader = wire.OwnPrefix + "key"

// owner returns whose key stands in a header line, and the key; nil if none does. It is found by its hash: the time that
// takes tells nothing of a key.
func (b *clients) owner(l *wire.Lines) (whose *client, key []byte) {
	key = l.Value
	switch {
	case l.Is("authorization"):
		if _, after, found := bytes.Cut(key, []byte(" ")); found { // the scheme does not matter
			key = bytes.TrimSpace(after)
		}
	case l.Is(keyHeader), l.Is("x-api-key"), l.Is("api-key"):
	default:
		return nil, nil
	}
	return b.byHash[sha256.Sum256(key)], key
}

// leastKey is how many bytes a key has, at least, that is looked for within other words: a shorter one may be part of
// them by chance.
const leastKey = 16

// know reports whether the header lines have a client's key, where one is needed.
func (b *clients) know(head []byte) bool {
	_, _, err := b.find(head)
	return err == nil
}

// find returns whose key the header lines of a request have first, and the lines without those that have a known key,
// in whatever header and beside whatever words. The error refuses a request without a known key.
func (b *clients) find(head []byte) (*client, []byte, error) {
	if b == nil {
		return nil, head, nil
	}
	var found *client
	var keys [][]byte
	for l := wire.LinesOf(head); l.Next(); {
		c, key := b.owner(&l)
		found = cmp.Or(found, c)
		if c != nil && len(key) >= leastKey {
			keys = append(keys, key)
		}
	}
	if found == nil {
		return nil, nil, unknownKey()
	}
	var left []byte
	for l := wire.LinesOf(head); l.Next(); {
		c, _ := b.owner(&l)
		if c == nil && !slices.ContainsFunc(keys, func(key []byte) bool { return bytes.Contains(l.Value, key) }) {
			left = l.AppendTo(left)
		}
	}
	return found, left, nil
}

// nameOrNone is the client's name in the configuration; empty for nobody in particular.
func (c *client) nameOrNone() string {
	if c == nil {
		return ""
	}
	return c.name
}

// admit counts a request to the upstream of that name. The error refuses it.
func (c *client) admit(upstream string, now time.Time) error {
	if c == nil {
		return nil
	}
	if len(c.config.Upstreams) > 0 && !slices.Contains(c.config.Upstreams, upstream) {
		return refuse(403, "upstream_forbidden", fmt.Sprintf(
			"client %s may not use upstream %s: use %s, or have it added to clients.%s.upstreams",
			c.name, upstream, strings.Join(c.config.Upstreams, " or "), c.name), noRetry)
	}
	if c.tokens != nil && c.tokens.TokensAt(now) < 1 { // how many it will take is not known: one that is left lets it begin
		return c.beyond("tokens", c.tokens, now)
	}
	if c.requests != nil && !c.requests.AllowN(now, 1) {
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

// bytesPerToken is the size of a token where an answer does not tell its tokens: mode off is no way around a limit.
const bytesPerToken = 4

// spend takes the tokens of an exchange from the client's limit, also of a client that left before it was answered. A
// count of tokens takes none.
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
		c.tokens.ReserveN(now, min(tokens, c.tokens.Burst())) // more than there is: later requests wait for it
	}
}

// unknownKey refuses a request without the key of a client.
func unknownKey() error {
	return refuse(401, "unknown_key",
		"the request has no key that this epitome knows: send yours as Authorization: Bearer KEY, x-api-key or "+keyHeader,
		"WWW-Authenticate: Bearer\r\n", noRetry)
}

const (
	keyPrefix  = "sk-epitome-" // some clients insist on "sk-"; the rest lets scanners for secrets know a key
	hashPrefix = "sha256:"
)

// NewKey makes a key that nobody can guess.
func NewKey() string { return keyPrefix + rand.Text() }

// HashOfKey is the form of a key in the configuration. Keys have more than a hundred random bits, so nobody can try
// them out.
func HashOfKey(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hashPrefix + hex.EncodeToString(sum[:])
}

// readHash reads a result of HashOfKey. The error does not repeat the text: it may be the key, put into the wrong place.
func readHash(text string) (hash [sha256.Size]byte, err error) {
	digits, found := strings.CutPrefix(text, hashPrefix)
	sum, err := hex.DecodeString(digits)
	if !found || err != nil || len(sum) != sha256.Size {
		return hash, errors.New(`it is no hash; write "sha256:" and 64 hexadecimal digits, as 'epitome key' prints them, and not the key`)
	}
	return [sha256.Size]byte(sum), nil
}
