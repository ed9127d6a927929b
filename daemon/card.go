package daemon

// A running epitome holds a lock in its data folder, and writes its address and a token into a file there that its user
// alone can read. Nothing is sent to the address unless the lock is held: while the process lives, the port is its own,
// so a foreign program at the address of an epitome that has died is sent neither the token nor an agent's requests.

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/tidwall/gjson"

	"epitome/config"
	"epitome/console"
	"epitome/service"
)

// Card is how commands of the same user reach a running epitome.
type Card struct {
	Listen string `json:"listen"` // host:port
	Token  string `json:"token"`  // shows that a request comes from the owner
	TLS    bool   `json:"tls,omitempty"`
	PID    int    `json:"pid"` // of the process, for who wants to end it

	folder string
	lock   *flock.Flock // held by the process that runs
}

// cardOf returns an empty card of a data folder.
func cardOf(folder string) *Card {
	return &Card{folder: folder, lock: flock.New(filepath.Join(folder, "running.lock"), flock.SetPermissions(0o600))}
}

func (c *Card) path() string { return filepath.Join(c.folder, "running.json") }

// Pin writes the card of this process, which listens there. If another epitome runs with the folder, or its file system
// has no locks, commands do not find this one.
func Pin(folder, listen string, secure bool) (*Card, error) {
	c := cardOf(folder)
	c.Listen = config.Reachable(listen)
	c.Token = rand.Text()
	c.TLS, c.PID = secure, os.Getpid()
	err := os.MkdirAll(folder, 0o700)
	patience, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond) // Read holds it for a moment
	defer cancel()
	held, _ := c.lock.TryLockContext(patience, 5*time.Millisecond)
	if held {
		text, _ := json.Marshal(c) // strings and a bool
		err = os.WriteFile(c.path(), text, 0o600)
	}
	if err != nil {
		_ = c.lock.Close()
		return nil, fmt.Errorf("cannot write to the data folder: %w; give one that can be written with --data", err)
	}
	return c, nil
}

// Unpin removes the card.
func (c *Card) Unpin() {
	if c.lock.Locked() {
		_ = os.Remove(c.path())
	}
	_ = c.lock.Close()
}

// Read returns the card of the epitome that runs with a folder. Its error says that none does.
func Read(folder string) (*Card, error) {
	c := cardOf(folder)
	if _, err := os.Stat(c.path()); err != nil {
		return nil, err
	}
	free, err := c.lock.TryRLock()
	_ = c.lock.Close()
	if err != nil || free {
		return nil, fmt.Errorf("the epitome of %s has ended", folder)
	}
	text, err := os.ReadFile(c.path())
	if err == nil {
		err = json.Unmarshal(text, c)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the address of the epitome that uses a data folder: %w", err)
	}
	return c, nil
}

// FoldersIn returns a data folder, and those below it in which earlier builds of "epitome run" have kept artifacts.
func FoldersIn(home string) []string {
	all := []string{home}
	others, _ := os.ReadDir(filepath.Join(home, "run")) // there is none without such an epitome
	for _, o := range others {
		all = append(all, filepath.Join(home, "run", o.Name()))
	}
	return all
}

// Await returns when no epitome runs with a folder.
func Await(folder string) {
	c := cardOf(folder)
	insist(c.lock.RLock)
	_ = c.lock.Close()
}

// insist takes a lock. A signal may interrupt the wait for it.
func insist(lock func() error) {
	for lock() != nil {
		time.Sleep(50 * time.Millisecond)
	}
}

// URL returns the epitome's own address.
func (c *Card) URL() string {
	if c.TLS {
		return "https://" + c.Listen
	}
	return "http://" + c.Listen
}

// ErrNotFound says that there is nothing at a path.
var ErrNotFound = errors.New("404 Not Found")

// Get decodes the answer to a GET, as the owner, into answer, and waits five seconds for it. The error is ErrNotFound
// if there is nothing.
func (c *Card) Get(target string, answer any) error {
	return c.ask(5*time.Second, http.MethodGet, target, nil, answer)
}

// Search is Get for an answer that may take a minute, as artifacts are read for it.
func (c *Card) Search(target string, answer any) error {
	return c.ask(time.Minute, http.MethodGet, target, nil, answer)
}

// Post decodes the answer to a POST of JSON likewise. It waits ten minutes, as a conversation is forgotten or a model
// asked.
func (c *Card) Post(target string, question, answer any) error {
	return c.ask(10*time.Minute, http.MethodPost, target, question, answer)
}

// ask sends a request as the owner, and decodes the answer.
func (c *Card) ask(patience time.Duration, method, target string, question, answer any) error {
	body, err := json.Marshal(question)
	if err != nil {
		return err
	}
	req, err := http.NewRequest(method, c.URL()+target, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(console.OwnerHeader, c.Token)
	// The lock vouches for the address; a certificate is for the names that others use.
	anyName := &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12} //nolint:gosec // as said
	return do(&http.Client{
		Timeout:   patience,
		Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: anyName},
	}, req, answer)
}

// GetAt is Get for an epitome elsewhere, which asks for its console.token. It waits a minute.
func GetAt(base, token, target string, answer any) error {
	req, err := http.NewRequest(http.MethodGet, strings.TrimSuffix(base, "/")+target, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	return do(&http.Client{Timeout: time.Minute}, req, answer)
}

// do sends a request, and decodes the body of an answer with status 200. Any other is an error with what it says.
func do(client *http.Client, req *http.Request, answer any) error {
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("cannot ask the epitome on %s: %w", req.URL.Host, errors.Unwrap(err))
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
	case resp.StatusCode == http.StatusOK:
		err = json.Unmarshal(text, answer)
	case resp.StatusCode == http.StatusNotFound:
		err = ErrNotFound
	default:
		err = errors.New(cmp.Or(gjson.GetBytes(text, "error.message").String(), resp.Status))
	}
	if err != nil {
		return fmt.Errorf("the epitome on %s answers: %w", req.URL.Host, err)
	}
	return nil
}

// State asks the epitome how it runs.
func (c *Card) State() (s service.State, err error) {
	err = c.Get("/-/health", &s)
	return s, err
}

// LoginLink asks for a link that lets a browser in once, within life.
func (c *Card) LoginLink(life time.Duration) (string, error) {
	var answer struct{ Code string }
	err := c.Post("/-/login/code", map[string]int{"seconds": int(life.Seconds())}, &answer)
	return c.URL() + "/-/login#" + answer.Code, err
}
