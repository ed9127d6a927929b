package proxy

import (
	"cmp"
	"errors"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"epitome/internal/unit"
	"epitome/proxy/wire"
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

const (
	maxHeader     = 32 << 10 // bytes of a request's head; clients need 1 to 4 KB, and long tokens and cookies more
	minBodyRate   = 16 << 10 // bytes per second at which a request's body must arrive
	RescueTries   = 4        // how often a request that was refused as too long is sent again, shorter each time
	rescueTimeout = time.Minute
)

// limits are the times that nobody configures. Tests shorten them.
type limits struct {
	header       time.Duration // for the head of a request to arrive
	keepAlive    time.Duration // for which a client's connection stays open without a request
	writeIdle    time.Duration // after which a client or an upstream that takes nothing is given up
	dial         time.Duration // for connecting to an upstream
	upstreamIdle time.Duration // for which an unused connection to an upstream is kept; common servers close theirs after 5 s
	room         time.Duration // that a request waits for memory
}

var defaultLimits = limits{
	header: 30 * time.Second, keepAlive: 2 * time.Minute, writeIdle: time.Minute, dial: 10 * time.Second,
	upstreamIdle: 4 * time.Second, room: 30 * time.Second,
}

// CheckProject says why a name cannot be a project's.
func CheckProject(name string) error {
	odd := func(r rune) bool { return r == utf8.RuneError || unicode.IsControl(r) }
	if n := utf8.RuneCountInString(name); n == 0 || n > 200 || strings.ContainsFunc(name, odd) {
		return errors.New("write a name of 1 to 200 characters on one line")
	}
	return nil
}

// upstreamLimits are the numbers that an upstream's connections obey.
func (s *Settings) upstreamLimits() wire.Limits {
	l := cmp.Or(s.limits, &defaultLimits)
	return wire.Limits{Idle: l.upstreamIdle, Dial: l.dial, WriteIdle: l.writeIdle}
}

// routesOf is what says where requests go.
func routesOf(s Settings) tableSettings {
	return tableSettings{Upstreams: s.Upstreams, Fallback: s.Upstream, Routes: s.Routes, Limits: s.upstreamLimits()}
}
