// Package frame is what stands around each page under /-/, who looks at it, and where pages lie.
//
// It promises that a page works without a script and has nothing inline, that what it loads is named after its content,
// so that no browser shows a new page with an old script, and that a reader who logs in comes back to the page.
package frame

import (
	"net/http"
	"time"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"epitome/console/access"
	"epitome/console/chart"
	"epitome/console/markup"
)

// Page is one page.
type Page struct {
	Status int // 200 if 0
	Title  string
	Here   string // the page of the navigation that it belongs to
	Body   g.Node
}

// Reader is who looks at a page.
type Reader struct {
	Owner bool           // may see names and contents
	Login markup.Address // where one logs in and comes back
	Zone  *time.Location // in which times are shown
}

// mostBack bounds, in characters, the address at which a reader comes back from logging in.
const mostBack = 2000

// ReaderOf is who asks for a page with r.
func ReaderOf(r *http.Request, zone *time.Location) Reader {
	back := chart.Shortened(r.URL.RequestURI(), mostBack)
	return Reader{access.Owner(r), markup.At("login").With("next", back), zone}
}

// Clock shows a time; the zero one is unknown.
func (r Reader) Clock(t time.Time) g.Node { return markup.Clock(t, r.Zone) }

// Notice is a page that has something to say and nothing to show; cure is what to do about it.
func (r Reader) Notice(status int, title, text, cure string) *Page {
	return &Page{Status: status, Title: title, Body: markup.Lines{
		h.H1(g.Text(title)),
		h.P(markup.Text(text)),
		h.P(g.Text(cure)),
		g.If(!r.Owner, h.P(markup.Link(r.Login, g.Text("Log in")))),
		h.P(markup.Link(markup.At(), g.Text("To the overview"))),
	}}
}

// ForOwner is the page for who may not see what a page would show.
func (r Reader) ForOwner(title, what string) *Page {
	return r.Notice(http.StatusForbidden, title, what+" is shown to the owner of this epitome alone.",
		"To log in, run epitome open as the user who runs epitome.")
}

// ToLogIn stands where a page would show what is the owner's.
func (r Reader) ToLogIn() g.Node {
	return h.P(g.Text("What a conversation holds is shown to the owner of this epitome alone. To log in, run "),
		markup.Code("epitome open"), g.Text(" as the user who runs epitome, or use "), markup.Link(r.Login, g.Text("this page")),
		g.Text("."))
}
