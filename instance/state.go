package instance

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"os"
	"runtime/debug"
	"strings"

	"epitome/config"
	"epitome/console"
)

// StateOf is the state of an epitome with a configuration. waits says that a part of it waits for a restart.
func (c *Card) StateOf(conf config.Config, waits bool) State {
	s := State{Status: "ok", Version: Version(), Proof: c.Proof, Mode: conf.Mode, Upstream: conf.Upstream,
		Upstreams: map[string]string{}, Keyed: len(conf.Clients) > 0,
		Settings: settingsOf(conf), All: allOf(conf), Build: buildOf(os.Getenv)}
	for name, u := range conf.Upstreams {
		s.Upstreams[name] = u.URL
	}
	if waits {
		s.All = "waits"
	}
	return s
}

// settingsOf is a hash of what a configuration has epitomes do, without the mode, the place, and the upstreams that
// flags have made.
func settingsOf(conf config.Config) string {
	conf.Mode, conf.Listen, conf.Data, conf.Upstream, conf.Console = "", "", "", "", console.Config{}
	conf.Log, conf = config.LogConfig{}, conf.Private()
	conf.Upstreams = maps.Clone(conf.Upstreams)
	for _, made := range []string{config.URLUpstream, RunOpenAI, RunAnthropic, RunCopilot, RunAgent} {
		delete(conf.Upstreams, made)
	}
	return allOf(conf)
}

// allOf is a hash of all that a configuration says, but for its place, with the key that it names.
func allOf(conf config.Config) string {
	conf.Listen, conf.Data = "", ""
	all, err := json.Marshal(conf)
	if err != nil {
		panic("BUG: cannot encode the configuration: " + err.Error())
	}
	return short(string(all), os.Getenv(conf.Summarize.KeyEnv))
}

// buildOf is a hash of which program this is, and its way to the network.
func buildOf(getenv func(string) string) string {
	all := []string{Version()}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"} {
		all = append(all, getenv(name), getenv(strings.ToLower(name)))
	}
	return short(all...)
}

func short(texts ...string) string {
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
