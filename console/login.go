package console

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base32"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"epitome/console/access"
	"epitome/console/reply"
)

// What the page to log in is made of. It asks for no other file, so that it works before anybody is let in.
var (
	//go:embed login.html
	loginPage string
	//go:embed login.js
	loginScript string
	//go:embed login.css
	loginStyle string
	//go:embed login.svg
	loginIcon string
)

// loginFiles are the page's files by their paths. A path changes with the content: browsers keep it for good. The page
// names an icon, or a browser would ask for /favicon.ico, which is not ours and would be forwarded.
type loginFiles struct{ script, style, icon, page string }

func newLoginFiles() loginFiles {
	path := func(name, content string) string {
		hash := sha256.Sum256([]byte(content))
		base, kind, _ := strings.Cut(name, ".")
		return "/-/assets/" + base + "-" + strings.ToLower(base32.StdEncoding.EncodeToString(hash[:5])) + "." + kind
	}
	f := loginFiles{script: path("login.js", loginScript), style: path("login.css", loginStyle)}
	f.icon = path("login.svg", loginIcon)
	f.page = strings.NewReplacer("{script}", f.script, "{style}", f.style, "{icon}", f.icon).Replace(loginPage)
	return f
}

// serveLogin puts the page and its files under /-/.
func (o *Console) serveLogin() {
	files := newLoginFiles()
	o.document("/-/login", answering("text/html", files.page, false))
	o.mux.Handle("GET "+files.script, answering("text/javascript", loginScript, true))
	o.mux.Handle("GET "+files.style, answering("text/css", loginStyle, true))
	o.mux.Handle("GET "+files.icon, answering("image/svg+xml", loginIcon, true))
	o.mux.HandleFunc("GET /-/session", o.session)
	o.mux.HandleFunc("POST /-/login", o.login)
	o.mux.HandleFunc("POST /-/logout", o.logout)
	o.mux.HandleFunc("POST /-/login/code", o.loginCode)
}

// answering serves one text, for good if its path changes with it.
func answering(kind, text string, forGood bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind+"; charset=utf-8")
		if forGood {
			w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		}
		_, _ = w.Write([]byte(text)) // a client that has left is no error of ours
	})
}

// session says whether the browser is let in. The page to log in asks it: a browser that comes from another site shows
// its cookie only then.
func (o *Console) session(w http.ResponseWriter, r *http.Request) {
	reply.JSON(w, http.StatusOK, map[string]bool{"owner": access.Owner(r)})
}

// mostLogin bounds the body of a request to log in, in bytes.
const mostLogin = 4 << 10

// login lets in a browser that shows a code, or the admin token.
func (o *Console) login(w http.ResponseWriter, r *http.Request) {
	var asked struct{ Secret string }
	if json.NewDecoder(http.MaxBytesReader(w, r.Body, mostLogin)).Decode(&asked) != nil {
		reply.Refuse(w, http.StatusBadRequest, `cannot read the login: send {"secret": "CODE"}`)
		return
	}
	g := o.guard.Load()
	secret := strings.TrimSpace(asked.Secret)
	session, ok := o.logins.Redeem(secret, g.current(r))
	if !ok && g.isToken(secret) {
		session, ok = o.logins.Open(), true
	}
	if !ok {
		reply.Refuse(w, http.StatusUnauthorized, "this is no code that is good now, nor the admin token: a code is good once, and not for long. "+
			"Run 'epitome open' for another. If it was used, and not by you, who has used it is logged out now")
		return
	}
	g.setCookie(w, r, session, int(access.SessionLife/time.Second))
	reply.JSON(w, http.StatusOK, map[string]bool{"owner": true})
}

// logout ends the browser's session.
func (o *Console) logout(w http.ResponseWriter, r *http.Request) {
	g := o.guard.Load()
	if current := g.current(r); current != "" {
		o.logins.Close(current)
	}
	g.setCookie(w, r, "", -1)
	reply.JSON(w, http.StatusOK, map[string]bool{"owner": false})
}

// loginCode makes a code for who proves to be able to read the data folder. A cookie does not suffice: what runs in a
// browser shall not be able to let others in.
func (o *Console) loginCode(w http.ResponseWriter, r *http.Request) {
	if !o.guard.Load().proves(r) {
		reply.Refuse(w, http.StatusForbidden, "only the owner of the data folder gets a code: run 'epitome open'")
		return
	}
	var asked struct{ Seconds int }
	if json.NewDecoder(http.MaxBytesReader(w, r.Body, mostLogin)).Decode(&asked) != nil || asked.Seconds < 0 {
		reply.Refuse(w, http.StatusBadRequest, `cannot read how long the code is to be good: send {"seconds": 60}`)
		return
	}
	life := time.Duration(min(asked.Seconds, int(access.SessionLife/time.Second))) * time.Second
	reply.JSON(w, http.StatusOK, map[string]string{"code": o.logins.NewCode(life)})
}

// current is the secret of the session that the request shows; empty if it shows none that is open.
func (g *guard) current(r *http.Request) string {
	for _, c := range r.CookiesNamed(g.cookie) { // one of another program on this host may stand beside
		if g.logins.Has(c.Value) {
			return c.Value
		}
	}
	return ""
}

// setCookie gives the browser a session. It is sent back to /-/ alone, and with no request that another site began.
func (g *guard) setCookie(w http.ResponseWriter, r *http.Request, session string, seconds int) {
	origin, err := url.Parse(r.Header.Get("Origin")) // how the browser sees us, through whatever stands between
	http.SetCookie(w, &http.Cookie{Name: g.cookie, Value: session, Path: "/-/", MaxAge: seconds, HttpOnly: true,
		SameSite: http.SameSiteStrictMode, Secure: err == nil && origin.Scheme == "https"})
}
