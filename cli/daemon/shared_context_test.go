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
	"epitome/store/storetest"
)

// asks is what a request is sent as that asks for these files.
func (r *replica) asks(k *talk, now time.Time, names ...string) rewrite.Output {
	return r.live.Shape(rewrite.Input{Dialect: k.dialect, Body: k.body(), Upstream: "openai", Limits: &r.conf.Rewrite,
		SummaryMode: r.conf.Summarize.Mode, Now: now, Contexts: names})
}

// stacked is a replica that keeps a file of its own for conversations.
func stacked(t *testing.T, url, folder, text string) *replica {
	t.Helper()
	data := t.TempDir()
	if err := inject.FilesIn(data).Add("docs", "api.md", []byte(text)); err != nil {
		t.Fatal(err)
	}
	return started(t, data, func(c *config.Config) { c.Store.URL, c.Offload.Folder = patient(url), folder })
}

// TestSharedFirstRequestsAreGivenTheSame has replicas with different files send the same first request at once.
func TestSharedFirstRequestsAreGivenTheSame(t *testing.T) {
	server := storetest.StartRedis(t)
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
