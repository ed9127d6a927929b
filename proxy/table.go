package proxy

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"epitome/internal/unit"
	"epitome/proxy/wire"
)

// RouteRule is one table [[routes]] of config.toml: it sends requests whose body names a matching model to an upstream.
type RouteRule struct {
	Model    string `toml:"model"` // pattern: * is any run of characters, ? is one; case does not matter
	Upstream string `toml:"upstream"`
}

// table says which upstream gets a request. It does not change once made: a reload makes a new one.
type table struct {
	ByName   map[string]*upstream
	Fallback *upstream // of requests that no rule sends elsewhere
	routes   []RouteRule
}

// tableSettings are what a table is made of.
type tableSettings struct {
	Upstreams map[string]UpstreamConfig
	Fallback  string // name of one of them
	Routes    []RouteRule
	Limits    wire.Limits // of the connections to each
}

// newTable makes the upstreams of s, taking over from old those that are configured as before, with their connections.
func newTable(s tableSettings, old *table) (*table, error) {
	t := &table{ByName: make(map[string]*upstream, len(s.Upstreams)), routes: s.Routes}
	for _, name := range slices.Sorted(maps.Keys(s.Upstreams)) {
		u := s.Upstreams[name]
		if old != nil && old.ByName[name] != nil && old.ByName[name].same(u, s.Limits) {
			t.ByName[name] = old.ByName[name]
			continue
		}
		up, err := newUpstream(name, u, s.Limits)
		if err != nil {
			return nil, err
		}
		t.ByName[name] = up
	}
	if t.Fallback = t.ByName[s.Fallback]; t.Fallback == nil {
		return nil, fmt.Errorf("cannot use upstream %q: known are %s", s.Fallback, t.Names())
	}
	for _, r := range s.Routes {
		if t.ByName[r.Upstream] == nil {
			return nil, fmt.Errorf("cannot route model %q to upstream %q: known are %s", r.Model, r.Upstream, t.Names())
		}
	}
	return t, nil
}

// same reports whether the configuration would make an equal upstream.
func (u *upstream) same(c UpstreamConfig, limits wire.Limits) bool {
	return reflect.DeepEqual(u.Config, c) && u.Pool.Limits == limits
}

// Names lists the upstreams, for errors.
func (t *table) Names() string {
	return strings.Join(slices.Sorted(maps.Keys(t.ByName)), ", ")
}

// Retire closes the idle connections of every upstream that next does not use.
func (t *table) Retire(next *table) {
	for name, up := range t.ByName {
		if next == nil || next.ByName[name] != up {
			up.Pool.Retire()
		}
	}
}

// Resolve finds the upstream of /u/NAME/… and what is left of the target for it.
func (t *table) Resolve(target []byte) (up *upstream, rest []byte, err error) {
	name := target[len("/u/"):]
	rest = []byte("/")
	if i := bytes.IndexAny(name, "/?"); i >= 0 {
		if name, rest = name[:i], name[i:]; rest[0] == '?' {
			rest = append([]byte("/"), rest...)
		}
	}
	up, err = t.LookUp(string(name))
	return up, rest, err
}

// LookUp finds the upstream of a name that a client gives.
func (t *table) LookUp(name string) (*upstream, error) {
	if up := t.ByName[name]; up != nil {
		return up, nil
	}
	return nil, fmt.Errorf("epitome has no upstream %q; known are %s", name, t.Names())
}

// HasRoutes reports whether the model of a request says where it goes.
func (t *table) HasRoutes() bool { return len(t.routes) > 0 }

// ForModel finds the upstream of the first route whose pattern matches, else the default one.
func (t *table) ForModel(model string) *upstream {
	if i := slices.IndexFunc(t.routes, func(r RouteRule) bool { return unit.Match(r.Model, model) }); i >= 0 {
		return t.ByName[t.routes[i].Upstream]
	}
	return t.Fallback
}
