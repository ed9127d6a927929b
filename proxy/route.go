package proxy

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"epitome/dialect"
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
	Context []string          `toml:"context"` // names of the context files that conversations sent there are given
	Project string            `toml:"project"` // whose memory they are given, unless they name one
}

// Credential is the key of the table under which a credential stands that epitome adds to requests; empty if there is
// none. Any header counts.
func (u UpstreamConfig) Credential() string {
	for _, header := range slices.Sorted(maps.Keys(u.Headers)) {
		if u.Headers[header] != "" {
			return "headers." + header
		}
	}
	if u.TLS.CertFile != "" {
		return "tls.cert_file"
	}
	return ""
}

// RouteRule is one table [[routes]] of config.toml: it sends requests whose body names a matching model to an upstream.
type RouteRule struct {
	Model    string `toml:"model"` // pattern: * is any run of characters, ? is one; case does not matter
	Upstream string `toml:"upstream"`
}

// namedPath begins the paths that name their upstream, and maybe the run that the agent was started by: /u/NAME~RUN/v1.
const namedPath = "/u/"

// route chooses the upstream of the request and its target there.
func (x *exchange) route() (up *upstream, target []byte, err error) {
	target = wire.OriginForm(x.ctx.Request.Header.RequestURI())
	switch {
	case bytes.HasPrefix(target, []byte(namedPath)):
		path, query, hasQuery := bytes.Cut(target[len(namedPath):], []byte("?"))
		name, rest, _ := bytes.Cut(path, []byte("/"))
		name, run, _ := bytes.Cut(name, []byte("~"))
		x.run = string(run)
		if up, err = x.set.lookUp(string(name)); err != nil {
			return nil, nil, refuse(404, "unknown_upstream", err.Error())
		}
		if target = append([]byte("/"), rest...); hasQuery {
			target = append(append(target, '?'), query...)
		}
	case len(x.set.conf.Routes) > 0:
		body, _ := x.decoded() // a body that cannot be read names no model
		up = x.set.forModel(modelOf(body))
	default:
		up = x.set.fallback
	}
	path, _, _ := bytes.Cut(target, []byte("?"))
	if up.spends {
		if err := x.checkSender(); err != nil {
			return nil, nil, err
		}
	}
	if (up.spends || up.base != "") && dotSegment.Match(path) {
		return nil, nil, refuse(400, "bad_request",
			`the path has a segment "." or "..", which may lead out of the upstream's base URL: send the path without it`)
	}
	switch {
	case x.upgrades && bytes.HasSuffix(path, []byte("/responses")):
		// Clients go on over plain HTTP, where requests and answers stay visible one by one.
		return nil, nil, refuse(426, "upgrade_required",
			"epitome passes /v1/responses over HTTP only: send the request again without Upgrade",
			"Connection: upgrade\r\nUpgrade: HTTP/1.1\r\n")
	case !version.MatchString(up.base):
		target = x.meantTarget(target)
	}
	return up, up.join(target), nil
}

// checkSender refuses a request that a web page may have made, as it would spend the credential of the configuration.
// Programs with pages of their own have origins of other schemes.
//
// Browsers name the page's origin and say how it is related to the host that it asks. Only a GET of a page whose own
// name now leads to this machine has neither, and then Host has that name. A request with a client's key is of no page.
// Beyond loopback, programs may use names that are not in console.hosts.
func (x *exchange) checkSender() error {
	host, isKnown := string(x.ctx.Host()), x.proxy.pages.KnowsHost
	site, origin := wire.Find(x.head, "sec-fetch-site"), wire.Find(x.head, "origin")
	isPage := bytes.HasPrefix(origin, []byte("http")) || string(origin) == "null"
	if site != nil {
		isSame := wire.EqualFold(site, "same-origin") || wire.EqualFold(site, "none")
		at, err := url.Parse(string(origin))
		isPage = !isSame || !isKnown(host) || isPage && (err != nil || !isKnown(at.Host))
	}
	if isPage {
		return refuse(403, "cross_site",
			"epitome adds your credential to requests for this upstream, so it takes none from web pages")
	}
	if x.proxy.loopback && x.event.Client == "" && !isKnown(host) {
		return refuse(403, "unknown_host", fmt.Sprintf("epitome adds your credential to requests for this upstream, "+
			"and a web page may have sent this one, as it does not know the host name %.100q: use 127.0.0.1 or localhost, "+
			"or add a name of your own, such as host.docker.internal for containers, to console.hosts", host))
	}
	return nil
}

// dotSegment matches a segment of a path that leads elsewhere once a server has resolved it, also where the server
// first decodes the path, once or more, or takes a backslash for a slash or drops a segment's parameters.
var dotSegment = regexp.MustCompile(
	`(?i)(^|/|\\|%(25)*(2f|5c))(\.|%(25)*2e){1,2}($|/|\\|;|%(25)*(2f|5c|3b))`)

// modelOf returns the model that a body names, of whatever API it is; empty if it names none.
func modelOf(body []byte) string { return gjson.GetBytes(body, "model").String() }

// meantTarget adds the version of an API, such as /v1, to a target that has none, for an upstream whose base has none
// either: some clients expect it in the base URL that they are given. Each dialect knows its own requests, which are
// POSTs, by their path and by headers that only its clients send.
func (x *exchange) meantTarget(target []byte) []byte {
	path, _, _ := bytes.Cut(target, []byte("?"))
	has := func(header string) bool { return wire.Find(x.head, header) != nil }
	for _, d := range dialect.All {
		if meant := d.MeantPath(path, has); meant != nil && x.ctx.IsPost() {
			return append(meant, target[len(path):]...)
		}
	}
	return target
}

// upstream is a provider: where its API lies, its headers for each request, and the connections to it.
// It does not change once made, but for its pool and lacking.
type upstream struct {
	name   string
	config UpstreamConfig
	peer   wire.Peer
	pool   *wire.Pool
	host   string // with its port, if the URL has one
	base   string // path in front of every request's own, without a slash at its end
	spends bool   // a credential of the configuration is added to each request
	makes  bool   // it is known to make compactions for its clients

	lacking learned[time.Time] // when it has shown that it makes no compactions, by scope
}

// newUpstream reads u; errors name the upstream.
func newUpstream(name string, u UpstreamConfig, l *limits) (*upstream, error) {
	at, err := url.Parse(u.URL)
	if err != nil {
		return nil, fmt.Errorf("cannot read the url of upstream %s: %w", name, err)
	}
	up := &upstream{name: name, config: u, peer: wire.NewPeer(at.Host, u.Headers),
		host: at.Host, makes: makesCompactions(at.Hostname()),
		base: strings.TrimRight(at.EscapedPath(), "/"), spends: u.Credential() != ""}
	var secure *tls.Config
	if at.Scheme == "https" {
		if secure, err = u.TLS.clientConfig(at.Hostname()); err != nil {
			return nil, fmt.Errorf("cannot set up TLS of upstream %s: %w", name, err)
		}
	}
	up.pool = wire.NewPool(at, secure, wire.Limits{Idle: l.upstreamIdle, Dial: dialTime, WriteIdle: l.writeIdle})
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

// target returns where the upstream has a path of the common API, which begins with /v1/, or one beside that. A base
// that has a version already gets no other.
func (u *upstream) target(path string) []byte {
	rest, common := strings.CutPrefix(path, "/v1/")
	switch {
	case !common:
		return []byte(strings.TrimSuffix(u.base, "/v1") + path)
	case version.MatchString(u.base):
		return u.join([]byte("/" + rest))
	}
	return u.join([]byte(path))
}

// whyNotFound says which mistake in a base URL explains that an upstream does not have a target; empty if none does.
func whyNotFound(target []byte) string {
	path, _, _ := bytes.Cut(target, []byte("?"))
	switch {
	case bytes.Contains(path, []byte("/v1/v1")):
		return "the path has /v1 twice: leave it out of the upstream's url"
	case !version.Match(path):
		return "the path has no /v1: write it at the end of the client's base URL, or of the upstream's url"
	}
	return ""
}

// version matches a part of a path that is the version of an API, as in /v1beta/openai.
var version = regexp.MustCompile(`/v[0-9]`)
