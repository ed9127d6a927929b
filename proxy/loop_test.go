package proxy

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// sendTo lets the requests of r go to base from now on.
func sendTo(t *testing.T, r *rig, base string) {
	t.Helper()
	if err := r.proxy.Reload(testSettings(base)); err != nil {
		t.Fatal(err)
	}
}

// askLoop sends a conversation to a proxy and returns what it answers.
func askLoop(t *testing.T, addr string) (status int, body, again string) {
	t.Helper()
	resp, err := http.Post("http://"+addr+"/v1/chat/completions", "application/json",
		strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"hello"}]}`))
	if err != nil {
		t.Error(err)
		return
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
	}
	return resp.StatusCode, string(text), resp.Header.Get("x-should-retry")
}

// TestCirclesAreRefused lets a proxy send to itself, and two and three in a circle: the client hears of it in one
// sentence, after few rounds. A path in the url makes the target longer with each of them.
func TestCirclesAreRefused(t *testing.T) {
	t.Parallel()
	f := func(what string, n int, path string) {
		t.Run(what, func(t *testing.T) {
			all := make([]*rig, n)
			for i := range all {
				all[i] = startRig(t, "http://127.0.0.1:9")
			}
			for i, r := range all {
				sendTo(t, r, "http://"+all[(i+1)%n].addr+path)
			}
			status, body, again := askLoop(t, all[0].addr)
			says := strings.Contains(body, `"code":"loop"`) && strings.Contains(body, looped)
			if status != 508 || !says || again != "false" {
				t.Errorf("answered %d, retry %q: %s", status, again, body)
			}
			if rounds := all[0].proxy.count.Load(); rounds > 3*unmarked {
				t.Errorf("it took %d rounds", rounds)
			}
		})
	}
	f("itself", 1, "")
	f("itself under a path", 1, "/u/test")
	f("two", 2, "")
	f("three", 3, "/v1")
}

// TestChainsOfProxiesPass: epitomes in a row are no circle, however many equal requests run through them at once. The
// upstream answers when all are there. One request alone carries no mark.
func TestChainsOfProxiesPass(t *testing.T) {
	t.Parallel()
	const all = 3 * unmarked
	var marked, here, wanted atomic.Int32
	arrived := make(chan struct{})
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Header.Get(viaHeader) != "" {
			marked.Add(1)
		}
		if here.Add(1) == wanted.Load() {
			close(arrived)
		}
		<-arrived
		_, _ = io.WriteString(w, "fine")
	}))
	defer up.Close()
	last := startRig(t, up.URL)
	middle := startRig(t, "http://"+last.addr)
	first := startRig(t, "http://"+middle.addr)
	ask := func(n int32) {
		t.Helper()
		here.Store(0)
		wanted.Store(n)
		arrived = make(chan struct{})
		var asking sync.WaitGroup
		for range n {
			asking.Go(func() {
				if status, body, _ := askLoop(t, first.addr); status != 200 || body != "fine" {
					t.Errorf("answered %d: %s", status, body)
				}
			})
		}
		asking.Wait()
	}
	ask(1)
	if n := marked.Load(); n != 0 {
		t.Error("a request alone is marked")
	}
	ask(all)
	if n := marked.Load(); n < all-unmarked {
		t.Errorf("%d requests are marked, want at least %d", n, all-unmarked)
	}
}
