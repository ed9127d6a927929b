package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
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
	if r := lookup(s.home, s.want); r != nil {
		return r, nil
	}
	if r := s.around(); r != nil {
		return r, nil
	}
	folder := filepath.Join(s.home, "run", keyOf(s.conf, s.want, os.Getenv))
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("cannot make the folder %s: %w; give a data folder that can be written with --data", folder, pathCause(err))
	}
	unlock, err := lockedfile.MutexAt(filepath.Join(folder, "start.lock")).Lock()
	if err != nil {
		return nil, fmt.Errorf("cannot lock the folder %s: %w", folder, err)
	}
	defer unlock()
	if r := lookup(folder, s.want); r != nil {
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
		if r := lookup(filepath.Dir(path), s.want); r != nil {
			return r
		}
	}
	return nil
}

// keyOf names what a started proxy is good for: upstreams, everything that is configured, with the secrets that the
// environment has put in, and the way to the network.
func keyOf(conf Config, want []target, getenv func(string) string) string {
	h := sha256.New()
	for _, t := range want {
		fmt.Fprintf(h, "%s\x00", t.url)
	}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"} {
		fmt.Fprintf(h, "%s\x00%s\x00", getenv(name), getenv(strings.ToLower(name)))
	}
	all, err := json.Marshal(conf)
	if err != nil {
		panic("BUG: cannot encode the configuration: " + err.Error())
	}
	h.Write(all)
	h.Write([]byte(version()))
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// lookup asks the proxy whose badge lies in the folder, if any, and takes a lease of it.
func lookup(folder string, want []target) *running {
	b, err := readBadge(folder)
	if err != nil {
		return nil
	}
	r, err := b.ask()
	if err != nil || !r.serves(want) {
		return nil
	}
	if r.lease, err = b.lease(); err != nil {
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
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&said); err != nil {
		return nil, err
	}
	if !b.proves(nonce, said.Proof) {
		return nil, fmt.Errorf("cannot trust what listens on %s: it is not the epitome whose badge is in %s", b.Listen, filepath.Dir(b.path))
	}
	return &running{address: "http://" + b.Listen, upstreams: said.Upstreams}, nil
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
	logPath := filepath.Join(folder, "epitome.log")
	logFile, err := os.OpenFile(logPath, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot write %s: %w", logPath, pathCause(err))
	}
	defer func() { _ = logFile.Close() }()
	proxy := exec.Command(self, args...)
	proxy.Stdout, proxy.Stderr = logFile, logFile
	detach(proxy)
	if err := proxy.Start(); err != nil {
		return nil, fmt.Errorf("cannot start a proxy: %w", err)
	}
	exited := make(chan error, 1)
	go func() { exited <- proxy.Wait() }()
	r, err := await(folder, s.want, exited)
	if err != nil {
		_ = proxy.Process.Kill() // nobody will come to use it
	}
	return r, err
}

func await(folder string, want []target, exited <-chan error) (*running, error) {
	logPath := filepath.Join(folder, "epitome.log")
	deadline := time.After(startWait)
	for tick := time.NewTicker(10 * time.Millisecond); ; {
		select {
		case <-exited:
			said, _ := os.ReadFile(logPath)
			return nil, fmt.Errorf("cannot start a proxy: it said %q", strings.TrimSpace(string(said)))
		case <-deadline:
			return nil, fmt.Errorf("cannot start a proxy: it did not answer within %s; its log is %s", startWait, logPath)
		case <-tick.C:
			if r := lookup(folder, want); r != nil {
				tick.Stop()
				return r, nil
			}
		}
	}
}
