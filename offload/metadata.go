package offload

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"
	"time"

	"epitome/store"
)

const (
	// FactKeys begin the keys of metadata in the store.
	FactKeys = "a/"

	metadataForm = 1 // the first byte; other forms are not read
	metadataSize = 1 + 8 + sha256.Size
)

// catalogue keeps the metadata of artifacts in a store, each under its artifact's name.
type catalogue struct {
	facts Facts
	keep  time.Duration // of each fact; more than Options.Keep, as a touch may leave out a sixteenth
}

// newCatalogue keeps metadata in facts. atLeast is Options.Keep.
func newCatalogue(facts Facts, atLeast time.Duration) catalogue {
	return catalogue{facts, Lifetime(atLeast)}
}

// Lifetime is how long an artifact lives that is to live at least so long after it was touched last.
func Lifetime(atLeast time.Duration) time.Duration {
	keep := min(atLeast, longest)
	return keep + keep/8
}

// find returns the metadata of name, if the store has any that can be read.
func (c catalogue) find(name string) (metadata, bool) {
	fact, found := c.facts.Get(keyOf(name))
	if !found {
		return metadata{}, false
	}
	return decode(fact.Bytes)
}

func (c catalogue) record(name string, m metadata) error {
	_, err := c.facts.Put(keyOf(name), m.encode(), c.keep)
	return ofStore(err)
}

func (c catalogue) touch(name string) (found bool, err error) {
	found, err = c.facts.Touch(keyOf(name), c.keep)
	return found, ofStore(err)
}

func (c catalogue) forget(name string) error { return ofStore(c.facts.Delete(keyOf(name))) }

// visit calls do with each name that has metadata, until do returns false.
func (c catalogue) visit(do func(name string) bool) error {
	return c.facts.Scan(FactKeys, func(key string, _ store.Fact) bool {
		name := strings.TrimPrefix(key, FactKeys)
		return !IsName(name) || do(name)
	})
}

// metadata are what the store knows of an artifact. Their expiry is the artifact's.
type metadata struct {
	size int64 // bytes
	sum  [sha256.Size]byte
}

func keyOf(name string) string { return FactKeys + name }

func (m metadata) encode() []byte {
	out := make([]byte, 0, metadataSize)
	out = append(out, metadataForm)
	out = binary.BigEndian.AppendUint64(out, uint64(m.size))
	return append(out, m.sum[:]...)
}

func decode(stored []byte) (m metadata, ok bool) {
	if len(stored) != metadataSize || stored[0] != metadataForm {
		return metadata{}, false
	}
	m.size = int64(binary.BigEndian.Uint64(stored[1:]))
	copy(m.sum[:], stored[9:])
	return m, m.size >= 0
}
