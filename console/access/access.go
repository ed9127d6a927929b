// Package access says who asks under /-/: whether a request is the owner's, and which codes and cookies make it so.
//
// It promises that a code opens one session, that a code shown again by somebody else ends what it has opened, and
// that all of it lives in memory and ends with the program.
package access

import (
	"context"
	"net/http"
	"net/url"
)

type ownerKey struct{}

// AsOwner is the request, known to come from the owner. The console calls it for what it lets in.
func AsOwner(r *http.Request) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), ownerKey{}, true))
}

// Owner reports whether a request under /-/ comes from who may see what conversations hold: with the cookie of a
// login, with the proof of the data folder, or with the admin token. Whatever names an artifact, or tells anything of a
// body, asks this first; figures do not.
func Owner(r *http.Request) bool { return r.Context().Value(ownerKey{}) != nil }

// LoginPath is where the page is that lets a browser in and then goes on to what r asked for.
func LoginPath(r *http.Request) string { return "/-/login?next=" + url.QueryEscape(r.URL.RequestURI()) }
