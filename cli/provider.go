package cli

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"strings"

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
