package agent

import (
	"cmp"
	"maps"
	"net"
	"slices"
	"strings"
)

// Proxy is a running epitome that agents can use as they are: without TLS, and without keys of its own.
type Proxy struct {
	Listen    string            // host:port
	Folder    string            // the data folder that it runs with
	Upstreams map[string]string // base URLs by name
}

// URL returns the proxy's own address.
func (p *Proxy) URL() string { return "http://" + p.Listen }

// upstream returns the name of an upstream with exactly the target's base URL.
func (p *Proxy) upstream(t Target) (name string, ok bool) {
	for _, name := range append([]string{t.Like}, slices.Sorted(maps.Keys(p.Upstreams))...) {
		if base, ok := p.Upstreams[name]; ok && trimSlash(base) == t.URL {
			return name, true
		}
	}
	return "", false
}

// is reports whether a base URL points at the proxy itself, as it does for a command that a command runs.
func (p *Proxy) is(base string) bool { return base == p.URL() || strings.HasPrefix(base, p.URL()+"/") }

// Serves reports whether the proxy reaches all targets.
func (p *Proxy) Serves(targets []Target) bool {
	return !slices.ContainsFunc(targets, func(t Target) bool {
		_, ok := p.upstream(t)
		return !ok && !p.is(t.URL)
	})
}

// Base returns the base URL by which a client reaches the target through the proxy.
func (p *Proxy) Base(t Target) string {
	base := t.URL
	if name, ok := p.upstream(t); ok && !p.is(t.URL) {
		base = p.URL() + "/u/" + name
		if t.v1 || strings.HasSuffix(t.URL, "/v1") {
			base += "/v1"
		}
	}
	if t.bare {
		base = strings.TrimSuffix(base, "/v1")
	}
	return base
}

// Variables that name the proxy's address and its data folder to a command that a run has started.
const (
	RunVariable    = "EPITOME_RUN"
	FolderVariable = "EPITOME_RUN_FOLDER"
)

// Environ returns the variables that a command gets beside its own: the targets' base URLs, the proxy's address, and
// exceptions from a forward proxy. getenv reads the command's own.
func (p *Proxy) Environ(getenv func(string) string, targets []Target) []string {
	env := []string{RunVariable + "=" + p.Listen, FolderVariable + "=" + p.Folder}
	for _, t := range targets {
		for _, v := range t.vars {
			env = append(env, v+"="+p.Base(t))
		}
	}
	return append(env, noProxy(getenv, p.Listen)...)
}

// noProxy returns the variables that keep clients with a forward proxy from sending it the requests for address. It
// returns none if there is no forward proxy.
func noProxy(getenv func(string) string, address string) []string {
	if cmp.Or(getenv("HTTP_PROXY"), getenv("http_proxy"), getenv("ALL_PROXY"), getenv("all_proxy")) == "" {
		return nil
	}
	host, _, _ := net.SplitHostPort(address)
	list := cmp.Or(getenv("NO_PROXY"), getenv("no_proxy"))
	if list != "*" { // "*" means all only if it stands alone
		list = strings.TrimPrefix(list+","+host, ",")
	}
	return []string{"NO_PROXY=" + list, "no_proxy=" + list}
}
