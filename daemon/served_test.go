package daemon

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"epitome/config"
	"epitome/internal/fakeapi"
	"epitome/proxy"
)

const triggerItem = `{"type":"compaction_trigger"}`

// compacted has the agent compact as Codex does: it keeps the user's messages and the one item of the answer.
func (a *agent) compacted() {
	a.t.Helper()
	resp, answer := a.post("", a.body(triggerItem))
	items, _ := outputOf(answer)
	if resp.StatusCode != 200 || len(items) != 1 || gjson.Get(items[0], "type").Str != "compaction" {
		a.t.Fatalf("%d %.900s", resp.StatusCode, answer)
	}
	if a.stream && gjson.Get(items[0], "encrypted_content").Str == "" {
		a.t.Fatalf("no content in %s", items[0])
	}
	a.items = append(a.items[:1:1], items[0])
}

// Where the upstream has no compaction, or passes over what asks for one, epitome makes it: the session goes on and
// knows what it knew, after several of them, at another upstream, after a restart.
func TestCompactionIsServedWhereTheUpstreamHasNone(t *testing.T) {
	t.Parallel()
	for _, kind := range []fakeapi.Compaction{fakeapi.RefusesCompaction, fakeapi.IgnoresCompaction} {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprint(kind, stream), func(t *testing.T) {
				t.Parallel()
				var a *agent
				options := fakeapi.Options{Compaction: kind, Adopts: true}
				options.Answer = func(fakeapi.Exchange) []fakeapi.Part { return a.parts() }
				other := fakeapi.StartProvider(t, options)
				a, p, provider := strict(t, "responses", "gpt-5", options, windowOf(64_000), func(c *config.Config) {
					c.Upstreams["other"] = proxy.UpstreamConfig{URL: other.URL}
				})
				a.stream, a.tells = stream, "The port of the shop is 7171."
				a.work(3)
				a.tells = ""
				for range 3 {
					a.work(6)
					a.compacted()
				}
				a.work(2)
				trials, texts := 0, map[string]bool{}
				for _, x := range provider.Exchanges() {
					if strings.Contains(string(x.Body), "compaction_trigger") {
						trials++
					}
					for _, item := range gjson.GetBytes(x.Body, "input").Array() {
						if text := item.Get("content.0.text").Str; strings.Contains(text, "client compacted the conversation") {
							texts[text] = true
						}
					}
				}
				last := string(provider.Exchanges()[len(provider.Exchanges())-1].Body)
				if trials != 1 || len(texts) != 3 || !strings.Contains(last, "7171") || !strings.Contains(last, "shop/part14") {
					t.Errorf("%d trials, %d texts, then %.3000s", trials, len(texts), last)
				}
				a.url = p.url + "/u/other"
				a.work(1)
				if body := string(other.Exchanges()[0].Body); !strings.Contains(body, "7171") {
					t.Errorf("the other upstream gets %.3000s", body)
				}
			})
		}
	}
}

// An item that epitome has made is expanded to the same bytes after a restart and at a replica with the same secret, and
// by no other one. What cannot be read, or not be compacted, is refused with what to do.
func TestCompactionsMoveWithTheirSecret(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte(strings.Repeat("5e", 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	withSecret := func(c *config.Config) { c.Offload.Secret = secret }
	perKey := func(c *config.Config) { c.Scope = "credential" }
	a, p, provider := strict(t, "responses", "gpt-5", fakeapi.Options{Compaction: fakeapi.RefusesCompaction, Adopts: true},
		windowOf(64_000), withSecret, perKey)
	a.work(8)
	before := a.items
	a.compacted()
	item := a.items[1]
	lastInput := func() string {
		all := provider.Exchanges()
		return gjson.GetBytes(all[len(all)-1].Body, "input.1").Raw
	}
	a.turn()
	expanded := lastInput()
	replica := run(t, t.TempDir(), provider.URL, windowOf(64_000), withSecret, perKey)
	stranger := run(t, t.TempDir(), provider.URL, windowOf(64_000), perKey)

	f := func(p *program, key, items, want string) {
		t.Helper()
		body := fmt.Sprintf(`{"model":"gpt-5","store":false,"input":[%s]}`, items)
		resp, answer := post(t, p.url+"/v1/responses", body, "Authorization: Bearer "+key)
		if got := gjson.Get(answer, "error.message").Str; !strings.Contains(got, want) || (resp.StatusCode == 400) != (want != "") {
			t.Errorf("%d %.300s\nwant %s", resp.StatusCode, answer, want)
		}
		if want == "" && lastInput() != expanded {
			t.Errorf("expanded as %.300s\nwant %.300s", lastInput(), expanded)
		}
	}
	goesOn := strings.Join(a.items, ",")
	f(p, "sk-client", goesOn, "")
	f(replica, "sk-client", goesOn, "")
	f(p, "sk-other", goesOn, "was made for another credential, or by")
	f(stranger, "sk-client", goesOn, "another secret, or it was changed")
	f(p, "sk-client", strings.Replace(goesOn, "~epitome1.", "~epitome1.A", 1), "another secret, or it was changed")
	all := strings.Join(before, ",")
	f(p, "sk-client", triggerItem, "has no messages")
	for path, fields := range map[string]string{"": `"input":[` + all + "," + triggerItem + "]", "/compact": `"store":true`} {
		resp, answer := post(t, p.url+"/v1/responses"+path, `{"model":"gpt-5","previous_response_id":"resp_1",`+fields+"}")
		if resp.StatusCode != 400 || !strings.Contains(answer, "send the whole conversation as input") {
			t.Errorf("%s: %d %.300s", path, resp.StatusCode, answer)
		}
	}
	if strings.Contains(item, "order 1") {
		t.Errorf("the item can be read: %.300s", item)
	}
}

// The path of its own answers with the user's messages and the item, also for a conversation that is too short, and in
// front of a host that made compactions for everybody and no longer does.
func TestCompactionAtItsPath(t *testing.T) {
	retired := func(c *config.Config) {
		hop := fakeapi.StartForwardProxy(t, strings.TrimPrefix(c.Upstreams["up"].URL, "http://"), func(*http.Request) {})
		t.Setenv("HTTP_PROXY", "http://"+hop)
		c.AddUpstream("up", "http://chatgpt.com")
	}
	for _, turns := range []int{1, 12} {
		a, _, provider := strict(t, "responses", "gpt-5", fakeapi.Options{Compaction: fakeapi.RefusesCompaction},
			windowOf(64_000), retired)
		a.work(turns)
		resp, answer := a.post("/compact", a.body())
		output := gjson.Get(answer, "output").Array()
		if resp.StatusCode != 200 || gjson.Get(answer, "object").Str != "response.compaction" || len(output) != 2 ||
			output[0].Get("content.0.text").Str != "Mend the shop." || output[1].Get("type").Str != "compaction" {
			t.Fatalf("%d %.600s", resp.StatusCode, answer)
		}
		a.items = []string{output[0].Raw, output[1].Raw}
		a.work(1)
		all := provider.Exchanges()
		if last := string(all[len(all)-1].Body); !strings.Contains(last, "order 59 in part") {
			t.Errorf("after %d turns: %.2000s", turns, last)
		}
	}
}

// A size at which the provider is to compact is epitome's line where the provider does not know it, or passes over it.
func TestCompactThresholdIsHonoured(t *testing.T) {
	t.Parallel()
	for _, kind := range []fakeapi.Compaction{fakeapi.RefusesCompaction, fakeapi.IgnoresCompaction, fakeapi.Compacts} {
		a, _, provider := strict(t, "responses", "gpt-5", fakeapi.Options{Compaction: kind}, windowOf(200_000))
		a.settings += `"context_management":[{"type":"compaction","compact_threshold":12000}],`
		a.work(16)
		largest := 0
		for _, x := range provider.Exchanges() {
			largest = max(largest, x.Usage.Input)
			if asked := gjson.GetBytes(x.Body, "context_management").Exists(); asked && x.N > 1 &&
				kind == fakeapi.RefusesCompaction {
				t.Errorf("request %d asks again", x.N)
			}
		}
		compacts := a.acted["compact"] > 0
		if compacts != (kind != fakeapi.Compacts) || compacts && largest > 16_000 {
			t.Errorf("%v: %v, %d tokens", kind, a.acted, largest)
		}
	}
}

// A trigger that is not the last item, or not the only one, is the provider's to refuse, and does not show that it
// makes no compactions.
func TestMisplacedTriggersGoOnAsTheyCame(t *testing.T) {
	t.Parallel()
	a, p, provider := strict(t, "responses", "gpt-5", fakeapi.Options{}, windowOf(64_000))
	a.work(3)
	all := strings.Join(a.items, ",")
	for _, items := range []string{triggerItem + "," + all, all + "," + triggerItem + "," + triggerItem} {
		sent := `{"model":"gpt-5","store":false,"input":[` + items + `]}`
		resp, answer := post(t, p.url+"/v1/responses", sent)
		if resp.StatusCode != 400 || !strings.Contains(answer, "must be the last input item") || provider.Last() != sent {
			t.Errorf("%d %.300s", resp.StatusCode, answer)
		}
	}
	a.compacted()
	if asked := provider.Last(); !strings.HasSuffix(asked, triggerItem+"]}") {
		t.Errorf("afterwards the provider is asked for no compaction: %.300s", asked)
	}
}

// A provider's compaction goes back to it as it was.
func TestCompactionOfAProviderGoesBack(t *testing.T) {
	t.Parallel()
	a, _, provider := strict(t, "responses", "gpt-5", fakeapi.Options{}, windowOf(64_000))
	a.work(4)
	a.compacted()
	sealed := gjson.Get(a.items[1], "encrypted_content").Str
	a.work(2)
	if sealed == "" || !strings.Contains(provider.Last(), sealed) {
		t.Errorf("the provider does not get its compaction %.60q", sealed)
	}
	if refused := provider.Refusals(); len(refused) > 0 {
		t.Error(refused)
	}
}

// An answer that has a compaction, may have one, or fails for another reason passes as it came, and the next request
// asks the provider again.
func TestAnswersOfAProviderThatCompactsStayAsTheyAre(t *testing.T) {
	t.Parallel()
	const item = `{"type":"compaction","id":"cmp_1","encrypted_content":"gAAAsealed"}`
	event := func(data string) string { return "data: " + data + "\n\n" }
	done := event(`{"type":"response.output_item.done","item":` + item + `}`)
	completed := event(`{"type":"response.completed","response":{"id":"r","status":"completed","output":[` + item + `]}}`)
	large := `{"id":"r","output":[{"type":"message","role":"user","content":"` + strings.Repeat("words ", 300_000) + `"},` +
		item + `]}`
	for _, c := range []struct {
		path, kind string
		status     int
		pieces     []string
	}{
		{"", "text/event-stream", 200, []string{
			event(`{"type":"response.created","response":{"status":"in_progress","output":[]}}`),
			event(`{"type":"response.output_item.added","item":{"type":"reasoning"}}`),
			event(`{"type":"response.reasoning_text.delta","delta":"Well."}`), done[:40], done[40:], completed}},
		{"", "text/event-stream", 200, []string{
			event(`{"type":"response.incomplete","response":{"id":"r","status":"incomplete","output":[]}}`)}},
		{"", "application/json", 200, []string{`{"id":"r","status":"failed","output":[],"error":{"message":"busy"}}`}},
		{"/compact", "application/json", 200, []string{large}},
		{"/input_tokens", "application/json", 200, []string{`{"object":"response.input_tokens","input_tokens":7}`}},
		{"", "application/json", 401, []string{`{"error":{"message":"no key"}}`}},
		{"", "application/json", 429, []string{`{"error":{"message":"slow down"}}`}},
	} {
		asked := 0
		provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if body, _ := io.ReadAll(r.Body); strings.Contains(string(body), "compaction_trigger") || c.path == "/compact" {
				asked++
			}
			w.Header().Set("Content-Type", c.kind)
			if strings.Join(c.pieces, "") == large {
				w.Header().Set("Content-Encoding", "gzip")
				packed := gzip.NewWriter(w)
				_, _ = io.WriteString(packed, large)
				_ = packed.Close()
				return
			}
			w.WriteHeader(c.status)
			for _, piece := range c.pieces {
				_, _ = io.WriteString(w, piece)
				w.(http.Flusher).Flush()
				time.Sleep(5 * time.Millisecond)
			}
		}))
		defer provider.Close()
		p := run(t, t.TempDir(), provider.URL)
		for range 2 {
			resp, answer := post(t, p.url+"/v1/responses"+c.path,
				`{"model":"gpt-5","store":false,"input":[{"role":"user","content":"Hi."},`+triggerItem+`]}`)
			if resp.StatusCode != c.status || answer != strings.Join(c.pieces, "") {
				t.Errorf("%s: %d %.300s", c.path, resp.StatusCode, answer)
			}
		}
		if asked != 2 {
			t.Errorf("%s %.200s: the provider was asked %d times", c.path, c.pieces[0], asked)
		}
	}
}

// The same request for a compaction again gets the same text, and is no second compaction. Items by the hundred are
// refused.
func TestCompactionAgainIsTheSame(t *testing.T) {
	t.Parallel()
	a, p, provider := strict(t, "responses", "gpt-5", fakeapi.Options{Compaction: fakeapi.RefusesCompaction},
		windowOf(64_000))
	a.work(8)
	var ids []string
	body := a.body(triggerItem)
	for range 3 {
		_, answer := a.post("", body)
		items, _ := outputOf(answer)
		ids = append(ids, gjson.Get(items[0], "id").Str)
		a.items = append(a.items[:1:1], items[0])
	}
	if ids[0] != ids[1] || ids[1] != ids[2] {
		t.Errorf("items %v", ids)
	}
	before := len(provider.Exchanges())
	a.items = slices.Repeat(a.items[1:], 5_000)
	resp, answer := a.post("", a.body())
	if resp.StatusCode != 400 || !strings.Contains(answer, "too large together") || len(provider.Exchanges()) > before {
		t.Errorf("%d %.200s", resp.StatusCode, answer)
	}
	p.stop()
	if n := strings.Count(p.log.String(), `"msg":"compaction_completed"`); n != 1 {
		t.Errorf("%d compactions in the log: %s", n, p.log)
	}
}
