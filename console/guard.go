package console

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// guard keeps web pages and strangers out of /-/.
//
// A page on any site can make the user's browser send requests to this machine, and by rebinding its own name to
// 127.0.0.1 it can read the answers. It cannot choose the Host header, nor hide where the request came from.
type guard struct {
	hosts  map[string]bool   // names that Host may give, without port, lower case
	open   bool              // the program listens beyond loopback
	token  [sha256.Size]byte // of the admin token, compared in constant time
	tokens bool              // there is one
	owner  func(nonce, proof string) bool
}

// free says which paths need no token: they tell nothing that an attempt to connect would not, or have a secret in
// them.
func free(path string) bool { return path == "/-/health" || path == "/-/ready" || hasName(path) }

// OwnerHeader carries the proof, over the query's nonce, that a request comes from who can read the data folder.
const OwnerHeader = "X-Epitome-Owner"

func newGuard(c Config, p Program) *guard {
	host, _, err := net.SplitHostPort(p.Listen)
	if err != nil {
		host = p.Listen
	}
	g := &guard{hosts: map[string]bool{"localhost": true}, token: sha256.Sum256([]byte(c.Token)), tokens: c.Token != "",
		open: !loopback(host), owner: p.Owner}
	for _, h := range slices.Concat(c.Hosts, []string{host}) {
		g.hosts[strings.ToLower(h)] = true
	}
	return g
}

// Loopback reports whether an address is reached from this machine only.
func Loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && loopback(host)
}

func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.IsLoopback()
}

// why says why a request is not let in.
type why struct {
	status  int
	message string
}

func (g *guard) refuses(r *http.Request) *why {
	host := hostOf(r.Host)
	if !g.admits(host) {
		return &why{http.StatusForbidden,
			"epitome does not know the host name " + host + ": add it to console.hosts to use /-/ under it"}
	}
	if origin := r.Header.Get("Origin"); origin != "" && !sameOrigin(origin, r.Host) {
		return &why{http.StatusForbidden, "a page of another site may not use /-/"}
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site == "cross-site" || site == "same-site" {
		return &why{http.StatusForbidden, "a page of another site may not use /-/"}
	}
	if !g.open && !g.tokens || free(r.URL.Path) || g.owner(r.URL.Query().Get("nonce"), r.Header.Get(OwnerHeader)) {
		return nil
	}
	if !g.tokens {
		return &why{http.StatusForbidden, "epitome listens beyond this machine: set console.token to use /-/"}
	}
	_, given, _ := strings.Cut(r.Header.Get("Authorization"), " ") // the scheme does not matter, in whatever case
	if sum := sha256.Sum256([]byte(given)); subtle.ConstantTimeCompare(sum[:], g.token[:]) != 1 {
		return &why{http.StatusUnauthorized,
			"/-/ needs the admin token (console.token): send it as Authorization: Bearer TOKEN"}
	}
	return nil
}

// admits reports whether a Host may be used: the listening address, a name from the configuration, or a literal
// loopback address. Beyond loopback any literal address is as good as the one listened on: no name can be rebound to
// it.
func (g *guard) admits(host string) bool {
	if g.hosts[strings.ToLower(host)] || loopback(host) {
		return true
	}
	_, err := netip.ParseAddr(host)
	return g.open && err == nil
}

// hostOf returns a Host header's name or address, without port and brackets.
func hostOf(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.Trim(hostport, "[]")
}

func sameOrigin(origin, host string) bool {
	u, err := url.Parse(origin)
	return err == nil && strings.EqualFold(u.Host, host)
}
