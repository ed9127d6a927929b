//go:build e2e && linux

package e2e

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"epitome/internal/fakeapi"
)

// Promise 10: 5,000 conversations of 60 KB, in four turns each, leave the program with bounded memory.
func TestManyConversationsTakeBoundedMemory(t *testing.T) {
	const conversations, atOnce, size, turns = 5_000, 8, 60_000, 4
	// MB, of which max_recent is 128 at first; there were 397 to 528, and 167 to 172.
	const mostAfter, mostAtRest = 600, 200
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, `{"choices":[{"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}]}`)
	}))
	defer provider.Close()
	base := serve(t, "--upstream", provider.URL)
	client := &http.Client{Transport: &http.Transport{Proxy: nil, MaxIdleConnsPerHost: atOnce}}
	var failed atomic.Int64
	var work errgroup.Group
	work.SetLimit(atOnce)
	for c := range conversations {
		work.Go(func() error {
			prose := strings.Repeat("I looked at this part of the shop and found that it is as it should be. ", 21)
			body := fmt.Appendf(nil, `{"model":"gpt-4o","messages":[{"role":"user","content":"Task %d."}`, c)
			for turn := range turns {
				for n := 0; len(body) < size*(turn+1)/turns; n++ {
					body = fmt.Appendf(body, `,{"role":"assistant","content":null,"tool_calls":[{"id":"c%d_%d",`+
						`"type":"function","function":{"name":"bash","arguments":"{}"}}]},`+
						`{"role":"tool","tool_call_id":"c%[1]d_%[2]d","content":"%d: %s"}`, turn, n, c, prose)
				}
				resp, err := client.Post(base+"/v1/chat/completions", "application/json",
					bytes.NewReader(append(bytes.Clone(body), "]}"...)))
				if err != nil {
					return err
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
				if resp.StatusCode != http.StatusOK {
					failed.Add(1)
				}
			}
			return nil
		})
	}
	if err := work.Wait(); err != nil || failed.Load() > 0 {
		t.Fatal(failed.Load(), "requests failed;", err)
	}
	after := resident(t, base)
	time.Sleep(time.Minute)
	rest := resident(t, base)
	t.Logf("%d conversations: %d MB, %d MB a minute later", conversations, after, rest)
	if after > mostAfter || rest > mostAtRest {
		t.Errorf("want at most %d and %d MB", mostAfter, mostAtRest)
	}
}

var residentMemory = regexp.MustCompile(`(?m)^process_resident_memory_bytes (\S+)$`)

// resident returns the program's resident memory in MB.
func resident(t *testing.T, base string) int {
	t.Helper()
	resp, err := fakeapi.Direct().Get(base + "/-/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	found := residentMemory.FindSubmatch(text)
	if err != nil || found == nil {
		t.Fatal("no memory in the metrics:", err)
	}
	n, err := strconv.ParseFloat(string(found[1]), 64)
	if err != nil {
		t.Fatal(err)
	}
	return int(n) >> 20
}
