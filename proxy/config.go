package proxy

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"epitome/event"
	"epitome/internal/unit"
	"epitome/proxy/wire"
	"epitome/rewrite"
)

// Config is the table [proxy] of config.toml, where each number is explained for users.
type Config struct {
	MaxBody          unit.Bytes    `toml:"max_body"`
	MaxInFlight      unit.Bytes    `toml:"max_in_flight"`   // fixed at start
	MaxConnections   int           `toml:"max_connections"` // fixed at start
	FirstByteTimeout unit.Duration `toml:"first_byte_timeout"`
	ReadIdle         unit.Duration `toml:"read_idle"`
	ShutdownGrace    unit.Duration `toml:"shutdown_grace"`
}

// Settings are what a reload may change, but for the numbers that Config marks as fixed at start.
type Settings struct {
	Config
	Mode      string
	Scope     string // who may share facts: auto, credential, shared or header:NAME
	Upstream  string // name of the default one
	Upstreams map[string]UpstreamConfig
	Clients   map[string]ClientConfig // whose keys are asked for; none: nobody's are
	Routes    []RouteRule
	Input     rewrite.Input // what a request's own headers may override
	Contexts  []string      // names of files that all conversations are given

	limits *limits // nil for defaultLimits
}

const (
	// maxHeader bounds a request's head, in bytes. Clients need 1 to 4 KB; long tokens and cookies need more. Each
	// connection has a buffer of this size.
	maxHeader = 16 << 10
	keepAlive = 2 * time.Minute  // for which a client's connection stays open without a request
	dialTime  = 10 * time.Second // for connecting to an upstream
)

// limits are times that cannot be configured. Tests shorten them.
type limits struct {
	arrive       time.Duration // for the head of a request to arrive, and for the next bytes of its body
	writeIdle    time.Duration // after which a client or an upstream that takes nothing is given up
	upstreamIdle time.Duration // for which an unused connection to an upstream is kept; servers close theirs after 5 s
	room         time.Duration // that a body waits for memory; the SDKs of the large providers wait as long
}

var defaultLimits = limits{
	arrive:       30 * time.Second,
	writeIdle:    time.Minute,
	upstreamIdle: 4 * time.Second,
	room:         10 * time.Minute,
}

// settings are one configuration and the values made from it. They do not change once made.
type settings struct {
	conf      Settings
	clients   clients
	upstreams map[string]*upstream
	fallback  *upstream // of requests that no rule sends elsewhere
}

// newSettings makes the upstreams and clients of s. Upstreams that old has with an equal configuration are taken from
// there, with their connections.
func newSettings(s Settings, old *settings) (*settings, error) {
	s.limits = cmp.Or(s.limits, &defaultLimits)
	set := &settings{conf: s, upstreams: make(map[string]*upstream, len(s.Upstreams))}
	for _, name := range slices.Sorted(maps.Keys(s.Upstreams)) {
		up := old.upstreams[name]
		if up == nil || !reflect.DeepEqual(up.config, s.Upstreams[name]) {
			made, err := newUpstream(name, s.Upstreams[name], s.limits)
			if err != nil {
				return nil, err
			}
			up = made
		}
		set.upstreams[name] = up
	}
	var err error
	set.fallback, err = set.lookUp(s.Upstream)
	if err != nil {
		return nil, fmt.Errorf("cannot use upstream: %w", err)
	}
	for _, r := range s.Routes {
		if _, err := set.lookUp(r.Upstream); err != nil {
			return nil, fmt.Errorf("cannot route model %q: %w", r.Model, err)
		}
	}
	set.clients, err = newClients(s.Clients)
	return set, err
}

// lookUp finds the upstream of a name.
func (s *settings) lookUp(name string) (*upstream, error) {
	if up := s.upstreams[name]; up != nil {
		return up, nil
	}
	known := strings.Join(slices.Sorted(maps.Keys(s.upstreams)), ", ")
	return nil, fmt.Errorf("epitome has no upstream %q; known are %s", name, known)
}

// forModel finds the upstream of the first rule whose pattern matches, else the default one.
func (s *settings) forModel(model string) *upstream {
	for _, r := range s.conf.Routes {
		if unit.Match(r.Model, model) {
			return s.upstreams[r.Upstream]
		}
	}
	return s.fallback
}

// mode returns the mode of a request: that of its x-epitome-mode, or else the configured one. The error refuses a
// header that is no mode.
func (s *settings) mode(head []byte) (mode string, err error) {
	mode = string(bytes.ToLower(wire.Find(head, wire.OwnPrefix+"mode")))
	switch mode {
	case event.ModeOn, event.ModeObserve, event.ModeOff:
		return mode, nil
	case "":
		return s.conf.Mode, nil
	}
	return s.conf.Mode, refuse(400, "bad_request",
		"x-epitome-mode must be on, observe or off: correct it, or leave it out")
}
