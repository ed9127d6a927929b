package instance

import (
	"encoding/json"
	"maps"
	"os"
	"runtime/debug"
	"strings"

	"epitome/config"
	"epitome/console"
)

// SettingsOf is what a configuration has proxies do, without the mode, the place, and the upstreams that flags have
// made. It holds the secrets that the environment has put in.
func SettingsOf(conf config.Config) string {
	conf.Mode, conf.Listen, conf.Data, conf.Upstream, conf.Console = "", "", "", "", console.Config{}
	conf.Log, conf = config.LogConfig{}, conf.Private()
	conf.Upstreams = maps.Clone(conf.Upstreams)
	for _, made := range []string{config.URLUpstream, RunOpenAI, RunAnthropic, RunCopilot, RunAgent} {
		delete(conf.Upstreams, made)
	}
	return encoded(conf)
}

// AllOf is all that a configuration says, but for its place.
func AllOf(conf config.Config) string {
	conf.Listen, conf.Data = "", ""
	return encoded(conf)
}

// encoded is a configuration with the key that it names.
func encoded(conf config.Config) string {
	all, err := json.Marshal(conf)
	if err != nil {
		panic("BUG: cannot encode the configuration: " + err.Error())
	}
	return string(all) + os.Getenv(conf.Summarize.KeyEnv)
}

// BuildOf is which program this is, and its way to the network.
func BuildOf(getenv func(string) string) string {
	all := []string{Version()}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"} {
		all = append(all, getenv(name), getenv(strings.ToLower(name)))
	}
	return strings.Join(all, "\x00")
}

// Version is the module's version or, for a build from a checkout, its commit.
func Version() string {
	b, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, s := range b.Settings {
		if s.Key == "vcs.revision" && b.Main.Version == "(devel)" {
			return "devel-" + s.Value[:min(12, len(s.Value))]
		}
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
	for _, s := range b.Settings {
		switch s.Key {
		case "vcs.revision":
			commit = s.Value
		case "vcs.time":
			date = s.Value
		case "vcs.modified":
			changed = s.Value == "true"
		}
	}
	return commit, date, changed
}
