package instance

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"

	"epitome/config"
)

// Finder finds an epitome for a run, or starts one.
type Finder struct {
	Conf  config.Config
	Flags Flags
	Home  string // the user's data folder
	Want  []Target
	Quiet bool // nobody reads along: only what goes against a flag is remarked
}

// Flags are those of the run.
type Flags struct{ Config, Mode, Upstream string }

// RunVariable names, within a command that a run has started, where the epitome listens that its requests go through,
// and FolderVariable the folder with its card.
const (
	RunVariable    = "EPITOME_RUN"
	FolderVariable = "EPITOME_RUN_FOLDER"
)

// Around is the epitome of the run within which this program runs. listen is where it is said to listen, empty outside
// of a run; card is nil if it does not run any more.
func Around() (card *Card, listen string) {
	if listen = os.Getenv(RunVariable); listen == "" {
		return nil, ""
	}
	if r := ask(os.Getenv(FolderVariable)); r != nil && r.Listen == listen {
		return r.Card, listen
	}
	return nil, listen
}

// FindOrStart finds an epitome that has the wanted upstreams: that of the data folder, unless it goes against a flag;
// that of the run around this one; one that another run has started. Else it starts one, which ends with the last run
// that uses it.
func (f Finder) FindOrStart() (*Running, error) {
	if r := lookup(f.Home, f.Want); r != nil && !f.forbids(r) && r.hold() {
		f.remark(r)
		return r, nil
	}
	if r := lookup(os.Getenv(FolderVariable), f.Want); r != nil && r.isAll(f.Want) && r.hold() {
		f.remark(r)
		return r, nil
	}
	var urls []string
	for _, t := range f.Want {
		urls = append(urls, t.URL)
	}
	folder := filepath.Join(f.Home, "run", short(urls...))
	r, err := f.share(folder)
	if r == nil && err == nil { // one runs there with another configuration: this one's has a folder of its own
		r, err = f.share(folder + "-" + short(f.Conf.Mode, settingsOf(f.Conf), buildOf(os.Getenv)))
	}
	return r, err
}

// lookup asks the epitome of a folder, if one runs that has the upstreams and takes an agent without a key.
func lookup(folder string, want []Target) *Running {
	r := ask(folder)
	if r == nil || r.TLS || r.Keyed || !r.serves(want) {
		return nil
	}
	if path := filepath.Join(folder, logFile); isFile(path) {
		r.Log = path
	}
	return r
}

// Follow is what is wanted where nobody has named an upstream: that of the epitome of the data folder.
func (f Finder) Follow() []Target {
	r := ask(f.Home)
	if r == nil || r.Upstreams[r.Upstream] == "" {
		return f.Want
	}
	want, base := slices.Clone(f.Want), TrimSlash(r.Upstreams[r.Upstream])
	if base != want[0].URL {
		fmt.Fprintf(os.Stderr, "epitome: requests go to %s, the upstream of the epitome on %s; --upstream names another\n", base, r.Listen)
	}
	want[0].URL, want[0].like = base, r.Upstream
	return want
}

// forbids reports whether an epitome does not do what a flag asks for.
func (f Finder) forbids(r *Running) bool {
	return f.Flags.Mode != "" && r.Mode != f.Conf.Mode || f.Flags.Config != "" && !r.runsAs(f.Conf)
}

// remark says what of this run does not count.
func (f Finder) remark(r *Running) {
	switch {
	case f.Quiet && !f.forbids(r):
	case r.Mode != f.Conf.Mode:
		fmt.Fprintf(os.Stderr, "epitome: using the epitome on %s, whose mode is %s; mode %s here does not count\n", r.Listen, r.Mode, f.Conf.Mode)
	case !r.runsAs(f.Conf):
		fmt.Fprintf(os.Stderr, "epitome: using the epitome on %s, whose configuration is another; the one here does not count\n", r.Listen)
	}
}

// share uses the epitome of a run's folder, or starts it; nil if one runs there with another configuration.
func (f Finder) share(folder string) (*Running, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("cannot make the folder %s: %w; give a data folder that can be written with --data", folder, config.PathCause(err))
	}
	unlock, err := lockedfile.MutexAt(filepath.Join(folder, "start.lock")).Lock()
	if err != nil {
		return nil, fmt.Errorf("cannot lock the folder %s: %w", folder, err)
	}
	defer unlock()
	switch r := lookup(folder, f.Want); {
	case r != nil && !(r.runsAs(f.Conf) && r.Build == buildOf(os.Getenv)):
		return nil, nil
	case r != nil && r.hold():
		return r, nil
	}
	return f.start(folder)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// logFile is the log of an epitome that a run has started.
const logFile = "epitome.log"

func (f Finder) start(folder string) (*Running, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("cannot find epitome's own program file: %w", err)
	}
	args := []string{"serve", "--leased", "--listen", "127.0.0.1:0", "--data", folder}
	for flag, value := range map[string]string{"--config": f.Flags.Config, "--mode": f.Flags.Mode, "--upstream": f.Flags.Upstream} {
		if value != "" {
			args = append(args, flag, value)
		}
	}
	for _, t := range f.Want {
		args = append(args, "--base", t.name+"="+t.URL)
	}
	logPath := filepath.Join(folder, logFile)
	to, err := os.OpenFile(logPath, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot write %s: %w", logPath, config.PathCause(err))
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
	for began := time.Now(); time.Since(began) < 15*time.Second; {
		select {
		case <-exited:
			said, _ := os.ReadFile(logPath)
			return nil, fmt.Errorf("cannot start a proxy: it said %q", strings.TrimSpace(string(said)))
		case <-time.After(10 * time.Millisecond):
		}
		if r := lookup(folder, f.Want); r != nil && r.hold() {
			r.Started = true
			return r, nil
		}
	}
	_ = proxy.Process.Kill() // nobody will come to use it
	return nil, fmt.Errorf("cannot start a proxy: it did not answer in time; its log is %s", logPath)
}
