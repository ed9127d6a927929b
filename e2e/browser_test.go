//go:build e2e

package e2e

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"epitome/internal/fakeapi"
)

// A real browser, Chromium, over the pages of the real program: a page shows what the API says and what was sent, it
// can be used by keyboard and read by a screen reader, and neither another site nor any content makes a browser do
// anything.

// rig is what all checks share: a browser, driven by a program that plays checks one after another, and epitome's.
type rig struct {
	program    string
	driver     *exec.Cmd
	played     io.WriteCloser // takes what to play
	said       *json.Decoder  // what the driver says of it
	complaints *bytes.Buffer  // of a driver that has ended
}

func newRig(t *testing.T) rig {
	t.Helper()
	r := rig{complaints: new(bytes.Buffer)}
	r.driver = exec.CommandContext(t.Context(), "node", "drive.mjs", findChromium(t))
	r.driver.Dir = install(t, clients)
	r.program = build(t)
	r.driver.Stderr, r.driver.WaitDelay = r.complaints, time.Minute
	r.driver.Env = append(environ(), "HOME="+t.TempDir())
	said, err := r.driver.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if r.played, err = r.driver.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := r.driver.Start(); err != nil {
		t.Fatal(err)
	}
	r.said = json.NewDecoder(said)
	t.Cleanup(func() {
		_ = r.played.Close()
		stop := time.AfterFunc(time.Minute, func() { _ = r.driver.Process.Kill() })
		defer stop.Stop()
		_, _ = io.Copy(io.Discard, said)
		_ = r.driver.Wait()
	})
	return r
}

// findChromium returns the browser's program: Chromium, or what is made of it.
func findChromium(t *testing.T) string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	fakeapi.Skip(t, "there is no Chromium in PATH")
	return ""
}

// looks are the ways in which every page is looked at, as options of the driver.
var looks = map[string]any{
	"light":  map[string]any{"colorScheme": "light"},
	"dark":   map[string]any{"colorScheme": "dark"},
	"narrow": map[string]any{"viewport": map[string]int{"width": 400, "height": 800}},
	"forced": map[string]any{"forcedColors": "active"},
}

// facts are what a check is told, besides what the rig knows.
type facts map[string]any

// driving is how long the checks of one module may take.
const driving = 15 * time.Minute

// play has the browser play the checks of a module, each as a test of its own.
func (r rig) play(t *testing.T, module string, told facts) {
	t.Helper()
	told["program"], told["looks"], told["own"] = r.program, looks, told["base"]
	told["module"] = module
	text, err := json.Marshal(told)
	if err != nil {
		t.Fatal(err)
	}
	stop := time.AfterFunc(driving, func() { _ = r.driver.Process.Kill() })
	defer stop.Stop()
	_, err = r.played.Write(append(text, '\n'))
	for err == nil {
		var check checked
		if err = r.said.Decode(&check); err == nil && check.Ended {
			return
		}
		if err == nil {
			t.Run(check.Name, check.tell)
		}
	}
	_ = r.driver.Process.Kill()
	t.Fatalf("the driver has failed: %v, %v\n%s", err, r.driver.Wait(), r.complaints)
}

// checked is what the driver says of a check, or that all of a module were played.
type checked struct {
	Name         string
	Wrong, Notes []string
	MS           int
	Ended        bool
}

// tell is the test of what was found.
func (c checked) tell(t *testing.T) {
	t.Logf("%d ms\n%s", c.MS, strings.Join(c.Notes, "\n"))
	for _, w := range c.Wrong {
		t.Error(w)
	}
}

// TestBrowser has a browser go through everything. All parts share what is built and installed.
func TestBrowser(t *testing.T) {
	r := newRig(t)
	t.Run("login", r.testLogin)
	t.Run("pages", r.testPages)
	t.Run("content", r.testContent)
}

var pictures = flag.String("pictures", "", "`folder` for screenshots of the pages at the end of a demo")

// TestPictures draws the pages for the documents and for whoever changes them.
func TestPictures(t *testing.T) {
	if *pictures == "" {
		t.Skip("without -pictures there is nothing to draw")
	}
	if err := os.MkdirAll(*pictures, 0o755); err != nil {
		t.Fatal(err)
	}
	r := newRig(t)
	cmd := exec.CommandContext(t.Context(), r.program, "demo", "--open")
	cmd.Env = append(environ(), "HOME="+t.TempDir())
	var log fakeapi.Log
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	link := regexp.MustCompile(`(?s)(http://[0-9.:]+)/-/login#.*epitome --data "([^"]+)" stats`)
	if !fakeapi.Eventually(func() bool { return link.MatchString(log.String()) }) {
		t.Fatalf("the demo does not end:\n%s", &log)
	}
	found := link.FindStringSubmatch(log.String())
	r.play(t, "pictures.mjs", facts{"base": found[1], "data": found[2], "folder": *pictures})
}

// testLogin has browsers log in, with and without the right to.
func (r rig) testLogin(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		if !strings.HasPrefix(req.URL.Path, "/v1/models") {
			t.Errorf("a browser that logs in has reached the upstream: %s %s", req.Method, req.URL)
		}
	}))
	t.Cleanup(upstream.Close)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<!doctype html><title>another</title><link rel=icon href=data:,><body>"))
	}))
	t.Cleanup(other.Close)
	data := filepath.Join(t.TempDir(), "data")
	base := serve(t, "--upstream", upstream.URL, "--data", data)
	r.play(t, "login.mjs", facts{"base": base, "data": data, "other": other.URL})
}

// settings are the configuration of a program whose models hold little, so that a short session meets every rung.
const settings = "[window]\nprobe = false\ndefault = 16000\n"

// staged is a program that runs for the checks, before a model of the test's own.
type staged struct {
	rig
	model      *fakeapi.Provider
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
	s.base = serve(t, "--upstream", s.model.URL, "--data", s.data, "--config", file)
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
	told["turns"], told["unseen"], told["texts"] = turns, a.unseen(t, last(s.model)), a.texts()
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
		if k > 4 && len(a.unseen(t, last(s.model))) > 0 {
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

// modelName is one that price lists know.
const modelName = "gpt-5.2"

// newModel is a provider whose model goes on.
func newModel(t *testing.T) *fakeapi.Provider {
	return fakeapi.StartProvider(t, fakeapi.Options{Answer: func(x fakeapi.Exchange) []fakeapi.Part {
		return []fakeapi.Part{fakeapi.Text(cmp.Or(fakeapi.Summary(x.Body), "I go on."))}
	}})
}

// last is the newest request, without those for summaries.
func last(p *fakeapi.Provider) []byte {
	for _, x := range slices.Backward(posts(p)) {
		if fakeapi.Summary(x.Body) == "" {
			return x.Body
		}
	}
	return nil
}

type object = map[string]any

// agent plays one conversation.
type agent struct {
	base, model string
	messages    []object
}

func newAgent(base string) *agent {
	return &agent{base: base, model: modelName, messages: []object{
		{"role": "system", "content": "You repair programs. You have a shell."},
		{"role": "user", "content": "The tests fail. Find out why, and repair it."},
	}}
}

// call adds a command and its result.
func (a *agent) call(command, result string) {
	id := fmt.Sprintf("call_%d", len(a.messages))
	arguments, err := json.Marshal(object{"command": command})
	if err != nil {
		panic(err)
	}
	a.messages = append(a.messages,
		object{"role": "assistant", "content": thoughts(len(a.messages)), "tool_calls": []object{{"id": id,
			"type": "function", "function": object{"name": "bash", "arguments": string(arguments)}}}},
		object{"role": "tool", "tool_call_id": id, "content": result})
}

// thoughts are what the model says before its n-th message's calls: nothing that can be cleared.
func thoughts(n int) string {
	const format = "Step %d looks at part %d of the program, which the earlier steps left open. "
	return strings.Repeat(fmt.Sprintf(format, n, n%11), 6)
}

// send sends the conversation as it is now.
func (a *agent) send(t *testing.T) {
	t.Helper()
	body, err := json.Marshal(object{"model": a.model, "messages": a.messages})
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post(a.base+"/v1/chat/completions", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if said, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("the agent is answered %s %s, %v", resp.Status, said, err)
	}
}

// output is what the k-th command prints: lines that stand nowhere else.
func output(k, lines int) string {
	var text strings.Builder
	for i := range lines {
		fmt.Fprintf(&text, "%03d.%03d src/module_%d/file_%d.go: checked %d statements, %d branches, in %d ms\n",
			k, i, k%7, i%13, 17*k+3*i, 5*k+i, (k*i)%97)
	}
	return text.String()
}

// play sends n turns. Each fifth result is large.
func (a *agent) play(t *testing.T, n int) {
	t.Helper()
	for k := range n {
		lines := 30
		if k%5 == 3 {
			lines = 240
		}
		a.call(fmt.Sprintf("make check-%d", k), output(k, lines))
		if k%8 == 7 {
			a.messages = append(a.messages,
				object{"role": "assistant", "content": fmt.Sprintf("Module %d is in order.", k%7)},
				object{"role": "user", "content": fmt.Sprintf("Good. Go on with part %d.", k/8+2)})
		}
		a.send(t)
	}
}

// texts are the indices of messages that have a text.
func (a *agent) texts() (indices []int) {
	for i, m := range a.messages {
		if _, ok := m["content"].(string); ok {
			indices = append(indices, i)
		}
	}
	return indices
}

// unseen are the indices of messages with a text that does not stand in what was sent.
func (a *agent) unseen(t *testing.T, sent []byte) (indices []int) {
	t.Helper()
	for _, i := range a.texts() {
		text, err := json.Marshal(a.messages[i]["content"])
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(sent, text[:len(text)-1]) { // a summary may stand behind it
			indices = append(indices, i)
		}
	}
	return indices
}
