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

// codexConfig is what counts here of Codex's config.toml.
type codexConfig struct {
	BaseURL   string `toml:"openai_base_url"`
	Provider  string `toml:"model_provider"`
	Store     string `toml:"cli_auth_credentials_store"`
	Providers map[string]struct {
		BaseURL string `toml:"base_url"`
	} `toml:"model_providers"`
}

// login is who Codex is for its own provider.
type login int

const (
	unknown login = iota
	byKey         // of the API
	byChatGPT
	nobody
)

// findCodex redirects Codex by a setting on its command line: it reads none from the environment. Its own provider is
// the API or, by a login with ChatGPT, that login's; any other is the one of its configuration.
func findCodex(p Place) Way {
	w := Way{Name: "Codex"}
	if said := decides(p.Command[1:]); said != "" {
		w.Advice = "Codex is given " + said + ", which chooses its provider, and is not redirected; leave it out, or have the provider's base_url be " +
			"http://" + p.Listen + "/v1, with epitome running"
		return w
	}
	w.Tools = []string{"-c", `mcp_servers.epitome.url="URL"`}
	conf, err := readCodex(p.fileOf("CODEX_HOME", ".codex", "config.toml"))
	if err != nil {
		return Way{Name: w.Name,
			Advice: fmt.Sprintf("Codex is not redirected, because its configuration cannot be read: %v", err)}
	}
	if conf.Provider != "" && conf.Provider != "openai" {
		w.URL = conf.Providers[conf.Provider].BaseURL
		w.Setting = "model_providers." + conf.Provider + `.base_url="%s"`
		if w.URL == "" || strings.ContainsAny(conf.Provider, `. "'`) {
			w = Way{Name: w.Name, Advice: "Codex's provider " + conf.Provider + " has no base_url in its configuration, and is not redirected"}
		}
		return w
	}
	w.Setting, w.URL = `openai_base_url="%s"`, conf.BaseURL
	switch who := loginOf(p, conf); {
	case w.URL != "":
	case who == byChatGPT:
		w.URL, w.Upstream = p.ChatGPT, "chatgpt"
	case who == unknown || who == nobody && !p.Told:
		w.Setting = ""
		w.Advice = fmt.Sprintf("cannot tell whether Codex uses a key of the API or a login with ChatGPT, and redirects nothing: "+
			`start epitome, and write into %s openai_base_url = "http://%s/v1" for a key, or "http://%s/u/chatgpt" for ChatGPT`,
			p.fileOf("CODEX_HOME", ".codex", "config.toml"), p.Listen, p.Listen)
		w.Tools = nil
	}
	return w
}

// decides is what in the arguments chooses the provider; "" for nothing.
func decides(args []string) string {
	for i, arg := range args {
		name, value, joined := strings.Cut(arg, "=")
		switch {
		case arg == "--":
			return ""
		case arg == "--oss" || name == "--profile" || arg == "-p" || name == "--local-provider":
			return name
		case arg == "-c" || arg == "--config":
			if i+1 < len(args) && chooses(args[i+1]) {
				return arg + " " + args[i+1]
			}
		case name == "--config" && joined && chooses(value), strings.HasPrefix(arg, "-c") && chooses(arg[2:]):
			return arg
		}
	}
	return ""
}

// chooses tells whether a setting is about the provider.
func chooses(setting string) bool {
	name, _, _ := strings.Cut(setting, "=")
	return name == "openai_base_url" || name == "model_provider" || name == "profile" ||
		strings.HasPrefix(name, "model_providers")
}

// readCodex reads Codex's configuration; one that is not there says nothing.
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

// loginOf tells who Codex is. Of its file only the kind of the login counts.
func loginOf(p Place, conf codexConfig) login {
	if p.Getenv("CODEX_API_KEY") != "" {
		return byKey
	}
	text, err := os.ReadFile(p.fileOf("CODEX_HOME", ".codex", "auth.json"))
	if errors.Is(err, fs.ErrNotExist) && (conf.Store == "" || conf.Store == "file") {
		return nobody
	}
	var kept struct {
		Mode   string          `json:"auth_mode"`
		Key    *string         `json:"OPENAI_API_KEY"`
		Tokens json.RawMessage `json:"tokens"`
	}
	if err != nil || json.Unmarshal(text, &kept) != nil {
		return unknown
	}
	tokens := len(kept.Tokens) > 0 && string(kept.Tokens) != "null"
	switch {
	case strings.EqualFold(kept.Mode, "apikey"), kept.Mode == "" && kept.Key != nil && !tokens:
		return byKey
	case strings.EqualFold(kept.Mode, "chatgpt"), kept.Mode == "" && tokens:
		return byChatGPT
	}
	return unknown
}
