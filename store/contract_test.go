package store_test

import (
	"log/slog"
	"path/filepath"
	"testing"

	"epitome/store"
	"epitome/store/storetest"
)

func TestBadgerKeepsTheContract(t *testing.T) {
	storetest.Test(t, func(t testing.TB) store.Store {
		b, err := store.OpenBadger(filepath.Join(t.TempDir(), "store"), slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		return b
	})
}
