package offload

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"epitome/internal/fakeapi"
	"epitome/store"
)

// s3 is the service in this process. It can be made to fail.
type s3 struct {
	testing.TB
	address string
	fails   atomic.Bool // nothing is answered but 503
	full    atomic.Bool // writes are refused
	frozen  atomic.Bool // nothing is answered
	log     fakeapi.Log
}

func (s *s3) logged(text string) int {
	return strings.Count(s.log.String(), text)
}

func serveS3(t testing.TB) *s3 {
	s := &s3{TB: t}
	s.address = fakeapi.StartS3(t, func(w http.ResponseWriter, r *http.Request) bool {
		switch {
		case s.frozen.Load():
			_, _ = io.Copy(io.Discard, r.Body) // else the server does not notice that the client has left
			<-r.Context().Done()
		case s.fails.Load():
			w.WriteHeader(http.StatusServiceUnavailable)
		case s.full.Load() && r.Method == http.MethodPut:
			w.WriteHeader(http.StatusForbidden)
		default:
			return false
		}
		return true
	})
	return s
}

// open returns a shelf in the bucket, as one of several epitomes has it.
func (s *s3) open(o Options) *Shelf {
	s.Helper()
	o.Log = slog.New(slog.NewTextHandler(&s.log, nil))
	shelf, err := OpenBucket(s.address, o)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(shelf.Close)
	return shelf
}

func (s *s3) eventually(what string, is func() bool) {
	s.Helper()
	if !fakeapi.Eventually(is) {
		s.Fatalf("never: %s", what)
	}
}

func TestShelvesOverOneBucketShareContentsAndNames(t *testing.T) {
	s := serveS3(t)
	o := options()
	o.Quota, o.URL = 0, "https://epitome.example.com/-/artifacts/"
	var shelves [4]*Shelf
	var all sync.WaitGroup
	for i := range shelves { // they make the secret at once
		all.Go(func() { shelves[i] = s.open(o) })
	}
	all.Wait()
	a, b := shelves[0], shelves[1]
	name := put(t, a, "one content")
	for _, shelf := range shelves {
		if shelf.Name("tests", []byte("one content")) != name {
			t.Fatal("they give other names")
		}
		has(t, shelf, name, "one content")
	}
	if got := b.Address(name); got != "https://epitome.example.com/-/artifacts/"+name {
		t.Errorf("a text names %q", got)
	}
	b.Touch(name)
	if put(t, b, "one content") != name || !b.Touch(name) {
		t.Error("it is gone")
	}
	if swept, err := a.Sweep(t.Context()); swept.Files != 0 || err != nil || a.Full() {
		t.Errorf("%+v, %v, full: %v", swept, err, a.Full())
	}
}

// While the bucket is away nothing is taken out that could wait, and nothing that was taken out counts as lost.
func TestBucketThatIsAwayIsAFullShelf(t *testing.T) {
	s := serveS3(t)
	o := options()
	writer := s.open(o)
	name := put(t, writer, "one content")
	writer.Close() // it would log failures, too
	shelf := s.open(o)
	f := func(broken *atomic.Bool) {
		t.Helper()
		broken.Store(true)
		for i := range 4 {
			if err := shelf.Put(shelf.Name("s", []byte{byte(i)}), []byte{byte(i)}, true); err == nil {
				t.Error("it says that it was put")
			}
		}
		if !shelf.Full() || shelf.Server() != store.Away || !shelf.Touch(name) {
			t.Errorf("full %v, %s; what was put counts as there: %v", shelf.Full(), shelf.Server(), shelf.Touch(name))
		}
		if _, err := shelf.Get(name); err == nil || errors.Is(err, ErrUnknown) {
			t.Errorf("what cannot be read is %v", err)
		}
		broken.Store(false)
		s.eventually("it is back", func() bool { return !shelf.Full() })
		has(t, shelf, name, "one content")
	}
	f(&s.fails)
	f(&s.frozen)
	if s.logged("does not answer") != 2 || s.logged("answers again") != 2 || s.logged("planted") > 0 ||
		s.logged(name) > 0 {
		t.Errorf("the log says %s", s.log.String())
	}
}

// A service that refuses writes, as one that is full does, still gives what it has. It is noticed at the start.
func TestBucketThatRefusesWritesIsRead(t *testing.T) {
	s := serveS3(t)
	o := options()
	name := put(t, s.open(o), "content")
	s.full.Store(true)
	shelf := s.open(o)
	s.eventually("it is noticed", func() bool { return shelf.Server() == store.Refuses })
	for range 10 {
		other := []byte("other")
		if err := shelf.Put(shelf.Name("", other), other, false); err == nil || !strings.Contains(err.Error(), "403") {
			t.Error(err)
		}
	}
	has(t, shelf, name, "content")
	if n := s.logged("refuses requests"); shelf.Full() || n == 0 || n > 2 { // one line for each shelf
		t.Errorf("full: %v, the log says %s", shelf.Full(), s.log.String())
	}
}

func TestBucketAddressesAreChecked(t *testing.T) {
	f := func(address, want string) {
		t.Helper()
		b, err := parseBucket(address)
		text := ""
		if err == nil {
			text = fmt.Sprintf("%s %q %s %v", b.name, b.prefix, b.endpoint, b.options.Secure)
		}
		if text != want {
			t.Errorf("%s is %s, %v; want %s", address, text, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "planted") {
			t.Errorf("the error repeats the address: %v", err)
		}
	}
	t.Setenv("AWS_REGION", "")
	t.Setenv("AWS_DEFAULT_REGION", "eu-west-1")
	f("s3://team", `team "" s3.eu-west-1.amazonaws.com true`)
	f("s3://team/a/b?endpoint=http://localhost:9000&path_style=true", `team "a/b/" localhost:9000 false`)
	for _, bad := range []string{"", "team", "http://team", "s3://", "s3://id:planted@team", "s3://team?key=planted",
		"s3://team?endpoint=planted", "s3://team?path_style=planted"} {
		f(bad, "")
	}
}
