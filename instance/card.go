// Package instance finds, starts and asks a running epitome.
//
// An epitome writes its address and two secrets into a file of its data folder that its user alone can read. A command
// sends one, which shows that it is the owner's; the epitome answers with the other, so that nothing else that listens
// at the address passes for it.
package instance

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"epitome/config"
	"epitome/console"
)

// CardFile is the name of the file in the data folder.
const CardFile = "running.json"

// Card is what the file says.
type Card struct {
	Listen string `json:"listen"`
	PID    int    `json:"pid"`
	Token  string `json:"token"` // of the owner's commands
	Proof  string `json:"proof"` // of the epitome
	TLS    bool   `json:"tls,omitempty"`

	folder string
}

// Pin writes the file of this process, which listens there.
func Pin(folder, listen string, secure bool) (*Card, error) {
	c := &Card{config.Reachable(listen), os.Getpid(), rand.Text(), rand.Text(), secure, folder}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("cannot make the data folder %s: %w; give one that can be written with --data", folder, config.PathCause(err))
	}
	text, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	fresh := filepath.Join(folder, fmt.Sprintf("%s.%d", CardFile, os.Getpid()))
	if err = os.WriteFile(fresh, text, 0o600); err == nil {
		err = os.Rename(fresh, filepath.Join(folder, CardFile))
	}
	if err != nil {
		_ = os.Remove(fresh)
		return nil, fmt.Errorf("cannot write to the data folder %s: %w; give one that can be written with --data", folder, config.PathCause(err))
	}
	return c, nil
}

// Unpin removes the file, if no other epitome has taken its place.
func (c *Card) Unpin() {
	if now, err := Read(c.folder); err == nil && now.Token == c.Token {
		_ = os.Remove(filepath.Join(c.folder, CardFile))
	}
}

// Read reads the file in a data folder. The epitome may have ended without removing it: Ask finds out.
func Read(folder string) (*Card, error) {
	text, err := os.ReadFile(filepath.Join(folder, CardFile))
	if err != nil {
		return nil, err
	}
	c := &Card{folder: folder}
	if err := json.Unmarshal(text, c); err != nil || c.Token == "" || c.Proof == "" {
		return nil, fmt.Errorf("cannot read %s in %s", CardFile, folder)
	}
	return c, nil
}

// Admits reports whether a token is the owner's.
func (c *Card) Admits(token string) bool {
	return subtle.ConstantTimeCompare([]byte(token), []byte(c.Token)) == 1
}

// FoldersIn are the folders in which epitomes of a data folder run: itself, and those that "epitome run" makes.
func FoldersIn(home string) []string {
	others, _ := filepath.Glob(filepath.Join(home, "run", "*")) // the pattern is sound
	return append([]string{home}, others...)
}

// RunningIn returns the cards of the epitomes that run with one of the folders.
func RunningIn(folders ...string) (cards []*Card) {
	for _, folder := range folders {
		if r := ask(folder); r != nil {
			cards = append(cards, r.Card)
		}
	}
	return cards
}

// ask asks the epitome of a folder; nil if none runs there.
func ask(folder string) *Running {
	c, err := Read(folder)
	if err != nil {
		return nil
	}
	r, err := c.Ask()
	if err != nil {
		return nil
	}
	return r
}

// State is what an epitome says of itself to its owner.
type State struct {
	Status    string            `json:"status"`
	Version   string            `json:"version"`
	Proof     string            `json:"proof"`
	Mode      string            `json:"mode"`
	Upstream  string            `json:"upstream"` // the default one
	Upstreams map[string]string `json:"upstreams"`
	Keyed     bool              `json:"keyed"`    // clients need keys of its own
	Settings  string            `json:"settings"` // a hash of what it is configured to do
	All       string            `json:"all"`      // of its whole configuration; something else if a part waits for a restart
	Build     string            `json:"build"`    // of the program and its way to the network
}

// ErrNoAnswer says that there is nothing at a path.
var ErrNoAnswer = errors.New("there is no such thing")

const (
	askTime    = 5 * time.Second
	mostAnswer = 64 << 20 // bytes
)

// Ask asks the epitome how it runs. An error says that none runs: nothing there has answered with the proof.
func (c *Card) Ask() (*Running, error) {
	text, err := c.Answer("/-/health", nil)
	if err != nil {
		return nil, err
	}
	r := &Running{Card: c}
	if err := json.Unmarshal(text, &r.State); err != nil {
		return nil, err
	}
	if subtle.ConstantTimeCompare([]byte(r.State.Proof), []byte(c.Proof)) != 1 {
		return nil, fmt.Errorf("what listens on %s is not the epitome of %s", c.Listen, c.folder)
	}
	return r, nil
}

// Answer returns what the epitome answers to a GET, as the owner; ErrNoAnswer if there is nothing.
func (c *Card) Answer(path string, query url.Values) ([]byte, error) {
	return c.answer(http.MethodGet, path+"?"+query.Encode(), nil)
}

// Post returns what it answers to a POST of JSON, likewise.
func (c *Card) Post(path string, said any) ([]byte, error) {
	body, err := json.Marshal(said)
	if err != nil {
		return nil, err
	}
	return c.answer(http.MethodPost, path, body)
}

func (c *Card) answer(method, target string, body []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), askTime)
	defer cancel()
	resp, err := c.send(ctx, method, target, body)
	if err != nil {
		return nil, fmt.Errorf("cannot ask the epitome on %s: %w", c.Listen, errors.Unwrap(err))
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, mostAnswer))
	var said struct{ Error struct{ Message string } }
	switch {
	case err != nil:
		return nil, fmt.Errorf("cannot read the answer of the epitome on %s: %w", c.Listen, err)
	case resp.StatusCode == http.StatusNotFound:
		return nil, ErrNoAnswer
	case resp.StatusCode == http.StatusOK:
		return text, nil
	case json.Unmarshal(text, &said) == nil && said.Error.Message != "":
		return nil, fmt.Errorf("the epitome on %s says: %s", c.Listen, said.Error.Message)
	}
	return nil, fmt.Errorf("the epitome on %s says: %s", c.Listen, resp.Status)
}

// Get sends a request as the owner. The caller closes the answer.
func (c *Card) Get(ctx context.Context, path string) (*http.Response, error) {
	return c.send(ctx, http.MethodGet, path, nil)
}

func (c *Card) send(ctx context.Context, method, target string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.address()+target, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(console.OwnerHeader, c.Token)
	// The proof says that the epitome is the card's own: a certificate for the names under which others come says less.
	direct := http.Client{Transport: &http.Transport{DisableKeepAlives: true,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}}} //nolint:gosec // as said
	return direct.Do(req)
}

func (c *Card) address() string {
	if c.TLS {
		return "https://" + c.Listen
	}
	return "http://" + c.Listen
}

// Pages is the address of the epitome's pages.
func (c *Card) Pages() string { return c.address() + "/-/" }

// LoginLink asks for a link that lets a browser in once, within life.
func (c *Card) LoginLink(life time.Duration) (string, error) {
	text, err := c.Post("/-/login/code", map[string]int{"seconds": int(life.Seconds())})
	var said struct{ Code string }
	if err == nil {
		err = json.Unmarshal(text, &said)
	}
	return c.Pages() + "login#" + said.Code, err
}

// Occupied is why the address of c cannot be listened on, and says so if an epitome listens there already.
func Occupied(c config.Config, err error) error {
	there := &Card{Listen: config.Reachable(c.Listen), TLS: c.TLS.IsSet()}
	var said State
	if text, no := there.Answer("/-/health", nil); !errors.Is(err, syscall.EADDRINUSE) || no != nil ||
		json.Unmarshal(text, &said) != nil || said.Version == "" {
		return err
	}
	return fmt.Errorf("cannot listen on %s: %w: an epitome runs there; use that one, stop it, or give another address"+
		" with --listen", c.Listen, syscall.EADDRINUSE)
}
