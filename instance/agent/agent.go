// Package agent knows agents that a base URL in the environment does not reach.
//
// It promises that nothing of theirs is redirected where a login of their own may be in use and cannot be told, and
// that what it cannot do itself it says: what to write, and where. It reads their configuration, and writes none; of
// what they keep of logins it reads which kind they are, and no secret.
package agent

import (
	"cmp"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"epitome/instance"
)

// Way is how an agent reaches epitome. The zero value is that of one which reads OPENAI_BASE_URL or ANTHROPIC_BASE_URL.
type Way struct {
	Name     string   // of the agent
	URL      string   // its provider, where that is none of the environment's; "" for none
	Upstream string   // the upstream to prefer of those with this URL
	Setting  string   // what its command line gets behind -c, with one %s for the base URL; "" for nothing
	Vars     []string // variables that it reads its base URL from
	Messages bool     // these are for Anthropic Messages
	Tools    []string // what its command line gets for tools at a URL, which stands as URL in it
	Advice   string   // why it is not redirected, and what to write where; "" where it is
}

// Place is where a command is run.
type Place struct {
	Command []string
	Getenv  func(string) string
	Listen  string // where an epitome listens that nobody started for one command alone
	Told    bool   // somebody has named the provider
	ChatGPT string // the base URL of what logins with ChatGPT use
}

// claudeTools has an = sign: without one Claude Code takes all words behind for files of that kind.
const claudeTools = `--mcp-config={"mcpServers":{"epitome":{"type":"http","url":"URL"}}}`

// Find returns the way of the agent that p's command starts.
func Find(p Place) Way {
	name := strings.TrimSuffix(strings.ToLower(filepath.Base(p.Command[0])), ".exe")
	switch {
	case name == "codex":
		return findCodex(p)
	case name == "copilot":
		return findCopilot(p)
	case name == "claude":
		return Way{Name: "Claude Code", Tools: []string{claudeTools}}
	}
	for _, a := range deaf {
		if slices.Contains(a.Commands, name) {
			return Way{Name: a.Name, Advice: a.advice("http://" + p.Listen)}
		}
	}
	return Way{}
}

// Arguments are what the agent's command line gets in front of its own words, and what to say of that and of what helps
// where nothing can be given: a base URL, which leads on to a provider, and epitome's tools, unless their URL is empty.
func (w Way) Arguments(base, provider, tools string) (args, said []string) {
	if w.Advice != "" {
		said = append(said, w.Advice)
	}
	if w.Setting != "" {
		args = []string{"-c", fmt.Sprintf(w.Setting, base)}
		said = append(said, fmt.Sprintf("%s is started with %s, and goes on to %s", w.Name, strings.Join(args, " "), provider))
	}
	if tools != "" && len(w.Tools) > 0 {
		var given []string
		for _, arg := range w.Tools {
			given = append(given, strings.Replace(arg, "URL", tools, 1))
		}
		args = append(args, given...)
		said = append(said, fmt.Sprintf("%s is started with %s: its model reads by these tools what epitome takes out", w.Name,
			strings.Join(given, " ")))
	}
	return args, said
}

// findCopilot redirects Copilot CLI where the environment gives it a provider. Else it uses GitHub's, by a login.
func findCopilot(p Place) Way {
	w := Way{Name: "Copilot CLI"}
	kind := p.Getenv("COPILOT_PROVIDER_TYPE")
	key := cmp.Or(p.Getenv("COPILOT_PROVIDER_API_KEY"), p.Getenv("COPILOT_PROVIDER_BEARER_TOKEN"),
		p.Getenv("COPILOT_PROVIDER_API_KEY_COMMAND"))
	switch {
	case p.Getenv(instance.CopilotURL) != "": // which is an upstream like any base URL that was set before
	case key != "" && kind != "azure": // whose base URL is each customer's own
		w.Vars, w.Messages = []string{instance.CopilotURL}, kind == "anthropic"
	default:
		w.Advice = "Copilot CLI uses your login at GitHub and is not redirected; to have it use a provider of yours, set " +
			instance.CopilotURL + " to its base URL, with COPILOT_PROVIDER_TYPE, COPILOT_PROVIDER_API_KEY and COPILOT_MODEL"
	}
	return w
}

// home is the user's folder.
func (p Place) home() string {
	if runtime.GOOS == "windows" {
		return p.Getenv("USERPROFILE")
	}
	return p.Getenv("HOME")
}

// fileOf is a file in the folder that a variable names, or in one of the user's.
func (p Place) fileOf(variable, folder, name string) string {
	return filepath.Join(cmp.Or(p.Getenv(variable), filepath.Join(p.home(), folder)), name)
}

// advice says what to write where, for an epitome at this address.
func (d Deaf) advice(address string) string {
	return fmt.Sprintf("%s reads no base URL from the environment: start epitome, and write %s into %s",
		d.Name, strings.ReplaceAll(d.Write, "ADDRESS", address), d.Where)
}
