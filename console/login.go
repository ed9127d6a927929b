package console

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// CodeLife is the time in which a login code must be used, unless its maker asks for more.
	CodeLife = time.Minute
	// SessionLife is the life of a login.
	SessionLife = 12 * time.Hour
	// LeastToken is how many characters the admin token has at least, so that it cannot be guessed.
	LeastToken = 16
)

// loginPath returns the path of the login page that leads on to the page that r asks for.
func loginPath(r *http.Request) string { return "/-/login?next=" + url.QueryEscape(r.URL.RequestURI()) }

// secrets are random texts that are valid for a time, and while the admin token stays the same. They are kept as hashes,
// each with the token, in memory only. Only the owner can add some. The zero value is empty; it may be used by several
// goroutines.
type secrets struct{ valid sync.Map }

func hash(secret string) [sha256.Size]byte { return sha256.Sum256([]byte(secret)) }

// add returns a new secret that is valid for life.
func (s *secrets) add(token string, life time.Duration) string {
	secret := rand.Text()
	s.valid.Store(hash(secret), token)
	time.AfterFunc(life, func() { s.take(secret, token) })
	return secret
}

// has reports whether a secret is valid.
func (s *secrets) has(secret, token string) bool {
	with, _ := s.valid.Load(hash(secret))
	return with == token
}

// take removes a secret, and reports whether it was valid.
func (s *secrets) take(secret, token string) bool {
	with, _ := s.valid.LoadAndDelete(hash(secret))
	return with == token
}

// session answers whether the browser is logged in. The login page asks: a browser that comes from another site sends
// its cookie only then.
func (o *Console) session(r *http.Request) (any, error) {
	return map[string]bool{"owner": isOwner(r)}, nil
}

// login gives a session cookie to a browser that sends a login code or the admin token. A code is valid once. If it
// comes again, another user of the machine may have seen it and come first, so the session that it began ends.
func (o *Console) login(w http.ResponseWriter, r *http.Request) {
	var asked struct{ Secret string }
	if err := decode(r, &asked, `{"secret": "CODE"}`); err != nil {
		o.fail(w, err)
		return
	}
	secret := strings.TrimSpace(asked.Secret)
	token := o.program.Settings().Token
	session := o.sessionOf(r)
	isCode := session == "" && o.codes.take(secret, token)
	begun, again := o.spent.LoadAndDelete(hash(secret))
	if again && session == "" {
		o.sessions.take(begun.(string), token)
	}
	if session == "" && !isCode && !o.isToken(r, secret) { // not logged in already
		o.fail(w, refusal{http.StatusUnauthorized, "wrong token, or wrong or used code (a code works once, for a " +
			"minute): the command above makes another one"})
		return
	}
	if session == "" {
		session = o.sessions.add(token, SessionLife)
	}
	if isCode {
		o.spent.Store(hash(secret), session)
		time.AfterFunc(CodeLife, func() { o.spent.Delete(hash(secret)) })
	}
	o.setCookie(w, r, session)
	writeJSON(w, http.StatusOK, map[string]bool{"owner": true})
}

// isToken reports whether a text is the admin token. Of wrong ones some are logged.
func (o *Console) isToken(r *http.Request, text string) bool {
	token := o.program.Settings().Token
	if text == "" || token == "" {
		return false
	}
	given, right := hash(text), hash(token)
	isRight := subtle.ConstantTimeCompare(given[:], right[:]) == 1
	if !isRight && o.wrong.Allow() {
		o.program.Log.Warn("wrong console.token", "remote", r.RemoteAddr, "path", r.URL.Path)
	}
	return isRight
}

// newCode answers with a login code, for clients that can read the data folder. A cookie does not suffice: a script in
// a browser must not be able to let others in.
func (o *Console) newCode(r *http.Request) (any, error) {
	if !o.hasFolderToken(r) {
		return nil, refusal{http.StatusForbidden, "only the owner of the data folder gets a code"}
	}
	var asked struct{ Seconds uint32 } // 0: as usual
	if err := decode(r, &asked, `{"seconds": 60}`); err != nil {
		return nil, err
	}
	life := min(time.Duration(asked.Seconds)*time.Second, SessionLife)
	return map[string]string{"code": o.codes.add(o.program.Settings().Token, cmp.Or(life, CodeLife))}, nil
}

// setCookie gives a session to the browser, which sends it back to /-/ only, and with no request of another site.
func (o *Console) setCookie(w http.ResponseWriter, r *http.Request, session string) {
	origin, err := url.Parse(r.Header.Get("Origin")) // as the browser sees this host, whatever stands between
	http.SetCookie(w, &http.Cookie{
		Name: o.cookie, Value: session, Path: "/-/", MaxAge: int(SessionLife / time.Second), HttpOnly: true,
		SameSite: http.SameSiteStrictMode, Secure: err == nil && origin.Scheme == "https",
	})
}

// OwnerHeader is the request header with the token of the data folder, which proves that a client can read it.
const OwnerHeader = "X-Epitome-Owner"

// Loopback reports whether only this machine can reach an address, given as host:port.
func Loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && isLoopback(host)
}

func isLoopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && a.IsLoopback()
}

// foreign returns why a request is refused for its host or origin; "" if it is not. A page of any site can make the
// user's browser send requests to this machine, and can read the answers after it has rebound its own name to
// 127.0.0.1. It can neither choose the Host header nor hide its origin. Other sites may link to pages: they learn
// nothing from that.
func (o *Console) foreign(r *http.Request, isPage bool) string {
	if !o.KnowsHost(r.Host) {
		return "epitome does not know the host name " + r.Host + ": add it to console.hosts to use /-/ under it"
	}
	const otherSite = "a page of another site may not use /-/"
	origin := r.Header.Get("Origin")
	if origin != "" {
		if u, err := url.Parse(origin); err != nil || !strings.EqualFold(u.Host, r.Host) {
			return otherSite
		}
	}
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	site := r.Header.Get("Sec-Fetch-Site")
	if site == "" || site == "same-origin" || reads && (site == "none" || isPage && isNavigation(r)) {
		return ""
	}
	return otherSite
}

// KnowsHost reports whether a Host header names this program: the listening host, one of the configuration, or a
// loopback address, with or without a port. Beyond loopback any address is allowed: no name can be rebound to it.
func (o *Console) KnowsHost(header string) bool {
	host, _, err := net.SplitHostPort(header)
	if err != nil {
		host = strings.Trim(header, "[]")
	}
	isIt := func(name string) bool { return strings.EqualFold(name, host) }
	if isLoopback(host) || isIt(o.host) || slices.ContainsFunc(o.program.Settings().Hosts, isIt) {
		return true
	}
	_, err = netip.ParseAddr(host)
	return o.isBeyond() && err == nil
}

// isNavigation reports whether a browser follows a link, to show the answer as a page of its own.
func isNavigation(r *http.Request) bool {
	return r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

// isBeyond reports whether the program listens beyond this machine.
func (o *Console) isBeyond() bool { return !isLoopback(o.host) }

// isClosed reports whether figures are for the owner only.
func (o *Console) isClosed() bool { return o.isBeyond() || o.program.Settings().Token != "" }

func (o *Console) hasFolderToken(r *http.Request) bool {
	token := r.Header.Get(OwnerHeader)
	return token != "" && subtle.ConstantTimeCompare([]byte(token), []byte(o.program.Token)) == 1
}

// sessionOf returns the secret of the login that a request shows; "" without one.
func (o *Console) sessionOf(r *http.Request) string {
	token := o.program.Settings().Token
	for _, c := range r.CookiesNamed(o.cookie) {
		if o.sessions.has(c.Value, token) {
			return c.Value
		}
	}
	return ""
}
