package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"epitome/config"
	"epitome/daemon"
)

// provider is an API that a command uses, and how the command is told its base URL.
type provider struct {
	url      string   // base URL, without a slash at its end
	upstream string   // the upstream to prefer of those with this URL
	own      string   // name of its upstream in an epitome that is started for the command
	isSet    bool     // by the environment
	suffix   string   // "/v1" if base URLs for the command end in it
	vars     []string // environment variables that carry the base URL
	setting  string   // for Codex: the value of -c that carries it, with one %s
}

// newProvider returns a provider whose base URL ends for the command as it does for the provider.
func newProvider(url, upstream, own string, vars ...string) provider {
	p := provider{url: strings.TrimRight(url, "/"), upstream: upstream, own: own, vars: vars}
	if strings.HasSuffix(p.url, "/v1") {
		p.suffix = "/v1"
	}
	return p
}

// copilotURL is the variable from which Copilot CLI reads its provider's base URL.
const copilotURL = "COPILOT_PROVIDER_BASE_URL"

// findProviders returns the providers of a command: first that of OpenAI's API, then that of Anthropic's. A base URL in
// the environment is kept as the upstream, and may not differ from the command's own --upstream, if that is given. An
// upstream that --upstream named is that of all others.
func findProviders(conf config.Config, own bool) ([]provider, error) {
	upstream := strings.TrimRight(conf.Upstreams[conf.Upstream].URL, "/")
	for _, name := range []string{"OPENAI_BASE_URL", "OPENAI_API_BASE", "ANTHROPIC_BASE_URL", copilotURL} {
		url := os.Getenv(name)
		if url == "" {
			continue
		}
		if err := config.CheckURL(url); err != nil {
			return nil, fmt.Errorf("cannot use %s: %w", name, err)
		}
		if own && strings.TrimRight(url, "/") != upstream {
			return nil, fmt.Errorf("cannot follow both --upstream and %s, which is set to %s: unset one of them", name, url)
		}
	}
	url, older := os.Getenv("OPENAI_BASE_URL"), os.Getenv("OPENAI_API_BASE")
	url, older = cmp.Or(url, older), cmp.Or(older, url)
	openAI := newProvider(cmp.Or(url, upstream), conf.Upstream, "run-openai", "OPENAI_BASE_URL", "OPENAI_API_BASE")
	openAI.isSet = url != ""
	switch {
	case url == "":
		openAI.suffix = "/v1" // clients want it, whether the upstream's URL has it or not
	case openAI.url != strings.TrimRight(older, "/"):
		return nil, errors.New("cannot follow both OPENAI_BASE_URL and OPENAI_API_BASE, which differ: unset one of them")
	}
	url = os.Getenv("ANTHROPIC_BASE_URL")
	anthropic := newProvider(cmp.Or(url, conf.Upstreams["anthropic"].URL), "anthropic", "run-anthropic",
		"ANTHROPIC_BASE_URL")
	anthropic.isSet = url != ""
	if conf.Named && url == "" {
		anthropic.url, anthropic.upstream = upstream, conf.Upstream
	}
	anthropic.suffix = "" // clients add it
	all := []provider{openAI, anthropic}
	if url := os.Getenv(copilotURL); url != "" {
		all = append(all, newProvider(url, "", "run-copilot", copilotURL))
	}
	return all, nil
}

// runProxy is an epitome that a command uses: without TLS, and without client keys.
type runProxy struct {
	daemon.State
	listen string // host:port; empty for none
	folder string // its data folder
	run    string // by which inject.ReadRuntime finds what the agent is told; empty if it is told nothing
}

// base returns the base URL by which a client reaches a provider through the proxy; empty if the proxy has no upstream
// with exactly the provider's URL. A URL that leads through the proxy already, as in a run within a run, stays.
func (r runProxy) base(p provider) string {
	address := "http://" + r.listen
	host, _, _ := strings.Cut(strings.TrimPrefix(p.url, "http://"), "/")
	if config.Reachable(host) == r.listen {
		return p.url
	}
	for _, name := range append([]string{p.upstream}, slices.Sorted(maps.Keys(r.Upstreams))...) {
		if url, ok := r.Upstreams[name]; ok && strings.TrimRight(url, "/") == p.url {
			if r.run != "" {
				name += "~" + r.run
			}
			return address + "/u/" + name + p.suffix
		}
	}
	return ""
}

// unfit says why a command with these providers, and a mode if one is wanted, cannot use the proxy; empty if it can.
func (r runProxy) unfit(all []provider, mode string) string {
	if r.listen == "" {
		return "does not run"
	}
	if mode != "" && mode != r.Mode {
		return "is in mode " + r.Mode
	}
	for _, p := range all {
		if r.base(p) == "" {
			return "does not send to " + p.url
		}
	}
	return ""
}

// folderVariable names the data folder of its epitome to a command that "epitome run" has started.
const folderVariable = "EPITOME_RUN_FOLDER"

// environ returns the variables that a command gets beside its own: the providers' base URLs, the proxy's folder, and,
// if there is a forward proxy, an exception from it.
func (r runProxy) environ(all []provider) []string {
	env := []string{folderVariable + "=" + r.folder}
	for _, p := range all {
		for _, v := range p.vars {
			env = append(env, v+"="+r.base(p))
		}
	}
	if cmp.Or(os.Getenv("HTTP_PROXY"), os.Getenv("http_proxy"), os.Getenv("ALL_PROXY"), os.Getenv("all_proxy")) != "" {
		host, _, _ := net.SplitHostPort(r.listen)
		list := cmp.Or(os.Getenv("NO_PROXY"), os.Getenv("no_proxy"))
		if list != "*" { // "*" means all only if it stands alone
			list = strings.TrimPrefix(list+","+host, ",")
		}
		env = append(env, "NO_PROXY="+list, "no_proxy="+list)
	}
	return env
}

// arguments returns the arguments that an agent gets before its own, and says so: the base URL of a provider that it
// reads there, and with tools those of epitome.
func (r runProxy) arguments(agent string, all []provider, tools bool) (args []string) {
	goal := ""
	for _, p := range all {
		if p.setting != "" {
			args = append(args, "-c", fmt.Sprintf(p.setting, r.base(p)))
			goal = ", and its requests go on to " + p.url
		}
	}
	if tools {
		args = append(args, toolArguments(agent, "http://"+r.listen+"/-/mcp")...)
	}
	if len(args) > 0 {
		warn("%s is started with %s%s", agent, strings.Join(args, " "), goal)
	}
	return args
}

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
	case isNamed: // requests go to --upstream
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
