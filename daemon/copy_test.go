package daemon

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"epitome/config"
	"epitome/config/configtest"
	"epitome/offload"
	"epitome/store/shared/sharedtest"
	"epitome/unit"
)

// place is where a copy may go: a data folder, or what is shared behind it.
type place struct {
	folder string
	conf   config.Config
}

// placeIn is a data folder by itself, or one beside a shared store with a folder of its own for artifacts.
func placeIn(t *testing.T, url string, change func(*config.Config)) place {
	t.Helper()
	p := place{t.TempDir(), config.Defaults(configtest.Text())}
	p.conf.Window.Default, p.conf.Summarize.Mode = 32_000, "intent"
	if p.conf.Store.URL = url; url != "" {
		p.conf.Offload.Folder, p.conf.Store.Timeout = t.TempDir(), unit.Duration(5*time.Second)
	}
	if change != nil {
		change(&p.conf)
	}
	return p
}

// run is an epitome there, until it is closed.
func (p place) run(t *testing.T) *replica {
	return started(t, p.folder, func(c *config.Config) { *c = p.conf })
}

// copied copies all of one place into another.
func copied(t *testing.T, from, to place) Copied {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	a, err := OpenFrom(from.conf, from.folder, log)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b, err := OpenTo(a, to.conf, to.folder, log)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	done, err := Copy(t.Context(), a, b)
	if err != nil || done.Failed > 0 {
		t.Fatal(err, done.Why)
	}
	return done
}

// TestSharedCopyGoesOn: what was sent before is sent in the same bytes where it was copied to, and what is named
// there can be read. To copy again changes nothing.
func TestSharedCopyGoesOn(t *testing.T) {
	server := sharedtest.Start(t)
	folder := func(t *testing.T) place { return placeIn(t, "", nil) }
	common := func(t *testing.T) place { return placeIn(t, server.URL(), nil) }
	bucket := func(t *testing.T) place {
		at, _ := s3(t)
		return placeIn(t, server.URL(), func(c *config.Config) {
			c.Offload.Folder, c.Offload.Bucket, c.Offload.Address = "", at, "url"
			c.Offload.URL = "http://team.example/"
		})
	}
	type end = func(*testing.T) place
	for what, ends := range map[string][2]end{
		"from a folder": {folder, common}, "into a folder": {common, folder}, "into another folder": {folder, folder},
		"from a folder into a bucket": {folder, bucket}, "from a bucket into a folder": {bucket, folder},
	} {
		for _, key := range keys() {
			t.Run(what+" "+key, func(t *testing.T) {
				server.Flush()
				from, to := ends[0](t), ends[1](t)
				before, k, now := from.run(t), newTalk(key, 31), morning()
				var sent []byte
				for range 30 {
					k.goOn()
					now = now.Add(time.Minute)
					out := before.sends(k.dialect, k.body(), now)
					if out.Report.Err != nil {
						t.Fatal(out.Report.Err)
					}
					sent = out.Body
				}
				if bytes.Equal(sent, k.body()) {
					t.Fatal("nothing was decided")
				}
				before.close()
				first := copied(t, from, to)
				if first.Facts == 0 || first.Artifacts == 0 || first.FactsThere+first.ArtifactsThere > 0 {
					t.Errorf("copied %+v", first)
				}
				if from.conf.Store.URL != "" {
					server.Flush() // all that goes on has to be in the folder
				}
				if from.conf.Store.URL == "" {
					want := Copied{FactsThere: first.Facts, ArtifactsThere: first.Artifacts}
					if second := copied(t, from, to); !reflect.DeepEqual(second, want) {
						t.Errorf("copied %+v, and again %+v", first, second)
					}
				}
				after := to.run(t)
				got := after.sends(k.dialect, k.body(), now.Add(time.Minute))
				if got.Report.Err != nil || !bytes.Equal(got.Body, sent) {
					t.Fatalf("the same request is sent in %d bytes, before in %d: %v", len(got.Body), len(sent), got.Report.Err)
				}
				for range 8 {
					k.goOn()
					now = now.Add(time.Minute)
					got = after.sends(k.dialect, k.body(), now)
					if got.Report.Err != nil {
						t.Fatalf("it does not go on: %+v", got.Report)
					}
				}
				wantReadable(t, after, sent)
			})
		}
	}
}

// wantReadable reads all artifacts that a request names.
func wantReadable(t *testing.T, r *replica, body []byte) {
	t.Helper()
	seen := map[string]bool{}
	for _, word := range strings.FieldsFunc(string(body), func(c rune) bool {
		return !('a' <= c && c <= 'z' || '2' <= c && c <= '7')
	}) {
		if offload.IsName(word) && !seen[word] {
			seen[word] = true
			if _, err := r.storage.shelf.Get(word); err != nil {
				t.Errorf("artifact %s: %v", word, err)
			}
		}
	}
	if len(seen) == 0 {
		t.Error("no artifact is named")
	}
}

// TestCopiesOfOtherSecretsAreRefused: nothing would be found under the names that are asked for.
func TestCopiesOfOtherSecretsAreRefused(t *testing.T) {
	t.Parallel()
	from, to := placeIn(t, "", nil), placeIn(t, "", nil)
	for _, p := range []place{from, to} {
		p.run(t).close()
	}
	log := slog.New(slog.DiscardHandler)
	a, err := OpenFrom(from.conf, from.folder, log)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = OpenTo(a, to.conf, to.folder, log); err == nil || !strings.Contains(err.Error(), "different secrets") {
		t.Errorf("%v", err)
	}
	a.Close()
	if _, err = OpenFrom(from.conf, filepath.Join(t.TempDir(), "nothing"), log); err == nil {
		t.Error("a folder that is not there is copied from")
	}
	held := from.run(t)
	if _, err = OpenFrom(from.conf, from.folder, log); err == nil || !strings.Contains(err.Error(), "stop the epitome") {
		t.Errorf("a folder that is held is copied from: %v", err)
	}
	held.close()
}

// TestCopyLeavesOutWhatWasChanged: an artifact that somebody has edited is none.
func TestCopyLeavesOutWhatWasChanged(t *testing.T) {
	from, to := placeIn(t, "", nil), placeIn(t, "", nil)
	r := from.run(t)
	good, bad := r.storage.shelf.Name("s", []byte("good")), r.storage.shelf.Name("s", []byte("bad"))
	for name, content := range map[string]string{good: "good", bad: "bad"} {
		if err := r.storage.shelf.Put(name, []byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	r.close()
	if err := os.WriteFile(filepath.Join(from.folder, ArtifactFolder, bad+".txt"), []byte("mad"), 0o600); err != nil {
		t.Fatal(err)
	}
	if done := copied(t, from, to); done.Artifacts != 1 {
		t.Errorf("copied %+v", done)
	}
	after := to.run(t)
	if content, err := after.storage.shelf.Get(good); err != nil || string(content) != "good" {
		t.Errorf("%q, %v", content, err)
	}
	if _, err := after.storage.shelf.Get(bad); err == nil {
		t.Error("what was changed is there")
	}
}
