// Package lessons has what use shows of models lie in the store: how much they hold, and how they count.
//
// It promises to change nothing of that: what a lesson is, and what it is worth, is known where it is learned.
package lessons

import (
	"time"

	"epitome/proxy"
	"epitome/store"
	"epitome/tokenize"
)

// OfStore keeps in the store what use has shown of windows and ratios.
type OfStore struct{ store.Store }

// Get returns what stands under the key.
func (k OfStore) Get(key string) (value []byte, found bool) {
	fact, found := k.Store.Get(key)
	return fact.Bytes, found
}

// Put sets what stands under the key.
func (k OfStore) Put(key string, value []byte, keep time.Duration) error {
	_, err := k.Store.Put(key, value, keep)
	return err
}

// Taught takes what the proxy hears of how models count.
type Taught struct{ Ratios *tokenize.Ratios }

// Learn takes in how many tokens a request was counted as, and how many its provider says that it used.
func (t Taught) Learn(s proxy.RatioSource, counted, used int) {
	t.Ratios.Learn(tokenize.Source(s), counted, used)
}

// Forget drops what is known of a source.
func (t Taught) Forget(s proxy.RatioSource) { t.Ratios.Forget(tokenize.Source(s)) }
