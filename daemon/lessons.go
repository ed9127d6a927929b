package daemon

import (
	"time"

	"epitome/proxy"
	"epitome/store"
	"epitome/tokenize"
)

// lessonStore keeps in the store what use has shown of windows and ratios.
type lessonStore struct{ store.Store }

// Get returns what stands under the key.
func (k lessonStore) Get(key string) (value []byte, found bool) {
	fact, found := k.Store.Get(key)
	return fact.Bytes, found
}

// Put sets what stands under the key.
func (k lessonStore) Put(key string, value []byte, keep time.Duration) error {
	_, err := k.Store.Put(key, value, keep)
	return err
}

// taught takes what the proxy hears of how models count.
type taught struct{ Ratios *tokenize.Ratios }

// Learn takes in how many tokens a request was counted as, and how many its provider says that it used.
func (t taught) Learn(s proxy.RatioSource, counted, used int) {
	t.Ratios.Learn(tokenize.Source(s), counted, used)
}

// Forget drops what is known of a source.
func (t taught) Forget(s proxy.RatioSource) { t.Ratios.Forget(tokenize.Source(s)) }
