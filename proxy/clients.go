package proxy

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"epitome/internal/unit"
	"epitome/proxy/wire"
)

// ClientConfig is one table [clients.NAME] of config.toml, where each key is explained for users.
type ClientConfig struct {
	Keys              []string `toml:"keys"`      // hashes, as HashOfKey makes them
	Upstreams         []string `toml:"upstreams"` // names; none are all
	RequestsPerMinute int      `toml:"requests_per_minute"`
	TokensPerMinute   int      `toml:"tokens_per_minute"`
}

// clientBook has the clients of a configuration. It does not change once made.
type clientBook struct {
	known map[hashHint][]keyEntry
	named map[string]*clientKey
}

// hashHint is the beginning of a hash. How long it takes to find one tells of the hash of a guess, which is worth nothing.
type hashHint [8]byte

// keyEntry is one key of a client.
type keyEntry struct {
	hash   [sha256.Size]byte
	client *clientKey
}

// clientKey is who came with a key.
type clientKey struct {
	name   string
	config ClientConfig
	usage  *clientUsage
}

// newClientBook makes a book of the clients by name; nil if there are none. What they use counts in usage.
func newClientBook(all map[string]ClientConfig, usage *clientUsage) (*clientBook, error) {
	if len(all) == 0 {
		return nil, nil
	}
	b := &clientBook{known: make(map[hashHint][]keyEntry), named: make(map[string]*clientKey)}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		c := &clientKey{name: name, config: all[name], usage: usage}
		b.named[name] = c
		for i, text := range c.config.Keys {
			at := []string{"clients", name, "keys", strconv.Itoa(i)}
			hash, err := readHash(text)
			if err != nil {
				return nil, unit.Wrong(at, "cannot use a key of client %s: %w", name, err)
			}
			if other := b.find(hash); other != nil {
				return nil, unit.Wrong(at, "cannot use a key of client %s: it is one of client %s already; "+
					"give each its own, as 'epitome key %s' makes it", name, other.name, name)
			}
			b.known[hashHint(hash[:])] = append(b.known[hashHint(hash[:])], keyEntry{hash, c})
		}
	}
	return b, nil
}

// CheckClients says what is wrong with the keys of clients, as a *unit.KeyError.
func CheckClients(all map[string]ClientConfig) error {
	_, err := newClientBook(all, nil)
	return err
}

// find returns whose key has that hash; nil if it is nobody's.
func (b *clientBook) find(hash [sha256.Size]byte) (found *clientKey) {
	for _, e := range b.known[hashHint(hash[:])] {
		if subtle.ConstantTimeCompare(e.hash[:], hash[:]) == 1 {
			found = e.client
		}
	}
	return found
}

// Lookup returns the client of that name; nil, who is nobody in particular, if there is none.
func (b *clientBook) Lookup(name string) *clientKey {
	if b == nil {
		return nil
	}
	return b.named[name]
}

// keyHeader is the request header that carries a key beside a credential for the provider.
const keyHeader = wire.OwnPrefix + "key"

// owner returns whose key stands in a header line, and the key; nil if none does.
func (b *clientBook) owner(l *wire.Lines) (whose *clientKey, value []byte) {
	value = l.Value
	switch {
	case l.Is("authorization"):
		if _, key, found := strings.Cut(string(value), " "); found { // the scheme does not matter
			value = []byte(strings.TrimSpace(key))
		}
	case l.Is(keyHeader), l.Is("x-api-key"), l.Is("api-key"):
	default:
		return nil, nil
	}
	if len(value) == 0 {
		return nil, nil
	}
	return b.find(sha256.Sum256(value)), value
}

// Whose returns whose key the header lines of a request have first, and whether there is one, where one is needed.
func (b *clientBook) Whose(block []byte) (client string, known bool) {
	if b == nil {
		return "", true
	}
	for l := wire.LinesOf(block); l.Next(); {
		if c, _ := b.owner(&l); c != nil {
			return c.name, true
		}
	}
	return "", false
}

// HasOthers reports whether there are other clients beside one.
func (b *clientBook) HasOthers() bool { return b != nil && len(b.named) > 1 }

// leastKey is how many bytes a key has, at least, that is looked for within other words: a shorter one may be part of
// them by chance. The keys that are made here have more.
const leastKey = 16

// keysIn returns whose key the header lines of a request have first, and all keys that are known, each once.
func (b *clientBook) keysIn(block []byte) (found *clientKey, keys [][]byte) {
	for l := wire.LinesOf(block); l.Next(); {
		c, key := b.owner(&l)
		if c == nil {
			continue
		}
		found = cmp.Or(found, c)
		if len(key) >= leastKey && !containsAny(key, keys) {
			keys = append(keys, bytes.Clone(key)) // the block is about to change
		}
	}
	return found, keys
}

// containsAny reports whether one of the keys stands in the text.
func containsAny(text []byte, keys [][]byte) bool {
	return slices.ContainsFunc(keys, func(key []byte) bool { return bytes.Contains(text, key) })
}

// Find returns whose key the header lines of a request have, and takes every line off that has a known key, in whatever
// header and beside whatever words: the lines behind it move up in the block. The error is a *refusal.
func (b *clientBook) Find(block []byte) (*clientKey, error) {
	if b == nil {
		return nil, nil
	}
	found, keys := b.keysIn(block)
	if found == nil {
		return nil, unknownKey()
	}
	for at := 0; at < len(block); {
		end := at + lineLength(block[at:])
		l := wire.LinesOf(block[at:end])
		if !l.Next() { // the end of the head
			break
		}
		if c, _ := b.owner(&l); c == nil && !containsAny(block[at:end], keys) {
			at = end
			continue
		}
		left := at + copy(block[at:], block[end:])
		for i := range block[left:] {
			block[left+i] = '\n'
		}
	}
	return found, nil
}

// lineLength is the length of the first header line of a block, with the lines that continue it.
func lineLength(block []byte) int {
	for i, c := range block {
		if c == '\n' && (i+1 == len(block) || block[i+1] != ' ' && block[i+1] != '\t') {
			return i + 1
		}
	}
	return len(block)
}

// Name is what the configuration calls the client; empty for nobody in particular.
func (c *clientKey) Name() string {
	if c == nil {
		return ""
	}
	return c.name
}

// Admit counts a request to the upstream of that name. The error is a *refusal.
func (c *clientKey) Admit(upstream string, now time.Time) error {
	if c == nil {
		return nil
	}
	if len(c.config.Upstreams) > 0 && !slices.Contains(c.config.Upstreams, upstream) {
		return refusalWith(403, "upstream_forbidden", fmt.Sprintf(
			"client %s may not use upstream %s: use %s, or have it added to clients.%s.upstreams",
			c.name, upstream, strings.Join(c.config.Upstreams, " or "), c.name), noRetry)
	}
	if err := c.within(tokensUsed, 0, now); err != nil {
		return err
	}
	return c.within(requestsUsed, 1, now)
}

// within counts n more of a quantity, unless that is beyond its limit. Of tokens, a limit that is reached lets no request
// begin, as nobody knows how many it will take.
func (c *clientKey) within(what quantity, n int64, now time.Time) error {
	most := c.limit(what)
	if most == 0 {
		return nil
	}
	if used := c.usage.Add(c.name, what, n, now); used-n >= int64(most) {
		c.usage.Add(c.name, what, -n, now) // what is refused was not used
		return beyondLimit(c.name, what, most, now)
	}
	return nil
}

// limit is how much of a quantity the client may use in a minute; 0 is no limit.
func (c *clientKey) limit(what quantity) int {
	if what == tokensUsed {
		return c.config.TokensPerMinute
	}
	return c.config.RequestsPerMinute
}

// CountsTokens reports whether anything hangs on how many tokens the client takes.
func (c *clientKey) CountsTokens() bool { return c != nil && c.config.TokensPerMinute > 0 }

// Spend counts the tokens of a request and its answer.
func (c *clientKey) Spend(tokens int64, now time.Time) {
	if c.CountsTokens() && tokens > 0 {
		c.usage.Add(c.name, tokensUsed, tokens, now)
	}
}

// unknownKey refuses a request without the key of a client.
func unknownKey() error {
	return refusalWith(401, "unknown_key",
		"the request has no key that this epitome knows: send yours as Authorization: Bearer KEY, x-api-key or "+keyHeader,
		"WWW-Authenticate: Bearer\r\n", noRetry)
}

// beyondLimit refuses a request beyond the limit of a quantity, until the next full minute begins.
func beyondLimit(client string, what quantity, most int, now time.Time) error {
	left := now.Truncate(time.Minute).Add(time.Minute).Sub(now)
	after := int((left + time.Second - 1) / time.Second)
	return refusalWith(429, "limit_reached", fmt.Sprintf(
		"client %s has used its %d %s per minute: try again in %d s, or have %s_per_minute of clients.%s raised",
		client, most, what, after, what, client), retryAfter(after))
}

// keyPrefix begins the keys that are made here. Some clients insist on "sk-"; the rest lets scanners for secrets know
// one when they see it.
const keyPrefix = "sk-epitome-"

// hashPrefix says by what a hash was made.
const hashPrefix = "sha256:"

// NewKey makes a key that nobody can guess.
func NewKey() string { return keyPrefix + rand.Text() }

// HashOfKey is what the configuration has of a key. Keys have more than a hundred random bits, so nobody can try them out.
func HashOfKey(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hashPrefix + hex.EncodeToString(sum[:])
}

// readHash reads what HashOfKey returned. The error does not repeat the text: it may be the key, put into the wrong place.
func readHash(text string) (hash [sha256.Size]byte, err error) {
	digits, found := strings.CutPrefix(text, hashPrefix)
	sum, err := hex.DecodeString(digits)
	if !found || err != nil || len(sum) != sha256.Size {
		return hash, errors.New(`it is no hash; write "sha256:" and 64 hexadecimal digits, as 'epitome key' prints them, and not the key`)
	}
	return [sha256.Size]byte(sum), nil
}

// quantity is what a client can use up.
type quantity string

// The quantities.
const (
	requestsUsed quantity = "requests"
	tokensUsed   quantity = "tokens"
)

// clientUsage counts what clients use within full minutes. It lives as long as the process. Make one with newClientUsage; its
// methods may be called from any goroutine.
type clientUsage struct {
	mu   sync.Mutex
	used map[usedBy]tally
}

// usedBy is what is counted of whom.
type usedBy struct {
	client string
	what   quantity
}

// tally is how much was used in the minute that began then.
type tally struct {
	began time.Time
	used  int64
}

// newClientUsage returns a clientUsage with nothing in it.
func newClientUsage() *clientUsage { return &clientUsage{used: make(map[usedBy]tally)} }

// Add adds n to what the client has used in this minute, and returns the sum. What was stamped just before a minute
// began counts within it; a clock that was set back begins anew.
func (u *clientUsage) Add(client string, what quantity, n int64, now time.Time) int64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	who, began := usedBy{client, what}, now.Truncate(time.Minute)
	t := u.used[who]
	if ahead := began.Sub(t.began); ahead > 0 || ahead < -time.Minute {
		t = tally{began: began}
	}
	t.used = max(t.used+n, 0)
	u.used[who] = t
	return t.used
}
