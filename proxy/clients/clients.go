// Package clients says whose a request is that comes with a key of epitome's own, and whether that client may have
// what it asks for.
//
// It promises: of a key only a hash is kept, and nothing here prints, returns or logs a key; a key that is known is
// taken off the request, so that it goes no further; and a client uses the upstreams that are its own, within its
// limits, which each process counts for itself.
//
// A nil *Book has no clients and a nil *Client is nobody in particular: both let everything pass, and cost nothing.
package clients

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"epitome/proxy/refuse"
	"epitome/proxy/wire"
	"epitome/unit"
)

// Config is one table [clients.NAME] of config.toml, where each key is explained for users.
type Config struct {
	Keys              []string `toml:"keys"`      // hashes, as HashOf makes them
	Upstreams         []string `toml:"upstreams"` // names; none are all
	RequestsPerMinute int      `toml:"requests_per_minute"`
	TokensPerMinute   int      `toml:"tokens_per_minute"`
}

// Book has the clients of a configuration. It does not change once made.
type Book struct {
	known map[hint][]entry
	named map[string]*Client
}

// hint is the beginning of a hash. How long it takes to find one tells of the hash of a guess, which is worth nothing.
type hint [8]byte

// entry is one key of a client.
type entry struct {
	hash   [sha256.Size]byte
	client *Client
}

// Client is who came with a key.
type Client struct {
	name   string
	config Config
	usage  *Usage
}

// New makes a book of the clients by name; nil if there are none. What they use counts in usage.
func New(all map[string]Config, usage *Usage) (*Book, error) {
	if len(all) == 0 {
		return nil, nil
	}
	b := &Book{known: make(map[hint][]entry), named: make(map[string]*Client)}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		c := &Client{name: name, config: all[name], usage: usage}
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
			b.known[hint(hash[:])] = append(b.known[hint(hash[:])], entry{hash, c})
		}
	}
	return b, nil
}

// find returns whose key has that hash; nil if it is nobody's.
func (b *Book) find(hash [sha256.Size]byte) (found *Client) {
	for _, e := range b.known[hint(hash[:])] {
		if subtle.ConstantTimeCompare(e.hash[:], hash[:]) == 1 {
			found = e.client
		}
	}
	return found
}

// Lookup returns the client of that name; nil, who is nobody in particular, if there is none.
func (b *Book) Lookup(name string) *Client {
	if b == nil {
		return nil
	}
	return b.named[name]
}

// Header is the request header that carries a key beside a credential for the provider.
const Header = wire.OwnPrefix + "key"

// owner returns whose key stands in a header line, and the key; nil if none does.
func (b *Book) owner(l *wire.Lines) (whose *Client, value []byte) {
	value = l.Value
	switch {
	case l.Is("authorization"):
		if _, key, found := strings.Cut(string(value), " "); found { // the scheme does not matter
			value = []byte(strings.TrimSpace(key))
		}
	case l.Is(Header), l.Is("x-api-key"), l.Is("api-key"):
	default:
		return nil, nil
	}
	if len(value) == 0 {
		return nil, nil
	}
	return b.find(sha256.Sum256(value)), value
}

// Whose returns whose key the header lines of a request have first, and whether there is one, where one is needed.
func (b *Book) Whose(block []byte) (client string, known bool) {
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
func (b *Book) HasOthers() bool { return b != nil && len(b.named) > 1 }

// telling is how many bytes a key has, at least, that is looked for within other words: a shorter one may be part of
// them by chance. The keys that are made here have more.
const telling = 16

// keysIn returns whose key the header lines of a request have first, and all keys that are known, each once.
func (b *Book) keysIn(block []byte) (found *Client, keys [][]byte) {
	for l := wire.LinesOf(block); l.Next(); {
		c, key := b.owner(&l)
		if c == nil {
			continue
		}
		found = cmp.Or(found, c)
		if len(key) >= telling && !containsAny(key, keys) {
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
// header and beside whatever words: the lines behind it move up in the block. The error is a *refuse.Refusal.
func (b *Book) Find(block []byte) (*Client, error) {
	if b == nil {
		return nil, nil
	}
	found, keys := b.keysIn(block)
	if found == nil {
		return nil, Unknown()
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
func (c *Client) Name() string {
	if c == nil {
		return ""
	}
	return c.name
}

// Admit counts a request to the upstream of that name. The error is a *refuse.Refusal.
func (c *Client) Admit(upstream string, now time.Time) error {
	if c == nil {
		return nil
	}
	if len(c.config.Upstreams) > 0 && !slices.Contains(c.config.Upstreams, upstream) {
		return refuse.With(403, "upstream_forbidden", fmt.Sprintf(
			"client %s may not use upstream %s: use %s, or have it added to clients.%s.upstreams",
			c.name, upstream, strings.Join(c.config.Upstreams, " or "), c.name), refuse.NoRetry)
	}
	if err := c.within(Tokens, 0, now); err != nil {
		return err
	}
	return c.within(Requests, 1, now)
}

// within counts n more of a quantity, unless that is beyond its limit. Of tokens, a limit that is reached lets no request
// begin, as nobody knows how many it will take.
func (c *Client) within(what Quantity, n int64, now time.Time) error {
	most := c.limit(what)
	if most == 0 {
		return nil
	}
	if used := c.usage.Add(c.name, what, n, now); used-n >= int64(most) {
		c.usage.Add(c.name, what, -n, now) // what is refused was not used
		return beyond(c.name, what, most, now)
	}
	return nil
}

// limit is how much of a quantity the client may use in a minute; 0 is no limit.
func (c *Client) limit(what Quantity) int {
	if what == Tokens {
		return c.config.TokensPerMinute
	}
	return c.config.RequestsPerMinute
}

// CountsTokens reports whether anything hangs on how many tokens the client takes.
func (c *Client) CountsTokens() bool { return c != nil && c.config.TokensPerMinute > 0 }

// Spend counts the tokens of a request and its answer.
func (c *Client) Spend(tokens int64, now time.Time) {
	if c.CountsTokens() && tokens > 0 {
		c.usage.Add(c.name, Tokens, tokens, now)
	}
}
