package soak

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"

	"epitome/pattern"
)

// Epitomes that share a store have clients with keys. A conversation is held by each client in the same words: its
// key, and the credential by which the provider knows who asks for a summary, alone tell whose it is. What the model
// says in a summary alone names its client.

// keyHeader carries a client's key.
const keyHeader = "X-Epitome-Key"

// holders are the clients with keys. Each is one agent of those that hold equal conversations.
var holders = [...]string{"east", "west"}

// keyOf returns a client's key.
func keyOf(holder string) string { return "epk-soak-" + holder }

// tables are the clients in a configuration.
func tables() string {
	var b strings.Builder
	for _, h := range holders {
		fmt.Fprintf(&b, "[clients.%s]\nkeys = [\"sha256:%x\"]\n", h, sha256.Sum256([]byte(keyOf(h))))
	}
	return b.String()
}

// credential begins the credential of each conversation; its number follows, and who holds it.
const credential = "Bearer soak-"

// credentialOf is what the provider knows a conversation by.
func credentialOf(t *talk) string { return fmt.Sprint(credential, t.number, ".", t.holder) }

// ownerOf returns whose the conversation of a credential is.
func ownerOf(header http.Header) (number, holder string) {
	number, holder, _ = strings.Cut(strings.TrimPrefix(header.Get("Authorization"), credential), ".")
	return number, holder
}

// keptBy is what a summary says of whom it was written for.
func keptBy(holder string) string { return "soak keeps for " + holder + "." }

// keepers finds what keptBy writes.
var keepers = pattern.Of(`soak keeps for ([a-z]*)\.`)

// crossed wants nothing in a text that a model wrote for another client.
func crossed(what, holder string, text []byte) []string {
	said := string(text)
	for _, at := range keepers.FindAllStringSubmatchIndex(said, -1) {
		if keeper := said[at[2]:at[3]]; keeper != holder {
			return []string{fmt.Sprintf("%s of client %q has what was written for %q (promise 7)", what, holder, keeper)}
		}
	}
	return nil
}

// leaked wants no key of a client in what goes on to the upstream.
func leaked(what string, r *http.Request, body []byte) (broken []string) {
	for _, h := range holders {
		found := bytes.Contains(body, []byte(keyOf(h)))
		for _, lines := range r.Header {
			found = found || strings.Contains(strings.Join(lines, " "), keyOf(h))
		}
		if found {
			broken = append(broken, what+" has a client's key (promise 7)")
		}
	}
	return broken
}
