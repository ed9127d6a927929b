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
)

// target is a provider that a command talks to, and how the command is told its base URL.
type target struct {
	url      string   // base URL, without a slash at its end
	upstream string   // the upstream to prefer of those with this URL
	name     string   // of the upstream for it in an epitome that is started for the command
	suffix   string   // /v1 if base URLs for the command end in it
	vars     []string // environment variables that carry the base URL
}

// newTarget returns a target whose base URL ends for the command as it does for the provider.
func newTarget(url, upstream, name string, vars ...string) target {
	t := target{url: trimSlash(url), upstream: upstream, name: name, vars: vars}
	if strings.HasSuffix(t.url, "/v1") {
		t.suffix = "/v1"
	}
	return t
}

func trimSlash(base string) string { return strings.TrimRight(base, "/") }

// copilotURL is the variable from which Copilot CLI reads its provider's base URL.
const copilotURL = "COPILOT_PROVIDER_BASE_URL"

// openAIURL returns the base URL that the environment has for OpenAI's API; empty if it has none.
func openAIURL() string {
	return trimSlash(cmp.Or(os.Getenv("OPENAI_BASE_URL"), os.Getenv("OPENAI_API_BASE")))
}

// findTargets returns the providers of a command: first that of OpenAI's API, then that of Anthropic's. A base URL in
// the environment is kept as the upstream. named says that the upstream of the configuration was named for this
// command: then it serves each API without such a base URL.
func findTargets(conf config.Config, named bool) ([]target, error) {
	for _, name := range []string{"OPENAI_BASE_URL", "OPENAI_API_BASE", "ANTHROPIC_BASE_URL", copilotURL} {
		if value := os.Getenv(name); value != "" {
			if err := config.CheckURL(value); err != nil {
				return nil, fmt.Errorf("cannot use %s: %w", name, err)
			}
		}
	}
	upstream := trimSlash(conf.Upstreams[conf.Upstream].URL)
	url, old := openAIURL(), trimSlash(os.Getenv("OPENAI_API_BASE"))
	switch {
	case old != "" && old != url:
		return nil, errors.New("cannot follow both OPENAI_BASE_URL and OPENAI_API_BASE, which differ: unset one of them")
	case named && url != "" && url != upstream:
		return nil, fmt.Errorf("cannot follow both --upstream and OPENAI_BASE_URL, which is set to %s: unset one of them",
			url)
	}
	openai := newTarget(cmp.Or(url, upstream), conf.Upstream, "run-openai", "OPENAI_BASE_URL", "OPENAI_API_BASE")
	if url == "" {
		openai.suffix = "/v1" // clients want it, whether the upstream's URL has it or not
	}
	url = os.Getenv("ANTHROPIC_BASE_URL")
	anthropic := newTarget(cmp.Or(url, conf.Upstreams["anthropic"].URL), "anthropic", "run-anthropic",
		"ANTHROPIC_BASE_URL")
	if named && url == "" {
		anthropic.url, anthropic.upstream = upstream, conf.Upstream
	}
	anthropic.suffix = "" // clients add it
	targets := []target{openai, anthropic}
	if url := os.Getenv(copilotURL); url != "" {
		targets = append(targets, newTarget(url, "", "run-copilot", copilotURL))
	}
	return targets, nil
}

// commandProxy is an epitome that a command uses: without TLS, and without client keys.
type commandProxy struct {
	listen    string            // host:port
	folder    string            // its data folder
	upstreams map[string]string // base URLs by name
}

// base returns the base URL by which a client reaches a target through the proxy; empty if the proxy has no upstream
// with exactly the target's URL. A URL that leads through the proxy already, as in a run within a run, stays.
func (p commandProxy) base(t target) string {
	own := "http://" + p.listen
	if t.url == own || strings.HasPrefix(t.url, own+"/") {
		return t.url
	}
	for _, name := range append([]string{t.upstream}, slices.Sorted(maps.Keys(p.upstreams))...) {
		if url, ok := p.upstreams[name]; ok && trimSlash(url) == t.url {
			return own + "/u/" + name + t.suffix
		}
	}
	return ""
}

// serves reports whether the proxy reaches all targets.
func (p commandProxy) serves(targets []target) bool {
	return !slices.ContainsFunc(targets, func(t target) bool { return p.base(t) == "" })
}

// folderVariable names the data folder of its epitome to a command that "epitome run" has started.
const folderVariable = "EPITOME_RUN_FOLDER"

// environ returns the variables that a command gets beside its own: the targets' base URLs, the proxy's folder, and
// exceptions from a forward proxy.
func (p commandProxy) environ(targets []target) []string {
	env := []string{folderVariable + "=" + p.folder}
	for _, t := range targets {
		for _, v := range t.vars {
			env = append(env, v+"="+p.base(t))
		}
	}
	return append(env, noProxy(p.listen)...)
}

// noProxy returns the variables that keep clients with a forward proxy from sending it the requests for address. It
// returns none if there is no forward proxy.
func noProxy(address string) []string {
	if cmp.Or(os.Getenv("HTTP_PROXY"), os.Getenv("http_proxy"), os.Getenv("ALL_PROXY"), os.Getenv("all_proxy")) == "" {
		return nil
	}
	host, _, _ := net.SplitHostPort(address)
	list := cmp.Or(os.Getenv("NO_PROXY"), os.Getenv("no_proxy"))
	if list != "*" { // "*" means all only if it stands alone
		list = strings.TrimPrefix(list+","+host, ",")
	}
	return []string{"NO_PROXY=" + list, "no_proxy=" + list}
}
