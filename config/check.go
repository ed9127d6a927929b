package config

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"

	"epitome/event"
	"epitome/inject"
	"epitome/internal/unit"
	"epitome/offload"
	"epitome/proxy"
	"epitome/store"
	"epitome/window"
)

// Validate returns all mistakes in c that show without a look at the machine.
func (c *Config) Validate() error {
	var m mistakes
	m.require(slices.Contains([]string{event.ModeOn, event.ModeObserve, event.ModeOff}, c.Mode),
		"mode must be on, observe or off, not %q", c.Mode)
	header, byHeader := strings.CutPrefix(c.Scope, "header:")
	isScope := byHeader && httpguts.ValidHeaderFieldName(header) ||
		slices.Contains([]string{"auto", "credential", "shared"}, c.Scope)
	m.require(isScope, "scope must be auto, credential, shared, or header:NAME with the name of a header, not %q", c.Scope)
	_, port, err := net.SplitHostPort(c.Listen)
	_, portErr := strconv.ParseUint(port, 10, 16)
	m.require(err == nil && portErr == nil, "listen must be host:port, as in 127.0.0.1:7070 or [::1]:7070, not %q", c.Listen)
	m.require((c.TLS.CertFile == "") == (c.TLS.KeyFile == ""), "tls needs both cert_file and key_file, or neither")
	c.checkUpstreams(&m)
	c.checkClients(&m)
	c.checkNumbers(&m)
	m.check("", c.Rewrite.Check())
	c.checkSummaries(&m)
	c.checkStorage(&m)
	c.checkOutput(&m)
	return errors.Join(m...)
}

// checkUpstreams checks the places that requests go to.
func (c *Config) checkUpstreams(m *mistakes) {
	names := slices.Sorted(maps.Keys(c.Upstreams))
	known := strings.Join(names, ", ")
	m.require(slices.Contains(names, c.Upstream),
		"upstream must be one of %s, or a base URL such as https://api.openai.com/v1, not %q", known, c.Upstream)
	for _, name := range names {
		u, key := c.Upstreams[name], "upstreams."+name
		m.check(key, CheckName(name))
		m.check(key+".url", CheckURL(u.URL))
		m.require((u.TLS.CertFile == "") == (u.TLS.KeyFile == ""), "%s.tls needs both cert_file and key_file, or neither", key)
		m.require(u.TLS == (proxy.Trust{}) || !strings.HasPrefix(u.URL, "http://"), "%s.tls needs an https url", key)
		m.require(slices.Contains([]string{"", event.ByTokens, event.Subscription, event.Free}, u.Billing),
			"%s.billing must be tokens, subscription or free", key)
		if u.Project != "" {
			m.check(key+".project", proxy.CheckProject(u.Project))
		}
		for _, header := range slices.Sorted(maps.Keys(u.Headers)) {
			m.check(fmt.Sprintf("%s.headers.%q", key, header), checkHeader(header, u.Headers[header]))
		}
	}
	for i, r := range c.Routes {
		m.require(r.Model != "", "routes: route %d needs a model, as in gpt-*", i+1)
		m.require(slices.Contains(names, r.Upstream), "routes: the upstream of route %d must be one of %s, not %q",
			i+1, known, r.Upstream)
	}
}

// checkClients checks the clients with keys.
func (c *Config) checkClients(m *mistakes) {
	for _, name := range slices.Sorted(maps.Keys(c.Clients)) {
		client, key := c.Clients[name], "clients."+name
		m.check(key, CheckName(name))
		m.require(len(client.Keys) > 0, "%s has no keys; 'epitome key %s' makes one", key, name)
		for _, u := range client.Upstreams {
			_, known := c.Upstreams[u]
			m.require(known, "%s.upstreams has an unknown upstream, %q", key, u)
		}
	}
}

// checkNumbers checks the quantities that must be above zero, and those that depend on each other.
func (c *Config) checkNumbers(m *mistakes) {
	for field, value := range reflect.ValueOf(c.Proxy).Fields() {
		if key := field.Tag.Get("toml"); value.CanInt() && value.Int() <= 0 {
			m.add("proxy.%s must be greater than zero", key)
		}
	}
	m.require(c.Proxy.MaxInFlight >= c.Proxy.MaxBody, "proxy.max_in_flight must be at least proxy.max_body, %s",
		c.Proxy.MaxBody)
	m.require(c.Offload.Quota > 0, "offload.quota must be greater than zero")
	m.require(c.Store.Keep > 0, "store.keep must be greater than zero")
	m.require(c.Events.Quota > 0, "events.quota must be greater than zero")
	m.require(c.Window.Default >= window.Least, "window.default must be at least %d tokens", window.Least)
	for _, pattern := range slices.Sorted(maps.Keys(c.Window.Models)) {
		m.require(pattern != "" && c.Window.Models[pattern] >= window.Least,
			"window.models.%q needs a pattern and at least %d tokens", pattern, window.Least)
	}
	for _, pattern := range slices.Sorted(maps.Keys(c.Prices)) {
		m.check(fmt.Sprintf("prices.%q", pattern), c.Prices[pattern].Check())
	}
}

// checkSummaries checks who writes summaries, and the memory that comes from them.
func (c *Config) checkSummaries(m *mistakes) {
	s := c.Summarize
	_, known := c.Upstreams[s.Upstream]
	m.require(known || s.Upstream == "", "summarize.upstream must be one of %s, not %q",
		strings.Join(slices.Sorted(maps.Keys(c.Upstreams)), ", "), s.Upstream)
	m.check("", s.Check())
	if c.Memory.Enabled {
		m.require(s.Model != "", "memory.enabled needs summarize.model")
		m.require(s.Mode.Asks(), "memory.enabled needs a summarize.mode that asks a model: auto, hybrid or llm")
	}
}

// checkStorage checks the places of decisions and artifacts.
func (c *Config) checkStorage(m *mistakes) {
	o, s := c.Offload, c.Store
	m.require(slices.Contains([]string{"path", "url", "both", "tool", "auto", "none"}, o.Address),
		"offload.address must be path, url, both, tool, auto or none, not %q", o.Address)
	if o.Bucket != "" {
		m.check("offload.bucket", offload.CheckBucket(o.Bucket))
		_, err := o.ReadSecret()
		m.check("offload.secret_file", err)
	}
	m.require(o.Bucket != "" || o.Secret == "", "offload.secret_file needs offload.bucket")
	if o.URL != "" {
		m.check("offload.url", CheckURL(o.URL))
	}
	if s.URL == "" {
		m.require(o.Folder == "", "offload.folder needs store.url; data is the folder of an epitome that shares nothing")
		return
	}
	m.check("store.url", store.CheckRedis(s.URL, s.CA))
	m.require(o.Folder == "" || o.Bucket == "", "offload.folder and offload.bucket exclude each other")
	m.require(o.Bucket != "" || filepath.IsAbs(o.Folder),
		"store.url needs a bucket, or the absolute path of a shared folder, in [offload]: every epitome must find the artifacts")
	byURL := o.Address == "url" || o.Address == "both" || o.Bucket != "" && o.Place() == "path"
	m.require(o.URL != "" || !byURL, "store.url with offload.address %q needs offload.url: the address that leads to all", o.Address)
}

// checkOutput checks pages, log and traces.
func (c *Config) checkOutput(m *mistakes) {
	m.require(!strings.ContainsFunc(c.Console.Token, func(r rune) bool { return r <= ' ' || r > '~' }),
		"console.token must have no spaces and only ASCII: it travels in a header")
	for _, host := range c.Console.Hosts {
		_, _, port := net.SplitHostPort(host)
		m.require(host != "" && !strings.ContainsAny(host, "/ \t\r\n*") && port != nil,
			"console.hosts must be host names without ports, such as epitome.example.com, not %q", host)
	}
	m.require(slices.Contains([]string{LogAuto, LogText, LogJSON}, c.Log.Format), "log.format must be auto, text or json")
	if at, err := url.Parse(c.Otel.Endpoint); c.Otel.Endpoint != "" {
		m.require(err == nil && (at.Scheme == "http" || at.Scheme == "https") && at.Hostname() != "",
			"otel.endpoint must be an http or https URL, as in http://127.0.0.1:4318")
	}
}

// checkContexts returns an error for each context name without files in the data folder.
func (c *Config) checkContexts(folder string) error {
	names := slices.Clone(c.Context.Names)
	for _, upstream := range slices.Sorted(maps.Keys(c.Upstreams)) {
		names = append(names, c.Upstreams[upstream].Context...)
	}
	var m mistakes
	for _, name := range names {
		files, _ := c.ContextFiles(folder).List(name)
		m.require(len(files) > 0, "no files are kept under the context %q; 'epitome context add %s FILE' adds one", name, name)
	}
	return errors.Join(m...)
}

const letters = "abcdefghijklmnopqrstuvwxyz0123456789"

// CheckName checks the name of an upstream or a client.
func CheckName(name string) error {
	if strings.Trim(name, letters+"._-") != "" || strings.IndexAny(name, letters) != 0 {
		return fmt.Errorf("%q must have only a-z, 0-9, dot, dash and underscore, and begin with a letter or digit", name)
	}
	return nil
}

// CheckURL checks a base URL. No error repeats more of it than scheme and host: the rest may hold a password or a key.
func CheckURL(raw string) error {
	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return errors.New("must be an http or https URL, as in https://api.openai.com/v1")
	case u.User != nil:
		return errors.New("must not hold a user name or password; set an Authorization header instead")
	case strings.ContainsAny(raw, "?#"):
		return errors.New("must be a base URL, without a query or fragment")
	}
	if _, err := strconv.ParseUint(u.Port(), 10, 16); u.Port() != "" && err != nil {
		return errors.New("has a port above 65535")
	}
	return nil
}

// checkHeader checks a header that is set on requests. No error repeats value: it may be a credential.
func checkHeader(name, value string) error {
	if !httpguts.ValidHeaderFieldName(name) {
		return errors.New("is no header name")
	}
	switch strings.ToLower(name) {
	case "connection", "content-length", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade":
		return errors.New("cannot be set: epitome addresses and frames each request")
	}
	if strings.ContainsAny(value, "\r\n\x00") {
		return errors.New("must not hold a line break or NUL; a variable read from a file often ends in one")
	}
	return nil
}

// ReadSecret returns the key of artifacts' names in secret_file; nil if there is none.
func (c OffloadConfig) ReadSecret() ([]byte, error) {
	if c.Secret == "" {
		return nil, nil
	}
	text, err := os.ReadFile(c.Secret)
	if err != nil {
		return nil, err
	}
	secret, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(secret) != 32 {
		return nil, errors.New("must hold 64 hexadecimal digits; 'openssl rand -hex 32' makes them")
	}
	return secret, nil
}

// ParseWindow reads a window, as in 128000, 128k or 1M.
func ParseWindow(text string) (int, error) {
	var n unit.Tokens
	if err := n.UnmarshalText([]byte(text)); err != nil || n < window.Least || n > unit.MostTokens {
		return 0, fmt.Errorf("window must be a number of tokens from %d to %d, as 128k or 128000, not %q",
			window.Least, unit.MostTokens, text)
	}
	return int(n), nil
}

// ContextFiles are the context files for an epitome with this data folder.
func (c *Config) ContextFiles(data string) inject.Files { return inject.FilesIn(cmp.Or(c.Home, data)) }
