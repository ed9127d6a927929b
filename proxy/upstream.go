package proxy

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"epitome/proxy/wire"
	"epitome/unit"
)

// limitsOf are the numbers of c that an upstream's connections obey.
func limitsOf(c Config) wire.Limits {
	return wire.Limits{
		Most: c.UpstreamConnections, Idle: c.UpstreamKeepAlive.D(),
		Dial: c.DialTimeout.D(), WriteIdle: c.WriteIdle.D(),
	}
}

// upstream is a provider: where its API lies, what each request to it carries, and the connections to it.
// It does not change after newUpstream, but for its pool.
type upstream struct {
	name   string
	config UpstreamConfig
	base   string // path in front of every request's own, without a slash at its end
	peer   wire.Peer
	pool   *wire.Pool
}

// newUpstream reads u; errors name the upstream.
func newUpstream(name string, u UpstreamConfig, limits wire.Limits) (*upstream, error) {
	at, err := url.Parse(u.URL)
	if err != nil {
		return nil, unit.Wrong([]string{"upstreams", name, "url"}, "cannot read the url of upstream %s: %w", name, err)
	}
	up := &upstream{name: name, config: u, peer: wire.NewPeer(at.Host, u.Headers),
		base: strings.TrimRight(at.EscapedPath(), "/")}
	var secure *tls.Config
	if at.Scheme == "https" {
		if secure, err = u.TLS.Build(name, at.Hostname()); err != nil {
			return nil, fmt.Errorf("cannot set up TLS of upstream %s: %w", name, err)
		}
	}
	up.pool = wire.NewPool(at, secure, limits)
	return up, nil
}

// join puts a request's raw target behind the base path. Where both have the /v1 of the common API, one is dropped.
func (u *upstream) join(target []byte) []byte {
	if len(target) == 0 || target[0] != '/' {
		return target // the asterisk of OPTIONS
	}
	base := u.base
	if strings.HasSuffix(base, "/v1") && bytes.HasPrefix(target, []byte("/v1/")) {
		base = strings.TrimSuffix(base, "/v1")
	}
	if base == "" {
		return target
	}
	return append([]byte(base), target...)
}

// table says which upstream gets a request. It does not change once made: a reload makes a new one.
type table struct {
	byName   map[string]*upstream
	fallback *upstream
	routes   []Route
}

// newTable makes the upstreams of s, taking over from old those that are configured as before, with their connections.
func newTable(s Settings, old *table) (*table, error) {
	t := &table{byName: make(map[string]*upstream, len(s.Upstreams)), routes: s.Routes}
	limits := limitsOf(s.Config)
	for _, name := range slices.Sorted(maps.Keys(s.Upstreams)) {
		u := s.Upstreams[name]
		if old != nil && old.byName[name] != nil && old.byName[name].same(u, limits) {
			t.byName[name] = old.byName[name]
			continue
		}
		up, err := newUpstream(name, u, limits)
		if err != nil {
			return nil, err
		}
		t.byName[name] = up
	}
	if t.fallback = t.byName[s.Upstream]; t.fallback == nil {
		return nil, fmt.Errorf("cannot use upstream %q: known are %s", s.Upstream, t.names())
	}
	for _, r := range s.Routes {
		if t.byName[r.Upstream] == nil {
			return nil, fmt.Errorf("cannot route model %q to upstream %q: known are %s", r.Model, r.Upstream, t.names())
		}
	}
	return t, nil
}

// same reports whether the configuration would make an equal upstream.
func (u *upstream) same(c UpstreamConfig, limits wire.Limits) bool {
	return reflect.DeepEqual(u.config, c) && u.pool.Limits == limits
}

// names lists the upstreams, for errors.
func (t *table) names() string {
	return strings.Join(slices.Sorted(maps.Keys(t.byName)), ", ")
}

// retire closes the idle connections of every upstream that next does not use.
func (t *table) retire(next *table) {
	for name, up := range t.byName {
		if next == nil || next.byName[name] != up {
			up.pool.Retire()
		}
	}
}

// resolve finds the upstream of /u/NAME/… and what is left of the target for it.
func (t *table) resolve(target []byte) (up *upstream, rest []byte, err error) {
	name := target[len("/u/"):]
	rest = []byte("/")
	if i := bytes.IndexAny(name, "/?"); i >= 0 {
		if name, rest = name[:i], name[i:]; rest[0] == '?' {
			rest = append([]byte("/"), rest...)
		}
	}
	up, err = t.lookUp(string(name))
	return up, rest, err
}

// lookUp finds the upstream of a name that a client gives.
func (t *table) lookUp(name string) (*upstream, error) {
	if up := t.byName[name]; up != nil {
		return up, nil
	}
	return nil, fmt.Errorf("epitome has no upstream %q; known are %s", name, t.names())
}

// modelOf is the model that a body names, of whatever API it is; empty if it names none.
func modelOf(body []byte) string { return gjson.GetBytes(body, "model").String() }

// forModel finds the upstream of the first route whose pattern matches, else the default one.
func (t *table) forModel(model string) *upstream {
	if i := slices.IndexFunc(t.routes, func(r Route) bool { return unit.Match(r.Model, model) }); i >= 0 {
		return t.byName[t.routes[i].Upstream]
	}
	return t.fallback
}
