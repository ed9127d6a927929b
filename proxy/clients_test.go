package proxy

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// noon is in the middle of a day and at the beginning of a minute.
var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func bookOf(t *testing.T, all map[string]ClientConfig) clients {
	t.Helper()
	b, err := newClients(all, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// limitedClient is a client with these limits.
func limitedClient(t *testing.T, c ClientConfig) *client {
	t.Helper()
	c.Keys = []string{HashOfKey("k")}
	b, err := newClients(map[string]ClientConfig{"alice": c}, nil)
	if err != nil {
		t.Fatal(err)
	}
	found, _, err := b.find([]byte("api-key: k\r\n\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// refusalText is a refusal as it goes over the wire; empty if there is none.
func refusalText(err error) string {
	if err == nil {
		return ""
	}
	r := refusalOf(err)
	return fmt.Sprint(r.status, " ", r.lines, r.message)
}

func nameOf(c *client) string {
	if c == nil {
		return ""
	}
	return c.name
}

func TestKeysAreFoundAndTakenOff(t *testing.T) {
	b := bookOf(t, map[string]ClientConfig{
		"alice": {Keys: []string{HashOfKey("one"), HashOfKey("two")}}, "bob": {Keys: []string{HashOfKey("three")}},
	})
	f := func(block, want, left string) {
		t.Helper()
		head := []byte(strings.ReplaceAll(block, "|", "\r\n") + "\r\n")
		c, rest, err := b.find(head)
		if got := nameOf(c); got != want || (err == nil) != (want != "") {
			t.Errorf("%q is of %q (%v); want %q", block, got, err, want)
		}
		if err != nil {
			return
		}
		lines := func(s string) string { return strings.TrimRight(strings.ReplaceAll(s, "|", "\r\n"), "\r\n") }
		if got := lines(string(rest)); got != lines(left) {
			t.Errorf("of %q is left %q, want %q", block, got, left)
		}
	}
	f("Host: x|Authorization: Bearer one|A: 1|", "alice", "Host: x|A: 1|")
	f("authorization: BEARER   two |A: 1|", "alice", "A: 1|")
	f("authorization: one|", "alice", "")
	f("X-Api-Key: three|A: 1|", "bob", "A: 1|")
	f("A: 1|api-key: three|", "bob", "A: 1|")
	f("Authorization: Bearer theirs|x-epitome-key: one|", "alice", "Authorization: Bearer theirs|")
	f("Authorization: Bearer one|x-api-key: one|api-key: theirs|", "alice", "api-key: theirs|")
	f("x-api-key: one|Authorization: Bearer three|", "alice", "") // neither goes on
	f("Cookie: one|x-key: one|", "", "")
	f("Authorization: Bearer onE|x-api-key: |", "", "")
	f("", "", "")
}

// Who puts the key itself where its hash belongs is told so, without the key.
func TestHashesThatAreNoneAreRefused(t *testing.T) {
	f := func(text string) {
		t.Helper()
		_, err := newClients(map[string]ClientConfig{"alice": {Keys: []string{text}}}, nil)
		if err == nil || !strings.Contains(err.Error(), "client alice") || len(text) > 4 && strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{"", NewKey(), "sha1:00", HashOfKey("x")[:70], HashOfKey("x") + "00", strings.ToUpper(HashOfKey("x")),
		strings.TrimPrefix(HashOfKey("x"), "sha256:")} {
		f(text)
	}
	twice := map[string]ClientConfig{"a": {Keys: []string{HashOfKey("x")}}, "b": {Keys: []string{HashOfKey("y"), HashOfKey("x")}}}
	_, err := newClients(twice, nil)
	if err == nil || !strings.Contains(err.Error(), "client b: it is one of client a already") {
		t.Errorf("a key of two clients: %v", err)
	}
}

func TestLimitsAreOfAMinute(t *testing.T) {
	c := limitedClient(t, ClientConfig{RequestsPerMinute: 2})
	f := func(at time.Duration, want ...string) {
		t.Helper()
		got := refusalText(c.admit("any", noon.Add(at)))
		if (got == "") != (len(want) == 0) {
			t.Errorf("after %s: %q", at, got)
		}
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("after %s: %q lacks %q", at, got, w)
			}
		}
	}
	f(0)
	f(0)
	for range 9 { // a refused request does not count
		f(10*time.Second, "429 ", "Retry-After: 20\r\n", "client alice has used its 2 requests per minute: try again in 20 s")
	}
	f(30 * time.Second)
	f(31*time.Second, "Retry-After: 29\r\n")
}
