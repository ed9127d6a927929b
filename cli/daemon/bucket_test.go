package daemon

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"epitome/config"
	"epitome/config/configtest"
	"epitome/internal/fakeapi"
)

// s3 is a service with the bucket "team" that can be made to fail. Hooks see each request first.
func s3(t *testing.T, hooks ...func(*http.Request)) (address string, fails *atomic.Bool) {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", "id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "planted-of-s3")
	backend, fails := s3mem.New(), new(atomic.Bool)
	if err := backend.CreateBucket("team"); err != nil {
		t.Fatal(err)
	}
	fake := gofakes3.New(backend).Server()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, hook := range hooks {
			hook(r)
		}
		if fails.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		fake.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	return "s3://team/p?region=us-east-1&path_style=true&endpoint=" + url.QueryEscape(web.URL), fails
}

// keepIn is an epitome with artifacts in a bucket, and a data folder of its own.
func keepIn(t *testing.T, bucket, upstream string) (*kept, error) {
	t.Helper()
	conf, err := config.Load(configtest.Text(), fileWith(t, "[window]\nprobe = false\n[offload]\nbucket = \""+bucket+"\"\n"),
		config.Overrides{Listen: "127.0.0.1:0", Data: t.TempDir(), Upstream: upstream})
	if err != nil {
		t.Fatal(err)
	}
	return serve(conf)
}

// TestArtifactsLieInTheBucket: where another epitome finds them; while the bucket is away, conversations go on as they
// came, and no text names what was not put.
func TestArtifactsLieInTheBucket(t *testing.T) {
	var p teamsProvider
	up := httptest.NewServer(&p)
	defer up.Close()
	at, fails := s3(t)
	one, err := keepIn(t, at, up.URL)
	if err != nil {
		t.Fatal(err)
	}
	other, err := keepIn(t, at, up.URL)
	if err != nil {
		t.Fatal(err)
	}
	send := func(body string) string {
		t.Helper()
		resp, err := http.Post("http://"+one.Address()+"/v1/chat/completions", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.bodies[len(p.bodies)-1]
	}
	body := string(fakeapi.Conversation(2))
	sent := send(body)
	name := regexp.MustCompile(`/-/artifacts/([a-z2-7]{26})`).FindStringSubmatch(sent)
	if name == nil {
		t.Fatalf("no text names an artifact: %.300s", sent)
	}
	if got := other.read(t, name[0]); !strings.Contains(got, plantedResult) {
		t.Errorf("the other one has %.100q", got)
	}
	fails.Store(true)
	fresh := strings.Replace(body, "Look at the tables.", "Look at other tables.", 1)
	for k := range 5 { // some find out
		fresh = strings.Replace(fresh, "table_1: value", "table_1: other", 1+k)
		if got := send(fresh); got != fresh {
			t.Errorf("while the bucket is away %.300s is sent", got)
		}
	}
	resp, err := http.Get("http://" + one.Address() + "/-/ready")
	if err != nil {
		t.Fatal(err)
	}
	ready, _ := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if got := strings.TrimSpace(string(ready)); resp.StatusCode != 200 || got != `{"bucket":"away","status":"ready"}` {
		t.Errorf("while the bucket is away it is ready so: %d %s", resp.StatusCode, got)
	}
	if one.storage.keeps() {
		t.Error("what is taken out is said to be kept")
	}
	if again := send(body); again != sent {
		t.Errorf("a known conversation is sent as %.300s", again)
	}
	if _, err := keepIn(t, at, up.URL); err == nil || !strings.Contains(err.Error(), "offload.secret_file") {
		t.Errorf("without the secret it starts: %v", err)
	}
	one.end(t)
	other.end(t)
	if log := one.log.text(); strings.Count(log, "the bucket of artifacts does not answer: nothing") != 1 ||
		strings.Contains(log, "planted-of-s3") {
		t.Errorf("the log says %s", log)
	}
}

// A turn with many artifacts waits about as long as one with one: four are asked for before any is answered.
func TestABucketIsAskedForManyContentsAtOnce(t *testing.T) {
	const many = 4
	var mu sync.Mutex
	under, all := 0, make(chan struct{})
	at, _ := s3(t, func(r *http.Request) {
		if !strings.Contains(r.URL.Path, ".txt") {
			return
		}
		mu.Lock()
		if under++; under == many {
			close(all)
		}
		mu.Unlock()
		select {
		case <-all:
		case <-r.Context().Done(): // one after another, none is answered in time
		}
	})
	k := startedIn(t, t.TempDir(), io.Discard, func(c *config.Config) { c.Offload.Bucket = at })
	defer k.giveBack()
	out := k.live.Shape(askedFor(many))
	if out.Report.Err != nil || out.Report.Offloaded < many || under < many {
		t.Errorf("%d were asked for: %+v", under, out.Report)
	}
}

// A bucket that takes nothing, as without the right to write, is told from the start on, though it answers who reads.
func TestABucketThatTakesNothingIsToldAtTheStart(t *testing.T) {
	var p teamsProvider
	up := httptest.NewServer(&p)
	defer up.Close()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		w.WriteHeader(http.StatusNotFound)
	}))
	defer web.Close()
	t.Setenv("AWS_ACCESS_KEY_ID", "id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "planted-of-s3")
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte(strings.Repeat("5e", 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	at := "s3://team/p?region=us-east-1&path_style=true&endpoint=" + url.QueryEscape(web.URL)
	one, err := keepIn(t, at+"\"\nsecret_file = \""+secret, up.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer one.end(t)
	deadline := time.Now().Add(time.Minute)
	for ; one.storage.parts()["bucket"] != "refuses"; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it is told as %v, and the log says %s", one.storage.parts(), one.log.text())
		}
	}
	if told := one.storage.parts(); one.storage.keeps() {
		t.Errorf("a reader of figures is told %q", told)
	}
}
