package agent

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"

	"epitome/cli/daemon"
	"epitome/config"
)

// Finder finds a proxy for a run, or starts one.
type Finder struct {
	Conf    config.Config
	Flags   Flags
	Home    string // the user's data folder
	Targets []Target
	Quiet   bool // nobody reads along: only a flag that does not count is reported
}

// Flags are those of the run that a proxy gets which it starts. Empty ones were not given.
type Flags struct{ Config, Mode, Upstream string }

// Follow has a command for which nobody has named an upstream go to that of the epitome of the data folder.
func (f *Finder) Follow() {
	p := lookup(f.Home)
	if p == nil {
		return
	}
	base := trimSlash(p.State.Upstreams[p.State.Upstream])
	if base == "" || base == f.Targets[0].URL {
		return
	}
	fmt.Fprintf(os.Stderr, "epitome: requests go to %s, the upstream of the epitome on %s; --upstream names another\n",
		base, p.Listen)
	f.Targets[0].URL, f.Targets[0].Like = base, p.State.Upstream
}

// FindOrStart finds a proxy that reaches the targets: that of the run around this one; that of the data folder, unless
// it does not do what a flag asks for; one that another run has started. Else it starts one, which ends with the last
// run that uses it.
func (f *Finder) FindOrStart() (*Proxy, error) {
	for _, folder := range []string{os.Getenv(FolderVariable), f.Home} {
		p := f.usable(folder)
		if p != nil && (folder != f.Home || !f.forbids(p)) && p.hold() {
			f.report(p)
			return p, nil
		}
	}
	var urls []string
	for _, t := range f.Targets {
		urls = append(urls, t.URL)
	}
	folder := filepath.Join(f.Home, "run", daemon.Hash(urls...))
	if p := f.usable(folder); p != nil && !f.does(p) { // one runs there with another configuration
		folder += "-" + daemon.Hash(f.Conf.Mode, daemon.Settings(f.Conf))
	}
	return f.share(folder)
}

// lookup asks the epitome that runs with a folder; nil if none does.
func lookup(folder string) *Proxy {
	card, err := daemon.Read(folder)
	if err != nil {
		return nil
	}
	state, err := card.State()
	if err != nil {
		return nil
	}
	return &Proxy{Card: card, State: state}
}

// usable is the proxy of a folder, if it reaches the targets and takes agents as they are; else nil.
func (f *Finder) usable(folder string) *Proxy {
	p := lookup(folder)
	if p == nil || p.TLS || p.State.Keyed || !p.serves(f.Targets) {
		return nil
	}
	if path := filepath.Join(folder, logFile); isFile(path) {
		p.Log = path
	}
	return p
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// does reports whether a proxy does what this run's configuration says.
func (f *Finder) does(p *Proxy) bool {
	return p.State.Mode == f.Conf.Mode && p.State.Settings == daemon.Settings(f.Conf)
}

// forbids reports whether a proxy does not do what a flag asks for.
func (f *Finder) forbids(p *Proxy) bool {
	return f.Flags.Mode != "" && p.State.Mode != f.Conf.Mode || f.Flags.Config != "" && !f.does(p)
}

// report says so if the configuration of this run does not count.
func (f *Finder) report(p *Proxy) {
	if !f.does(p) && (!f.Quiet || f.forbids(p)) {
		fmt.Fprintf(os.Stderr, "epitome: using the epitome on %s as it is configured, in mode %s; mode and configuration "+
			"here do not count\n", p.Listen, p.State.Mode)
	}
}

// share uses the proxy of a folder that runs share, or starts it.
func (f *Finder) share(folder string) (*Proxy, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("cannot make the folder %s: %w; give a data folder that can be written with --data", folder,
			config.PathCause(err))
	}
	unlock, err := lockedfile.MutexAt(filepath.Join(folder, "start.lock")).Lock()
	if err != nil {
		return nil, fmt.Errorf("cannot lock the folder %s: %w", folder, err)
	}
	defer unlock()
	if p := f.usable(folder); p != nil && p.hold() {
		return p, nil
	}
	return f.start(folder)
}

// logFile is the log of a proxy that a run has started.
const logFile = "epitome.log"

// start starts a proxy with a folder of its own, and waits until it answers.
func (f *Finder) start(folder string) (*Proxy, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("cannot find the program file: %w", err)
	}
	args := []string{"serve", "--leased", "--listen=127.0.0.1:0", "--data=" + folder}
	for flag, value := range map[string]string{"config": f.Flags.Config, "mode": f.Flags.Mode,
		"upstream": f.Flags.Upstream} {
		if value != "" {
			args = append(args, "--"+flag+"="+value)
		}
	}
	for _, t := range f.Targets {
		args = append(args, "--base="+t.name+"="+t.URL)
	}
	path := filepath.Join(folder, logFile)
	log, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot write %s: %w", path, config.PathCause(err))
	}
	defer func() { _ = log.Close() }()
	proxy := exec.Command(program, args...)
	proxy.Stdout, proxy.Stderr = log, log
	detach(proxy)
	if err := proxy.Start(); err != nil {
		return nil, fmt.Errorf("cannot start a proxy: %w", err)
	}
	exited := make(chan error, 1)
	go func() { exited <- proxy.Wait() }()
	for began := time.Now(); time.Since(began) < 15*time.Second; {
		select {
		case <-exited:
			text, _ := os.ReadFile(path)
			return nil, fmt.Errorf("cannot start a proxy: its log is %q", strings.TrimSpace(string(text)))
		case <-time.After(10 * time.Millisecond):
		}
		if p := f.usable(folder); p != nil && p.hold() {
			p.Started = true
			return p, nil
		}
	}
	_ = proxy.Process.Kill() // nobody will come to use it
	return nil, fmt.Errorf("cannot start a proxy: it did not answer in time; its log is %s", path)
}
