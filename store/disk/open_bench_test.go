package disk

import (
	"fmt"
	"path/filepath"
	"testing"

	"epitome/store/storetest"
)

// BenchmarkOpen opens and closes a store with 20 MB in it, all of whose tables are verified, and an empty one.
func BenchmarkOpen(b *testing.B) {
	f := func(b *testing.B, facts int) {
		o := Options{Folder: filepath.Join(b.TempDir(), "store"), Free: plenty}
		for i := -1; b.Loop(); i++ {
			d, err := Open(o)
			if err != nil {
				b.Fatal(err)
			}
			for n := range facts {
				if i >= 0 {
					break
				}
				if _, err := d.Put(fmt.Sprint(n), []byte(expected(fmt.Sprint(n))), storetest.Month); err != nil {
					b.Fatal(err)
				}
			}
			if err := d.Close(); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("empty", func(b *testing.B) { f(b, 0) })
	b.Run("20MB", func(b *testing.B) { f(b, 10_000) })
}
