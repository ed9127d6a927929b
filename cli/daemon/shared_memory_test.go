package daemon

import (
	"bytes"
	"sync"
	"testing"
	"time"

	"epitome/config"
	"epitome/inject"
	"epitome/rewrite"
	"epitome/store/storetest"
)

// minding is a replica of a team that remembers.
func minding(t *testing.T, url, folder string) *replica {
	t.Helper()
	return sharing(t, url, folder, func(c *config.Config) {
		c.Memory.Enabled, c.Summarize.Mode, c.Summarize.Model = true, "hybrid", "small"
	})
}

// asksIn is what a request of the project shop is sent as.
func (r *replica) asksIn(k *talk, now time.Time) rewrite.Output {
	return r.live.Shape(rewrite.Input{Dialect: k.dialect, Body: k.body(), Upstream: "openai", Limits: &r.conf.Rewrite,
		SummaryMode: r.conf.Summarize.Mode, Now: now, Project: "shop"})
}

// remember has a replica learn something of the project.
func (r *replica) remember(text string) {
	err := r.memory.Learn(inject.Owner{Project: "shop"},
		inject.Learned{Add: []inject.Entry{{Kind: "fact", Text: text}}})
	if err != nil {
		panic(err)
	}
}

// TestSharedMemoriesAreToldByAll: what one replica has learned all of them tell, a conversation is told the same by
// each of them, whatever is learned meanwhile, and of equal first requests at the same moment one decides.
func TestSharedMemoriesAreToldByAll(t *testing.T) {
	t.Skip("nothing is added to system prompts yet")
	t.Parallel()
	server := storetest.StartRedis(t)
	for _, key := range keys() {
		t.Run(key, func(t *testing.T) {
			server.Flush()
			folder := t.TempDir()
			var some []*replica
			for range 3 {
				some = append(some, minding(t, server.URL(), folder))
			}
			k, now := newTalk(key, 5), morning()
			some[0].remember("The port is 8080.")
			f := func() {
				t.Helper()
				now = now.Add(10 * time.Second)
				bodies := make([][]byte, len(some))
				var all sync.WaitGroup
				for i, r := range some {
					all.Go(func() {
						out := r.asksIn(k, now)
						if bodies[i] = out.Body; out.Report.Err != nil || !bytes.Contains(out.Body, []byte("port is 8080")) {
							t.Errorf("%d turns: %v: %.300s", k.calls, out.Report.Err, out.Body)
						}
					})
				}
				all.Wait()
				for _, b := range bodies {
					if !bytes.Equal(b, bodies[0]) {
						t.Errorf("%d turns: equal requests were sent as\n%.300s\nand\n%.300s", k.calls, bodies[0], b)
					}
				}
			}
			f()
			some[1].remember("The port is 9090.")
			for range 4 {
				k.goOn()
				f()
			}
			late := minding(t, server.URL(), folder)
			out := late.asksIn(k, now)
			if bytes.Contains(out.Body, []byte("port is 9090")) || !bytes.Contains(out.Body, []byte("port is 8080")) {
				t.Errorf("a replica that comes later sends %.300s", out.Body)
			}
			if out := late.asksIn(newTalk(key, 6), now); !bytes.Contains(out.Body, []byte("port is 9090")) {
				t.Errorf("a new conversation is told %.300s", out.Body)
			}
		})
	}
}
