package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"

	"epitome/console"
)

type runCmd struct {
	Command []string `arg:"" passthrough:"" placeholder:"CMD" help:"The command and its arguments, best behind --."`
}

// Run finds or starts a proxy that has the upstreams the command would talk to, and runs the command with its
// base URLs pointing there. Nothing but the command's environment is changed.
func (k runCmd) Run(c *cli) error {
	command := k.Command
	if len(command) > 0 && command[0] == "--" {
		command = command[1:]
	}
	if len(command) == 0 {
		return errors.New("cannot run nothing: give a command, as in 'epitome run -- CMD'")
	}
	path, err := exec.LookPath(command[0])
	if err != nil {
		fmt.Fprintf(os.Stderr, "epitome: cannot run %s: %v\n", command[0], errors.Unwrap(err))
		if errors.Is(err, fs.ErrPermission) {
			return exitStatus(126)
		}
		return exitStatus(127)
	}
	conf, err := loadConfig(c.Config, c.overrides())
	if err != nil {
		return err
	}
	want := wanted(conf, os.Getenv)
	if c.Upstream != "" && want[0].url != trimSlash(conf.Upstreams[conf.Upstream].URL) {
		return fmt.Errorf("cannot follow both --upstream %s and OPENAI_BASE_URL, which is set to %s: unset one of them", c.Upstream, want[0].url)
	}
	home, err := dataFolder(conf)
	if err != nil {
		return err
	}
	found, err := search{c, conf, home, want}.findOrStart()
	if err != nil {
		return err
	}
	defer found.release()
	child := exec.Command(path, command[1:]...)
	child.Args[0] = command[0]
	child.Env = found.environ(os.Environ(), want)
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
	return passSignals(child)
}

// target is one provider that the command would talk to.
type target struct {
	vars []string // environment variables that carry its base URL
	url  string   // its base URL without epitome
	name string   // for an upstream made for it
	like string   // the upstream to prefer of those with this base URL
	v1   bool     // base URLs in these variables end in /v1 when nothing else is said
}

// wanted reads where the command would go: a base URL that is set already is its upstream.
func wanted(conf Config, getenv func(string) string) []target {
	openai := cmp.Or(getenv("OPENAI_BASE_URL"), getenv("OPENAI_API_BASE"))
	anthropic := getenv("ANTHROPIC_BASE_URL")
	return []target{
		{vars: []string{"OPENAI_BASE_URL", "OPENAI_API_BASE"}, name: "run-openai", like: conf.Upstream, v1: openai == "",
			url: trimSlash(cmp.Or(openai, conf.Upstreams[conf.Upstream].URL))},
		{vars: []string{"ANTHROPIC_BASE_URL"}, name: "run-anthropic", like: "anthropic",
			url: trimSlash(cmp.Or(anthropic, conf.Upstreams["anthropic"].URL))},
	}
}

func trimSlash(base string) string { return strings.TrimRight(base, "/") }

// running is a proxy that has answered and proved itself.
type running struct {
	address   string // http://host:port
	upstreams map[string]string
	lease     io.Closer
}

func (r *running) release() { _ = r.lease.Close() }

// has finds an upstream with exactly this base URL; which one it is decides over the headers that it adds.
func (r *running) has(t target) (name string, ok bool) {
	if base, ok := r.upstreams[t.like]; ok && trimSlash(base) == t.url {
		return t.like, true
	}
	for _, name := range slices.Sorted(maps.Keys(r.upstreams)) {
		if trimSlash(r.upstreams[name]) == t.url {
			return name, true
		}
	}
	return "", false
}

// serves reports whether the proxy has every upstream wanted, or is itself what a base URL points at.
func (r *running) serves(want []target) bool {
	for _, t := range want {
		if _, ok := r.has(t); !ok && !r.is(t.url) {
			return false
		}
	}
	return true
}

// is reports whether a base URL points at this proxy already, as in a command run by a command.
func (r *running) is(base string) bool {
	return base == r.address || strings.HasPrefix(base, r.address+"/")
}

// environ is the command's environment: the caller's, with the base URLs replaced.
func (r *running) environ(env []string, want []target) []string {
	for _, t := range want {
		base := t.url
		if name, ok := r.has(t); ok && !r.is(t.url) {
			base = r.address + "/u/" + name
			if t.v1 || strings.HasSuffix(t.url, "/v1") {
				base += "/v1"
			}
		}
		for _, v := range t.vars {
			env = append(env, v+"="+base)
		}
	}
	return append(env, around(env, r.address)...)
}

// around keeps clients that use a forward proxy from sending it what is meant for epitome.
func around(env []string, address string) (more []string) {
	vars := make(map[string]string)
	for _, kv := range env {
		k, v, _ := strings.Cut(kv, "=")
		vars[k] = v
	}
	if cmp.Or(vars["HTTP_PROXY"], vars["http_proxy"], vars["ALL_PROXY"], vars["all_proxy"]) == "" {
		return nil
	}
	host, _, _ := net.SplitHostPort(strings.TrimPrefix(address, "http://"))
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		list := cmp.Or(vars[name], vars["NO_PROXY"], vars["no_proxy"])
		if list != "*" { // which is for all, alone only
			list = strings.TrimPrefix(list+","+host, ",")
		}
		more = append(more, name+"="+list)
	}
	return more
}

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

// direct talks to this machine, never through a forward proxy.
func direct() *http.Client {
	return &http.Client{Transport: &http.Transport{Proxy: nil, DisableKeepAlives: true}}
}

// ask makes the proxy prove that it is the badge's owner, before anything it says is believed.
func (b *badge) ask() (*running, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	nonce := rand.Text()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+b.Listen+"/-/identity?nonce="+url.QueryEscape(nonce), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set(console.OwnerHeader, b.claim(nonce))
	resp, err := direct().Do(req)
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
	nonce := rand.Text()
	req, err := http.NewRequest(http.MethodGet, "http://"+b.Listen+"/-/lease?nonce="+url.QueryEscape(nonce), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set(console.OwnerHeader, b.claim(nonce))
	resp, err := direct().Do(req)
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

// passSignals runs the command to its end and hands on the signals that come for it.
func passSignals(child *exec.Cmd) error {
	signals := make(chan os.Signal, 16)
	if wanted := slices.DeleteFunc(passed(), signal.Ignored); len(wanted) > 0 { // what we are to ignore, the command is too
		signal.Notify(signals, wanted...)
	}
	defer signal.Stop(signals)
	if err := child.Start(); err != nil {
		return fmt.Errorf("cannot run %s: %w", child.Path, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- child.Wait() }()
	for {
		select {
		case err := <-ended:
			return err
		case s := <-signals:
			if !fromTerminal(s) {
				_ = child.Process.Signal(s)
			}
		}
	}
}
