package daemon

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"epitome/config"
	"epitome/internal/fakeapi"
	"epitome/internal/unit"
)

// Many agents come at once, each with a conversation far beyond its window, to a replica whose stores are healthy.
// Meanwhile its configuration is read again. Each is served as if it were alone. With -every, eight other programs
// are busy on the machine, too.
func TestBurstIsNoOutage(t *testing.T) {
	agents, busy := 80, []int{0}
	if *every {
		agents, busy = 200, []int{0, 8}
	}
	for _, loops := range busy {
		t.Run(fmt.Sprint(agents, " agents, ", loops, " busy loops"), func(t *testing.T) { playBurst(t, agents, loops) })
	}
}

func playBurst(t *testing.T, agents, loops int) {
	var mu sync.Mutex
	newest, tooLong, broke := map[string]string{}, 0, 0 // bodies by agent
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		agent := r.Header.Get("X-Agent")
		if before, known := newest[agent]; known && !extends(string(body), before) {
			broke++
		}
		if newest[agent] = string(body); len(body) > 4*32_000 {
			tooLong++
		}
		_, _ = io.WriteString(w, `{"choices":[{"message":{"role":"assistant","content":"So."},"finish_reason":"stop"}]}`)
	}))
	t.Cleanup(up.Close)
	bucket := fakeapi.StartS3(t, func(http.ResponseWriter, *http.Request) bool {
		time.Sleep(30 * time.Millisecond)
		return false
	})
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte(strings.Repeat("5e", 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	p := run(t, t.TempDir(), up.URL, byCode, func(c *config.Config) {
		c.Store.URL, c.Offload.Bucket, c.Offload.Secret = fakeapi.StartRedis(t).URL(), bucket, secret
		c.Offload.URL, c.Window.Models = "http://127.0.0.1/-/artifacts/", map[string]unit.Tokens{"*": 32_000}
	})
	for range loops {
		loop := exec.Command("sh", "-c", "while :; do :; done")
		if err := loop.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _, _ = loop.Process.Kill(), loop.Wait() })
	}
	const turns = 3
	took := make([]time.Duration, turns*agents)
	var all sync.WaitGroup
	for n := range agents {
		all.Go(func() {
			time.Sleep(rand.N(time.Second))
			for turn := range turns {
				messages := strings.ReplaceAll(worked(68+turn), "the shop", fmt.Sprint("shop ", n))
				began := time.Now()
				resp, _ := p.chat(`{"model":"m","messages":[`+messages+`],"tools":[]}`, fmt.Sprint("X-Agent: ", n))
				took[turns*n+turn] = time.Since(began)
				if a := resp.Header.Get("x-epitome-action"); resp.StatusCode != http.StatusOK || a != "clear" {
					t.Errorf("agent %d, turn %d: %s, %s", n, turn, resp.Status, a)
				}
			}
		})
	}
	p.reload(func(c *config.Config) { c.ShutdownGrace *= 2 })
	all.Wait()
	spent := !strings.Contains(p.read("/-/metrics"), "\nepitome_shaping_budget_spent_total 0\n")
	isAway := strings.Contains(p.log.String(), "does not answer")
	if tooLong > 0 || broke > 0 || spent || isAway {
		t.Errorf("%d requests are beyond the window, %d prefixes changed; the budget was spent: %v, a store was away: %v",
			tooLong, broke, spent, isAway)
	}
	slices.Sort(took)
	t.Logf("p50 %v, p99 %v; places were waited for %d ns", took[len(took)/2], took[len(took)*99/100], p.places.Waited.Load())
}
