package story

import (
	"context"
	"net/http"
	"net/url"
)

type ownerKey struct{}

// AsOwner returns the request, marked as the owner's.
func AsOwner(r *http.Request) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), ownerKey{}, true))
}

// IsOwner reports whether a request under /-/ comes from the owner: with the cookie of a login, with the token of the
// data folder, or with the admin token. Only the owner sees names of artifacts and text of conversations.
func IsOwner(r *http.Request) bool { return r.Context().Value(ownerKey{}) != nil }

// HideFrom removes the title, which is text of the conversation, unless r is the owner's.
func (c *Conversation) HideFrom(r *http.Request) {
	if !IsOwner(r) {
		c.Title = ""
	}
}

// LoginPath returns the path of the login page that leads on to the page that r asks for.
func LoginPath(r *http.Request) string { return "/-/login?next=" + url.QueryEscape(r.URL.RequestURI()) }
