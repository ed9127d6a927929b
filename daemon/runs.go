package daemon

// Each "epitome run" writes what it has for itself into a file of the data folder, which the epitome there reads with
// each of its requests. And it shares a lock with other commands that use an epitome: one that no user has started ends
// when it gets that lock alone.

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"epitome/proxy"
)

// Run is what an "epitome run" has for itself.
type Run struct {
	proxy.Run
	Upstreams map[string]string `json:"upstreams"` // base URLs by name; names of the configuration stay with theirs
}

// runFile returns the file of a run.
func runFile(folder, id string) string { return filepath.Join(folder, "runs", filepath.Base(id)) }

// Write keeps r in a data folder, and deletes runs there that began before oldest.
func (r *Run) Write(folder, id string, oldest time.Time) error {
	file := runFile(folder, id)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	others, _ := os.ReadDir(filepath.Dir(file)) // those that cannot be read stay
	for _, o := range others {
		info, err := o.Info()
		if err == nil && info.ModTime().Before(oldest) {
			_ = os.Remove(runFile(folder, o.Name()))
		}
	}
	text, _ := json.Marshal(r) // strings
	return os.WriteFile(file, text, 0o600)
}

// Users returns the lock that commands share while they use an epitome of a data folder. The kernel releases it however
// a command ends.
func Users(folder string) *flock.Flock {
	return flock.New(filepath.Join(folder, "runs.lock"), flock.SetPermissions(0o600))
}

// AwaitUsers returns when no command uses an epitome of a data folder. None begins to until this process has ended or the
// lock is closed.
func AwaitUsers(folder string) *flock.Flock {
	users := Users(folder)
	insist(users.Lock)
	return users
}

// run returns what holds for the requests of a run, and puts its upstreams in force.
func (d *Daemon) run(id string) (proxy.Run, error) {
	var r Run
	text, err := os.ReadFile(runFile(d.card.folder, id))
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	for name := range r.Upstreams {
		if _, isKnown := d.config.Load().Upstreams[name]; !isKnown && err == nil {
			err = d.addUpstreams(r.Upstreams)
		}
	}
	if !d.config.Load().Context.Runtime {
		r.Runtime = ""
	}
	return r.Run, err
}

// addUpstreams adds base URLs by name to the configuration in force, until that is read again.
func (d *Daemon) addUpstreams(all map[string]string) error {
	d.configuring.Lock()
	defer d.configuring.Unlock()
	next := *d.config.Load()
	next.Upstreams = maps.Clone(next.Upstreams) // requests read the old ones
	for name, url := range all {
		if _, isKnown := next.Upstreams[name]; !isKnown {
			next.AddUpstream(name, url)
		}
	}
	return d.configure(next)
}
