package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"epitome/config"
	"epitome/internal/fakeapi"
	"epitome/store"
)

// modelIn is the model of an agent of each API.
var modelIn = map[string]string{"chat": "gpt-5", "messages": "claude-opus-4-6", "responses": "gpt-5"}

// narrow is a provider whose models hold 50,000 tokens, which nobody is told. Its agent is the one that *a becomes.
func narrow(t *testing.T, a *agent, api string) *fakeapi.Provider {
	t.Helper()
	m := fakeapi.ModelOf(modelIn[api])
	m.Window = 50_000
	return fakeapi.StartProvider(t, fakeapi.Options{Models: map[string]fakeapi.Model{modelIn[api]: m},
		Answer: func(fakeapi.Exchange) []fakeapi.Part { return a.parts() }})
}

// byCode has summaries written by code.
func byCode(c *config.Config) { c.Summarize.Mode = "intent" }

// An agent whose requests reach two replicas in turn outgrows its window while the shared store is away. It meets no
// error, and when the store is back, what one replica has decided holds for the other. The state of epitome says that the
// store is away, and also when it takes no writes any more.
func TestOutageOfTheSharedStoreEndsNoConversation(t *testing.T) {
	t.Parallel()
	play := func(t *testing.T, api, way string) {
		redis := fakeapi.StartRedis(t)
		wire, folder, a := fakeapi.NewWire(t, redis.Address), t.TempDir(), new(agent)
		provider := narrow(t, a, api)
		patient := "?read_timeout=3s&write_timeout=3s&dial_timeout=3s" // on a busy machine
		shared := func(c *config.Config) { c.Store.URL, c.Offload.Folder = wire.URL()+patient, folder }
		replicas := []*program{run(t, t.TempDir(), provider.URL, byCode, shared),
			run(t, t.TempDir(), provider.URL, byCode, shared)}
		*a = *working(replicas[0], api, modelIn[api])
		a.items = []string{fmt.Sprintf(`{"role":"user","content":"Mend the %s shop, %s."}`, api, way)}
		turn := func() {
			a.url = replicas[a.turns%2].url
			a.turn()
		}
		for range 10 {
			turn()
		}
		if wire.Freeze(); way != "paused" {
			wire.Cut()
		}
		for i := range 90 {
			if way == "restarted" && i == 30 {
				replicas[1] = restart(t, a, replicas[1])
			}
			turn()
		}
		if is := replicas[0].parts()["shared_store"]; is != "away" {
			t.Errorf("without a store it is %q", is)
		}
		wire.Mend()
		for _, r := range replicas {
			fakeapi.Await(t, "the store", func() error { _, err := store.Get(r.service.Store, "x"); return err })
		}
		turn()
		last := provider.Last()
		turn()
		if api == "chat" && !extends(provider.Last(), last) {
			t.Errorf("%s: with the store back, the other replica sends another form", way)
		}
		if way != "restarted" && len(a.ids) > 1 {
			t.Errorf("%s: the conversation has the IDs %v", way, a.ids)
		}
		redis.Refuse()
		for range 10 {
			turn()
		}
		if is := replicas[0].parts()["shared_store"]; is != "refuses" {
			t.Errorf("a store that takes no writes is %q", is)
		}
		metrics := replicas[0].read("/-/metrics")
		isTold := strings.Contains(metrics, `epitome_store_seconds_count{outcome="refused",server="shared_store"} `)
		if !isTold || !strings.Contains(metrics, "\nepitome_shared_store_up 0\n") {
			t.Errorf("the metrics do not say that it refuses writes")
		}
		t.Logf("%s %s: epitome did %v; %d requests were refused", api, way, a.acted, len(provider.Refusals()))
	}
	for api := range modelIn {
		for _, way := range []string{"killed", "paused", "restarted"} {
			if api == "chat" || *every {
				t.Run(api+" "+way, func(t *testing.T) { play(t, api, way) })
			}
		}
	}
}

// An agent outgrows its window on a disk that takes no artifact. It meets no error, the text in the place of what was
// taken out says that it is not kept, and the state of epitome says so too.
func TestOutageOfTheDiskEndsNoConversation(t *testing.T) {
	t.Parallel()
	for api := range modelIn {
		if api != "chat" && !*every {
			continue
		}
		t.Run(api, func(t *testing.T) {
			a := new(agent)
			provider := narrow(t, a, api)
			p := run(t, t.TempDir(), provider.URL, byCode)
			*a = *working(p, api, modelIn[api])
			a.work(5)
			artifacts := filepath.Join(p.started.Data, ArtifactFolder)
			if err := os.RemoveAll(artifacts); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(artifacts, nil, 0o600); err != nil { // a file takes no artifact
				t.Fatal(err)
			}
			a.work(80)
			if last := provider.Last(); !strings.Contains(last, "not kept, because nothing could be stored") {
				t.Errorf("nothing says that it is not kept: %.2000s", last)
			}
			if got := p.parts()["artifacts"]; got != "cannot be written" {
				t.Errorf("the artifacts are %q", got)
			}
			t.Logf("%s: epitome did %v; %d requests were refused", api, a.acted, len(provider.Refusals()))
		})
	}
}
