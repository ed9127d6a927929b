package proxy

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/tidwall/gjson"

	"epitome/dialect"
	"epitome/proxy/wire"
	"epitome/summarize"
)

// RouteRule is one table [[routes]] of config.toml: it sends requests whose body names a matching model to an upstream.
type RouteRule struct {
	Model    string `toml:"model"` // pattern: * is any run of characters, ? is one; case does not matter
	Upstream string `toml:"upstream"`
}

const (
	namedPath = "/u/" // begins the paths that name their upstream: /u/NAME/v1
	runPath   = "/r/" // begins, in front of any other, the paths of an "epitome run": /r/ID/u/NAME/v1
)

// Run is what an "epitome run" has in the place of the configured settings; empty where it has none of its own.
type Run struct {
	Mode    string `json:"mode,omitempty"`
	Preset  string `json:"preset,omitempty"`
	Runtime string `json:"runtime,omitempty"` // what the agent is told about its machine
}

// takeRun takes the name of a run off a target. The error refuses a request of a run that is not known.
func (p *Proxy) takeRun(target []byte) (run Run, id string, rest []byte, err error) {
	id, rest, isRun := cutName(target, runPath)
	if !isRun {
		return run, "", target, nil
	}
	run, err = p.deps.Run(id)
	if err != nil {
		err = refuse(404, "unknown_run", fmt.Sprintf("epitome does not know the run %.40q of this address: start the agent "+
			"again with 'epitome run', or leave out /r/ and the name", id))
	}
	return run, id, rest, err
}

// cutName parts a target that begins with prefix and a name into the name and the target behind it.
func cutName(target []byte, prefix string) (name string, rest []byte, isNamed bool) {
	named, isNamed := bytes.CutPrefix(target, []byte(prefix))
	if !isNamed {
		return "", target, false
	}
	end := bytes.IndexAny(named, "/?")
	if end < 0 {
		end = len(named)
	}
	rest = append([]byte("/"), bytes.TrimPrefix(named[end:], []byte("/"))...)
	return string(named[:end]), rest, true
}

// route chooses the upstream of the request and its target there, and refuses what must not go to that one.
func (x *exchange) route() error {
	if err := x.chooseUpstream(); err != nil {
		return err
	}
	up := x.upstream
	path, _, _ := bytes.Cut(x.target, []byte("?"))
	if up.hasCredential {
		if err := x.checkSender(); err != nil {
			return err
		}
	}
	if (up.hasCredential || up.base != "") && dotSegment.Match(path) {
		return refuse(400, "bad_request",
			`the path has a segment "." or "..", which may lead out of the upstream's base URL: send the path without it`)
	}
	if isUpgrade(x.head) && bytes.HasSuffix(path, []byte("/responses")) {
		// Clients go on over plain HTTP, where requests and answers stay visible one by one.
		return refuse(426, "upgrade_required",
			"epitome passes /v1/responses over HTTP only: send the request again without Upgrade",
			"Connection: upgrade\r\nUpgrade: HTTP/1.1\r\n")
	}
	if !version.MatchString(up.base) {
		x.target = x.meantTarget(x.target)
	}
	x.target = up.join(x.target)
	x.event.Upstream = up.name
	return nil
}

// chooseUpstream sets the upstream, and the target without that one's base: by the path, or by the model that the body
// names.
func (x *exchange) chooseUpstream() (err error) {
	name, target, isNamed := cutName(x.target, namedPath)
	if isNamed {
		x.target = target
		x.upstream, err = x.set.lookUp(name)
		if err != nil {
			return refuse(404, "unknown_upstream", err.Error())
		}
		return nil
	}
	x.upstream = x.set.fallback
	if len(x.set.conf.Routes) > 0 {
		body, _ := x.decoded() // a body that cannot be read names no model
		x.upstream = x.set.forModel(modelOf(body))
	}
	return nil
}

// isUpgrade reports whether a request asks to switch protocols.
func isUpgrade(head []byte) bool {
	return wire.HasToken(wire.Values(head, "connection"), "upgrade") && wire.Find(head, "upgrade") != nil
}

// checkSender refuses a request that a web page may have made, as it would spend the credential of the configuration.
// Programs with pages of their own have origins of other schemes.
//
// Browsers name the page's origin and say how it is related to the host that it asks. Only a GET of a page whose own
// name now leads to this machine has neither, and then Host has that name. A request with a client's key is of no page.
// Beyond loopback, programs may use names that are not in console.hosts.
func (x *exchange) checkSender() error {
	host := string(x.ctx.Host())
	isKnown := x.proxy.pages.KnowsHost
	site := wire.Find(x.head, "sec-fetch-site")
	origin := wire.Find(x.head, "origin")
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
	if !x.ctx.IsPost() {
		return target
	}
	path, _, _ := bytes.Cut(target, []byte("?"))
	has := func(header string) bool { return wire.Find(x.head, header) != nil }
	for _, d := range dialect.All {
		if meant := d.API().MeantPath(path, has); meant != nil {
			return append(meant, target[len(path):]...)
		}
	}
	return target
}

// whyNotFound says which mistake, mostly in a base URL, may explain that an upstream does not have the target; empty if
// none does.
func (x *exchange) whyNotFound() string {
	path, _, _ := bytes.Cut(x.target, []byte("?"))
	base := x.upstream.base
	switch {
	case bytes.Contains(path, []byte("/v1/v1")):
		return "the path has /v1 twice: leave it out of the client's base URL, or of the upstream's url"
	case !version.Match(path):
		return "the path has no /v1: write it at the end of the client's base URL, or of the upstream's url"
	case !x.ctx.IsPost():
		return ""
	case bytes.HasSuffix(path, []byte("/v1")):
		return "the path ends with /v1: the client has to add what it asks for, such as /chat/completions"
	case x.dialect == nil:
		return "the upstream may not have this path: check the client's base URL, and what it adds"
	case base != "" && !version.MatchString(base):
		return "the upstream may have no API below " + base + ": check its url"
	}
	return ""
}

// UpstreamConfig is one table [upstreams.NAME] of config.toml.
type UpstreamConfig struct {
	URL string `toml:"url"`
	// Headers are set on each request, in place of the client's own. "${NAME}" is taken from the environment, and an
	// empty value only takes the client's header off.
	Headers map[string]string `toml:"headers"`
	TLS     Trust             `toml:"tls"`
	Billing string            `toml:"billing"` // how it is paid; what becomes of requests does not depend on it
	Context []string          `toml:"context"` // names of the context files that conversations sent there are given
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

// upstream is a provider: where its API lies, its headers for each request, and the connections to it.
// It does not change once made, but for its pool, makes and lacked.
type upstream struct {
	name          string
	config        UpstreamConfig
	pool          *wire.Pool
	host          string       // with its port, if the URL has one
	base          string       // path in front of every request's own, without a slash at its end
	hasCredential bool         // a credential of the configuration is added to each request
	makes         atomic.Bool  // it has made a compaction for a client, and has not shown since that it makes none
	lacked        atomic.Int64 // when it has shown that it makes no compactions, in nanoseconds since 1970
}

// lacksCompactions reports whether the upstream has shown in the last hour that it makes no compactions; it may have
// begun to make some since.
func (u *upstream) lacksCompactions() bool {
	return time.Since(time.Unix(0, u.lacked.Load())) < time.Hour
}

// newUpstream reads u; errors name the upstream.
func newUpstream(name string, u UpstreamConfig, l *limits) (*upstream, error) {
	at, err := url.Parse(u.URL)
	if err != nil {
		return nil, fmt.Errorf("cannot read the url of upstream %s: %w", name, err)
	}
	var secure *tls.Config
	if at.Scheme == "https" {
		secure, err = u.TLS.clientConfig(at.Hostname())
		if err != nil {
			return nil, fmt.Errorf("cannot set up TLS of upstream %s: %w", name, err)
		}
	}
	times := wire.Limits{Idle: l.upstreamIdle, Dial: dialTime, WriteIdle: l.writeIdle}
	return &upstream{
		name: name, config: u, pool: wire.NewPool(at, u.Headers, secure, times), host: at.Host,
		base: strings.TrimRight(at.EscapedPath(), "/"), hasCredential: u.Credential() != "",
	}, nil
}

// join puts a request's raw target behind the base path. Where both have the /v1 of the common API, one is dropped.
func (u *upstream) join(target []byte) []byte {
	if len(target) == 0 || target[0] != '/' {
		return target // the asterisk of OPTIONS
	}
	base := u.base
	path, _, _ := bytes.Cut(target, []byte("?"))
	if strings.HasSuffix(base, "/v1") && (bytes.HasPrefix(path, []byte("/v1/")) || string(path) == "/v1") {
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
	rest, isCommon := strings.CutPrefix(path, "/v1/")
	if !isCommon {
		return []byte(strings.TrimSuffix(u.base, "/v1") + path)
	}
	if version.MatchString(u.base) {
		path = "/" + rest
	}
	return u.join([]byte(path))
}

// version matches a part of a path that is the version of an API, as in /v1beta/openai.
var version = regexp.MustCompile(`/v[0-9]`)

// Upstreams are the providers by name, with the connections to them. The proxy sends its clients' requests there, and
// Send and Get those of epitome itself. Make them with NewUpstreams. Methods may be called from any goroutine.
type Upstreams struct{ settings atomic.Pointer[settings] }

// NewUpstreams makes the upstreams of s.
func NewUpstreams(s Settings) (*Upstreams, error) {
	set, err := newSettings(s)
	if err != nil {
		return nil, err
	}
	u := &Upstreams{}
	u.settings.Store(set)
	return u, nil
}

// Send sends a request of epitome itself and returns the whole answer. The request is authorized by the credential that
// it has, and then goes to the target of that client's own request, or by the key in the environment variable KeyEnv.
// It ends with an error when ctx ends.
func (u *Upstreams) Send(ctx context.Context, m summarize.Model, body []byte) (status int, answer []byte,
	wait time.Duration, err error) {
	up, err := u.settings.Load().lookUp(m.Upstream)
	if err != nil {
		return 0, nil, 0, err
	}
	question, err := up.question(m, body)
	if err != nil {
		return 0, nil, 0, fmt.Errorf("cannot ask upstream %s: %w", up.name, err)
	}
	return u.ask(ctx, up, question)
}

// question returns a request of epitome itself to a model.
func (u *upstream) question(m summarize.Model, body []byte) (out wire.Request, _ error) {
	api := m.Dialect.API()
	out = wire.Request{Method: []byte("POST"), Target: u.target(api.Path), Body: body}
	out.Lines = []byte("Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n" +
		"Accept-Encoding: identity\r\n")
	client, _ := m.Credential.(*credential) // there is none where the upstream is not the one it was given to
	switch {
	case m.KeyEnv != "":
		key := strings.TrimSpace(os.Getenv(m.KeyEnv))
		if key == "" || strings.ContainsFunc(key, unicode.IsControl) {
			return out, fmt.Errorf("the environment variable %s holds no key", m.KeyEnv)
		}
		for _, header := range api.Authorize(key) {
			out.Lines = wire.AppendField(out.Lines, []byte(header[0]), header[1])
		}
	case client != nil && client.url != u.config.URL:
		return out, errors.New("the credential was for an earlier upstream of this name")
	case client != nil:
		out.Lines = append(out.Lines, client.lines...)
		out.Target = []byte(client.target)
	}
	if wire.Find(out.Lines, "user-agent") == nil { // some providers refuse requests without
		out.Lines = append(out.Lines, "User-Agent: epitome\r\n"...)
	}
	return out, nil
}

// Get asks an upstream about itself, without any client's credential. The path may have a query. Under /v1/ it is that
// of the common API, wherever the upstream has it; any other one lies beside that. It is a window.Get.
func (u *Upstreams) Get(ctx context.Context, name, path string) (status int, answer []byte, err error) {
	up, err := u.settings.Load().lookUp(name)
	if err != nil {
		return 0, nil, err
	}
	status, answer, _, err = u.ask(ctx, up, wire.Request{
		Method: []byte("GET"), Target: up.target(path),
		Lines: []byte("Accept: application/json\r\nAccept-Encoding: identity\r\nUser-Agent: epitome\r\n"),
	})
	return status, answer, err
}

// ask sends a request and returns the whole answer, without content coding: at most max_body of it. wait is how long its
// Retry-After says to wait.
func (u *Upstreams) ask(ctx context.Context, up *upstream, out wire.Request) (status int, body []byte,
	wait time.Duration, err error) {
	conf := &u.settings.Load().conf
	out.FirstByte, out.ReadIdle = conf.FirstByteTimeout.D(), conf.limits.readIdle
	answer, err := up.pool.Do(ctx, out)
	if err == nil {
		defer answer.End()
		status = answer.Code
		seconds, _ := strconv.Atoi(string(wire.Find(answer.Block, "retry-after"))) // a date counts as none
		wait = time.Duration(seconds) * time.Second
		body, err = readWhole(answer, int64(conf.MaxBody))
	}
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return 0, nil, 0, fmt.Errorf("cannot ask upstream %s: %w", up.name, err)
	}
	return status, body, wait, nil
}

// readWhole returns the body of an answer without its content coding, which may have at most the given number of bytes.
func readWhole(a *wire.Answer, most int64) (body []byte, err error) {
	for int64(len(body)) <= most {
		piece, err := a.Next()
		if err == io.EOF {
			return decode(codingOf(a), body, most)
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read the answer to its end: %w", err)
		}
		body = append(body, piece.Content...)
	}
	return nil, errTooLarge
}
