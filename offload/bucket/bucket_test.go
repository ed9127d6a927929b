package bucket

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

const (
	patience = time.Minute
	month    = 30 * 24 * time.Hour
	name     = "abcdefghijklmnopqrstuvwxyz"
	other    = "bbcdefghijklmnopqrstuvwxyz"
)

// fake is S3 in this process, with a clock of its own and faults on demand.
type fake struct {
	t       *testing.T
	url     string
	nanos   atomic.Int64 // its clock, and that of buckets opened with it
	asked   atomic.Int64 // requests
	status  atomic.Int64 // of every answer instead; 0: none
	full    atomic.Int64 // status of the answer to what is put instead; 0: none
	frozen  atomic.Bool  // nothing is answered
	log     lockedLog
	release chan struct{}
}

// lockedLog keeps lines of a log.
type lockedLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lockedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lockedLog) count(what string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), what)
}

// Now is the time of the service.
func (s *fake) Now() time.Time { return time.Unix(0, s.nanos.Load()).UTC() }

// Since is how long ago a time was.
func (s *fake) Since(t time.Time) time.Duration { return s.Now().Sub(t) }

func served(t *testing.T) *fake {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", "id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "planted-secret-of-s3")
	s := &fake{t: t, release: make(chan struct{})}
	s.nanos.Store(time.Now().UnixNano())
	backend := s3mem.New(s3mem.WithTimeSource(s))
	if err := backend.CreateBucket("team"); err != nil {
		t.Fatal(err)
	}
	inner := gofakes3.New(backend, gofakes3.WithTimeSource(s), gofakes3.WithTimeSkewLimit(0)).Server()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.asked.Add(1)
		if s.frozen.Load() {
			select {
			case <-r.Context().Done():
			case <-s.release:
			}
			return
		}
		if status := s.status.Load(); status != 0 {
			w.WriteHeader(int(status))
			return
		}
		if status := s.full.Load(); status != 0 && r.Method == http.MethodPut {
			w.WriteHeader(int(status))
			return
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	t.Cleanup(func() { close(s.release) })
	s.url = web.URL
	return s
}

// open returns the bucket team of the service.
func (s *fake) open(change ...func(*Options)) *Bucket {
	s.t.Helper()
	a, err := Parse("s3://team/shelf?region=us-east-1&path_style=true&endpoint=" + url.QueryEscape(s.url))
	if err != nil {
		s.t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(&s.log, nil))
	o := Options{Address: a, Keep: month, Timeout: patience, Now: s.Now, Log: log}
	for _, f := range change {
		f(&o)
	}
	b, err := Open(o)
	if err != nil {
		s.t.Fatal(err)
	}
	b.health.every = time.Millisecond
	b.writes.every = time.Millisecond
	s.t.Cleanup(b.Close)
	return b
}

func (s *fake) eventually(what string, ok func() bool) {
	s.t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("never: %s", what)
		}
	}
}

func TestContentComesBackFromAnotherEpitome(t *testing.T) {
	s := served(t)
	for _, content := range []string{"x", "short", strings.Repeat("long \x00\xff", 300_000)} {
		a := s.open(func(o *Options) { o.Address.Prefix = fmt.Sprintf("p%d/", len(content)) })
		b := s.open(func(o *Options) { o.Address.Prefix = fmt.Sprintf("p%d/", len(content)) })
		if _, err := b.Look(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("before it was put: %v", err)
		}
		if err := a.Write(name, []byte(content)); err != nil {
			t.Fatal(err)
		}
		s.nanos.Add(int64(2 * absentFor)) // for so long it is believed that there is none
		got, err := b.Read(name)
		there, looked := b.Look(name)
		if string(got) != content || err != nil || looked != nil || there.Size != int64(len(content)) {
			t.Errorf("got %d bytes (%v), looks like %+v (%v), want %d", len(got), err, there, looked, len(content))
		}
		if left := there.Until.Sub(s.Now()); left < month-time.Minute || left > month+time.Minute {
			t.Errorf("it lives for %v, want %v", left, month)
		}
	}
}

func TestWhatOthersHaveChangedIsNoArtifact(t *testing.T) {
	s := served(t)
	b := s.open()
	raw := func(content string, beside map[string]string) {
		t.Helper()
		if err := b.put(b.key(name), []byte(content), beside, false); err != nil {
			t.Fatal(err)
		}
		b.known.forget(name)
	}
	if err := b.Write(name, []byte("as it was put")); err != nil {
		t.Fatal(err)
	}
	there, _ := b.Look(name)
	meta := map[string]string{sumKey: hex.EncodeToString(there.Sum[:]), sizeKey: "13"}
	for content, meta := range map[string]map[string]string{
		"as it is now!": meta, "as it was put, and more": meta, "a": meta, "none of ours": nil,
	} {
		raw(content, meta)
		if got, err := b.Read(name); !errors.Is(err, fs.ErrNotExist) || got != nil {
			t.Errorf("%q: got %q, %v", content, got, err)
		}
	}
	if b.Away() {
		t.Error("a changed object counts as an outage")
	}
}

func TestWhatIsWantedIsWrittenAgain(t *testing.T) {
	s := served(t)
	b := s.open()
	if err := b.Write(name, []byte("x")); err != nil {
		t.Fatal(err)
	}
	until := func() time.Time {
		t.Helper()
		b.known.forget(name)
		there, err := b.Look(name)
		if err != nil {
			t.Fatal(err)
		}
		return there.Until
	}
	first := until()
	s.nanos.Add(int64(month / 4)) // young enough to do it beside
	if err := b.Renew(name); err != nil {
		t.Fatal(err)
	}
	s.eventually("it was written again", func() bool { return until().After(first) })
	second := until()
	s.nanos.Add(int64(month * 3 / 4))
	if err := b.Renew(name); err != nil || !until().After(second) {
		t.Errorf("an old one is not written again at once: %v", err)
	}
	if err := b.Renew(other); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what is gone: %v", err)
	}
}

// Of several that begin at once, all have the same secret.
func TestSecretIsOne(t *testing.T) {
	s := served(t)
	var all [8]string
	var wg sync.WaitGroup
	for i := range all {
		b := s.open()
		wg.Go(func() {
			secret, err := b.Secret()
			if err != nil || len(secret) != secretSize {
				t.Errorf("%d bytes, %v", len(secret), err)
			}
			all[i] = string(secret)
		})
	}
	wg.Wait()
	for _, secret := range all {
		if secret != all[0] {
			t.Error("two secrets")
		}
	}
	own := s.open(func(o *Options) { o.Secret = []byte("given") })
	if secret, err := own.Secret(); string(secret) != "given" || err != nil {
		t.Errorf("the secret that was given is %q, %v", secret, err)
	}
}

// A service that fails costs a few requests, one that freezes one, and then nothing until it is back.
func TestServiceThatIsAwayCostsNothing(t *testing.T) {
	for what, fault := range map[string]func(s *fake){
		"fails":   func(s *fake) { s.status.Store(503) },
		"refuses": func(s *fake) { s.status.Store(403) },
		"freezes": func(s *fake) { s.frozen.Store(true) },
	} {
		t.Run(what, func(t *testing.T) {
			s := served(t)
			b := s.open()
			b.health.every = time.Hour // nobody looks meanwhile
			if err := b.Write(name, []byte("x")); err != nil {
				t.Fatal(err)
			}
			if what == "freezes" { // what works may take longer than that
				b.o.Timeout = 200 * time.Millisecond
			}
			fault(s)
			for range mostFailures {
				if err := b.Write(other, []byte("y")); err == nil {
					t.Error("it was written")
				}
			}
			if !b.Away() {
				t.Fatal("it is not away")
			}
			before := s.asked.Load()
			for range 10 {
				_, looked := b.Look(other)
				if err := b.Write(other, []byte("y")); !errors.Is(err, errAway) || !errors.Is(looked, errAway) {
					t.Errorf("got %v and %v", err, looked)
				}
			}
			if _, err := b.Look(name); err != nil || s.asked.Load() != before {
				t.Errorf("%d requests, and what is known: %v", s.asked.Load()-before, err)
			}
			if n := s.log.count("cannot be reached"); n != 1 || s.log.count("planted-secret") > 0 {
				t.Errorf("the log has %d lines: %s", n, s.log.text.String())
			}
		})
	}
}

func TestServiceThatIsBackIsUsedAgain(t *testing.T) {
	s := served(t)
	b := s.open()
	s.status.Store(500)
	for range mostFailures {
		_ = b.Write(name, []byte("x"))
	}
	if !b.Away() {
		t.Fatal("it is not away")
	}
	s.status.Store(0)
	s.eventually("it is back", func() bool { return !b.Away() })
	s.eventually("that is told", func() bool { return s.log.count("can be reached again") == 1 })
	if err := b.Write(name, []byte("x")); err != nil {
		t.Error(err)
	}
}

// A start tells what is wrong before a conversation has shown it, and what to do.
func TestStartTellsWhatIsWrong(t *testing.T) {
	for what, c := range map[string]struct {
		fault func(s *fake, o *Options)
		says  string
		away  bool
	}{
		"no bucket":   {func(_ *fake, o *Options) { o.Address.Bucket = "none" }, "make the bucket", true},
		"no right":    {func(s *fake, _ *Options) { s.status.Store(403) }, "s3:GetObject", true},
		"only reads":  {func(s *fake, _ *Options) { s.full.Store(403) }, "s3:PutObject", false},
		"full":        {func(s *fake, _ *Options) { s.full.Store(507) }, "may be full", false},
		"other place": {func(s *fake, _ *Options) { s.status.Store(301) }, "region", true},
	} {
		t.Run(what, func(t *testing.T) {
			s := served(t)
			b := s.open(func(o *Options) { c.fault(s, o) })
			Probe(b)
			s.eventually("it is told", func() bool { return s.log.count(c.says) == 1 })
			if b.Away() != c.away || b.Refuses() == c.away {
				t.Errorf("away: %v, refuses: %v", b.Away(), b.Refuses())
			}
		})
	}
	s := served(t)
	b := s.open()
	Probe(b)
	s.eventually("it has looked", func() bool { return s.asked.Load() == 2 })
	b.Close()
	if b.Away() || b.Refuses() || s.log.count("bucket") > 0 {
		t.Errorf("nothing is wrong, and it says %s", s.log.text.String())
	}
}

func TestAddressesAreRead(t *testing.T) {
	f := func(text string, want Address) {
		t.Helper()
		if got, err := Parse(text); got != want || err != nil {
			t.Errorf("%s: got %+v, %v; want %+v", text, got, err, want)
		}
	}
	f("s3://b", Address{Bucket: "b", Secure: true})
	f("s3://b/p/q/?region=eu-west-1", Address{Bucket: "b", Prefix: "p/q/", Secure: true, Region: "eu-west-1"})
	f("s3://b/p?endpoint=http://h:9000&path_style=true", Address{Bucket: "b", Prefix: "p/", Endpoint: "h:9000", PathStyle: true})
	f("s3://b?endpoint=https%3A%2F%2Fh%2F", Address{Bucket: "b", Endpoint: "h", Secure: true})
	for _, bad := range []string{"", "b", "http://b", "s3://", "s3://id:planted@b", "s3://b?endpoint=h:9000", "s3://b?endpoint=http://h/x",
		"s3://b?path_style=planted", "s3://b?planted=1", "s3://b#planted", "s3://b?endpoint=http://planted:x@h", "s3://b?%zz"} {
		if got, err := Parse(bad); err == nil || strings.Contains(err.Error(), "planted") {
			t.Errorf("%s: got %+v, %v", bad, got, err)
		}
	}
}

func TestWithoutCredentialNothingIsSent(t *testing.T) {
	s := served(t)
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(t.TempDir(), "absent"))
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	err := s.open().Write(name, []byte("x"))
	if err == nil || !strings.Contains(err.Error(), "set AWS_ACCESS_KEY_ID") || s.asked.Load() > 0 {
		t.Errorf("%d requests, error %v", s.asked.Load(), err)
	}
}
