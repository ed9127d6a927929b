package agent

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

// findCodex redirects Codex by a setting on its command line, because it reads no base URL from the environment. An
// argument of the user's that chooses another provider comes later and wins.
func (c Command) findCodex() Way {
	w := Way{Name: "Codex"}
	file := c.codexFile("config.toml")
	var conf codexConfig
	text, err := os.ReadFile(file)
	if err == nil {
		err = toml.Unmarshal(text, &conf)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.Advice = fmt.Sprintf("cannot redirect Codex: cannot read %s: %v", file, err)
		return w
	}
	w.Setting = `openai_base_url="%s"`
	login := c.codexLogin(conf.Store)
	switch p := conf.Provider; {
	case p != "" && p != "openai":
		w.URL, w.Setting = conf.Providers[p].BaseURL, "model_providers."+p+`.base_url="%s"`
		if w.URL == "" || strings.ContainsAny(p, `. "'`) {
			w.Advice = fmt.Sprintf("cannot redirect Codex: its provider %s has no base_url in %s", p, file)
		}
	case conf.BaseURL != "":
		w.URL = conf.BaseURL
	case login == "chatgpt":
		w.URL, w.Upstream = c.ChatGPT, "chatgpt"
	case login == "unknown" || login == "none" && !c.Told:
		w.Advice = fmt.Sprintf("cannot redirect Codex: it is not clear whether it uses an API key or a ChatGPT login; start "+
			`epitome, and write into %s openai_base_url = "http://%s/v1" for a key, or "http://%s/u/chatgpt" for ChatGPT`,
			file, c.Listen, c.Listen)
	}
	if w.Advice != "" {
		return Way{Name: w.Name, Advice: w.Advice}
	}
	w.Tools = []string{"-c", `mcp_servers.epitome.url="URL"`}
	return w
}

// codexFile returns the path of a file of Codex.
func (c Command) codexFile(name string) string {
	home := cmp.Or(c.Getenv("HOME"), c.Getenv("USERPROFILE"))
	return filepath.Join(cmp.Or(c.Getenv("CODEX_HOME"), filepath.Join(home, ".codex")), name)
}

// codexLogin returns the kind of Codex's login: key for one of the API, chatgpt, none or unknown. store is the place
// where Codex keeps it; empty for a file.
func (c Command) codexLogin(store string) string {
	if c.Getenv("CODEX_API_KEY") != "" {
		return "key"
	}
	text, err := os.ReadFile(c.codexFile("auth.json"))
	if errors.Is(err, fs.ErrNotExist) && (store == "" || store == "file") {
		return "none"
	}
	var auth struct {
		Mode   string          `json:"auth_mode"`
		Key    *string         `json:"OPENAI_API_KEY"`
		Tokens json.RawMessage `json:"tokens"`
	}
	if err != nil || json.Unmarshal(text, &auth) != nil {
		return "unknown"
	}
	tokens := len(auth.Tokens) > 0 && string(auth.Tokens) != "null"
	switch {
	case strings.EqualFold(auth.Mode, "apikey"), auth.Mode == "" && auth.Key != nil && !tokens:
		return "key"
	case strings.EqualFold(auth.Mode, "chatgpt"), auth.Mode == "" && tokens:
		return "chatgpt"
	}
	return "unknown"
}
