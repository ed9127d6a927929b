package daemon

import (
	"runtime/debug"
)

// State says how an epitome runs. It tells its owner under /-/health.
type State struct {
	Status    string            `json:"status"`
	Version   string            `json:"version"`
	Mode      string            `json:"mode"`
	Upstream  string            `json:"upstream"` // the default one
	Upstreams map[string]string `json:"upstreams"`
	Keyed     bool              `json:"keyed"` // clients need keys of epitome's
}

// State returns how the daemon runs.
func (d *Daemon) State() State {
	conf := d.config.Load()
	s := State{Status: "ok", Version: Version(), Mode: conf.Mode, Upstream: conf.Upstream,
		Upstreams: map[string]string{}, Keyed: len(conf.Clients) > 0}
	for name, u := range conf.Upstreams {
		s.Upstreams[name] = u.URL
	}
	return s
}

// State asks the epitome how it runs.
func (c *Card) State() (s State, err error) {
	err = c.GetJSON("/-/health", &s)
	return s, err
}

// Version is the module's version or, for a build from a checkout, its commit.
func Version() string {
	b, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if commit, _, _ := Commit(); commit != "" && b.Main.Version == "(devel)" {
		return "devel-" + commit[:min(12, len(commit))]
	}
	return b.Main.Version
}

// Commit is the commit that the program was built from and its time in RFC 3339, both empty if the build does not know
// them, and whether the checkout had changes beside it.
func Commit() (commit, date string, changed bool) {
	b, ok := debug.ReadBuildInfo()
	if !ok {
		return "", "", false
	}
	settings := map[string]string{}
	for _, s := range b.Settings {
		settings[s.Key] = s.Value
	}
	return settings["vcs.revision"], settings["vcs.time"], settings["vcs.modified"] == "true"
}
