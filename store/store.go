// Package store is the contract of facts by key: put loudly, put if absent, get softly. The stores themselves are in
// packages below it: disk, memory; storetest holds each of them to what is promised here.
//
// A Store promises: what a write acknowledged survives the death of this process byte for byte, until it expires or is
// deleted; what is read is what was written under that very key, or it is not found. A fact carries a version, and all
// changes of one key happen one after another, so of two writers that put the same key if absent, one wins and both
// hold the winner's value. A failed read is never an error for the reader: whatever cannot be read is not found. A
// failed write is always an error. No method panics, whatever state the store is in, and all may be called at the same
// time, after Close too.
//
// It assumes: a value is small (MaxValue; large content belongs to files), and clocks run about like the wall clock.
//
// It does not promise that a fact lives to the end of its keep: damage, or a limit on what is kept, may take it
// earlier. What else a store does not promise, or promises less, its package says.
package store

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

const (
	// MaxValue is the largest value in bytes. It leaves room for what a store on disk keeps with each value, its key
	// included, within one megabyte for all of it.
	MaxValue = 1<<20 - 2<<10

	// MaxKey is the longest key in bytes.
	MaxKey = 1024
)

var (
	// ErrInUse says that another process, or another store of this one, holds the folder.
	ErrInUse = errors.New("the store is in use by another process")

	// ErrNoSpace says that a write was refused because too little of the disk, or of a limit in memory, is free.
	ErrNoSpace = errors.New("too little free space")

	// ErrTooLarge says that a value is longer than MaxValue.
	ErrTooLarge = errors.New("the value is too large for the store")

	// ErrClosed says that the store was closed before.
	ErrClosed = errors.New("the store is closed")
)

// Fact is a value with its version.
type Fact struct {
	Bytes   []byte // belongs to whoever received it
	Version uint64 // another one for another value; 0 is no fact at all. What else it says, the store's package tells
}

// Store is what every store does.
//
// Keys are not empty and at most MaxKey bytes. keep is how long a fact lives from now; it must be positive, and counts
// as a hundred years if it is longer. No method keeps a value it was given, and what is returned belongs to the caller.
type Store interface {
	// Get returns the fact under key. An expired fact is not found, nor is one that cannot be read for any reason.
	Get(key string) (fact Fact, found bool)

	// Put sets the value under key, whatever was there, and returns its version.
	Put(key string, value []byte, keep time.Duration) (version uint64, err error)

	// PutIfAbsent sets the value under key if there is none. standing is the fact that is there afterwards: the
	// caller's own if won, else the earlier one. A damaged value counts as absent.
	PutIfAbsent(key string, value []byte, keep time.Duration) (standing Fact, won bool, err error)

	// CompareAndSwap sets the value under key if the fact there has the version old; old = 0 wants it absent.
	// standing is the fact that is there afterwards, the zero Fact if none.
	CompareAndSwap(key string, old uint64, value []byte, keep time.Duration) (standing Fact, swapped bool, err error)

	// Delete takes the fact away. Deleting what is not there is no error.
	Delete(key string) error

	// Scan calls visit with every fact whose key begins with prefix, in the order of keys, until visit returns false.
	// visit may use the store; whether it sees what changes meanwhile is open.
	Scan(prefix string, visit func(key string, fact Fact) bool) error

	// Touch lets the fact under key live for keep from now, if that is longer than it has; value and version stay.
	// Up to a sixteenth of keep may be missing, so that a fact that is touched often is rarely written.
	Touch(key string, keep time.Duration) (found bool, err error)

	// Sync returns when everything acknowledged before would survive a power failure.
	Sync() error

	// Close ends the store. Afterwards nothing is found and every change returns ErrClosed; a second Close does
	// nothing.
	Close() error
}

// Check says why a fact cannot be put.
func Check(key string, value []byte, keep time.Duration) error {
	if err := CheckKey(key); err != nil {
		return err
	}
	if len(value) > MaxValue {
		return fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, len(value), MaxValue)
	}
	if keep <= 0 {
		return fmt.Errorf("it is to be kept for %v; want a time above 0", keep)
	}
	return nil
}

// CheckKey says why nothing can be put under a key.
func CheckKey(key string) error {
	if key == "" || len(key) > MaxKey {
		return fmt.Errorf("the key has %d bytes; want 1 to %d", len(key), MaxKey)
	}
	return nil
}

// Shown is the key as errors name it. It keeps errors short, whatever the key: of a hash it is the beginning, in
// hexadecimal digits.
func Shown(key string) string {
	if strings.ContainsFunc(key, func(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }) {
		return hex.EncodeToString([]byte(key[:min(len(key), 8)])) + "…"
	}
	return key[:min(len(key), MaxKey)]
}

// Getter is what facts are read from.
type Getter interface {
	Get(key string) (fact Fact, found bool)
}

// finder is a store that tells what it does not have from what it cannot be asked for, as one that others share does.
type finder interface {
	Find(key string) (fact Fact, found bool, err error)
}

// Find returns the fact under key. An error says that it is not known whether there is one; a store that cannot tell
// has none then.
func Find(s Getter, key string) (fact Fact, found bool, err error) {
	if f, tells := s.(finder); tells {
		return f.Find(key)
	}
	fact, found = s.Get(key)
	return fact, found, nil
}
