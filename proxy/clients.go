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
	"regexp"
	"slices"
	"strings"
	"time"

	"epitome/event"
	"epitome/proxy/wire"
)

// ClientConfig is one table [clients.NAME] of config.toml, where each key is explained for users.
type ClientConfig struct {
	Keys      []string `toml:"keys"`                // hashes, as HashOfKey makes them
	Upstreams []string `toml:"upstreams,omitempty"` // names; none are all
	Expires   string   `toml:"expires,omitempty"`   // the last day in UTC, such as 2027-01-31; empty: none
	Modes     []string `toml:"modes,omitempty"`     // that requests may have; none are all
}

// clients are the names of a configuration's clients by the hashes of their keys; nil if it has none, and no keys are
// asked for. They do not change once made.
type clients map[[sha256.Size]byte]string

// newClients makes the clients of a configuration.
func newClients(all map[string]ClientConfig) (clients, error) {
	if len(all) == 0 {
		return nil, nil
	}
	byHash := make(clients)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for _, text := range all[name].Keys {
			hash, err := readHash(text)
			if err != nil {
				return nil, fmt.Errorf("cannot use a key of client %s: %w", name, err)
			}
			if other, isTaken := byHash[hash]; isTaken {
				return nil, fmt.Errorf("cannot use a key of client %s: it is one of client %s already; "+
					"give each its own, as 'epitome key %s' makes it", name, other, name)
			}
			byHash[hash] = name
		}
	}
	return byHash, nil
}

// keyHeader is the request header that carries a key beside a credential for the provider.
const keyHeader = wire.OwnPrefix + "key"

// find returns the name of the client whose key the header lines of a request have first, empty where no keys are asked
// for, and the lines without those that have a known key. Lines with an unknown key of NewKey's are left out, too,
// except beside a known one in keyHeader: the upstream may be another epitome. Clients are found by a hash, so that the
// time of the look-up says nothing about keys. The error refuses a request without a known key, or with one whose time is
// over.
func (s *settings) find(head []byte) (name string, left []byte, err error) {
	byHash := s.clients
	if byHash == nil {
		return "", head, nil
	}
	isBeside := byHash[sha256.Sum256(wire.Find(head, keyHeader))] != ""
	for l := wire.LinesOf(head); l.Next(); {
		var key []byte
		if l.Is("authorization") || l.Is(keyHeader) || l.Is("x-api-key") || l.Is("api-key") {
			key = l.Value[bytes.LastIndexByte(l.Value, ' ')+1:] // behind any scheme, or none
		}
		var owner string
		if len(key) > 0 {
			owner = byHash[sha256.Sum256(key)]
		}
		isUnknown := !isBeside && bytes.HasPrefix(key, []byte(keyPrefix))
		if owner == "" && !isUnknown {
			left = l.AppendTo(left)
		}
		name = cmp.Or(name, owner)
	}
	if name == "" {
		return "", head, refuse(401, "unknown_key", "the request has no key that this epitome knows: "+
			"send yours as Authorization: Bearer KEY, x-api-key or "+keyHeader, "WWW-Authenticate: Bearer\r\n", noRetry)
	}
	last := s.conf.Clients[name].Expires
	if last != "" && time.Now().UTC().Format(time.DateOnly) > last {
		return "", head, refuse(401, "key_expired", fmt.Sprintf("the keys of client %s were good until %s: have a later day "+
			"set as clients.%s.expires", name, last, name), noRetry)
	}
	return name, left, nil
}

// mayUse returns the refusal of a request in a mode, or to an upstream, unless it is among those that the client may
// use; if there are none, it may use all.
func mayUse(client, kind, name string, allowed []string) error {
	if len(allowed) == 0 || slices.Contains(allowed, name) {
		return nil
	}
	message := fmt.Sprintf("client %s may not use %s %s: use %s, or have it added to clients.%[1]s.%[2]ss",
		client, kind, name, strings.Join(allowed, " or "))
	return refuse(403, kind+"_forbidden", message, noRetry)
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

// credential authorizes requests of epitome's own on behalf of a client: copies of the header lines that say who the
// client is, and the target of the client's request. It is sent to the upstream of that request and to no other one.
type credential struct {
	url    string // of the upstream as it was configured: the name may come to stand for another provider
	target string // as the upstream got it; its query may hold a key
	lines  []byte
}

// String keeps the header lines out of logs.
func (c *credential) String() string { return "credential" }

// credentialOf makes a credential of a request's header lines. All of it is copied.
func credentialOf(up *upstream, target, head []byte) *credential {
	c := &credential{url: up.config.URL, target: string(target)}
	connection := wire.Values(head, "connection")
	for l := wire.LinesOf(head); l.Next(); {
		if (whoHeaders.Match(l.Name) || namesSession(&l)) && !wire.IsHop(l.Name, connection) {
			c.lines = l.AppendTo(c.lines)
		}
	}
	return c
}

// whoHeaders match the headers that say for whom a request is: who pays, and which version of the API the client speaks.
// Any other header is about that request alone.
var whoHeaders = regexp.MustCompile(`(?i)(?:authorization|api-key)$|^(?:ocp-apim-subscription-key|helicone-auth|` +
	`openai-(?:organization|project|beta)|chatgpt-account-id|anthropic-(?:version|beta)|x-goog-user-project|` +
	`http-referer|x-title|x-openrouter-title|user-agent|copilot-integration-id|editor-version|` +
	`x-portkey-(?:config|provider|virtual-key)|thread-id|originator|x-session-affinity)$`)

// namesSession reports whether a header names the client's session, on which a provider's cache may depend: those of
// Claude Code, Codex and pi, OpenCode, Grok.
func namesSession(l *wire.Lines) bool {
	return l.Is("x-claude-code-session-id") || l.Is("session_id") || l.Is("session-id") || l.Is("x-session-id") ||
		l.Is("x-grok-conv-id")
}

// sessionID returns the client's name for its session; empty if it has none. A subagent has a session of its own.
func sessionID(head []byte) (id []byte) {
	for l := wire.LinesOf(head); l.Next(); {
		if l.Is("x-claude-code-agent-id") && len(l.Value) > 0 {
			return l.Value
		}
		if len(id) == 0 && namesSession(&l) {
			id = l.Value
		}
	}
	return id
}

// agentName returns the name of the client in its User-Agent, without version and remarks; empty if it has none.
func agentName(head []byte) string {
	name, _, _ := bytes.Cut(wire.Values(head, "user-agent"), []byte("/"))
	name, _, _ = bytes.Cut(name, []byte(" "))
	return event.Clip(string(name))
}
