package cli

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"epitome/daemon"
	"epitome/internal/fakeapi"
)

// pair is two agents, each under an "epitome run" with the same data folder.
type pair struct {
	*testing.T
	data     string
	provider *fakeapi.Provider
	runs     map[string]*exec.Cmd // by agent
	played   map[string]int       // requests of its newest run
	turns    map[string]int       // of its conversation
	sent     map[string]string    // its newest request as the provider got it
	all      int                  // requests
}

func (p *pair) path(name string) string { return filepath.Join(filepath.Dir(p.data), name) }

func (p *pair) read(name string) []byte {
	text, _ := os.ReadFile(p.path(name)) // there may be none yet
	return text
}

func (p *pair) must(what string, ok func() bool) {
	p.Helper()
	if !fakeapi.Eventually(ok) {
		p.Fatalf("never: %s; the log of the epitome is\n%s", what, p.read("data/epitome.log"))
	}
}

func (p *pair) command(args ...string) *exec.Cmd {
	c := exec.Command("epitome", append([]string{"--data", p.data}, args...)...)
	c.Env = append(os.Environ(), "HOME="+p.path("home"), "TEST_DEFAULTS="+filepath.Join("..", "config.toml"),
		"OPENAI_BASE_URL="+p.provider.URL+"/v1")
	return c
}

// start starts the runs of agents at once.
func (p *pair) start(agents []string) {
	p.Helper()
	for _, a := range agents {
		_, _ = os.Remove(p.path(a+".env")), os.Remove(p.path(a+".go"))
		log, _ := os.Create(p.path(a + ".log"))
		c := p.command("run", "--", "agent", "save="+p.path(a+".env"), "until="+p.path(a+".go"))
		c.Stdout, c.Stderr = log, log
		if err := c.Start(); err != nil {
			p.Fatal(err)
		}
		p.runs[a], p.played[a] = c, 0
		p.Cleanup(func() { p.end(a, false) })
	}
	for _, a := range agents {
		p.must(a+" runs", func() bool { return bytes.Contains(p.read(a+".log"), []byte("waiting")) })
	}
}

// play plays a turn of each agent, whose earlier messages are to be sent as before.
func (p *pair) play(agents []string) {
	p.Helper()
	for _, a := range agents {
		base := regexp.MustCompile(`OPENAI_BASE_URL=(\S+)`).FindSubmatch(p.read(a + ".env"))
		p.turns[a]++
		task := []byte("Look at the tables of " + a)
		body := bytes.Replace(fakeapi.Conversation(p.turns[a]), []byte("Look at the tables"), task, 1)
		p.must("an answer", func() bool { // agents try again while an epitome is started anew
			resp, err := fakeapi.Direct().Post(string(base[1])+"/chat/completions", "application/json", bytes.NewReader(body))
			return err == nil && resp.Body.Close() == nil && resp.StatusCode == http.StatusOK
		})
		last := ""
		for _, x := range p.provider.Exchanges() { // epitome also asks how much the model holds
			if bytes.Contains(x.Body, task) {
				last = string(x.Body)
			}
		}
		if last == string(body) || p.sent[a] != "" && !extends(last, p.sent[a]) {
			p.Errorf("turn %d of %s does not begin as the last one was sent", p.turns[a], a)
		}
		p.sent[a] = last
		p.played[a]++
		p.all++
	}
}

// end has a run end, or kills it.
func (p *pair) end(a string, kill bool) {
	p.Helper()
	c := p.runs[a]
	if c == nil {
		return
	}
	delete(p.runs, a)
	if kill {
		_ = c.Process.Kill()
	}
	_ = os.WriteFile(p.path(a+".go"), nil, 0o600)
	_ = c.Wait()
	want := fmt.Sprintf("epitome: %d request", p.played[a])
	if !kill && !strings.Contains(string(p.read(a+".log")), want) {
		p.Errorf("the run of %s does not say %q:\n%s", a, want, p.read(a+".log"))
	}
}

// killEpitome kills the epitome once it has written what it recorded. Another one takes its address.
func (p *pair) killEpitome(agents []string) {
	p.Helper()
	p.must("all is written", func() bool {
		files, _ := filepath.Glob(filepath.Join(p.data, daemon.EventFolder, "*"))
		return len(files) == 1 && bytes.Count(p.read(files[0][len(p.path("")):]), []byte("\n")) >= p.all
	})
	old, _ := daemon.Read(p.data)
	process, _ := os.FindProcess(old.PID)
	_ = process.Kill()
	p.play(agents)
	now, err := daemon.Read(p.data)
	if err != nil || now.Listen != old.Listen || now.PID == old.PID {
		p.Errorf("after %+v there is %+v, %v", old, now, err)
	}
}

// Agents under run share an epitome, which ends with the last of them. Whatever ends or is killed, the other one goes on,
// and an agent that is resumed is sent as before.
func TestRunsShareAnEpitome(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there is no kill that nobody sees")
	}
	ab, ba := []string{"a", "b"}, []string{"b", "a"}
	for _, c := range []struct {
		name         string
		order        []string // in which the runs end
		kill         bool     // them
		killsEpitome bool
		resumed      []string
	}{
		{"ended", ab, false, false, ba[:1]}, {"ended the other way", ba, false, false, ab},
		{"killed", ab, true, false, ab}, {"killed the other way", ba, true, false, ba[:1]},
		{"epitome killed", ab, false, true, ab}, {"all killed", ba, true, true, ab[:1]},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := &pair{T: t, data: filepath.Join(t.TempDir(), "data"), provider: fakeapi.StartProvider(t, fakeapi.Options{}),
				runs: map[string]*exec.Cmd{}, played: map[string]int{}, turns: map[string]int{}, sent: map[string]string{}}
			p.start(ab)
			p.play(ab)
			p.play(ab)
			if c.killsEpitome {
				p.killEpitome(ba)
			}
			p.end(c.order[0], c.kill)
			p.play(c.order[1:])
			p.end(c.order[1], c.kill)
			hasEnded := func() bool { _, err := daemon.Read(p.data); return err != nil }
			if !c.kill && !hasEnded() {
				t.Error("the epitome goes on without a run")
			}
			p.must("the epitome ends", hasEnded)
			p.start(c.resumed)
			p.play(c.resumed)
			p.play(c.resumed)
			for _, a := range c.resumed {
				p.end(a, false)
			}
			stats, err := p.command("stats", "--json").Output()
			if got := gjson.GetBytes(stats, "total.exchanges").Int(); err != nil || got != int64(p.all) {
				t.Errorf("stats has %d requests, want %d: %v", got, p.all, err)
			}
			if folders, _ := filepath.Glob(filepath.Join(p.data, "run", "*")); len(folders) > 0 {
				t.Errorf("there are other folders: %q", folders)
			}
		})
	}
}
