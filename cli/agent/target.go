package agent

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"epitome/config"
)

// Target is a provider that a command would talk to.
type Target struct {
	URL  string   // base URL of the provider, without a slash at its end
	Like string   // the upstream to prefer of those with this URL
	Name string   // of the upstream that a proxy of its own has for it
	vars []string // environment variables that carry its base URL
	v1   bool     // base URLs in these variables end in /v1 where the URL does not say
	bare bool     // base URLs in these variables never end in /v1: clients add it
}

// copilotURL is the variable from which Copilot CLI reads its provider's base URL.
const copilotURL = "COPILOT_PROVIDER_BASE_URL"

// HasProvider reports whether the environment names the provider of the first target.
func HasProvider(getenv func(string) string) bool { return openAIURL(getenv) != "" }

func openAIURL(getenv func(string) string) string {
	return cmp.Or(getenv("OPENAI_BASE_URL"), getenv("OPENAI_API_BASE"))
}

// Targets are where a command would go: first OpenAI's API, then Anthropic's. A base URL that is set already is kept as
// the upstream. named says that the configuration's upstream was named for this command: then it serves every API
// without such a base URL.
func Targets(conf config.Config, getenv func(string) string, named bool) ([]Target, error) {
	for _, name := range []string{"OPENAI_BASE_URL", "OPENAI_API_BASE", "ANTHROPIC_BASE_URL", copilotURL} {
		if value := getenv(name); value != "" {
			if err := config.CheckURL(value); err != nil {
				return nil, fmt.Errorf("cannot use %s: %w", name, err)
			}
		}
	}
	openai, old := openAIURL(getenv), getenv("OPENAI_API_BASE")
	if old != "" && trimSlash(openai) != trimSlash(old) {
		return nil, errors.New("cannot follow both OPENAI_BASE_URL and OPENAI_API_BASE, which differ: unset one of them")
	}
	upstream := conf.Upstreams[conf.Upstream].URL
	if named && openai != "" && trimSlash(openai) != trimSlash(upstream) {
		return nil, fmt.Errorf("cannot follow both --upstream and OPENAI_BASE_URL, which is set to %s: unset one of them",
			openai)
	}
	anthropic := getenv("ANTHROPIC_BASE_URL")
	targets := []Target{
		{URL: trimSlash(cmp.Or(openai, upstream)), Like: conf.Upstream, Name: "run-openai", v1: openai == "",
			vars: []string{"OPENAI_BASE_URL", "OPENAI_API_BASE"}},
		{URL: trimSlash(cmp.Or(anthropic, conf.Upstreams["anthropic"].URL)), Like: "anthropic", Name: "run-anthropic",
			vars: []string{"ANTHROPIC_BASE_URL"}},
	}
	if named && anthropic == "" {
		targets[1].URL, targets[1].Like, targets[1].bare = trimSlash(upstream), conf.Upstream, true
	}
	if copilot := getenv(copilotURL); copilot != "" {
		targets = append(targets, Target{URL: trimSlash(copilot), Name: "run-copilot", vars: []string{copilotURL}})
	}
	return targets, nil
}

// Extend adds to a command's targets the variables that its agent reads, and the provider that the agent talks to by
// its own choice.
func (w Way) Extend(targets []Target) []Target {
	if w.URL != "" {
		targets = append(targets, Target{URL: trimSlash(w.URL), Like: w.Upstream, Name: "run-agent"})
	}
	i := 0
	if w.Messages {
		i = 1
	}
	targets[i].vars = append(slices.Clone(targets[i].vars), w.Vars...)
	return targets
}

func trimSlash(base string) string { return strings.TrimRight(base, "/") }
