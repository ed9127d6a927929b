package bucket

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// service speaks S3 to the server of one bucket.
type service struct {
	at     Address
	region string
	http   *http.Client
	keys   *keyring
}

func newService(at Address, timeout time.Duration) *service {
	s := &service{at: at}
	s.region = cmp.Or(at.Region, os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"), "us-east-1")
	s.http = &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 16, IdleConnTimeout: 20 * time.Second,
			DisableCompression: true,
		},
		// a request that is sent on would lose its signature
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	s.keys = &keyring{region: s.region, http: &http.Client{Timeout: timeout}, getenv: os.Getenv}
	return s
}

// url is where an object lies.
func (s *service) url(key string) *url.URL {
	u := &url.URL{Scheme: "http", Host: s.at.Endpoint, Path: "/" + key}
	if s.at.Secure {
		u.Scheme = "https"
	}
	if u.Host == "" {
		u.Host = "s3." + s.region + ".amazonaws.com"
	}
	if s.at.PathStyle || strings.Contains(s.at.Bucket, ".") { // no certificate is for names with more dots
		u.Path = "/" + s.at.Bucket + u.Path
	} else {
		u.Host = s.at.Bucket + "." + u.Host
	}
	u.RawPath = escape(u.Path)
	return u
}

// escape spells a path as it is signed: all but letters, digits, - . _ ~ and / as %XX.
func escape(path string) string {
	var b strings.Builder
	for i := range len(path) {
		c := path[i]
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~/", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// refusal is an answer of the service that is none of success.
type refusal struct {
	status int
	code   string // as the service calls it; empty if it does not say
}

func (r *refusal) Error() string {
	if r.code == "" {
		return fmt.Sprintf("the service answers %d %s", r.status, http.StatusText(r.status))
	}
	return fmt.Sprintf("the service answers %d, %.64q", r.status, r.code)
}

// request is one that is to be sent.
type request struct {
	method, key string
	header      http.Header // besides those that each request has; may be nil
	body        []byte
	most        int64 // bytes of the answer that are read
}

// send sends a request, and once more if its connection broke: none does harm twice.
func (s *service) send(ctx context.Context, r request) (head http.Header, body []byte, err error) {
	for range 2 {
		head, body, err = s.try(ctx, r)
		if said := (*refusal)(nil); err == nil || errors.As(err, &said) || ctx.Err() != nil {
			break
		}
	}
	return head, body, err
}

// mostError is how many bytes of an answer are read for what it says of an error.
const mostError = 4 << 10

func (s *service) try(ctx context.Context, r request) (http.Header, []byte, error) {
	key, err := s.keys.get(ctx)
	if err != nil {
		return nil, nil, err
	}
	at := s.url(r.key)
	req, err := http.NewRequestWithContext(ctx, r.method, at.String(), bytes.NewReader(r.body))
	if err != nil {
		return nil, nil, err
	}
	for name, values := range r.header {
		req.Header[name] = values
	}
	sign(req, r.body, key, signing{s.region, time.Now()})
	resp, err := s.http.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		said, _ := io.ReadAll(io.LimitReader(resp.Body, mostError))
		return nil, nil, &refusal{resp.StatusCode, within(said, "Code")}
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, r.most))
	return resp.Header, body, err
}

// within returns what stands in the first element of that name.
func within(xml []byte, name string) string {
	_, rest, _ := strings.Cut(string(xml), "<"+name+">")
	text, _, found := strings.Cut(rest, "</"+name+">")
	if !found {
		return ""
	}
	return strings.TrimSpace(text)
}
