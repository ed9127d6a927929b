package instance

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"epitome/config"
)

// lookup asks the proxy whose card lies in the folder, if any. One without the upstreams that are wanted is none.
func lookup(folder string, want []Target) *Running {
	b, err := Read(folder)
	if err != nil {
		return nil
	}
	r, err := b.Ask()
	if err != nil || b.TLS || r.keyed || !r.serves(want) { // an agent has no key of it, nor trusts its certificate
		return nil
	}
	return r
}

// Ask makes the proxy prove that it is the card's owner, before anything it says is believed.
func (c *Card) Ask() (*Running, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	nonce := rand.Text()
	resp, err := c.Get(ctx, "/-/identity", url.Values{"nonce": {nonce}})
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	var said struct {
		Version   string            `json:"version"`
		Proof     string            `json:"proof"`
		Upstreams map[string]string `json:"upstreams"`
		Running   map[string]string `json:"running"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&said); err != nil {
		return nil, err
	}
	if !c.proves(nonce, said.Proof) {
		return nil, fmt.Errorf("cannot trust what listens on %s: it is not the epitome whose card is in %s", c.Listen, filepath.Dir(c.path))
	}
	return &Running{
		address: c.address(), upstreams: said.Upstreams, Card: c, Version: said.Version,
		mode: said.Running["mode"], upstream: said.Running["upstream"],
		settings: said.Running["settings"], all: said.Running["all"], build: said.Running["build"],
		keyed: said.Running["keys"] == "true",
	}, nil
}

// lease keeps the proxy alive until the result is closed, or this process ends.
func (c *Card) lease() (io.Closer, error) {
	resp, err := c.Get(context.Background(), "/-/lease", url.Values{"nonce": {rand.Text()}})
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		_ = resp.Body.Close()
		return nil, fmt.Errorf("cannot take a lease of the epitome on %s: it answered %s", c.Listen, resp.Status)
	}
	return resp.Body, nil
}

// Running is a proxy that has answered and proved itself.
type Running struct {
	address   string // http://host:port
	upstreams map[string]string
	Card      *Card
	Version   string // of the program; a mark by another one says nothing
	mode      string
	upstream  string // name of the default one; empty if the proxy does not say
	settings  string // the card's mark of what it is configured to do
	all       string // and of its whole configuration; empty if it does not say
	build     string // and of the program and its way to the network
	keyed     bool   // it asks for keys of its own
	lease     io.Closer
	Log       string // path; empty if a run has not started it
	Started   bool   // by this run
}

// hold takes a lease.
func (r *Running) hold() bool {
	lease, err := r.Card.lease()
	r.lease = lease
	return err == nil
}

// Release gives the lease back.
func (r *Running) Release() { _ = r.lease.Close() }

// runsAs reports whether the proxy does what the configuration says.
func (r *Running) runsAs(conf config.Config) bool {
	return r.mode == conf.Mode && r.settings == r.Card.Mark(SettingsOf(conf))
}

// Obeys reports whether the configuration is the one in force, as far as the proxy tells.
func (r *Running) Obeys(conf config.Config) bool {
	listen := config.Reachable(conf.Listen)
	host, port, _ := net.SplitHostPort(listen)
	named := net.ParseIP(host) == nil // it listens on an address of that name
	here := named || port == "0" || r.Card.Listen == listen
	return here && (r.all == "" || r.all == r.Card.Mark(AllOf(conf)))
}

// has finds an upstream with exactly this base URL; which one it is decides over the headers that it adds.
func (r *Running) has(t Target) (name string, ok bool) {
	if base, ok := r.upstreams[t.like]; ok && TrimSlash(base) == t.URL {
		return t.like, true
	}
	for _, name := range slices.Sorted(maps.Keys(r.upstreams)) {
		if TrimSlash(r.upstreams[name]) == t.URL {
			return name, true
		}
	}
	return "", false
}

// serves reports whether the proxy has every upstream wanted, or is itself what a base URL points at.
func (r *Running) serves(want []Target) bool {
	for _, t := range want {
		if _, ok := r.has(t); !ok && !r.is(t.URL) {
			return false
		}
	}
	return true
}

// Tools is the URL of the tools that read what was taken out.
func (r *Running) Tools() string { return r.address + "/-/mcp" }

// is reports whether a base URL points at this proxy already, as in a command run by a command.
func (r *Running) is(base string) bool {
	return base == r.address || strings.HasPrefix(base, r.address+"/")
}

// Environ is the command's environment: the caller's, with the base URLs replaced and the proxy named.
func (r *Running) Environ(env []string, want []Target) []string {
	env = slices.Clone(env)
	for _, t := range want {
		for _, v := range t.vars {
			env = append(env, v+"="+r.Base(t))
		}
	}
	env = append(env, RunVariable+"="+strings.TrimPrefix(r.address, "http://"), FolderVariable+"="+filepath.Dir(r.Card.path))
	return append(env, around(env, r.address)...)
}

// Base is the base URL by which a target is reached through the proxy.
func (r *Running) Base(t Target) string {
	base := t.URL
	if name, ok := r.has(t); ok && !r.is(t.URL) {
		base = r.address + "/u/" + name
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
