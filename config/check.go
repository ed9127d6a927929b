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
	"time"

	"golang.org/x/net/http/httpguts"

	"epitome/console"
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
	m.choice("mode", c.Mode, choices["mode"]...)
	header, byHeader := strings.CutPrefix(c.Scope, "header:")
	if !byHeader || !httpguts.ValidHeaderFieldName(header) {
		m.choice("scope", c.Scope, "auto", "credential", "shared", "header:NAME with the name of a header")
	}
	_, port, err := net.SplitHostPort(c.Listen)
	_, portErr := strconv.ParseUint(port, 10, 16)
	m.require(err == nil && portErr == nil,
		"listen must be host:port with a port up to 65535, as in 127.0.0.1:7070 or [::1]:7070, not %q", c.Listen)
	m.require((c.TLS.CertFile == "") == (c.TLS.KeyFile == ""), "tls needs both cert_file and key_file, or neither")
	c.checkUpstreams(&m)
	c.checkClients(&m)
	c.checkNumbers(&m)
	m.check("", c.Rewrite.Check())
	s := &c.Summarize
	m.choice("summarize.mode", string(s.Mode), choices["summarize.mode"]...)
	m.choice("summarize.detail", string(s.Detail), choices["summarize.detail"]...)
	m.choice("summarize.prepare", s.Prepare, choices["summarize.prepare"]...)
	if s.Upstream != "" {
		m.choice("summarize.upstream", s.Upstream, c.upstreamNames()...)
		m.require(s.Model != "", "summarize.upstream needs summarize.model")
	}
	m.require(s.KeyEnv == "" || s.Upstream != "", "summarize.key_env needs summarize.upstream, for which the key is")
	if c.Memory.Enabled {
		m.require(c.Summarize.Model != "", "memory.enabled needs summarize.model")
		m.require(c.Summarize.Mode.Asks(), "memory.enabled needs summarize.mode auto, hybrid or llm, which ask a model")
	}
	c.checkStorage(&m)
	m.require(!strings.ContainsFunc(c.Console.Token, func(r rune) bool { return r <= ' ' || r > '~' }),
		"console.token must have no spaces and only ASCII: it travels in a header")
	m.require(c.Console.Token == "" || len(c.Console.Token) >= console.LeastToken,
		"console.token must have at least %d characters: others can try it; 'openssl rand -hex 16' makes one",
		console.LeastToken)
	if c.Otel.Endpoint != "" {
		m.check("otel.endpoint", CheckURL(c.Otel.Endpoint))
	}
	return errors.Join(m...)
}

// checkClients checks who may use epitome.
func (c *Config) checkClients(m *mistakes) {
	for _, name := range slices.Sorted(maps.Keys(c.Clients)) {
		client, key := c.Clients[name], "clients."+name
		m.check(key, CheckName(name))
		m.require(len(client.Keys) > 0, "%s has no keys; 'epitome key %s' makes one", key, name)
		for _, u := range client.Upstreams {
			m.choice(key+".upstreams", u, c.upstreamNames()...)
		}
		for _, mode := range client.Modes {
			m.choice(key+".modes", mode, choices["mode"]...)
		}
		_, err := time.Parse(time.DateOnly, cmp.Or(client.Expires, time.DateOnly))
		m.require(err == nil, "%s.expires must be a day such as 2027-01-31, not %q", key, client.Expires)
	}
}

func (c *Config) upstreamNames() []string { return slices.Sorted(maps.Keys(c.Upstreams)) }

// checkUpstreams checks the places that requests go to.
func (c *Config) checkUpstreams(m *mistakes) {
	names := c.upstreamNames()
	m.choice("upstream", c.Upstream, append(names, "a base URL such as https://api.openai.com/v1")...)
	for _, name := range names {
		u, key := c.Upstreams[name], "upstreams."+name
		m.check(key, CheckName(name))
		m.check(key+".url", CheckURL(u.URL))
		m.require((u.TLS.CertFile == "") == (u.TLS.KeyFile == ""),
			"%s.tls needs both cert_file and key_file, or neither", key)
		m.require(u.TLS == (proxy.Trust{}) || !strings.HasPrefix(u.URL, "http://"), "%s.tls needs an https url", key)
		if u.Billing != "" {
			m.choice(key+".billing", u.Billing, choices["upstreams.NAME.billing"]...)
		}
		for _, header := range slices.Sorted(maps.Keys(u.Headers)) {
			m.check(key+".headers."+header, checkHeader(header, u.Headers[header]))
		}
	}
	for i, r := range c.Routes {
		m.require(r.Model != "", "routes.%d needs a model, as in gpt-*", i+1)
		m.choice(fmt.Sprintf("routes.%d.upstream", i+1), r.Upstream, names...)
	}
}

// checkNumbers checks the quantities that must be above zero, and those that depend on each other.
func (c *Config) checkNumbers(m *mistakes) {
	for field, value := range reflect.ValueOf(c.Settings.Config).Fields() {
		m.require(!value.CanInt() || value.Int() > 0, "proxy.%s must be greater than zero", field.Tag.Get("toml"))
	}
	m.require(c.MaxInFlight >= c.MaxBody, "proxy.max_in_flight must be at least proxy.max_body, %s",
		c.MaxBody)
	m.require(c.Offload.Quota > 0, "offload.quota must be greater than zero")
	m.require(c.Store.Keep > 0, "store.keep must be greater than zero")
	m.require(c.Window.Default >= window.Least, "window.default must be at least %d tokens", window.Least)
	for _, pattern := range slices.Sorted(maps.Keys(c.Window.Models)) {
		m.require(pattern != "" && c.Window.Models[pattern] >= window.Least,
			"window.models.%q must name a model, and hold at least %d tokens", pattern, window.Least)
	}
	for _, pattern := range slices.Sorted(maps.Keys(c.Prices)) {
		m.check(fmt.Sprintf("prices.%q", pattern), c.Prices[pattern].Check())
	}
}

// checkStorage checks the places of decisions and artifacts.
func (c *Config) checkStorage(m *mistakes) {
	o, s := c.Offload, c.Store
	m.choice("offload.address", o.Address, choices["offload.address"]...)
	if o.Bucket != "" {
		m.check("offload.bucket", offload.CheckBucket(o.Bucket))
	}
	_, err := o.ReadSecret()
	m.check("offload.secret_file", err)
	if o.URL != "" {
		m.check("offload.url", CheckURL(o.URL))
	}
	if s.URL == "" {
		m.require(o.Folder == "", "offload.folder needs store.url; without it, data is the folder")
		return
	}
	m.check("store.url", store.CheckRedis(s.URL, s.CA))
	hasOne := (o.Folder == "") != (o.Bucket == "")
	m.require(hasOne && (o.Bucket != "" || filepath.IsAbs(o.Folder)),
		"store.url needs a bucket, or the absolute path of a shared folder, in [offload], where all find the artifacts")
	byURL := o.Address == "url" || o.Address == "both" || o.Bucket != "" && o.Place() == "path"
	if byURL && o.URL == "" {
		m.add("store.url with offload.address %q needs offload.url, the address that leads to all", o.Address)
	}
}

// Admit refuses what serve would refuse before it takes the port.
func (c *Config) Admit() error {
	var m mistakes
	names := slices.Clone(c.Context.Names)
	for _, upstream := range c.upstreamNames() {
		names = append(names, c.Upstreams[upstream].Context...)
	}
	for _, name := range names {
		known, _ := inject.FilesIn(c.Data).Names(name)
		m.require(len(known) > 0,
			"no files are kept under the context %q; 'epitome context add NAME FILE' adds one", name)
	}
	m.check("", c.CheckAt(c.Listen))
	m.check("", c.TLS.Check())
	_, err := store.Authorities(c.Store.CA)
	m.check("store.ca", err)
	_, err = proxy.NewUpstreams(c.ForProxy())
	m.check("", err)
	return c.place(errors.Join(m...))
}

// CheckAt refuses what c must not do when epitome listens on an address beyond loopback: to add credentials to the
// requests of whoever reaches it, unless open says so, and to name artifacts by addresses that agents on other machines
// cannot reach.
func (c *Config) CheckAt(address string) error {
	if console.Loopback(address) {
		return nil
	}
	var m mistakes
	key := c.credential()
	if key != "" && !c.Open && len(c.Clients) == 0 {
		m.add("cannot listen on %s: whoever reaches it could spend what %s adds; give clients keys of their own "+
			"in [clients], or write open = true", address, key)
	}
	o := c.Offload
	if o.Bucket != "" && o.URL == "" && o.Place() != "none" {
		m.add("offload.bucket on %s needs offload.url: the URL by which agents reach epitome, as "+
			"https://epitome.example.com/-/artifacts/", address)
	}
	u, err := url.Parse(o.URL)
	m.require(err != nil || !console.Loopback(net.JoinHostPort(u.Hostname(), "1")),
		"offload.url must be an address that agents reach, not %s: epitome listens on %s", o.URL, address)
	return errors.Join(m...)
}

// credential is a key under which a credential stands that epitome adds to requests; empty if there is none.
func (c *Config) credential() string {
	for _, name := range c.upstreamNames() {
		key := c.Upstreams[name].Credential()
		if key != "" {
			return "upstreams." + name + "." + key
		}
	}
	if c.Summarize.KeyEnv != "" {
		return "summarize.key_env"
	}
	return ""
}

const letters = "abcdefghijklmnopqrstuvwxyz0123456789"

// CheckName checks the name of an upstream or a client.
func CheckName(name string) error {
	if strings.Trim(name, letters+"._-") != "" || strings.IndexAny(name, letters) != 0 {
		return fmt.Errorf("%q must have only a-z, 0-9, dot, dash and underscore, and begin with a letter or digit",
			name)
	}
	return nil
}

// CheckURL checks a base URL. No error repeats any of it: it may hold a password or a key.
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
	return nil
}

// checkHeader checks a header that is set on requests. No error repeats value: it may be a credential.
func checkHeader(name, value string) error {
	switch strings.ToLower(name) {
	case "connection", "content-length", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade":
		return errors.New("cannot be set: epitome addresses and frames each request")
	}
	if !httpguts.ValidHeaderFieldName(name) || strings.ContainsAny(value, "\r\n\x00") {
		return errors.New("is no header, or its value has a line break; a variable read from a file often ends in one")
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
		return 0, fmt.Errorf("window must be a number of tokens from %d to %d, not %q (1k is 1000)",
			window.Least, unit.MostTokens, text)
	}
	return int(n), nil
}

// mistakes are all that is wrong with a configuration, one sentence each. No sentence repeats a secret.
type mistakes []error

func (m *mistakes) add(format string, args ...any) { *m = append(*m, fmt.Errorf(format, args...)) }

// require adds a mistake unless ok.
func (m *mistakes) require(ok bool, format string, args ...any) {
	if !ok {
		m.add(format, args...)
	}
}

// check adds err, unless it is nil, behind the key that it is about. The key is empty if err names it.
func (m *mistakes) check(key string, err error) {
	if err != nil && key != "" {
		err = fmt.Errorf("%s: %w", key, err)
	}
	m.require(err == nil, "%w", err)
}

// choice requires that the value of a key is one of several.
func (m *mistakes) choice(key, value string, choices ...string) {
	m.require(slices.Contains(choices, value), "%s must be %s, not %q: write one of these", key, oneOf(choices), value)
}

// oneOf lists texts of which one is to be chosen.
func oneOf(choices []string) string {
	last := len(choices) - 1
	return strings.Join(choices[:last], ", ") + " or " + choices[last]
}
