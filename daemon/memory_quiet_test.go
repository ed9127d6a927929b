package daemon

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"epitome/config"
	"epitome/internal/fakeapi/scriptedtest"
	"epitome/internal/unit"
	"epitome/proxy"
	"epitome/store/shared/sharedtest"
)

// studying has quiet conversations be learned from, soon, with a key of epitome's own.
func studying(t *testing.T, p *provider) func(c *config.Config) {
	t.Setenv("EPITOME_TEST_KEY", "sk-ours")
	p.will(func(w http.ResponseWriter, r *http.Request, q heard) {
		says(message("assistant", "- fact: The parts lie in src.\n- preference: One part at a time."), q.tokens)(w, r, q)
	})
	return func(c *config.Config) {
		c.Upstreams["own"] = proxy.UpstreamConfig{URL: p.URL + "/v1", Project: "shop"}
		u := c.Upstreams["up"]
		u.Project = "shop"
		c.Upstreams["up"] = u
		c.Summarize.Model, c.Summarize.Upstream, c.Summarize.KeyEnv = "small", "own", "EPITOME_TEST_KEY"
		c.Window.Models["small"] = unit.Tokens(itsWindow)
		c.Memory.Enabled, c.Memory.After = true, unit.Duration(50*time.Millisecond)
	}
}

// remembers waits until the epitome knows these entries of one project, and no others.
func (r *inService) remembers(want string) {
	r.t.Helper()
	got := ""
	known := func() bool {
		all, err := r.shapers.memory.List()
		if err != nil {
			r.t.Fatal(err)
		}
		var texts []string
		for _, m := range all {
			for _, e := range m.Entries {
				texts = append(texts, fmt.Sprintf("%s in %s: %s", e.Kind, m.Owner.Project, e.Text))
			}
		}
		got = strings.Join(texts, "|")
		return got == want
	}
	if !scriptedtest.Eventually(known) {
		r.t.Fatalf("known is %q, want %q", got, want)
	}
}

const whatIsStudied = "fact in shop: The parts lie in src.|preference in shop: One part at a time."

// A conversation that was never compacted is asked about once it is quiet, with epitome's own key, and paid for like a
// summary. It goes on as if nobody had asked.
func TestAQuietConversationTeachesWithEpitomesOwnKey(t *testing.T) {
	p := providing(t, itsWindow, itsUsable)
	r := served(p, t.TempDir(), studying(t, p))
	a := working(r)
	for range 4 {
		a.turn()
	}
	r.remembers(whatIsStudied)
	for _, q := range p.questions() {
		if q.key != "Bearer sk-ours" || q.Model != "small" || q.way != "transcript" ||
			!strings.Contains(q.said(), "Please rework the parts one by one") || strings.Contains(q.said(), "## Goal") {
			t.Errorf("%s is asked with %q: %s", q.Model, q.key, q.said())
		}
	}
	r.logs(`level=INFO msg=summary_completed .*upstream=own model=small detail=memory way=transcript .*requests=1 .*input_tokens=[1-9]`)
	for _, q := range p.sent() {
		if strings.Contains(string(q.body), "The parts lie in src") {
			t.Errorf("what a conversation taught is sent in it: %s", q.body)
		}
	}
	if got := a.turn(); got.action != "none" {
		t.Errorf("afterwards it is %s", got.action)
	}
}

// Without a key of epitome's own nobody is asked about conversations that are only quiet.
func TestAQuietConversationIsNotAskedAboutWithAClientsKey(t *testing.T) {
	p := providing(t, itsWindow, itsUsable)
	set := studying(t, p)
	r := served(p, t.TempDir(), func(c *config.Config) {
		set(c)
		c.Summarize.KeyEnv = ""
	})
	a := working(r)
	for range 4 {
		a.turn()
	}
	time.Sleep(200 * time.Millisecond) // four times as long as would do with a key
	p.wants(0)
}

// Of several epitomes that have seen one conversation, one asks about it.
func TestOneOfATeamAsksAboutAQuietConversation(t *testing.T) {
	server, folder := sharedtest.Start(t), t.TempDir()
	p := providing(t, itsWindow, itsUsable)
	set := studying(t, p)
	team := func() *inService {
		return served(p, t.TempDir(), func(c *config.Config) {
			set(c)
			c.Memory.After = unit.Duration(time.Hour)
			c.Store.URL, c.Offload.Folder = server.URL(), folder
			c.Store.Timeout = unit.Duration(5 * time.Second) // of a busy machine
		})
	}
	one, two := team(), team()
	a := working(one)
	for k := range 6 {
		a.url = []string{one.url, two.url}[k%2]
		a.turn()
	}
	a.url = one.url
	a.ask()
	a.url = two.url
	a.ask()
	p.wants(0)
	for _, r := range []*inService{one, two} {
		r.reloads(func(c *config.Config) { c.Memory.After = unit.Duration(time.Millisecond) })
	}
	for _, r := range []*inService{one, two} {
		r.remembers(whatIsStudied)
	}
	settled := func() bool {
		log := one.log.String() + two.log.String()
		return strings.Count(log, "msg=summary_started") == strings.Count(log, "msg=summary_completed")
	}
	if !scriptedtest.Eventually(settled) {
		t.Errorf("what is asked is never answered:\n%s\n%s", one.log, two.log)
	}
	p.wants(1)
}
