package instance

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"epitome/config"
)

// Target is one provider that the command would talk to.
type Target struct {
	vars []string // environment variables that carry its base URL
	URL  string   // its base URL without epitome
	name string   // for an upstream made for it
	like string   // the upstream to prefer of those with this base URL
	v1   bool     // base URLs in these variables end in /v1 when nothing else is said
	bare bool     // and in these they never do: their clients add it
}

// The upstreams that are made for a run.
const (
	RunOpenAI    = "run-openai"
	RunAnthropic = "run-anthropic"
	RunCopilot   = "run-copilot"
	RunAgent     = "run-agent"
)

// CopilotURL is the variable from which Copilot CLI reads its provider's base URL.
const CopilotURL = "COPILOT_PROVIDER_BASE_URL"

// TargetAt is a provider that the command would talk to besides, by its own choice;
// like is the upstream to prefer of those with this URL.
func TargetAt(url, like string) Target {
	return Target{URL: TrimSlash(url), name: RunAgent, like: like}
}

// With returns a target whose base URL more variables carry.
func (t Target) With(vars ...string) Target {
	t.vars = append(slices.Clone(t.vars), vars...)
	return t
}

// IsTold reports whether the environment names the provider of the first target.
func IsTold(getenv func(string) string) bool {
	return cmp.Or(getenv("OPENAI_BASE_URL"), getenv("OPENAI_API_BASE")) != ""
}

// TargetsOf reads where the command would go: a base URL that is set already is its upstream. named says that the
// configuration's upstream was named for this command: then it is that of every API without such a base URL.
func TargetsOf(conf config.Config, getenv func(string) string, named bool) []Target {
	openai := cmp.Or(getenv("OPENAI_BASE_URL"), getenv("OPENAI_API_BASE"))
	anthropic := getenv("ANTHROPIC_BASE_URL")
	want := []Target{
		{vars: []string{"OPENAI_BASE_URL", "OPENAI_API_BASE"}, name: RunOpenAI, like: conf.Upstream, v1: openai == "",
			URL: TrimSlash(cmp.Or(openai, conf.Upstreams[conf.Upstream].URL))},
		{vars: []string{"ANTHROPIC_BASE_URL"}, name: RunAnthropic, like: "anthropic",
			URL: TrimSlash(cmp.Or(anthropic, conf.Upstreams["anthropic"].URL))},
	}
	if named && anthropic == "" {
		want[1].URL, want[1].like, want[1].bare = TrimSlash(conf.Upstreams[conf.Upstream].URL), conf.Upstream, true
	}
	if copilot := getenv(CopilotURL); copilot != "" {
		want = append(want, Target{vars: []string{CopilotURL}, name: RunCopilot, URL: TrimSlash(copilot)})
	}
	return want
}

// CheckEnviron refuses an environment that does not say clearly where the command would go.
func CheckEnviron(getenv func(string) string) error {
	for _, name := range []string{"OPENAI_BASE_URL", "OPENAI_API_BASE", "ANTHROPIC_BASE_URL", CopilotURL} {
		if value := getenv(name); value != "" {
			if err := config.CheckURL(value); err != nil {
				return fmt.Errorf("cannot use %s: %w", name, err)
			}
		}
	}
	now, old := getenv("OPENAI_BASE_URL"), getenv("OPENAI_API_BASE")
	if now != "" && old != "" && TrimSlash(now) != TrimSlash(old) {
		return errors.New("cannot follow both OPENAI_BASE_URL and OPENAI_API_BASE, which differ: unset one of them")
	}
	return nil
}

// TrimSlash is a base URL as it is compared with others.
func TrimSlash(base string) string { return strings.TrimRight(base, "/") }
