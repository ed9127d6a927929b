package daemon

import (
	"flag"
	"io"
	"log/slog"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"epitome/config"
	"epitome/internal/fakeapi"
	"epitome/proxy"
)

func TestMain(m *testing.M) {
	// Many daemons in one process: each would pace the collections of all, and bound what all of them hold.
	_ = os.Setenv("GOGC", "400")
	_ = os.Setenv("GOMEMLIMIT", "1536MiB")
	_ = flag.Set("test.parallel", "4") // they wait about as much as they work
	fakeapi.CollectLess()
	os.Exit(fakeapi.InMemory(m.Run))
}

// program is an epitome that serves.
type program struct {
	*Daemon
	t       *testing.T
	url     string
	log     *fakeapi.Log // lines of JSON
	signals chan os.Signal
	ended   chan error
	conf    atomic.Pointer[config.Config]
	over    bool
}

// defaults are those of config.toml.
func defaults() config.Config {
	text, err := os.ReadFile("../config.toml")
	if err != nil {
		panic(err)
	}
	return config.Defaults(string(text))
}

// launch starts an epitome over a data folder, in front of an upstream. It ends with the test, or before.
func launch(t *testing.T, folder, upstream string, changes ...func(*config.Config)) (*program, error) {
	t.Helper()
	conf := defaults()
	conf.Listen, conf.Data = "127.0.0.1:0", folder
	conf.Upstream, conf.Window.Probe = "up", false
	conf.Upstreams["up"] = proxy.UpstreamConfig{URL: upstream}
	for _, change := range changes {
		change(&conf)
	}
	p := &program{t: t, log: &fakeapi.Log{}, signals: make(chan os.Signal, 4), ended: make(chan error, 1)}
	p.conf.Store(&conf)
	load := func() (config.Config, error) { return *p.conf.Load(), p.conf.Load().Validate() }
	d, err := Start(slog.New(slog.NewJSONHandler(p.log, nil)), p.signals, load)
	if err != nil {
		return nil, err
	}
	p.Daemon = d
	p.url = conf.URLAt(p.Address())
	go func() { p.ended <- p.Serve() }()
	t.Cleanup(p.stop)
	return p, nil
}

// run is launch without an error.
func run(t *testing.T, folder, upstream string, changes ...func(*config.Config)) *program {
	t.Helper()
	p, err := launch(t, folder, upstream, changes...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// stop ends the program as a signal does, once. Its log has no failure of its own, and no credential of a client.
func (p *program) stop() {
	p.t.Helper()
	if p.over {
		return
	}
	p.over = true
	p.signals <- os.Interrupt
	select {
	case err := <-p.ended:
		if err != nil {
			p.t.Error(err)
		}
	case <-time.After(fakeapi.Patience):
		p.t.Error("epitome does not end")
	}
	for _, never := range []string{`"level":"ERROR"`, "does not end", "cannot close", "sk-"} {
		if strings.Contains(p.log.String(), never) {
			p.t.Errorf("the log says %s:\n%s", never, p.log)
		}
	}
}

// reload puts another configuration in force, as a signal does.
func (p *program) reload(change func(*config.Config)) {
	p.t.Helper()
	conf := *p.conf.Load()
	change(&conf)
	p.conf.Store(&conf)
	reloads := func() int { return strings.Count(p.log.String(), `"msg":"reloaded"`) }
	before := reloads()
	p.signals <- syscall.SIGHUP
	if !fakeapi.Eventually(func() bool { return reloads() > before }) {
		p.t.Fatalf("the configuration is not reloaded:\n%s", p.log)
	}
}

// wantLog waits for a line in the log that matches.
func (p *program) wantLog(pattern string) {
	p.t.Helper()
	re := regexp.MustCompile(pattern)
	if !fakeapi.Eventually(func() bool { return re.MatchString(p.log.String()) }) {
		p.t.Fatalf("no line %s in the log:\n%s", pattern, p.log)
	}
}

// parts are the states of the stores.
func (p *program) parts() map[string]string {
	parts, _ := p.service.Ready()
	return parts
}

// read reads a path under /-/.
func (p *program) read(path string) string {
	p.t.Helper()
	resp, err := http.Get(p.url + path)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		p.t.Fatalf("%s: %s %s, %v", path, resp.Status, text, err)
	}
	return string(text)
}

// chat sends a body to Chat Completions, with header lines as NAME: VALUE, and returns the answer, read.
func (p *program) chat(body string, lines ...string) (*http.Response, string) {
	p.t.Helper()
	return post(p.t, p.url+"/v1/chat/completions", body, lines...)
}

func post(t *testing.T, url, body string, lines ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		req.Header.Set(name, value)
	}
	resp, err := fakeapi.Direct().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, _ := io.ReadAll(resp.Body) // some break off
	return resp, string(text)
}
