package proxy

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"net/url"
	"strings"

	"epitome/internal/unit"
	"epitome/proxy/wire"
)

// UpstreamConfig is one table [upstreams.NAME] of config.toml.
type UpstreamConfig struct {
	URL string `toml:"url"`
	// Headers are set on each request, in place of the client's own. "${NAME}" is taken from the environment, and an
	// empty value only takes the client's header off.
	Headers map[string]string `toml:"headers"`
	TLS     Trust             `toml:"tls"`
	Billing string            `toml:"billing"` // how it is paid; what becomes of requests does not depend on it
	// Context are the names of files that conversations sent there are given.
	Context []string `toml:"context"`
	Project string   `toml:"project"` // whose memory they are given, unless they name one
}

// upstream is a provider: where its API lies, what each request to it carries, and the connections to it.
// It does not change once made, but for its pool.
type upstream struct {
	Name   string
	Config UpstreamConfig
	Peer   wire.Peer
	Pool   *wire.Pool
	base   string // path in front of every request's own, without a slash at its end
}

// newUpstream reads u; errors name the upstream.
func newUpstream(name string, u UpstreamConfig, limits wire.Limits) (*upstream, error) {
	at, err := url.Parse(u.URL)
	if err != nil {
		return nil, unit.Wrong([]string{"upstreams", name, "url"}, "cannot read the url of upstream %s: %w", name, err)
	}
	up := &upstream{Name: name, Config: u, Peer: wire.NewPeer(at.Host, u.Headers),
		base: strings.TrimRight(at.EscapedPath(), "/")}
	var secure *tls.Config
	if at.Scheme == "https" {
		if secure, err = u.TLS.Build(name, at.Hostname()); err != nil {
			return nil, fmt.Errorf("cannot set up TLS of upstream %s: %w", name, err)
		}
	}
	up.Pool = wire.NewPool(at, secure, limits)
	return up, nil
}

// Join puts a request's raw target behind the base path. Where both have the /v1 of the common API, one is dropped.
func (u *upstream) Join(target []byte) []byte {
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

// Target is where an upstream has a path of the common API, or one beside that.
func (u *upstream) Target(path string) []byte {
	if rest, common := strings.CutPrefix(path, "/v1/"); common {
		return u.commonTarget("/" + rest)
	}
	return []byte(strings.TrimSuffix(u.base, "/v1") + path)
}

// commonTarget is the common API's path behind the base, without the version where the base has one already, as in
// /v1beta/openai.
func (u *upstream) commonTarget(path string) []byte {
	if u.HasVersion() {
		return u.Join([]byte(path))
	}
	return u.Join([]byte("/v1" + path))
}

// HasVersion reports whether the base has the version of an API in it.
func (u *upstream) HasVersion() bool {
	for part := range strings.SplitSeq(u.base, "/") {
		if len(part) > 1 && part[0] == 'v' && '0' <= part[1] && part[1] <= '9' {
			return true
		}
	}
	return false
}
