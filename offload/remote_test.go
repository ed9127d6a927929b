package offload

import (
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"epitome/offload/bucket"
)

// faulty is S3 in this process that can be made to fail.
type faulty struct {
	url    string
	failed atomic.Bool
	asked  atomic.Int64
}

func serveBucket(t *testing.T) *faulty {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", "id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	backend := s3mem.New()
	if err := backend.CreateBucket("team"); err != nil {
		t.Fatal(err)
	}
	fake, f := gofakes3.New(backend).Server(), &faulty{}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f.asked.Add(1); f.failed.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		fake.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	f.url = web.URL
	return f
}

// shelf is that of one of several epitomes, with nothing else in common.
func (f *faulty) shelf(t *testing.T) *Shelf {
	t.Helper()
	a, err := bucket.Parse("s3://team/p?region=us-east-1&path_style=true&endpoint=" + url.QueryEscape(f.url))
	if err != nil {
		t.Fatal(err)
	}
	b, err := bucket.Open(bucket.Options{Address: a, Keep: Lifetime(time.Hour), Timeout: time.Minute, Now: time.Now,
		Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return opened(t, Options{Bucket: b, Keep: time.Hour, Address: "path", URL: "https://epitome.example.com/-/artifacts"})
}

func TestShelvesOverOneBucketShareContentsAndNames(t *testing.T) {
	f := serveBucket(t)
	a, b := f.shelf(t), f.shelf(t)
	name := put(t, a, "one content")
	if b.Name("s", []byte("x")) != a.Name("s", []byte("x")) || b.NameOf("k", "x") != a.NameOf("k", "x") {
		t.Fatal("they give other names")
	}
	has(t, b, name, "one content")
	if !b.Touch(name) || b.Touch(strings.Repeat("a", 26)) {
		t.Error("the other one does not know what is there")
	}
	before := f.asked.Load()
	for range 10 {
		if put(t, b, "one content") != name || !b.Touch(name) {
			t.Error("it is gone")
		}
	}
	if n := f.asked.Load() - before; n != 0 {
		t.Errorf("what is known costs %d requests", n)
	}
	if got := a.Address(name); got != "https://epitome.example.com/-/artifacts/"+name {
		t.Errorf("a stub names %q", got)
	}
	if n, bytes, err := a.Sweep(t.Context()); n != 0 || bytes != 0 || err != nil || a.Full() {
		t.Errorf("a sweep took %d contents, %d bytes, %v; full %v", n, bytes, err, a.Full())
	}
	has(t, a, name, "one content")
	unknown(t, a, strings.Repeat("b", 26))
}

// While the bucket is away nothing is taken out that could wait, and nothing that was taken out counts as lost.
func TestBucketThatIsAwayIsAFullShelf(t *testing.T) {
	f := serveBucket(t)
	s, late := f.shelf(t), f.shelf(t)
	name := put(t, s, "one content")
	f.failed.Store(true)
	for i := range 4 {
		if err := late.PutBeyond(late.Name("s", []byte{byte(i)}), []byte{byte(i)}); err == nil {
			t.Error("it says that it was put")
		}
	}
	if !late.Full() || !late.Touch(name) {
		t.Errorf("full %v; what was put counts as there: %v", late.Full(), late.Touch(name))
	}
	if _, err := late.Get(name); err == nil || errors.Is(err, ErrUnknown) {
		t.Errorf("what cannot be read is %v", err)
	}
	f.failed.Store(false)
	for deadline := time.Now().Add(time.Minute); late.Full(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it stays full")
		}
	}
	has(t, late, name, "one content")
}
