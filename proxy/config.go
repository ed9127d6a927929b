package proxy

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"epitome/internal/unit"
	"epitome/proxy/wire"
)

// Config is the table [proxy] of config.toml, where each number is explained for users.
type Config struct {
	MaxBody             unit.Bytes    `toml:"max_body"`
	MaxHeader           unit.Bytes    `toml:"max_header"`    // fixed at start
	MaxInFlight         unit.Bytes    `toml:"max_in_flight"` // fixed at start
	InFlightWait        unit.Duration `toml:"in_flight_wait"`
	LargeWait           unit.Duration `toml:"large_wait"`
	MaxConnections      int           `toml:"max_connections"` // fixed at start
	HeaderTimeout       unit.Duration `toml:"header_timeout"`  // fixed at start
	MinBodyRate         unit.Bytes    `toml:"min_body_rate"`   // per second
	KeepAlive           unit.Duration `toml:"keep_alive"`      // fixed at start
	WriteIdle           unit.Duration `toml:"write_idle"`
	DialTimeout         unit.Duration `toml:"dial_timeout"`
	FirstByteTimeout    unit.Duration `toml:"first_byte_timeout"`
	ReadIdle            unit.Duration `toml:"read_idle"`
	RescueTries         int           `toml:"rescue_tries"` // further times that a refused request is sent; 0 for none
	RescueTimeout       unit.Duration `toml:"rescue_timeout"`
	UpstreamConnections int           `toml:"upstream_connections"`
	UpstreamKeepAlive   unit.Duration `toml:"upstream_keep_alive"`
	ShutdownGrace       unit.Duration `toml:"shutdown_grace"`
	WebSockets          bool          `toml:"websockets"` // of /v1/responses; elsewhere they pass in any case
}

// CheckProject says why a name cannot be a project's.
func CheckProject(name string) error {
	odd := func(r rune) bool { return r == utf8.RuneError || unicode.IsControl(r) }
	if n := utf8.RuneCountInString(name); n == 0 || n > 200 || strings.ContainsFunc(name, odd) {
		return errors.New("write a name of 1 to 200 characters on one line")
	}
	return nil
}

// limitsOf are the numbers of c that an upstream's connections obey.
func limitsOf(c Config) wire.Limits {
	return wire.Limits{
		Most: c.UpstreamConnections, Idle: c.UpstreamKeepAlive.D(),
		Dial: c.DialTimeout.D(), WriteIdle: c.WriteIdle.D(),
	}
}

// routesOf is what says where requests go.
func routesOf(s Settings) tableSettings {
	return tableSettings{Upstreams: s.Upstreams, Fallback: s.Upstream, Routes: s.Routes, Limits: limitsOf(s.Config)}
}
