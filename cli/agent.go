package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"epitome/config"
)

// launch says how an agent is started so that its requests go through epitome. The zero value is that of an agent which
// reads its base URL from the environment.
type launch struct {
	agent    string   // its name
	provider target   // that its own configuration names; without a URL, it is that of OPENAI_BASE_URL
	setting  string   // the value of -c on its command line, with one %s for the base URL; empty for none
	tools    []string // arguments that give it the tools at URL
	refusal  string   // why its requests cannot be redirected; empty if they are
}

// launchOf returns how the agent that a command starts is started. told says that the user has named a provider.
func launchOf(command string, conf config.Config, told bool) launch {
	switch strings.TrimSuffix(strings.ToLower(filepath.Base(command)), ".exe") {
	case "codex":
		return launchCodex(conf, told)
	case "claude":
		// without an = sign Claude Code takes all words that follow for files
		return launch{agent: "Claude Code",
			tools: []string{`--mcp-config={"mcpServers":{"epitome":{"type":"http","url":"URL"}}}`}}
	case "copilot":
		if os.Getenv(copilotURL) == "" {
			return launch{refusal: "Copilot CLI uses your login at GitHub and is not redirected; to have it use a provider of " +
				"yours, set " + copilotURL + ", COPILOT_PROVIDER_API_KEY and COPILOT_MODEL"}
		}
	}
	return launch{}
}

// arguments returns the arguments to put before the agent's own. base is the base URL of its provider through epitome;
// tools is the URL of epitome's tools, or empty.
func (l launch) arguments(base, tools string) (args []string) {
	if l.setting != "" {
		args = append(args, "-c", fmt.Sprintf(l.setting, base))
	}
	for _, arg := range l.tools {
		if tools != "" {
			args = append(args, strings.Replace(arg, "URL", tools, 1))
		}
	}
	return args
}

// codexConfig is the part of Codex's config.toml that chooses its provider.
type codexConfig struct {
	BaseURL   string `toml:"openai_base_url"`
	Provider  string `toml:"model_provider"`
	Logins    string `toml:"cli_auth_credentials_store"` // where they are: in a file if it is empty or "file"
	Providers map[string]struct {
		BaseURL string `toml:"base_url"`
	} `toml:"model_providers"`
}

// codexLogin is the part of Codex's auth.json that says which kind of login it has.
type codexLogin struct {
	Mode   string    `json:"auth_mode"`
	Key    *string   `json:"OPENAI_API_KEY"`
	Tokens *struct{} `json:"tokens"`
}

// launchCodex redirects Codex by a setting on its command line, as it reads no base URL from the environment. An
// argument of the user's that chooses another provider comes later and wins. Codex is not redirected unless its login
// shows which provider it uses: the other one would refuse it.
func launchCodex(conf config.Config, told bool) launch {
	folder := cmp.Or(os.Getenv("CODEX_HOME"), filepath.Join(cmp.Or(os.Getenv("HOME"), os.Getenv("USERPROFILE")), ".codex"))
	file := filepath.Join(folder, "config.toml")
	var codex codexConfig
	if err := readIfThere(file, toml.Unmarshal, &codex); err != nil {
		return launch{refusal: fmt.Sprintf("cannot redirect Codex: cannot read %s: %v", file, err)}
	}
	var login codexLogin
	err := readIfThere(filepath.Join(folder, "auth.json"), json.Unmarshal, &login)
	byKey := os.Getenv("CODEX_API_KEY") != "" || strings.EqualFold(login.Mode, "apikey") ||
		login.Mode == "" && login.Key != nil && login.Tokens == nil
	byChatGPT := strings.EqualFold(login.Mode, "chatgpt") || login.Mode == "" && login.Tokens != nil
	isNone := err == nil && login == codexLogin{} && (codex.Logins == "" || codex.Logins == "file")

	l := launch{agent: "Codex", setting: `openai_base_url="%s"`, tools: []string{"-c", `mcp_servers.epitome.url="URL"`}}
	switch p := codex.Provider; {
	case p != "" && p != "openai":
		base := codex.Providers[p].BaseURL
		if base == "" || strings.ContainsAny(p, `. "'`) {
			return launch{refusal: fmt.Sprintf("cannot redirect Codex: its provider %s has no base_url in %s", p, file)}
		}
		l.provider, l.setting = newTarget(base, "", "run-agent"), "model_providers."+p+`.base_url="%s"`
	case codex.BaseURL != "":
		l.provider = newTarget(codex.BaseURL, "", "run-agent")
	case byKey, isNone && told:
	case byChatGPT:
		l.provider = newTarget(conf.Upstreams["chatgpt"].URL, "chatgpt", "run-agent")
	default:
		return launch{refusal: fmt.Sprintf("cannot redirect Codex: it is not clear whether it uses an API key or a ChatGPT "+
			`login; start epitome, and write into %s openai_base_url = "http://%s/v1" for a key, or "http://%s/u/chatgpt" for `+
			"ChatGPT", file, conf.Listen, conf.Listen)}
	}
	return l
}

// readIfThere decodes a file into v. Without the file it leaves v as it is.
func readIfThere(file string, decode func([]byte, any) error, v any) error {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return decode(text, v)
}
