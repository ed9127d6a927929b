package ledger

import (
	"bytes"
	"time"

	"epitome/store"
)

// overlay reads from the embedded store, else from the one below, and writes to the embedded one.
type overlay struct {
	store.Store
	below store.Store
}

func (o overlay) Get(key string) (value []byte, found bool, err error) {
	if value, found, err = o.Store.Get(key); found || err != nil {
		return value, found, err
	}
	return o.below.Get(key)
}

func (o overlay) GetMany(keys []string) ([][]byte, error) {
	values, err := o.below.GetMany(keys)
	for i := range values {
		if own, found, _ := o.Store.Get(keys[i]); found {
			values[i] = own
		}
	}
	return values, err
}

func (o overlay) Swap(key string, old, value []byte, keep time.Duration) ([]byte, error) {
	there, _, err := o.Get(key)
	if err != nil || !bytes.Equal(there, old) {
		return there, err
	}
	own, _, _ := o.Store.Get(key)
	return o.Store.Swap(key, own, value, keep)
}
