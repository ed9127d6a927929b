package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/tidwall/gjson"

	"epitome/config"
)

// provider is an API that a command uses, and how the command is told its base URL.
type provider struct {
	url      string   // base URL, without a slash at its end
	upstream string   // the upstream to prefer of those with this URL
	isSet    bool     // by the environment
	suffix   string   // "/v1" if base URLs for the command end in it
	vars     []string // environment variables that carry the base URL
	setting  string   // for Codex: the value of -c that carries it, with one %s
}

const copilotURL = "COPILOT_PROVIDER_BASE_URL"

// apis are those whose base URLs agents read from the environment. Where neither the environment nor --upstream names
// one, requests go to the upstream that is given here, or else to the default one. Clients of Anthropic's API add /v1.
var apis = []provider{
	{suffix: "/v1", vars: []string{"OPENAI_BASE_URL", "OPENAI_API_BASE"}},
	{upstream: "anthropic", vars: []string{"ANTHROPIC_BASE_URL"}},
	{suffix: "/v1", vars: []string{copilotURL}},
}

// findProviders returns the providers of a command: first that of OpenAI's API, then that of Anthropic's. A base URL in
// the environment is kept as the upstream, and may not differ from the command's own --upstream, if that is given. An
// upstream that --upstream named is that of all others.
func findProviders(conf config.Config, own bool) (all []provider, err error) {
	only := ""
	if own {
		only = conf.Upstreams[conf.Upstream].URL
	}
	for _, p := range apis {
		if err := p.readEnvironment(only); err != nil {
			return nil, err
		}
		if !p.isSet && p.vars[0] == copilotURL { // Copilot CLI then asks its own provider, which knows no other client
			continue
		}
		if p.upstream == "" || conf.Named && !p.isSet {
			p.upstream = conf.Upstream
		}
		if !p.isSet {
			p.url = strings.TrimRight(conf.Upstreams[p.upstream].URL, "/")
		} else if !strings.HasSuffix(p.url, "/v1") {
			p.suffix = ""
		}
		all = append(all, p)
	}
	return all, nil
}

// readEnvironment takes the base URL that the environment has. It refuses any but only, unless that is empty.
func (p *provider) readEnvironment(only string) error {
	for _, name := range p.vars {
		url := strings.TrimRight(os.Getenv(name), "/")
		if url == "" {
			continue
		}
		if err := config.CheckURL(url); err != nil {
			return fmt.Errorf("cannot use %s: %w", name, err)
		}
		if only != "" && url != strings.TrimRight(only, "/") {
			return fmt.Errorf("cannot follow both --upstream and %s, which is set to %s: unset one of them", name, url)
		}
		if p.isSet && url != p.url {
			return fmt.Errorf("cannot follow both %s and %s, which differ: unset one of them", p.vars[0], name)
		}
		p.url, p.isSet = url, true
	}
	return nil
}

// run is a command that runs with its base URLs pointing at an epitome.
type run struct {
	*host
	id string // see daemon.Run
}

// base returns the base URL by which a client reaches a provider as this run. In a run within a run, the URL of the
// outer one stays.
func (r run) base(p provider) string {
	_, path, _ := strings.Cut(strings.TrimPrefix(p.url, "http://"), "/")
	if !r.leads(p.url) {
		path = "u/" + r.nameOf(p) + p.suffix
	} else if strings.HasPrefix(path, "r/") {
		return p.url
	}
	return strings.TrimRight("http://"+r.Listen+"/r/"+r.id+"/"+path, "/")
}

// leads reports whether a base URL leads through the proxy already.
func (r run) leads(url string) bool {
	host, _, _ := strings.Cut(strings.TrimPrefix(url, "http://"), "/")
	return config.Reachable(host) == r.Listen
}

// nameOf returns the name of a provider's upstream: that of the epitome with exactly this URL, or else one by the URL, so
// that what is learned of it holds in later runs.
func (r run) nameOf(p provider) string {
	for _, name := range append([]string{p.upstream}, slices.Sorted(maps.Keys(r.Upstreams))...) {
		if url, ok := r.Upstreams[name]; ok && strings.TrimRight(url, "/") == p.url {
			return name
		}
	}
	address := strings.ToLower(strings.TrimPrefix(p.url, "https://"))
	name := strings.Trim(unnamed.ReplaceAllString(address, "_"), "_.-")
	for r.Upstreams[name] != "" {
		name += "_"
	}
	return name
}

// unnamed matches characters that no name of an upstream has, or few.
var unnamed = regexp.MustCompile(`[^a-z0-9.-]+`)

// folderVariable names the data folder of its epitome to a command that "epitome run" has started.
const folderVariable = "EPITOME_RUN_FOLDER"

// environ returns the variables that a command gets beside its own: the providers' base URLs, the proxy's folder, and,
// if there is a forward proxy, an exception from it.
func (r run) environ(all []provider) []string {
	env := []string{folderVariable + "=" + r.folder}
	for _, p := range all {
		for _, v := range p.vars {
			env = append(env, v+"="+r.base(p))
		}
	}
	if cmp.Or(os.Getenv("HTTP_PROXY"), os.Getenv("http_proxy"), os.Getenv("ALL_PROXY"), os.Getenv("all_proxy")) != "" {
		host, _, _ := net.SplitHostPort(r.Listen)
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
func (r run) arguments(agent string, all []provider, tools bool) (args []string) {
	goal := ""
	for _, p := range all {
		if p.setting != "" {
			args = append(args, "-c", fmt.Sprintf(p.setting, r.base(p)))
			goal = ", and its requests go on to " + p.url
		}
	}
	if tools {
		args = append(args, toolArguments(agent, "http://"+r.Listen+"/-/mcp")...)
	}
	if len(args) > 0 {
		warn("%s is started with %s%s", agent, strings.Join(args, " "), goal)
	}
	return args
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

// codexConfig is the part of Codex's config.toml that chooses its provider.
type codexConfig struct {
	BaseURL   string `toml:"openai_base_url"`
	Provider  string `toml:"model_provider"`
	Logins    string `toml:"cli_auth_credentials_store"` // where they are: in a file if it is empty or "file"
	Providers map[string]struct {
		BaseURL string `toml:"base_url"`
	} `toml:"model_providers"`
}

// codexProvider returns the provider of Codex, which reads its base URL from its command line, not the environment;
// openAI is that of the environment or of --upstream. An argument of the user's that chooses another one comes later
// and wins. told says that the user has named a provider. The error says why Codex is not redirected: its login does
// not show which provider it uses, and the other one would refuse it.
func codexProvider(conf config.Config, openAI provider, told bool) (provider, error) {
	home, _ := os.UserHomeDir() // without one, the path is one of no file
	folder := cmp.Or(os.Getenv("CODEX_HOME"), filepath.Join(home, ".codex"))
	file := filepath.Join(folder, "config.toml")
	var codex codexConfig
	text, err := os.ReadFile(file)
	if err == nil {
		err = toml.Unmarshal(text, &codex)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return provider{}, fmt.Errorf("cannot redirect Codex: cannot read %s: %w", file, err)
	}
	p := openAI
	p.vars, p.setting = nil, `openai_base_url="%s"`
	isNamed := conf.Named && !openAI.isSet // by --upstream
	name := codex.Provider
	switch {
	case name != "" && name != "openai":
		base := codex.Providers[name].BaseURL
		if base == "" || strings.ContainsAny(name, `. "'`) {
			return provider{}, fmt.Errorf("cannot redirect Codex: its provider %s has no base_url in %s", name, file)
		}
		if !isNamed {
			p.sendTo(base, "")
		}
		p.setting = "model_providers." + name + `.base_url="%s"`
	case isNamed: // requests go to --upstream
	case codex.BaseURL != "":
		p.sendTo(codex.BaseURL, "")
	default:
		isChatGPT, err := codex.usesChatGPT(folder, told)
		if err != nil {
			return provider{}, fmt.Errorf("cannot redirect Codex: %w; start epitome, and write into %s "+
				`openai_base_url = "http://%s/v1" for a key, or "http://%s/u/chatgpt" for ChatGPT`, err, file, conf.Listen,
				conf.Listen)
		}
		if isChatGPT {
			p.sendTo(conf.Upstreams["chatgpt"].URL, "chatgpt")
		}
	}
	return p, nil
}

// sendTo gives the provider of an agent a base URL of the agent's own, and the upstream to prefer of those with it.
func (p *provider) sendTo(url, upstream string) {
	p.url, p.upstream = strings.TrimRight(url, "/"), upstream
	p.suffix = ""
	if strings.HasSuffix(p.url, "/v1") {
		p.suffix = "/v1"
	}
}

// usesChatGPT reports whether Codex's login is one of ChatGPT, and not an API key. Without a login it is a key if the
// user has named a provider.
func (c codexConfig) usesChatGPT(folder string, told bool) (bool, error) {
	text, err := os.ReadFile(filepath.Join(folder, "auth.json"))
	isNone := errors.Is(err, fs.ErrNotExist) && (c.Logins == "" || c.Logins == "file")
	login := gjson.ParseBytes(text)
	mode := strings.ToLower(login.Get("auth_mode").String())
	switch {
	case os.Getenv("CODEX_API_KEY") != "", mode == "apikey", isNone && told:
		return false, nil
	case mode == "chatgpt", mode == "" && login.Get("tokens").IsObject():
		return true, nil
	case mode == "" && login.Get("OPENAI_API_KEY").Type == gjson.String:
		return false, nil
	}
	return false, errors.New("it is not clear whether it uses an API key or a ChatGPT login")
}
