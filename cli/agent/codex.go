package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// codexConfig is the part of Codex's config.toml that chooses its provider.
type codexConfig struct {
	BaseURL   string `toml:"openai_base_url"`
	Provider  string `toml:"model_provider"`
	Store     string `toml:"cli_auth_credentials_store"`
	Providers map[string]struct {
		BaseURL string `toml:"base_url"`
	} `toml:"model_providers"`
}

// findCodex redirects Codex by a setting on its command line: it reads none from the environment. Its own provider is
// the API or, by a login with ChatGPT, that login's; any other is the one of its configuration.
func (c Command) findCodex() Way {
	w := Way{Name: "Codex"}
	if arg := codexProvider(c.Args[1:]); arg != "" {
		w.Advice = "Codex is given " + arg + ", which chooses its provider, and is not redirected; leave it out, or " +
			"have the provider's base_url be http://" + c.Listen + "/v1, with epitome running"
		return w
	}
	conf, err := readCodex(c.file("CODEX_HOME", ".codex", "config.toml"))
	if err != nil {
		w.Advice = fmt.Sprintf("Codex is not redirected, because its configuration cannot be read: %v", err)
		return w
	}
	tools := []string{"-c", `mcp_servers.epitome.url="URL"`}
	if conf.Provider != "" && conf.Provider != "openai" {
		base := conf.Providers[conf.Provider].BaseURL
		if base == "" || strings.ContainsAny(conf.Provider, `. "'`) {
			w.Advice = "Codex's provider " + conf.Provider + " has no base_url in its configuration, and is not redirected"
			return w
		}
		w.URL, w.Setting, w.Tools = base, "model_providers."+conf.Provider+`.base_url="%s"`, tools
		return w
	}
	switch login := c.codexLogin(conf); {
	case conf.BaseURL != "":
		w.URL = conf.BaseURL
	case login == loginChatGPT:
		w.URL, w.Upstream = c.ChatGPT, "chatgpt"
	case login == loginUnknown || login == loginNone && !c.Told:
		w.Advice = fmt.Sprintf("cannot tell whether Codex uses a key of the API or a login with ChatGPT, and "+
			"redirects nothing: "+
			`start epitome, and write into %s openai_base_url = "http://%s/v1" for a key, or "http://%s/u/chatgpt" for ChatGPT`,
			c.file("CODEX_HOME", ".codex", "config.toml"), c.Listen, c.Listen)
		return w
	}
	w.Setting, w.Tools = `openai_base_url="%s"`, tools
	return w
}

// codexProvider returns the argument that chooses Codex's provider; empty if none does.
func codexProvider(args []string) string {
	for i, arg := range args {
		name, value, joined := strings.Cut(arg, "=")
		switch {
		case arg == "--":
			return ""
		case arg == "--oss" || name == "--profile" || arg == "-p" || name == "--local-provider":
			return name
		case arg == "-c" || arg == "--config":
			if i+1 < len(args) && setsProvider(args[i+1]) {
				return arg + " " + args[i+1]
			}
		case name == "--config" && joined && setsProvider(value), strings.HasPrefix(arg, "-c") && setsProvider(arg[2:]):
			return arg
		}
	}
	return ""
}

// setsProvider reports whether a setting, as KEY=VALUE, is about the provider.
func setsProvider(setting string) bool {
	name, _, _ := strings.Cut(setting, "=")
	return name == "openai_base_url" || name == "model_provider" || name == "profile" ||
		strings.HasPrefix(name, "model_providers")
}

// readCodex reads Codex's configuration; it is empty if there is no file.
func readCodex(path string) (conf codexConfig, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return conf, nil
	}
	if err == nil {
		err = toml.Unmarshal(text, &conf)
	}
	if err != nil {
		return conf, fmt.Errorf("cannot read %s: %w", path, err)
	}
	return conf, nil
}

// Kinds of logins of Codex.
const (
	loginUnknown = iota
	loginNone
	loginKey // of the API
	loginChatGPT
)

// codexLogin is the kind of Codex's login.
func (c Command) codexLogin(conf codexConfig) int {
	if c.Getenv("CODEX_API_KEY") != "" {
		return loginKey
	}
	text, err := os.ReadFile(c.file("CODEX_HOME", ".codex", "auth.json"))
	if errors.Is(err, fs.ErrNotExist) && (conf.Store == "" || conf.Store == "file") {
		return loginNone
	}
	var auth struct {
		Mode   string          `json:"auth_mode"`
		Key    *string         `json:"OPENAI_API_KEY"`
		Tokens json.RawMessage `json:"tokens"`
	}
	if err != nil || json.Unmarshal(text, &auth) != nil {
		return loginUnknown
	}
	tokens := len(auth.Tokens) > 0 && string(auth.Tokens) != "null"
	switch {
	case strings.EqualFold(auth.Mode, "apikey"), auth.Mode == "" && auth.Key != nil && !tokens:
		return loginKey
	case strings.EqualFold(auth.Mode, "chatgpt"), auth.Mode == "" && tokens:
		return loginChatGPT
	}
	return loginUnknown
}
