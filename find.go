package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"

	"epitome/console"
)

// search is what a run looks for, and where.
type search struct {
	cli  *cli
	conf Config
	home string // the user's data folder
	want []target
}

// findOrStart looks for a proxy in the user's data folder, then for one that the command is in already, then for one
// that an earlier run has started for the same, and starts one at last. Runs that want the same wait for one another here.
func (s search) findOrStart() (*running, error) {
	if r := lookup(s.home, s.want); r != nil && !s.forbids(r) && r.hold() {
		if isTerminal(os.Stderr) {
			s.remark(r)
		}
		return r, nil
	}
	if r := s.around(); r != nil {
		if s.forbids(r) {
			s.remark(r)
		}
		return r, nil
	}
	folder := filepath.Join(s.home, "run", keyOf(s.want))
	r, err := s.share(folder, false)
	if r == nil && err == nil {
		r, err = s.share(folder+"-"+short(s.conf.Mode, settingsOf(s.conf), buildOf(os.Getenv)), true)
	}
	return r, err
}

// forbids reports whether flags were given that the proxy does not follow.
func (s search) forbids(r *running) bool {
	return s.cli.Mode != "" && r.mode != s.conf.Mode || s.cli.Config != "" && !r.runsAs(s.conf)
}

// remark says what a proxy that is used does differently, if it does.
func (s search) remark(r *running) {
	switch {
	case r.mode != s.conf.Mode:
		fmt.Fprintf(os.Stderr, "epitome: using the epitome on %s, whose mode is %s; mode %s here does not count\n", r.badge.Listen, r.mode, s.conf.Mode)
	case !r.runsAs(s.conf):
		fmt.Fprintf(os.Stderr, "epitome: using the epitome on %s, whose configuration is another; the one here does not count\n", r.badge.Listen)
	}
}

// share uses the proxy that runs in the folder if it is just what this run would start, and starts one where none runs. With
// one that differs it returns nothing, unless the folder is for such as this alone.
func (s search) share(folder string, alone bool) (*running, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("cannot make the folder %s: %w; give a data folder that can be written with --data", folder, pathCause(err))
	}
	unlock, err := lockedfile.MutexAt(filepath.Join(folder, "start.lock")).Lock()
	if err != nil {
		return nil, fmt.Errorf("cannot lock the folder %s: %w", folder, err)
	}
	defer unlock()
	r := lookup(folder, s.want)
	if r != nil && !(r.runsAs(s.conf) && r.build == r.badge.mark(buildOf(os.Getenv))) {
		if !alone {
			return nil, nil
		}
		r = nil
	}
	if r != nil && r.hold() {
		r.log = filepath.Join(folder, logFile)
		return r, nil
	}
	return s.start(folder)
}

// around finds the proxy of a run that this one is run by: every base URL points there.
func (s search) around() *running {
	badges, _ := filepath.Glob(filepath.Join(s.home, "run", "*", badgeFile)) // the pattern is sound
	for _, path := range badges {
		b, err := readBadge(filepath.Dir(path))
		if err != nil || slices.ContainsFunc(s.want, func(t target) bool { return !(&running{address: "http://" + b.Listen}).is(t.url) }) {
			continue
		}
		if r := lookup(filepath.Dir(path), s.want); r != nil && r.hold() {
			r.log = filepath.Join(filepath.Dir(path), logFile)
			return r
		}
	}
	return nil
}

// keyOf names the folder of started proxies by their upstreams: what was decided under one configuration holds under the next.
func keyOf(want []target) string {
	var urls []string
	for _, t := range want {
		urls = append(urls, t.url)
	}
	return short(urls...)
}

// short is a name for some texts.
func short(texts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// settingsOf is what a configuration has proxies do, without the mode, the place, and the upstreams that flags have made. It
// holds the secrets that the environment has put in.
func settingsOf(conf Config) string {
	conf.Mode, conf.Listen, conf.Data, conf.Upstream, conf.Console = "", "", "", "", console.Config{}
	conf.Upstreams = maps.Clone(conf.Upstreams)
	for _, made := range []string{urlUpstream, runOpenAI, runAnthropic} {
		delete(conf.Upstreams, made)
	}
	all, err := json.Marshal(conf)
	if err != nil {
		panic("BUG: cannot encode the configuration: " + err.Error())
	}
	return string(all) + os.Getenv(conf.Summarize.KeyEnv)
}

// buildOf is which program this is, and its way to the network.
func buildOf(getenv func(string) string) string {
	all := []string{version()}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"} {
		all = append(all, getenv(name), getenv(strings.ToLower(name)))
	}
	return strings.Join(all, "\x00")
}

// lookup asks the proxy whose badge lies in the folder, if any. One without the upstreams that are wanted is none.
func lookup(folder string, want []target) *running {
	b, err := readBadge(folder)
	if err != nil {
		return nil
	}
	r, err := b.ask()
	if err != nil || !r.serves(want) {
		return nil
	}
	return r
}

// get asks the proxy for a page of its own, as its owner if the query has a nonce, and never through a forward proxy.
func (b *badge) get(ctx context.Context, path string, query url.Values) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+b.Listen+path+"?"+query.Encode(), nil)
	if err != nil {
		return nil, err
	}
	if nonce := query.Get("nonce"); nonce != "" {
		req.Header.Set(console.OwnerHeader, b.claim(nonce))
	}
	direct := http.Client{Transport: &http.Transport{Proxy: nil, DisableKeepAlives: true}}
	return direct.Do(req)
}

// ask makes the proxy prove that it is the badge's owner, before anything it says is believed.
func (b *badge) ask() (*running, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	nonce := rand.Text()
	resp, err := b.get(ctx, "/-/identity", url.Values{"nonce": {nonce}})
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	var said struct {
		Proof     string            `json:"proof"`
		Upstreams map[string]string `json:"upstreams"`
		Running   map[string]string `json:"running"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&said); err != nil {
		return nil, err
	}
	if !b.proves(nonce, said.Proof) {
		return nil, fmt.Errorf("cannot trust what listens on %s: it is not the epitome whose badge is in %s", b.Listen, filepath.Dir(b.path))
	}
	return &running{
		address: "http://" + b.Listen, upstreams: said.Upstreams, badge: b,
		mode: said.Running["mode"], settings: said.Running["settings"], build: said.Running["build"],
	}, nil
}

// lease keeps the proxy alive until the result is closed, or this process ends.
func (b *badge) lease() (io.Closer, error) {
	resp, err := b.get(context.Background(), "/-/lease", url.Values{"nonce": {rand.Text()}})
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		_ = resp.Body.Close()
		return nil, fmt.Errorf("cannot take a lease of the epitome on %s: it answered %s", b.Listen, resp.Status)
	}
	return resp.Body, nil
}

// logFile is what a started proxy says, in its data folder.
const logFile = "epitome.log"

// startWait is how long a started proxy may take to answer.
const startWait = 15 * time.Second

// start runs a proxy of our own on a free port, with its own folder. It outlives this process while others use it.
func (s search) start(folder string) (*running, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("cannot find epitome's own program file: %w", err)
	}
	args := []string{"serve", "--leased", "--listen", "127.0.0.1:0", "--data", folder}
	for flag, value := range map[string]string{"--config": s.cli.Config, "--mode": s.cli.Mode, "--upstream": s.cli.Upstream} {
		if value != "" {
			args = append(args, flag, value)
		}
	}
	for _, t := range s.want {
		args = append(args, "--base", t.name+"="+t.url)
	}
	logPath := filepath.Join(folder, logFile)
	to, err := os.OpenFile(logPath, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot write %s: %w", logPath, pathCause(err))
	}
	defer func() { _ = to.Close() }()
	proxy := exec.Command(self, args...)
	proxy.Stdout, proxy.Stderr = to, to
	detach(proxy)
	if err := proxy.Start(); err != nil {
		return nil, fmt.Errorf("cannot start a proxy: %w", err)
	}
	exited := make(chan error, 1)
	go func() { exited <- proxy.Wait() }()
	r, err := await(folder, s.want, exited)
	if err != nil {
		_ = proxy.Process.Kill() // nobody will come to use it
		return nil, err
	}
	r.log, r.started = logPath, true
	return r, nil
}

func await(folder string, want []target, exited <-chan error) (*running, error) {
	logPath := filepath.Join(folder, logFile)
	deadline := time.After(startWait)
	for tick := time.NewTicker(10 * time.Millisecond); ; {
		select {
		case <-exited:
			said, _ := os.ReadFile(logPath)
			return nil, fmt.Errorf("cannot start a proxy: it said %q", strings.TrimSpace(string(said)))
		case <-deadline:
			return nil, fmt.Errorf("cannot start a proxy: it did not answer within %s; its log is %s", startWait, logPath)
		case <-tick.C:
			if r := lookup(folder, want); r != nil && r.hold() {
				tick.Stop()
				return r, nil
			}
		}
	}
}
