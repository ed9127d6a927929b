package main

import (
	"sync/atomic"
	"time"

	"epitome/offload"
	"epitome/rewrite"
	"epitome/store"
	"epitome/tokenize"
	"epitome/window"
)

// shelf is the shelf of artifacts as rewriting sees it.
type shelf struct{ *offload.Shelf }

// Put keeps content; late may use up to twice the quota.
func (s shelf) Put(name string, content []byte, late bool) error {
	if late {
		return s.PutBeyond(name, content)
	}
	return s.Shelf.Put(name, content)
}

// memoEntries bounds the memory for counts of texts to some 17 MB: the texts of a few hundred long conversations.
const memoEntries = 1 << 18

// means are what shaping needs, over a store and a shelf.
func means(s store.Store, artifacts *offload.Shelf, windows *atomic.Pointer[window.Windows], keep time.Duration) rewrite.Deps {
	return rewrite.Deps{
		Ledger: newLedger(s, keep), Shelf: shelf{artifacts},
		Counters: &tokenize.Counters{}, Models: tokenize.NewModels(), Memo: tokenize.NewMemo(memoEntries),
		Window: func(upstream, model string, maxOutput int) (tokens, usable int) {
			w := windows.Load().Of(upstream, model)
			return w.Tokens, window.Usable(w.Tokens, maxOutput)
		},
	}
}

// lessonKeeper keeps in the store what use has shown of windows and ratios.
type lessonKeeper struct{ store.Store }

// Get returns what stands under the key.
func (k lessonKeeper) Get(key string) (value []byte, found bool) {
	fact, found := k.Store.Get(key)
	return fact.Bytes, found
}

// Put sets what stands under the key.
func (k lessonKeeper) Put(key string, value []byte, keep time.Duration) error {
	_, err := k.Store.Put(key, value, keep)
	return err
}
