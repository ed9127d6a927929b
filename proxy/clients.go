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
	"slices"
	"strings"

	"epitome/proxy/wire"
)

// ClientConfig is one table [clients.NAME] of config.toml, where each key is explained for users.
type ClientConfig struct {
	Keys      []string `toml:"keys"`      // hashes, as HashOfKey makes them
	Upstreams []string `toml:"upstreams"` // names; none are all
}

// clients are those of a configuration by the hashes of their keys; nil if it has none. They do not change once made.
type clients map[[sha256.Size]byte]*client

// client is one that has keys.
type client struct {
	name   string
	config ClientConfig
}

// nobody stands for any client where keys are not asked for.
var nobody = &client{}

// newClients makes the clients of a configuration.
func newClients(all map[string]ClientConfig) (clients, error) {
	if len(all) == 0 {
		return nil, nil
	}
	byHash := make(clients)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		c := &client{name: name, config: all[name]}
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

// keyHeader is the request header that carries a key beside a credential for the provider.
const keyHeader = wire.OwnPrefix + "key"

// find returns the client whose key the header lines of a request have first, and the lines without those that have a
// known key. Clients are found by a hash, so that the time of the look-up says nothing about keys. The error refuses a
// request without a known key.
func (byHash clients) find(head []byte) (found *client, left []byte, err error) {
	if byHash == nil {
		return nobody, head, nil
	}
	for l := wire.LinesOf(head); l.Next(); {
		var c *client
		if l.Is("authorization") { // behind any scheme, or none
			c = byHash[sha256.Sum256(l.Value[bytes.LastIndexByte(l.Value, ' ')+1:])]
		} else if l.Is(keyHeader) || l.Is("x-api-key") || l.Is("api-key") {
			c = byHash[sha256.Sum256(l.Value)]
		}
		if c == nil {
			left = l.AppendTo(left)
		}
		found = cmp.Or(found, c)
	}
	if found == nil {
		return nobody, head, refuse(401, "unknown_key", "the request has no key that this epitome knows: "+
			"send yours as Authorization: Bearer KEY, x-api-key or "+keyHeader, "WWW-Authenticate: Bearer\r\n", noRetry)
	}
	return found, left, nil
}

// mayUse returns the refusal of a request to the upstream of that name, if the client may not use it.
func (c *client) mayUse(upstream string) error {
	if len(c.config.Upstreams) == 0 || slices.Contains(c.config.Upstreams, upstream) {
		return nil
	}
	return refuse(403, "upstream_forbidden", fmt.Sprintf(
		"client %s may not use upstream %s: use %s, or have it added to clients.%s.upstreams",
		c.name, upstream, strings.Join(c.config.Upstreams, " or "), c.name), noRetry)
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
