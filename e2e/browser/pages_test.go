//go:build e2e

package browser_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"epitome/e2e/sdktest"
)

// settings are the configuration of a program whose models hold little, so that a short session meets every rung.
const settings = "[window]\nprobe = false\ndefault = 16000\n"

// staged is a program that runs for the checks, before a model of the test's own.
type staged struct {
	rig
	model      *model
	base, data string
}

func (r rig) stage(t *testing.T) staged {
	t.Helper()
	folder := t.TempDir()
	file := filepath.Join(folder, "config.toml")
	if err := os.WriteFile(file, []byte(settings+"models = { \""+modelName+"\" = 16000 }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := staged{rig: r, model: newModel(t), data: filepath.Join(folder, "data")}
	s.base = sdktest.Serve(t, r.program, "--upstream", s.model.URL, "--data", s.data, "--config", file)
	return s
}

func (s staged) facts() facts { return facts{"base": s.base, "data": s.data} }

// testPages plays a session, and has a browser go through the pages that tell of it.
func (r rig) testPages(t *testing.T) {
	s := r.stage(t)
	s.playDear(t)
	a := newAgent(s.base)
	a.messages[1]["content"] = "Another task: make the build faster."
	const turns = 48
	a.play(t, turns)
	told := s.facts()
	told["turns"], told["unseen"], told["texts"] = turns, a.unseen(t, s.model.last()), a.texts()
	told["secrets"] = secrets(t, s.data)
	s.play(t, "pages.mjs", told)
	s.play(t, "live.mjs", s.facts())
}

// playDear plays a conversation that ends as soon as old results were cleared: the cache was given up for it,
// and nothing came that would have paid for that.
func (s staged) playDear(t *testing.T) {
	t.Helper()
	a := newAgent(s.base)
	a.messages[1]["content"] = "A short task: how long do the checks take?"
	for k := range 60 {
		a.call(fmt.Sprintf("time make check-%d", k), output(k, 18))
		a.send(t)
		if k > 4 && len(a.unseen(t, s.model.last())) > 0 {
			return
		}
	}
	t.Fatal("nothing was cleared")
}

// secrets are what nobody but the owner may be told: names of artifacts, and what commands printed.
func secrets(t *testing.T, data string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(data, "artifacts"))
	if err != nil || len(entries) == 0 {
		t.Fatalf("there are no artifacts: %v", err)
	}
	for _, e := range entries {
		all = append(all, strings.TrimSuffix(e.Name(), ".txt"))
	}
	return append(all, "statements", "Step 10 looks", "make check-", "make the build faster")
}

// evil wants to be more than text: in HTML, in an attribute, in a template, on a terminal, and to the eye.
const evil = `</script><script data-evil>alert("evil")</script></title></data></svg></textarea>` +
	`<img data-evil src=http://evil.example/x onerror=alert(1)><iframe data-evil src=/-/login></iframe>` +
	`"'><b data-evil onclick=alert(2) style="position:fixed">x</b>{{template "top"}}{{.}}${alert(3)}` +
	"<svg data-evil onload=alert(4)>\x1b[31m\x1b]0;evil\x07\u202eeno\u2066\u0085\x7f"

// testContent plays conversations that have what is evil in every field, and has a browser see all pages.
func (r rig) testContent(t *testing.T) {
	s := r.stage(t)
	a := newAgent(s.base)
	a.model = evil
	a.messages = append(a.messages, object{"role": "user", "name": evil, "content": evil})
	for k := range 24 {
		a.call(evil+" make "+evil, evil+"\x00\n"+output(k, 40)+evil+strings.Repeat("\n"+evil, 10))
		a.send(t)
	}
	long := newAgent(s.base)
	long.model = strings.Repeat("<b data-evil>m", 1<<20/14)
	long.call("cat one line", strings.Repeat("<b data-evil>"+evil, 10<<20/len(evil)))
	long.send(t)
	ask(t, s.base+"/v1/<b data-evil>/"+strings.Repeat("x", 3000))
	told := s.facts()
	told["evil"], told["most"] = evil, 28
	s.play(t, "hostile.mjs", told)
}

// ask asks the upstream for what it does not have.
func ask(t *testing.T, url string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
}
