package proxy

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"epitome/proxy/wire"
)

// noon is in the middle of a day and at the beginning of a minute.
var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func bookOf(t *testing.T, all map[string]ClientConfig) *clientBook {
	t.Helper()
	b, err := newClientBook(all, newClientUsage())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// limitedClient is a client with these limits.
func limitedClient(t *testing.T, c ClientConfig, usage *clientUsage) *clientKey {
	t.Helper()
	c.Keys = []string{HashOfKey("k")}
	b, err := newClientBook(map[string]ClientConfig{"alice": c}, usage)
	if err != nil {
		t.Fatal(err)
	}
	found, err := b.Find([]byte("api-key: k\r\n\r\n"))
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
	return string(refusalOf(err).AppendTo(nil, wire.ClientSide{}, false))
}

func TestKeysAreFoundAndTakenOff(t *testing.T) {
	b := bookOf(t, map[string]ClientConfig{
		"alice": {Keys: []string{HashOfKey("one"), HashOfKey("two")}}, "bob": {Keys: []string{HashOfKey("three")}},
	})
	f := func(block, want, left string) {
		t.Helper()
		head := []byte(strings.ReplaceAll(block, "|", "\r\n") + "\r\n")
		_, knows := b.Whose(head)
		c, err := b.Find(head)
		if c.Name() != want || (err == nil) != (want != "") || knows != (want != "") {
			t.Errorf("%q is of %q (%v), known %v; want %q", block, c.Name(), err, knows, want)
		}
		lines := func(s string) string { return strings.TrimRight(strings.ReplaceAll(s, "|", "\r\n"), "\r\n") }
		if got := lines(string(head)); got != lines(left) {
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
	f("Cookie: one|x-key: one|", "", "Cookie: one|x-key: one|")
	f("Authorization: Bearer onE|x-api-key: |", "", "Authorization: Bearer onE|x-api-key: |")
	f("", "", "")
}

// Beside a key that is known, it stands in no other header either, however it is written there.
func TestKeyGoesNoFurtherInAnyHeader(t *testing.T) {
	key := NewKey()
	b := bookOf(t, map[string]ClientConfig{"alice": {Keys: []string{HashOfKey(key)}}})
	for _, line := range []string{"x-api-key: Bearer KEY", "Authorization: Bearer\tKEY", "x-goog-api-key: KEY",
		"api-key: KEY, KEY", "Cookie: a=1; key=KEY"} {
		line = strings.ReplaceAll(line, "KEY", key) + "\r\n"
		for _, head := range []string{line + "B: 1\r\n" + keyHeader + ": " + key, keyHeader + ": " + key + "\r\nB: 1\r\n" + line} {
			block := []byte(head + "\r\n\r\n")
			c, err := b.Find(block)
			if left := strings.TrimRight(string(block), "\r\n"); c.Name() != "alice" || err != nil || left != "B: 1" {
				t.Errorf("of %q is left %q, of %q, %v", head, left, c.Name(), err)
			}
		}
	}
}

// Whatever stands around a key, all other lines stay as they are, in their order, and no key is left.
func TestOnlyKeysAreTakenOff(t *testing.T) {
	b := bookOf(t, map[string]ClientConfig{"alice": {Keys: []string{HashOfKey("secret-key")}}})
	line := rapid.SampledFrom([]string{
		"A: 1\r\n", "A: 2\n", "Authorization: Bearer other\r\n", "x: secret\r\n"})
	kept := rapid.SampledFrom([]string{"Authorization: Bearer secret-key\r\n", "X-API-KEY:secret-key\n",
		"x-epitome-key: secret-key \r\n"})
	rapid.Check(t, func(t *rapid.T) {
		var head, want strings.Builder
		n := 0
		for range rapid.IntRange(0, 12).Draw(t, "lines") {
			if rapid.Bool().Draw(t, "is key") {
				head.WriteString(kept.Draw(t, "key"))
				n++
				continue
			}
			l := line.Draw(t, "line")
			head.WriteString(l)
			want.WriteString(l)
		}
		block := []byte(head.String() + "\r\n")
		c, err := b.Find(block)
		if (c != nil) != (n > 0) || (err == nil) != (n > 0) {
			t.Fatalf("%d keys: client %v, error %v", n, c, err)
		}
		got, rest := string(block[:want.Len()]), string(block[want.Len():])
		if got != want.String() || strings.Trim(rest, "\r\n") != "" {
			t.Fatalf("left %q, want %q", block, want.String())
		}
	})
}

func TestKeysCannotBeGuessedNorReadBack(t *testing.T) {
	a, b := NewKey(), NewKey()
	if a == b || !strings.HasPrefix(a, "sk-epitome-") || len(a) < len("sk-epitome-")+26 || strings.ToUpper(a[11:]) != a[11:] {
		t.Errorf("keys %q and %q", a, b)
	}
	if h := HashOfKey(a); strings.Contains(h, a[11:]) || HashOfKey(a) != h || HashOfKey(b) == h {
		t.Errorf("the hash is %q", h)
	}
	c := bookOf(t, map[string]ClientConfig{"alice": {Keys: []string{HashOfKey(a)}}})
	if shown := fmt.Sprintf("%+v %#v", c, unknownKey()); strings.Contains(shown, a) {
		t.Error("a key is kept")
	}
}

// Who puts the key itself where its hash belongs is told so, without the key.
func TestHashesThatAreNoneAreRefused(t *testing.T) {
	f := func(text string) {
		t.Helper()
		_, err := newClientBook(map[string]ClientConfig{"alice": {Keys: []string{text}}}, nil)
		if err == nil || !strings.Contains(err.Error(), "client alice") || len(text) > 4 && strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{"", NewKey(), "sha1:00", HashOfKey("x")[:70], HashOfKey("x") + "00", strings.ToUpper(HashOfKey("x")),
		strings.TrimPrefix(HashOfKey("x"), "sha256:")} {
		f(text)
	}
	twice := map[string]ClientConfig{"a": {Keys: []string{HashOfKey("x")}}, "b": {Keys: []string{HashOfKey("y"), HashOfKey("x")}}}
	_, err := newClientBook(twice, nil)
	if err == nil || !strings.Contains(err.Error(), "client b: it is one of client a already") {
		t.Errorf("a key of two clients: %v", err)
	}
}

func TestClientsUseTheirUpstreamsAlone(t *testing.T) {
	c := limitedClient(t, ClientConfig{Upstreams: []string{"a", "b"}}, newClientUsage())
	for _, name := range []string{"a", "b"} {
		if err := c.Admit(name, noon); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := refusalText(c.Admit("c", noon)); !strings.HasPrefix(got, "HTTP/1.1 403 ") ||
		!strings.Contains(got, "client alice may not use upstream c: use a or b, or have it added to clients.alice.upstreams") {
		t.Errorf("got %q", got)
	}
}

func TestLimitsHoldForAMinute(t *testing.T) {
	c := limitedClient(t, ClientConfig{RequestsPerMinute: 2}, newClientUsage())
	f := func(at time.Duration, want ...string) {
		t.Helper()
		got := refusalText(c.Admit("any", noon.Add(at)))
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
	f(time.Second)
	for range 9 { // what is refused does not count
		f(18500*time.Millisecond, "HTTP/1.1 429 ", "Retry-After: 42\r\n", "client alice has used its 2 requests per minute: try again in 42 s")
	}
	f(time.Minute)
	f(61 * time.Second)
	f(61*time.Second, "Retry-After: 59\r\n")
	f(2 * time.Minute)
}

// A request begins as long as the limit is not reached: nobody knows before how many tokens it takes.
func TestTokensAreCountedWhenTheyAreSpent(t *testing.T) {
	c := limitedClient(t, ClientConfig{TokensPerMinute: 100}, newClientUsage())
	f := func(at time.Duration, refused bool) {
		t.Helper()
		if err := c.Admit("any", noon.Add(at)); (err != nil) != refused {
			t.Errorf("after %s: %v", at, err)
		}
	}
	c.Spend(99, noon)
	f(0, false)
	c.Spend(1000, noon)
	f(time.Second, true)
	f(time.Minute, false)
}

// As many as ask at once get no more than the limit.
func TestLimitsHoldForRequestsAtOnce(t *testing.T) {
	const most, askers = 50, 200
	c := limitedClient(t, ClientConfig{RequestsPerMinute: most}, newClientUsage())
	admitted := make(chan bool, askers)
	for range askers {
		go func() { admitted <- c.Admit("any", noon) == nil }()
	}
	n := 0
	for range askers {
		if <-admitted {
			n++
		}
	}
	if n > most || n == 0 {
		t.Errorf("%d were admitted, at most %d may be", n, most)
	}
}
