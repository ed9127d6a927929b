package daemon

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"runtime/debug"
	"strings"

	"epitome/config"
	"epitome/console"
)

// State is how an epitome runs, as it tells its owner under /-/health.
type State struct {
	Status    string            `json:"status"`
	Version   string            `json:"version"`
	Mode      string            `json:"mode"`
	Upstream  string            `json:"upstream"` // the default one
	Upstreams map[string]string `json:"upstreams"`
	Keyed     bool              `json:"keyed"`    // clients need keys
	Settings  string            `json:"settings"` // see Settings
}

// StateOf is the state of this program with a configuration.
func StateOf(conf config.Config) State {
	s := State{Status: "ok", Version: Version(), Mode: conf.Mode, Upstream: conf.Upstream,
		Upstreams: map[string]string{}, Keyed: len(conf.Clients) > 0, Settings: Settings(conf)}
	for name, u := range conf.Upstreams {
		s.Upstreams[name] = u.URL
	}
	return s
}

// State asks the epitome how it runs.
func (c *Card) State() (s State, err error) {
	text, err := c.Get("/-/health", nil)
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	return s, err
}

// RunUpstream begins the names of upstreams that "epitome run" makes for one command.
const RunUpstream = "run-"

// Settings is a hash of what this program does with a configuration: its version, its way to the network, and all
// settings but the mode, the place and the upstreams that flags have made. Epitomes with equal ones can stand for each
// other.
func Settings(conf config.Config) string {
	conf.Mode, conf.Listen, conf.Data, conf.Upstream, conf.Console = "", "", "", "", console.Config{}
	conf.Log, conf = config.LogConfig{}, conf.Private()
	upstreams := conf.Upstreams
	conf.Upstreams = nil
	texts := []string{Version(), os.Getenv(conf.Summarize.KeyEnv)}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"} {
		texts = append(texts, os.Getenv(name), os.Getenv(strings.ToLower(name)))
	}
	kept := map[string]any{}
	for name, u := range upstreams {
		if name != config.URLUpstream && !strings.HasPrefix(name, RunUpstream) {
			kept[name] = u
		}
	}
	all, err := json.Marshal([]any{conf, kept, texts})
	if err != nil {
		panic("BUG: cannot encode the configuration: " + err.Error())
	}
	return Hash(string(all))
}

// Hash is a short hash of texts.
func Hash(texts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\x00")))
	return hex.EncodeToString(sum[:8])
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
