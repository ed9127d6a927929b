package daemon

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"epitome/config"
	"epitome/inject"
	"epitome/rewrite"
	"epitome/store/shared/sharedtest"
)

// asks is what a request is sent as that asks for these files.
func (r *replica) asks(k *talk, now time.Time, names ...string) rewrite.Output {
	return r.live.Shape(rewrite.Input{Dialect: k.dialect, Body: k.body(), Upstream: "openai", Limits: &r.conf.Rewrite,
		Style: r.conf.Style(), Now: now, Contexts: names})
}

// stacked is a replica that keeps a file of its own for conversations.
func stacked(t *testing.T, url, folder, text string) *replica {
	t.Helper()
	data := t.TempDir()
	file := inject.NewFile{Name: "api.md", Text: []byte(text)}
	if err := inject.FilesIn(data).Add("docs", []inject.NewFile{file}); err != nil {
		t.Fatal(err)
	}
	return started(t, data, func(c *config.Config) { c.Store.URL, c.Offload.Folder = url, folder })
}

// TestSharedAdditionsCostNoQuestion: whatever is added, a request waits for as many answers as without, and every
// replica adds the same, whoever asks.
func TestSharedAdditionsCostNoQuestion(t *testing.T) {
	t.Parallel()
	server := sharedtest.Start(t)
	for _, key := range keys() {
		t.Run(key, func(t *testing.T) {
			server.Flush()
			folder := t.TempDir()
			home, other := stacked(t, server.URL(), folder, "# API\n"), stacked(t, server.URL(), folder, "# API\n")
			k, now := newTalk(key, 5), morning()
			f := func(r *replica, most uint64, names ...string) []byte {
				t.Helper()
				now = now.Add(10 * time.Second)
				before := r.storage.turns.CountAsked()
				out := r.asks(k, now, names...)
				if n := r.questions(before); n > most || out.Report.Err != nil || out.Report.Added.Tokens == 0 {
					t.Errorf("%d turns: %d questions, at most %d; %+v, %v", k.calls, n, most, out.Report.Added, out.Report.Err)
				}
				return out.Body
			}
			first := f(home, 4, "docs")
			if again := f(home, 2, "docs"); !bytes.Equal(first, again) {
				t.Errorf("asked again, %s became %s", first, again)
			}
			for range 5 {
				k.goOn()
				sent := f(home, 2)
				if late := f(other, 4, "docs"); !bytes.Equal(sent, late) {
					t.Errorf("another replica sends %.300s in place of %.300s", late, sent)
				}
			}
		})
	}
}

// TestSharedFirstRequestsAreGivenTheSame has replicas with different files send the same first request at once.
func TestSharedFirstRequestsAreGivenTheSame(t *testing.T) {
	server := sharedtest.Start(t)
	folder := t.TempDir()
	var some []*replica
	for i := range 3 {
		some = append(some, stacked(t, server.URL(), folder, fmt.Sprintf("# API %d\n", i)))
	}
	for seed := uint64(1); seed <= 12; seed++ {
		k := newTalk(keys()[seed%3], seed)
		bodies := make([][]byte, len(some))
		f := func() {
			t.Helper()
			var all sync.WaitGroup
			for i, r := range some {
				all.Go(func() {
					out := r.asks(k, morning(), "docs")
					if bodies[i] = out.Body; out.Report.Err != nil || !strings.Contains(string(out.Body), "api.md") {
						t.Errorf("%v: %s", out.Report.Err, out.Body)
					}
				})
			}
			all.Wait()
			for _, b := range bodies {
				if !bytes.Equal(b, bodies[0]) {
					t.Errorf("equal requests were sent as\n%s\nand\n%s", bodies[0], b)
				}
			}
		}
		f()
		k.goOn()
		f()
	}
}

// TestSharedStoreLostAddsNothing takes the store away: a new conversation is given nothing, one that is remembered what
// it was given, and one that is not is told as changed.
func TestSharedStoreLostAddsNothing(t *testing.T) {
	server := sharedtest.Start(t)
	wire := sharedtest.NewWire(t, server.Address)
	folder := t.TempDir()
	away, there := stacked(t, wire.URL(), folder, "# API\n"), stacked(t, server.URL(), folder, "# API\n")
	known, elsewhere := newTalk("", 1), newTalk("", 2)
	for range 4 {
		if out := away.asks(known, morning(), "docs"); out.Report.Added.Tokens == 0 {
			t.Fatalf("%+v", out.Report)
		}
		there.asks(elsewhere, morning(), "docs")
		known.goOn()
		elsewhere.goOn()
	}
	wire.Cut()
	if out := away.asks(newTalk("", 3), morning(), "docs"); out.Changed || out.Report.Err == nil {
		t.Errorf("without a store, a new conversation is given %s", out.Body)
	}
	if out := away.asks(known, morning()); out.Report.Added.Tokens == 0 || out.Report.Broke {
		t.Errorf("without a store, what was given before is not: %+v", out.Report)
	}
	if out := away.asks(elsewhere, morning(), "docs"); out.Changed || !out.Report.Broke {
		t.Errorf("without a store, of what nobody knows it is told %+v", out.Report)
	}
}
