package plantest

import (
	"cmp"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"strings"
	"sync"
)

// NameLength is how many characters an artifact's name has, here as on the real shelf.
const NameLength = 26

// Cupboard is a shelf in memory. Its fields may change while nobody uses it.
type Cupboard struct {
	Crowded bool        // it is full
	Mute    bool        // it gives no address
	Base    string      // what its addresses begin with; empty is /data/artifacts/
	Err     error       // what every Put returns
	Luck    func() bool // says of each Put whether it succeeds; all do if it is nil

	mu    sync.Mutex
	wares map[string]string
}

// NewCupboard returns one with nothing in it.
func NewCupboard() *Cupboard { return &Cupboard{wares: map[string]string{}} }

// Name makes a name of a hash, as the real shelf does.
func (c *Cupboard) Name(scope string, content []byte) string {
	sum := sha256.Sum256(append([]byte(scope+"\x00"), content...))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:]))[:NameLength]
}

// Address returns a path that no machine has.
func (c *Cupboard) Address(name string) string {
	if c.Mute {
		return ""
	}
	return cmp.Or(c.Base, "/data/artifacts/") + name + ".txt"
}

// Put takes content in, if it is to succeed.
func (c *Cupboard) Put(name string, content []byte, late bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Luck != nil && !c.Luck() {
		return errors.New("bad luck")
	}
	if c.Err != nil {
		return c.Err
	}
	if c.Crowded && !late {
		return errors.New("the shelf is full")
	}
	c.wares[name] = string(content)
	return nil
}

// Touch reports whether there is such content.
func (c *Cupboard) Touch(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.wares[name]
	return ok
}

// Full reports whether it refuses what is not late.
func (c *Cupboard) Full() bool { return c.Crowded }

// Get returns the content of a name.
func (c *Cupboard) Get(name string) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, ok := c.wares[name]
	if !ok {
		return nil, fmt.Errorf("cannot find artifact %s", name)
	}
	return []byte(s), nil
}

// Contents returns all that lies in it.
func (c *Cupboard) Contents() (list []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.wares {
		list = append(list, s)
	}
	return list
}

// Clear loses all that lies in it.
func (c *Cupboard) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.wares)
}
