package instance

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

	"epitome/config"
	"epitome/console"
)

// Running is an epitome that has answered.
type Running struct {
	*Card
	State
	Log     string // path; empty if no run has started it
	Started bool   // by this run
	lease   io.Closer
}

// hold keeps the epitome alive until Release, or the end of this process.
func (r *Running) hold() bool {
	resp, err := r.Get(context.Background(), "/-/lease")
	if err != nil {
		return false
	}
	if r.lease = resp.Body; resp.StatusCode != http.StatusOK {
		r.Release()
	}
	return resp.StatusCode == http.StatusOK
}

// Release ends that.
func (r *Running) Release() { _ = r.lease.Close() }

// runsAs reports whether the epitome does what the configuration says.
func (r *Running) runsAs(conf config.Config) bool {
	return r.Mode == conf.Mode && r.Settings == settingsOf(conf)
}

// Obeys reports whether the configuration is the one in force, as far as the epitome tells.
func (r *Running) Obeys(conf config.Config) bool {
	listen := config.Reachable(conf.Listen)
	host, port, _ := net.SplitHostPort(listen)
	named := net.ParseIP(host) == nil // it listens on an address of that name
	return (named || port == "0" || r.Listen == listen) && r.All == allOf(conf)
}

// has finds an upstream with exactly this base URL; which one it is decides over the headers that it adds.
func (r *Running) has(t Target) (name string, ok bool) {
	for _, name := range append([]string{t.like}, slices.Sorted(maps.Keys(r.Upstreams))...) {
		if base, ok := r.Upstreams[name]; ok && TrimSlash(base) == t.URL {
			return name, true
		}
	}
	return "", false
}

// serves reports whether the epitome has every upstream wanted, or is itself what a base URL points at.
func (r *Running) serves(want []Target) bool {
	return !slices.ContainsFunc(want, func(t Target) bool {
		_, ok := r.has(t)
		return !ok && !r.is(t.URL)
	})
}

// isAll reports whether all base URLs point at the epitome already, as in a command run by a command.
func (r *Running) isAll(want []Target) bool {
	return !slices.ContainsFunc(want, func(t Target) bool { return !r.is(t.URL) })
}

func (r *Running) is(base string) bool {
	return base == r.address() || strings.HasPrefix(base, r.address()+"/")
}

// Tools is the URL of the tools that read what was taken out.
func (r *Running) Tools() string { return r.address() + "/-/mcp" }

// Environ is the command's environment: the caller's, with the base URLs replaced and the epitome named.
func (r *Running) Environ(env []string, want []Target) []string {
	env = slices.Clone(env)
	for _, t := range want {
		for _, v := range t.vars {
			env = append(env, v+"="+r.Base(t))
		}
	}
	env = append(env, RunVariable+"="+r.Listen, FolderVariable+"="+r.folder)
	return append(env, around(env, r.address())...)
}

// Base is the base URL by which a target is reached through the epitome.
func (r *Running) Base(t Target) string {
	base := t.URL
	if name, ok := r.has(t); ok && !r.is(t.URL) {
		base = r.address() + "/u/" + name
		if t.v1 || strings.HasSuffix(t.URL, "/v1") {
			base += "/v1"
		}
	}
	if t.bare {
		base = strings.TrimSuffix(base, "/v1")
	}
	return base
}

// around keeps clients that use a forward proxy from sending it what is meant for epitome.
func around(env []string, address string) (more []string) {
	vars := make(map[string]string)
	for _, kv := range env {
		k, v, _ := strings.Cut(kv, "=")
		vars[k] = v
	}
	if cmp.Or(vars["HTTP_PROXY"], vars["http_proxy"], vars["ALL_PROXY"], vars["all_proxy"]) == "" {
		return nil
	}
	host, _, _ := net.SplitHostPort(strings.TrimPrefix(address, "http://"))
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		list := cmp.Or(vars[name], vars["NO_PROXY"], vars["no_proxy"])
		if list != "*" { // which is for all, alone only
			list = strings.TrimPrefix(list+","+host, ",")
		}
		more = append(more, name+"="+list)
	}
	return more
}

// Totals is what the epitome has done, once nothing is under way, or after a second.
func (r *Running) Totals() (t console.Totals, err error) {
	late, quiet := time.Now().Add(time.Second), 0
	for quiet < 2 && time.Now().Before(late) { // an exchange is counted just after it has ended
		text, err := r.Answer("/-/totals", nil)
		if err == nil {
			err = json.Unmarshal(text, &t)
		}
		if err != nil {
			return t, err
		}
		if quiet++; t.InFlight > 0 {
			quiet = 0
			time.Sleep(10 * time.Millisecond)
		}
	}
	return t, nil
}
