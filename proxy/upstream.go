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
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"epitome/proxy/wire"
	"epitome/summarize"
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

// upstream is a provider: where its API lies, its headers for each request, and the connections to it.
// It does not change once made, but for its pool and lacking.
type upstream struct {
	name             string
	config           UpstreamConfig
	pool             *wire.Pool
	host             string // with its port, if the URL has one
	base             string // path in front of every request's own, without a slash at its end
	hasCredential    bool   // a credential of the configuration is added to each request
	makesCompactions bool   // it is known to make compactions for its clients

	lacking learned[time.Time] // when it has shown that it makes no compactions, by scope
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
		name:             name,
		config:           u,
		pool:             wire.NewPool(at, u.Headers, secure, times),
		host:             at.Host,
		base:             strings.TrimRight(at.EscapedPath(), "/"),
		hasCredential:    u.Credential() != "",
		makesCompactions: isMaker(at.Hostname()),
	}, nil
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
	set, err := newSettings(s, &settings{})
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
func (u *Upstreams) Send(ctx context.Context, r summarize.Request) (answer summarize.Response, err error) {
	up, err := u.settings.Load().lookUp(r.Upstream)
	if err != nil {
		return answer, err
	}
	question, err := up.question(r)
	if err != nil {
		return answer, fmt.Errorf("cannot ask upstream %s: %w", up.name, err)
	}
	head, body, err := u.ask(ctx, up, question)
	if err != nil {
		return answer, err
	}
	after := string(wire.Find(head.Block, "retry-after"))
	return summarize.Response{Status: head.Code, Body: body, RetryAfter: after}, nil
}

// question returns a request of epitome itself to a model.
func (u *upstream) question(q summarize.Request) (out wire.Request, _ error) {
	out = wire.Request{Method: []byte("POST"), Target: u.target(q.Path), Body: q.Body}
	out.Lines = []byte("Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n" +
		"Accept-Encoding: identity\r\n")
	client, _ := q.Credential.(*credential) // there is none where the upstream is not the one it was given to
	switch {
	case q.KeyEnv != "":
		key := strings.TrimSpace(os.Getenv(q.KeyEnv))
		if key == "" || strings.ContainsFunc(key, unicode.IsControl) {
			return out, fmt.Errorf("the environment variable %s holds no key", q.KeyEnv)
		}
		for _, header := range q.Authorize(key) {
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
	head, answer, err := u.ask(ctx, up, wire.Request{
		Method: []byte("GET"), Target: up.target(path),
		Lines: []byte("Accept: application/json\r\nAccept-Encoding: identity\r\nUser-Agent: epitome\r\n"),
	})
	if err != nil {
		return 0, nil, err
	}
	return head.Code, answer, nil
}

// ask sends a request, and returns the head and the whole body of its answer, without content coding: at most max_body
// of it.
func (u *Upstreams) ask(ctx context.Context, up *upstream, out wire.Request) (h *wire.Head, body []byte, err error) {
	conf := &u.settings.Load().conf
	out.Dechunk, out.FirstByte, out.ReadIdle = true, conf.FirstByteTimeout.D(), conf.ReadIdle.D()
	answer, err := up.pool.Do(ctx, out)
	if err == nil {
		h = answer.Head
		body, err = readWhole(answer, int64(conf.MaxBody))
		answer.End()
	}
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("cannot ask upstream %s: %w", up.name, err)
	}
	return h, body, nil
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
		body = append(body, piece...)
	}
	return nil, errTooLarge
}
