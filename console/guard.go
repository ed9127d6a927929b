package console

import (
	"crypto/sha256"
	"crypto/subtle"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// guard decides whether a request under /-/ is served.
//
// A page of any site can make the user's browser send requests to this machine, and can read the answers after it has
// rebound its own name to 127.0.0.1. It can neither choose the Host header nor hide its origin.
type guard struct {
	hosts    map[string]bool // allowed in Host, in lower case
	beyond   bool            // the program listens beyond loopback
	token    [sha256.Size]byte
	hasToken bool
	folder   func(token string) bool // recognizes the token of the data folder
	sessions *secrets
	cookie   string // browsers send the cookies of a host to all its ports, so its name has the port
}

// OwnerHeader is the request header with the token of the data folder, which proves that a client can read it.
const OwnerHeader = "X-Epitome-Owner"

func newGuard(c Config, listen string, folder func(string) bool, sessions *secrets) *guard {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		host = listen
	}
	g := &guard{
		hosts: map[string]bool{"localhost": true}, beyond: !isLoopback(host), token: hash(c.Token),
		hasToken: c.Token != "", folder: folder, sessions: sessions, cookie: "epitome-" + port,
	}
	for _, h := range slices.Concat(c.Hosts, []string{host}) {
		g.hosts[strings.ToLower(h)] = true
	}
	return g
}

// Loopback reports whether only this machine can reach an address, given as host:port.
func Loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && isLoopback(host)
}

func isLoopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.IsLoopback()
}

// foreign returns why a request is refused for its host or origin; "" if it is not. Other sites may link to pages: they
// learn nothing from that.
func (g *guard) foreign(r *http.Request, isPage bool) string {
	if !g.allows(r.Host) {
		return "epitome does not know the host name " + r.Host + ": add it to console.hosts to use /-/ under it"
	}
	const otherSite = "a page of another site may not use /-/"
	if origin := r.Header.Get("Origin"); origin != "" {
		if u, err := url.Parse(origin); err != nil || !strings.EqualFold(u.Host, r.Host) {
			return otherSite
		}
	}
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch site := r.Header.Get("Sec-Fetch-Site"); {
	case site == "", site == "same-origin", site == "none" && reads, isPage && reads && isNavigation(r):
		return ""
	}
	return otherSite
}

// KnowsHost reports whether a Host header, with or without a port, names this program.
func (o *Console) KnowsHost(host string) bool { return o.guard.Load().allows(host) }

// allows reports whether a Host header names this program: the listening host, one of the configuration, or a loopback
// address, with or without a port. Beyond loopback any address is allowed: no name can be rebound to it.
func (g *guard) allows(header string) bool {
	host, _, err := net.SplitHostPort(header)
	if err != nil {
		host = strings.Trim(header, "[]")
	}
	if g.hosts[strings.ToLower(host)] || isLoopback(host) {
		return true
	}
	_, err = netip.ParseAddr(host)
	return g.beyond && err == nil
}

// isNavigation reports whether a browser follows a link, to show the answer as a page of its own.
func isNavigation(r *http.Request) bool {
	return r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

// closed reports whether figures are for the owner only.
func (g *guard) closed() bool { return g.beyond || g.hasToken }

func (g *guard) hasFolderToken(r *http.Request) bool {
	token := r.Header.Get(OwnerHeader)
	return token != "" && g.folder(token)
}

// isToken reports whether a text is the admin token; false if there is none.
func (g *guard) isToken(text string) bool {
	given := hash(text)
	return g.hasToken && subtle.ConstantTimeCompare(given[:], g.token[:]) == 1
}

// session returns the secret of the login that a request shows; "" without one.
func (g *guard) session(r *http.Request) string {
	for _, c := range r.CookiesNamed(g.cookie) {
		if g.sessions.has(c.Value) {
			return c.Value
		}
	}
	return ""
}

// isJSON reports whether a request declares a JSON body. Pages of other sites cannot send that without asking.
func isJSON(r *http.Request) bool {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return kind == "application/json"
}
