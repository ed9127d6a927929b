// Package route says where requests go: upstreams by name, by the model of a request or by default, and what a path is
// called there.
//
// It promises that what it has made does not change: a reload makes another Table, which takes over the upstreams, and
// the connections to them, whose configuration is the same. What is sent, and whether it may be, is for others to say.
package route

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"epitome/proxy/wire"
	"epitome/unit"
)

// Rule is one table [[routes]] of config.toml: it sends requests whose body names a matching model to an upstream.
type Rule struct {
	Model    string `toml:"model"` // pattern: * is any run of characters, ? is one; case does not matter
	Upstream string `toml:"upstream"`
}

// Table says which upstream gets a request. It does not change once made: a reload makes a new one.
type Table struct {
	ByName   map[string]*Upstream
	Fallback *Upstream // of requests that no rule sends elsewhere
	routes   []Rule
}

// Settings are what a Table is made of.
type Settings struct {
	Upstreams map[string]UpstreamConfig
	Fallback  string // name of one of them
	Routes    []Rule
	Limits    wire.Limits // of the connections to each
}

// NewTable makes the upstreams of s, taking over from old those that are configured as before, with their connections.
func NewTable(s Settings, old *Table) (*Table, error) {
	t := &Table{ByName: make(map[string]*Upstream, len(s.Upstreams)), routes: s.Routes}
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
func (u *Upstream) same(c UpstreamConfig, limits wire.Limits) bool {
	return reflect.DeepEqual(u.Config, c) && u.Pool.Limits == limits
}

// Names lists the upstreams, for errors.
func (t *Table) Names() string {
	return strings.Join(slices.Sorted(maps.Keys(t.ByName)), ", ")
}

// Retire closes the idle connections of every upstream that next does not use.
func (t *Table) Retire(next *Table) {
	for name, up := range t.ByName {
		if next == nil || next.ByName[name] != up {
			up.Pool.Retire()
		}
	}
}

// Resolve finds the upstream of /u/NAME/… and what is left of the target for it.
func (t *Table) Resolve(target []byte) (up *Upstream, rest []byte, err error) {
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
func (t *Table) LookUp(name string) (*Upstream, error) {
	if up := t.ByName[name]; up != nil {
		return up, nil
	}
	return nil, fmt.Errorf("epitome has no upstream %q; known are %s", name, t.Names())
}

// HasRoutes reports whether the model of a request says where it goes.
func (t *Table) HasRoutes() bool { return len(t.routes) > 0 }

// ForModel finds the upstream of the first route whose pattern matches, else the default one.
func (t *Table) ForModel(model string) *Upstream {
	if i := slices.IndexFunc(t.routes, func(r Rule) bool { return unit.Match(r.Model, model) }); i >= 0 {
		return t.ByName[t.routes[i].Upstream]
	}
	return t.Fallback
}
