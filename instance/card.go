// Package instance is a running epitome as commands of the same user see it: how it is found, proves itself, is held by
// leases, started where none runs, and asked what it has done.
//
// It promises that no credential goes to a program that has not shown that it can read the user's data folder. It knows
// nothing of conversations.
package instance

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"

	"epitome/config"
	"epitome/console"
)

// Card lets commands of the same user find a running epitome and be sure that it is one. It lies in the data
// folder, readable by its owner alone; whoever can answer with its secret has been able to read it. So a program
// of somebody else's that sits on the port is never given a credential.
type Card struct {
	Listen string `json:"listen"`
	PID    int    `json:"pid"`
	Secret string `json:"secret"`
	TLS    bool   `json:"tls,omitempty"`

	path   string
	before *Card // whose place this one has taken; nil if there was none
}

// CardFile is the card's name in the data folder.
const CardFile = "running.json"

// Pin makes the data folder, if need be, and puts a new card into it. secure says that TLS is spoken at the address.
func Pin(folder, listen string, secure bool) (*Card, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, config.NoFolder(folder, err)
	}
	c := &Card{Listen: config.Reachable(listen), PID: os.Getpid(), Secret: rand.Text(), TLS: secure,
		path: filepath.Join(folder, CardFile)}
	c.before, _ = Read(folder)
	if err := c.put(); err != nil {
		return nil, err
	}
	return c, nil
}

// put puts the card into the data folder.
func (c *Card) put() error {
	folder := filepath.Dir(c.path)
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	fresh := fmt.Sprintf("%s.%d", c.path, os.Getpid())
	if err := os.WriteFile(fresh, text, 0o600); err != nil {
		return fmt.Errorf("cannot write to the data folder %s: %w; give one that can be written with --data", folder, config.PathCause(err))
	}
	if err := os.Rename(fresh, c.path); err != nil {
		_ = os.Remove(fresh)
		return fmt.Errorf("cannot write to the data folder %s: %w; give one that can be written with --data", folder, config.PathCause(err))
	}
	return nil
}

// Read returns the card in the folder, if there is one.
func Read(folder string) (*Card, error) {
	c := &Card{path: filepath.Join(folder, CardFile)}
	text, err := os.ReadFile(c.path)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, c); err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", c.path, err)
	}
	return c, nil
}

// Unpin takes the card away, unless another epitome has put its own in its place. One whose place this card has taken
// gets it back if it still runs.
func (c *Card) Unpin() {
	if now, err := Read(filepath.Dir(c.path)); err != nil || now.Secret != c.Secret {
		return
	}
	if c.before != nil {
		_, err := c.before.Ask()
		if err == nil && c.before.put() == nil {
			return
		}
	}
	_ = os.Remove(c.path)
}

// Proof answers a challenge as the program that runs.
func (c *Card) Proof(nonce string) string { return c.sign("program", nonce) }

// claim shows to the program that it is asked by its owner. It tells a program that is not the card's nothing.
func (c *Card) claim(nonce string) string { return c.sign("owner", nonce) }

// Mark stands for a text: it shows who can read the data folder whether another text is the same, and everybody else
// nothing.
func (c *Card) Mark(text string) string { return c.sign("mark", text) }

func (c *Card) sign(who, nonce string) string {
	mac := hmac.New(sha256.New, []byte(c.Secret))
	mac.Write([]byte(who + " " + nonce))
	return hex.EncodeToString(mac.Sum(nil))
}

// Admits reports whether a claim is right.
func (c *Card) Admits(nonce, claim string) bool {
	return nonce != "" && hmac.Equal([]byte(c.claim(nonce)), []byte(claim))
}

// proves reports whether the answer to a challenge is right.
func (c *Card) proves(nonce, answer string) bool {
	return hmac.Equal([]byte(c.Proof(nonce)), []byte(answer))
}

// Get asks the proxy for a page of its own, as its owner if the query has a nonce, and never through a forward proxy.
func (c *Card) Get(ctx context.Context, path string, query url.Values) (*http.Response, error) {
	return c.send(ctx, http.MethodGet, path+"?"+query.Encode(), nil)
}

// send sends a request to the proxy; body is JSON, if there is one.
func (c *Card) send(ctx context.Context, method, target string, body io.Reader) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.address()+target, body)
	if err != nil {
		return nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if nonce := req.URL.Query().Get("nonce"); nonce != "" {
		req.Header.Set(console.OwnerHeader, c.claim(nonce))
	}
	// Whoever answers proves that it is the card's own by the card's secret: a certificate for the names under which
	// others come would say less.
	direct := http.Client{Transport: &http.Transport{Proxy: nil, DisableKeepAlives: true,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}}} //nolint:gosec // as said
	return direct.Do(req)
}

// address is the URL of the proxy's root, without a slash at its end.
func (c *Card) address() string {
	if c.TLS {
		return "https://" + c.Listen
	}
	return "http://" + c.Listen
}
