package bucket

import (
	"fmt"
	"slices"
	"testing"
)

// TestAllContentsAreListed: those of this place alone, over several pages.
func TestAllContentsAreListed(t *testing.T) {
	s := served(t)
	b, far := s.open(), s.open(func(o *Options) { o.Address.Prefix = "elsewhere/" })
	if names, err := b.Names(); err != nil || len(names) != 0 {
		t.Fatalf("before anything was put: %q, %v", names, err)
	}
	const pages = 1100 // more than one page has
	var want []string
	for i := range pages {
		n := fmt.Sprintf("%026d", i)
		want = append(want, n)
		if err := b.put(b.key(n), []byte("x"), nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.Secret(); err != nil {
		t.Fatal(err)
	}
	if err := far.Write(other, []byte("content")); err != nil {
		t.Fatal(err)
	}
	got, err := b.Names()
	slices.Sort(got)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%d names, %v", len(got), err)
	}
	s.status.Store(403)
	if _, err := b.Names(); err == nil {
		t.Error("a list that is refused is empty")
	}
}

func TestASecretIsOfferedOnce(t *testing.T) {
	s := served(t)
	first := []byte("0123456789abcdef0123456789abcdef")
	for _, offered := range [][]byte{first, []byte("fedcba9876543210fedcba9876543210")} {
		if err := s.open().Offer(offered); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := s.open().Secret(); err != nil || string(got) != string(first) {
		t.Errorf("the secret is %q, %v", got, err)
	}
}
