// Package agent starts agents with their base URLs pointing at a proxy, which it finds or starts.
//
// It redirects no agent that may use a login of its own that cannot be told, and says so. It reads the agents'
// configuration and writes none; of their logins it reads which kind they are, and no secret.
package agent

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
)

// Way is how an agent reaches the proxy. The zero value is that of one which reads OPENAI_BASE_URL or
// ANTHROPIC_BASE_URL.
type Way struct {
	Name     string   // of the agent
	URL      string   // its provider, if the environment does not name it; empty for none
	Upstream string   // the upstream to prefer of those with this URL
	Setting  string   // the value of -c on its command line, with one %s for the base URL; empty for none
	Vars     []string // variables that it reads its base URL from
	Messages bool     // these are for Anthropic Messages
	Tools    []string // arguments that give it the tools at URL
	Advice   string   // why it is not redirected, and the setting to write; empty if it is
}

// Command is a command as it is run.
type Command struct {
	Args    []string
	Getenv  func(string) string
	Listen  string // where an epitome listens that was started on its own
	Told    bool   // the user has named the provider
	ChatGPT string // the base URL that logins with ChatGPT use
}

// Find returns the way of the agent that the command starts.
func (c Command) Find() Way {
	name := strings.TrimSuffix(strings.ToLower(filepath.Base(c.Args[0])), ".exe")
	switch name {
	case "codex":
		return c.findCodex()
	case "copilot":
		return c.findCopilot()
	case "claude":
		// without an = sign Claude Code takes all words that follow for files
		return Way{Name: "Claude Code", Tools: []string{`--mcp-config={"mcpServers":{"epitome":{"type":"http","url":"URL"}}}`}}
	}
	return Way{Name: name}
}

// Arguments returns arguments to put before the agent's own, and a sentence for the user about them; both may be empty.
// base is the base URL that leads to provider; tools is the URL of epitome's tools, or empty.
func (w Way) Arguments(base, provider, tools string) (args []string, said string) {
	if w.Advice != "" {
		return nil, w.Advice
	}
	if w.Setting != "" {
		args = append(args, "-c", fmt.Sprintf(w.Setting, base))
	}
	if tools != "" {
		for _, arg := range w.Tools {
			args = append(args, strings.Replace(arg, "URL", tools, 1))
		}
	}
	if len(args) > 0 {
		said = fmt.Sprintf("%s is started with %s", w.Name, strings.Join(args, " "))
	}
	if w.Setting != "" {
		said += ", and its requests go on to " + provider
	}
	return args, said
}

// findCopilot redirects Copilot CLI if the environment gives it a provider. Else it uses GitHub's, by a login.
func (c Command) findCopilot() Way {
	w := Way{Name: "Copilot CLI"}
	kind := c.Getenv("COPILOT_PROVIDER_TYPE")
	key := cmp.Or(c.Getenv("COPILOT_PROVIDER_API_KEY"), c.Getenv("COPILOT_PROVIDER_BEARER_TOKEN"),
		c.Getenv("COPILOT_PROVIDER_API_KEY_COMMAND"))
	switch {
	case c.Getenv(copilotURL) != "": // it is an upstream like any base URL that was set before
	case key != "" && kind != "azure": // whose base URL is each customer's own
		w.Vars, w.Messages = []string{copilotURL}, kind == "anthropic"
	default:
		w.Advice = "Copilot CLI uses your login at GitHub and is not redirected; to have it use a provider of yours, set " +
			copilotURL + " to its base URL, with COPILOT_PROVIDER_TYPE, COPILOT_PROVIDER_API_KEY and COPILOT_MODEL"
	}
	return w
}
