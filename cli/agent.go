package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"epitome/config"
)

// agentOf returns the name by which run knows an agent: that of its program.
func agentOf(command string) string {
	return strings.TrimSuffix(strings.ToLower(filepath.Base(command)), ".exe")
}

// toolArguments returns the arguments that give an agent the tools at a URL; none for an agent that takes none.
func toolArguments(agent, url string) []string {
	switch agent {
	case "codex":
		return []string{"-c", fmt.Sprintf("mcp_servers.epitome.url=%q", url)}
	case "claude": // without an = sign Claude Code takes all words that follow for files
		return []string{fmt.Sprintf(`--mcp-config={"mcpServers":{"epitome":{"type":"http","url":%q}}}`, url)}
	}
	return nil
}

// readsInput reports whether an agent reads its first prompt from standard input, where no person talks to it.
func readsInput(command []string) bool {
	return command[0] == "codex" && slices.Contains(command, "exec") ||
		command[0] == "claude" && (slices.Contains(command, "-p") || slices.Contains(command, "--print"))
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

// codexProvider returns the provider of Codex, which reads its base URL from its command line, not the environment;
// openAI is that of the environment or of --upstream. An argument of the user's that chooses another one comes later and
// wins. told says that the user has named a provider. The error says why Codex is not redirected: its login does not
// show which provider it uses, and the other one would refuse it.
func codexProvider(conf config.Config, openAI provider, told bool) (provider, error) {
	folder := cmp.Or(os.Getenv("CODEX_HOME"), filepath.Join(cmp.Or(os.Getenv("HOME"), os.Getenv("USERPROFILE")),
		".codex"))
	file := filepath.Join(folder, "config.toml")
	var codex codexConfig
	if err := readIfThere(file, toml.Unmarshal, &codex); err != nil {
		return provider{}, fmt.Errorf("cannot redirect Codex: cannot read %s: %w", file, err)
	}
	isNamed := conf.Named && !openAI.isSet // by --upstream
	p, setting := openAI, `openai_base_url="%s"`
	name := codex.Provider
	switch {
	case name != "" && name != "openai":
		base := codex.Providers[name].BaseURL
		if base == "" || strings.ContainsAny(name, `. "'`) {
			return provider{}, fmt.Errorf("cannot redirect Codex: its provider %s has no base_url in %s", name, file)
		}
		if !isNamed {
			p = newProvider(base, "", "run-agent")
		}
		setting = "model_providers." + name + `.base_url="%s"`
	case isNamed:
	case codex.BaseURL != "":
		p = newProvider(codex.BaseURL, "", "run-agent")
	default:
		isChatGPT, err := codex.usesChatGPT(folder, told)
		if err != nil {
			return provider{}, fmt.Errorf("cannot redirect Codex: %w; start epitome, and write into %s "+
				`openai_base_url = "http://%s/v1" for a key, or "http://%s/u/chatgpt" for ChatGPT`, err, file, conf.Listen,
				conf.Listen)
		}
		if isChatGPT {
			p = newProvider(conf.Upstreams["chatgpt"].URL, "chatgpt", "run-agent")
		}
	}
	p.vars, p.setting = nil, setting
	return p, nil
}

// usesChatGPT reports whether Codex's login is one of ChatGPT, and not an API key. Without a login it is a key if the
// user has named a provider.
func (c codexConfig) usesChatGPT(folder string, told bool) (bool, error) {
	var login codexLogin
	err := readIfThere(filepath.Join(folder, "auth.json"), json.Unmarshal, &login)
	isNone := err == nil && login == codexLogin{} && (c.Logins == "" || c.Logins == "file")
	mode := strings.ToLower(login.Mode)
	switch {
	case os.Getenv("CODEX_API_KEY") != "", mode == "apikey", isNone && told:
		return false, nil
	case mode == "chatgpt", mode == "" && login.Tokens != nil:
		return true, nil
	case mode == "" && login.Key != nil:
		return false, nil
	}
	return false, errors.New("it is not clear whether it uses an API key or a ChatGPT login")
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
