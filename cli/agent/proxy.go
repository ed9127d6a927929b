package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"epitome/cli/daemon"
	"epitome/console"
)

// Proxy is a running epitome that an agent talks to.
type Proxy struct {
	*daemon.Card
	State   daemon.State
	Log     string // path; empty if no run has started it
	Started bool   // by this run
	lease   io.Closer
}

// hold keeps the proxy alive until Release, or the end of this process. It reports false if the proxy is ending.
func (p *Proxy) hold() bool {
	resp, err := p.Do(context.Background(), http.MethodGet, "/-/lease", nil)
	if err != nil {
		return false
	}
	if p.lease = resp.Body; resp.StatusCode != http.StatusOK {
		p.Release()
	}
	return resp.StatusCode == http.StatusOK
}

// Release ends what hold began.
func (p *Proxy) Release() { _ = p.lease.Close() }

// upstream returns the name of an upstream with exactly the target's base URL.
func (p *Proxy) upstream(t Target) (name string, ok bool) {
	for _, name := range append([]string{t.Like}, slices.Sorted(maps.Keys(p.State.Upstreams))...) {
		if base, ok := p.State.Upstreams[name]; ok && trimSlash(base) == t.URL {
			return name, true
		}
	}
	return "", false
}

// is reports whether a base URL points at the proxy itself, as in a command run by a command.
func (p *Proxy) is(base string) bool { return base == p.URL() || strings.HasPrefix(base, p.URL()+"/") }

// serves reports whether the proxy reaches all targets.
func (p *Proxy) serves(targets []Target) bool {
	return !slices.ContainsFunc(targets, func(t Target) bool {
		_, ok := p.upstream(t)
		return !ok && !p.is(t.URL)
	})
}

// Base is the base URL by which a target is reached through the proxy.
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

// Variables that name, to a command that a run has started, the proxy's address and its folder.
const (
	RunVariable    = "EPITOME_RUN"
	FolderVariable = "EPITOME_RUN_FOLDER"
)

// Environ is a command's environment: env with the targets' base URLs replaced and the proxy named.
func (p *Proxy) Environ(env []string, targets []Target) []string {
	env = slices.Clone(env)
	for _, t := range targets {
		for _, v := range t.vars {
			env = append(env, v+"="+p.Base(t))
		}
	}
	env = append(env, RunVariable+"="+p.Listen, FolderVariable+"="+p.Folder())
	return append(env, noProxy(env, p.Listen)...)
}

// noProxy keeps clients that use a forward proxy from sending it the requests for address.
func noProxy(env []string, address string) (more []string) {
	vars := make(map[string]string)
	for _, kv := range env {
		k, v, _ := strings.Cut(kv, "=")
		vars[k] = v
	}
	if cmp.Or(vars["HTTP_PROXY"], vars["http_proxy"], vars["ALL_PROXY"], vars["all_proxy"]) == "" {
		return nil
	}
	host, _, _ := net.SplitHostPort(address)
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		list := cmp.Or(vars[name], vars["NO_PROXY"], vars["no_proxy"])
		if list != "*" { // which means all only when it stands alone
			list = strings.TrimPrefix(list+","+host, ",")
		}
		more = append(more, name+"="+list)
	}
	return more
}

// Totals asks for the sums, once nothing is under way or after a second.
func (p *Proxy) Totals() (t console.Totals, err error) {
	for late := time.Now().Add(time.Second); ; time.Sleep(10 * time.Millisecond) {
		text, err := p.Get("/-/totals", nil)
		if err == nil {
			err = json.Unmarshal(text, &t)
		}
		if err != nil || t.InFlight == 0 || time.Now().After(late) {
			return t, err
		}
	}
}
