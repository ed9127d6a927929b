package instance

import (
	"crypto/sha256"
	"encoding/hex"
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

// FoldersIn are the data folder and those of the proxies that "epitome run" has started.
func FoldersIn(home string) []string {
	others, _ := filepath.Glob(filepath.Join(home, "run", "*")) // the pattern is sound
	return append([]string{home}, others...)
}

// Finder is what a run looks for, and where.
type Finder struct {
	Conf  config.Config
	Flags Flags
	Home  string // the user's data folder
	Want  []Target
	Quiet bool // nobody reads along: only what goes against a flag is remarked
}

// Flags are the words of the command line that a started proxy gets too; an empty one was not given.
type Flags struct{ Config, Mode, Upstream string }

// FindOrStart looks for a proxy in the user's data folder, then for one that the command is in already, then for one
// that an earlier run has started for the same, and starts one at last. Runs that want the same wait for one another
// here.
func (f Finder) FindOrStart() (*Running, error) {
	if r := lookup(f.Home, f.Want); r != nil && !f.forbids(r) && r.hold() {
		if !f.Quiet {
			f.remark(r)
		}
		return r, nil
	}
	if r := f.around(); r != nil {
		if f.forbids(r) {
			f.remark(r)
		}
		return r, nil
	}
	folder := filepath.Join(f.Home, "run", keyOf(f.Want))
	r, err := f.share(folder, false)
	if r == nil && err == nil {
		r, err = f.share(folder+"-"+short(f.Conf.Mode, SettingsOf(f.Conf), BuildOf(os.Getenv)), true)
	}
	return r, err
}

// Follow is for a command that nobody has told a provider: it takes the default upstream of the proxy that runs in the
// user's data folder, whatever the configuration here says, and says so where the two differ. Where none runs, what
// the configuration says holds.
func (f Finder) Follow() []Target {
	b, err := Read(f.Home)
	if err != nil {
		return f.Want
	}
	r, err := b.Ask()
	if err != nil {
		return f.Want
	}
	want, moved := r.follow(f.Want)
	if moved {
		fmt.Fprintf(os.Stderr, "epitome: requests go to %s, the upstream of the epitome on %s; --upstream names another\n",
			want[0].URL, b.Listen)
	}
	return want
}

// forbids reports whether flags were given that the proxy does not follow.
func (f Finder) forbids(r *Running) bool {
	return f.Flags.Mode != "" && r.mode != f.Conf.Mode || f.Flags.Config != "" && !r.runsAs(f.Conf)
}

// remark says what a proxy that is used does differently, if it does.
func (f Finder) remark(r *Running) {
	switch {
	case r.mode != f.Conf.Mode:
		fmt.Fprintf(os.Stderr, "epitome: using the epitome on %s, whose mode is %s; mode %s here does not count\n", r.Card.Listen, r.mode, f.Conf.Mode)
	case !r.runsAs(f.Conf):
		fmt.Fprintf(os.Stderr, "epitome: using the epitome on %s, whose configuration is another; the one here does not count\n", r.Card.Listen)
	}
}

// share uses the proxy that runs in the folder if it is just what this run would start, and starts one where none
// runs. With one that differs it returns nothing, unless the folder is for such as this alone.
func (f Finder) share(folder string, alone bool) (*Running, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("cannot make the folder %s: %w; give a data folder that can be written with --data", folder, config.PathCause(err))
	}
	unlock, err := lockedfile.MutexAt(filepath.Join(folder, "start.lock")).Lock()
	if err != nil {
		return nil, fmt.Errorf("cannot lock the folder %s: %w", folder, err)
	}
	defer unlock()
	r := lookup(folder, f.Want)
	if r != nil && !(r.runsAs(f.Conf) && r.build == r.Card.Mark(BuildOf(os.Getenv))) {
		if !alone {
			return nil, nil
		}
		r = nil
	}
	if r != nil && r.hold() {
		r.Log = filepath.Join(folder, logFile)
		return r, nil
	}
	return f.start(folder)
}

// around finds the proxy of a run that this one is run by: every base URL points there.
func (f Finder) around() *Running {
	folders := FoldersIn(f.Home)[1:] // the first one was looked into
	if folder := os.Getenv(FolderVariable); folder != "" {
		folders = append([]string{folder}, folders...)
	}
	for _, folder := range folders {
		b, err := Read(folder)
		if err != nil || slices.ContainsFunc(f.Want, func(t Target) bool {
			return !(&Running{address: "http://" +
				b.Listen}).is(t.URL)
		}) {
			continue
		}
		if r := lookup(folder, f.Want); r != nil && r.hold() {
			if path := filepath.Join(folder, logFile); isFile(path) { // else serve was started, not a run
				r.Log = path
			}
			return r
		}
	}
	return nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// keyOf names the folder of started proxies by their upstreams: what was decided under one configuration holds under
// the next.
func keyOf(want []Target) string {
	var urls []string
	for _, t := range want {
		urls = append(urls, t.URL)
	}
	return short(urls...)
}

// short is a name for some texts.
func short(texts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// logFile is what a started proxy says, in its data folder.
const logFile = "epitome.log"

// startWait is how long a started proxy may take to answer.
const startWait = 15 * time.Second

// start runs a proxy of our own on a free port, with its own folder. It outlives this process while others use it.
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
	r, err := await(folder, f.Want, exited)
	if err != nil {
		_ = proxy.Process.Kill() // nobody will come to use it
		return nil, err
	}
	r.Log, r.Started = logPath, true
	return r, nil
}

func await(folder string, want []Target, exited <-chan error) (*Running, error) {
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
