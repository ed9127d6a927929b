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

	"epitome/console/access"
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
	owner  func(token string) bool
	logins *access.Logins
	cookie string // its name has the port in it: a browser sends the cookies of a host to all its ports
}

// free says which paths need no token: they tell nothing that an attempt to connect would not, have a secret in them,
// or are there to be let in.
func free(path string) bool {
	switch path {
	case "/-/health", "/-/ready", "/-/login", "/-/logout", "/-/session", toolsPath:
		return true
	}
	return strings.HasPrefix(path, assetsPath) || hasName(path)
}

// toolsPath is where models ask for artifacts, whose names have a secret in them.
const toolsPath = "/-/mcp"

// assetsPath is in front of scripts and styles. They are the same for everybody.
const assetsPath = "/-/assets/"

// OwnerHeader carries the token that shows that a request comes from who can read the data folder.
const OwnerHeader = "X-Epitome-Owner"

func newGuard(c Config, p Program, logins *access.Logins) *guard {
	host, port, err := net.SplitHostPort(p.Listen)
	if err != nil {
		host = p.Listen
	}
	g := &guard{hosts: map[string]bool{"localhost": true}, token: sha256.Sum256([]byte(c.Token)), tokens: c.Token != "",
		open: !loopback(host), owner: p.Owner, logins: logins, cookie: "epitome-" + port}
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

// refuses says why a request is not let in because of where it comes from, if it is not. document says that it asks for
// a page to be shown: other sites may link to one, and learn nothing from that.
func (g *guard) refuses(r *http.Request, document bool) *why {
	host := hostOf(r.Host)
	if !g.admits(host) {
		return &why{http.StatusForbidden,
			"epitome does not know the host name " + host + ": add it to console.hosts to use /-/ under it"}
	}
	if origin := r.Header.Get("Origin"); origin != "" && !sameOrigin(origin, r.Host) {
		return &why{http.StatusForbidden, "a page of another site may not use /-/"}
	}
	site, reads := r.Header.Get("Sec-Fetch-Site"), r.Method == http.MethodGet || r.Method == http.MethodHead
	if site == "" || site == "same-origin" || site == "none" && reads || document && reads && follows(r) {
		return nil
	}
	return &why{http.StatusForbidden, "a page of another site may not use /-/"}
}

// follows reports whether a browser follows a link, to show what it finds as a page of its own.
func follows(r *http.Request) bool {
	return r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

// keepsOut says why a request is not let in because of who sends it, if it is not.
func (g *guard) keepsOut(r *http.Request) *why {
	switch {
	case !g.open && !g.tokens || free(r.URL.Path) || access.Owner(r):
		return nil
	case !g.tokens:
		return &why{http.StatusForbidden, "epitome listens beyond this machine: set console.token to use /-/"}
	}
	return &why{http.StatusUnauthorized,
		"/-/ needs the admin token (console.token): send it as Authorization: Bearer TOKEN"}
}

// isOwner reports whether a request comes from the owner: with the token of the data folder, the cookie of a login, or the admin token,
// with which one could log in as well.
func (g *guard) isOwner(r *http.Request) bool {
	_, given, _ := strings.Cut(r.Header.Get("Authorization"), " ") // the scheme does not matter, in whatever case
	return g.proves(r) || g.isToken(given) || g.current(r) != ""
}

// proves reports whether a request comes from who can read the data folder.
func (g *guard) proves(r *http.Request) bool {
	token := r.Header.Get(OwnerHeader)
	return token != "" && g.owner(token)
}

// isToken reports whether a text is the admin token. Where none is set, none is.
func (g *guard) isToken(text string) bool {
	given := sha256.Sum256([]byte(text))
	return g.tokens && subtle.ConstantTimeCompare(given[:], g.token[:]) == 1
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
