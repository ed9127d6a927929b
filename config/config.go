// Package config reads config.toml: the defaults, the user's file over them, the command line over both.
//
// It promises that a key or value that means nothing is refused in one sentence that names its file and line and says
// what to write, that no error repeats a secret, and that check and serve refuse alike. It puts nothing in force.
package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"epitome/console"
	"epitome/event"
	"epitome/event/money"
	"epitome/inject"
	"epitome/internal/unit"
	"epitome/proxy"
	"epitome/rewrite/ladder"
	"epitome/summarize"
	"epitome/window"
)

// Config is the whole of config.toml, where each key is explained for users.
// One that Load returned is valid, holds no "${NAME}" and is not changed afterwards.
type Config struct {
	Listen    string                          `toml:"listen"` // fixed at start
	Upstream  string                          `toml:"upstream"`
	Data      string                          `toml:"data"` // fixed at start; see DataFolder
	Mode      string                          `toml:"mode"`
	Scope     string                          `toml:"scope"`
	Open      bool                            `toml:"open"`
	TLS       proxy.Certificate               `toml:"tls"` // fixed at start
	Clients   map[string]proxy.ClientConfig   `toml:"clients"`
	Proxy     proxy.Config                    `toml:"proxy"`
	Rewrite   ladder.Limits                   `toml:"rewrite"`
	Window    window.Config                   `toml:"window"`
	Summarize summarize.Config                `toml:"summarize"`
	Offload   OffloadConfig                   `toml:"offload"`
	Context   inject.FilesConfig              `toml:"context"`
	Memory    inject.MemoryConfig             `toml:"memory"`
	Store     StoreConfig                     `toml:"store"`
	Events    EventsConfig                    `toml:"events"`
	Log       LogConfig                       `toml:"log"`
	Otel      OtelConfig                      `toml:"otel"`
	Console   console.Config                  `toml:"console"`
	Upstreams map[string]proxy.UpstreamConfig `toml:"upstreams"`
	Routes    []proxy.RouteRule               `toml:"routes"`
	Prices    money.Config                    `toml:"prices"`

	from      origins // where what is set was written
	reference string  // the text of the defaults, which describes each key
}

// Reference returns the program's own config.toml, which describes each key.
func (c Config) Reference() string { return c.reference }

// OffloadConfig is the table [offload].
type OffloadConfig struct {
	Address string     `toml:"address"`
	Bucket  string     `toml:"bucket"`      // fixed at start
	Secret  string     `toml:"secret_file"` // fixed at start
	Quota   unit.Bytes `toml:"quota"`       // fixed at start
	Folder  string     `toml:"folder"`      // fixed at start
	URL     string     `toml:"url"`         // fixed at start
}

// StoreConfig is the table [store]; all of it is fixed at start.
type StoreConfig struct {
	Keep             unit.Duration `toml:"keep"`
	SyncEvery        unit.Duration `toml:"sync_every"`
	URL              string        `toml:"url"`
	Prefix           string        `toml:"prefix"`
	Timeout          unit.Duration `toml:"timeout"`
	SentinelPassword string        `toml:"sentinel_password"`
	CA               string        `toml:"ca"`
	Cert             string        `toml:"cert"`
	Key              string        `toml:"key"`
}

// EventsConfig is the table [events]; all of it is fixed at start.
type EventsConfig struct {
	Quota unit.Bytes `toml:"quota"`
}

// OtelConfig is the table [otel]; all of it is fixed at start.
type OtelConfig struct {
	Endpoint string `toml:"endpoint"`
}

// Overrides are the command line's words on the configuration; an empty one was not given.
type Overrides struct {
	Listen, Upstream, Data, Mode string
}

// URLUpstream is the name of the upstream that is given as a base URL in place of a name.
const URLUpstream = "default"

// Defaults returns what holds where the user says nothing. text is the program's own config.toml.
func Defaults(text string) Config {
	c := Config{Rewrite: ladder.Usual()}
	if err := toml.Unmarshal([]byte(text), &c); err != nil {
		panic(fmt.Errorf("BUG: cannot read the embedded config.toml: %w", err))
	}
	if err := c.Rewrite.SetPreset(c.Rewrite.Preset); err != nil {
		panic(fmt.Errorf("BUG: the embedded config.toml: %w", err))
	}
	c.from, c.reference = origins{}, text
	return c
}

// Load returns the configuration to run with: the defaults, which are the text of the program's own config.toml; over
// them the file at path; over it the command line. With an empty path the file is the user's own, if there is one.
func Load(defaults, path string, over Overrides) (Config, error) {
	c := Defaults(defaults)
	if path == "" {
		path = userConfigFile()
	}
	if path != "" && path != os.DevNull { // a container may have none
		if err := c.readFile(path); err != nil {
			return Config{}, err
		}
	}
	over.lay(&c)
	if err := c.nameUpstream(); err != nil {
		return Config{}, c.from.locate(err)
	}
	if err := c.expand(os.LookupEnv); err != nil {
		return Config{}, c.from.locate(err)
	}
	if err := c.Validate(); err != nil {
		return Config{}, err
	}
	return c, nil
}

// lay puts the command line's words over those of c.
func (over Overrides) lay(c *Config) {
	for _, flag := range []struct {
		key, word string
		value     *string
	}{
		{"listen", over.Listen, &c.Listen}, {"upstream", over.Upstream, &c.Upstream},
		{"data", over.Data, &c.Data}, {"mode", over.Mode, &c.Mode},
	} {
		if flag.word != "" {
			*flag.value = flag.word
			c.from.note("--"+flag.key, flag.key)
		}
	}
}

// userConfigFile is the path of the user's own file, empty when there is none.
func userConfigFile() string {
	folder, err := os.UserConfigDir()
	if err != nil {
		return "" // a service without a home has no file there either
	}
	path := filepath.Join(folder, "epitome", "config.toml")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return path
}

func (c *Config) readFile(path string) error {
	text, err := os.ReadFile(path)
	if pathErr := (*fs.PathError)(nil); errors.As(err, &pathErr) {
		err = pathErr.Err // the path is named below
	}
	if err != nil {
		return fmt.Errorf("cannot read configuration %s: %w; check the path and its permissions", path, err)
	}
	c.from.note(path) // under no key: the file itself
	return c.decode(path, text)
}

// nameUpstream makes a base URL that stands in place of an upstream's name an upstream of its own.
func (c *Config) nameUpstream() error {
	if !strings.Contains(c.Upstream, "://") {
		return nil
	}
	// The headers of a table of that name may hold credentials meant for another provider.
	if _, taken := c.Upstreams[URLUpstream]; taken {
		return unit.Wrong([]string{"upstream"},
			"cannot use a base URL as upstream: [upstreams.%s] holds its name; give that table another one", URLUpstream)
	}
	if err := CheckURL(c.Upstream); err != nil {
		return unit.Wrong([]string{"upstream"}, "cannot use upstream: %w", err)
	}
	c.from.note(c.from.of([]string{"upstream"}), "upstreams", URLUpstream, "url")
	c.Upstreams[URLUpstream] = proxy.UpstreamConfig{URL: c.Upstream}
	c.Upstream = URLUpstream
	return nil
}

// AddUpstream adds an upstream, or puts another base URL in the place of one. origin says where the URL was written.
func (c Config) AddUpstream(name, url, origin string) {
	c.Upstreams[name] = proxy.UpstreamConfig{URL: url}
	c.from.note(origin, "upstreams", name, "url")
}

// Locate puts before an error about values where the first of them was written.
func (c Config) Locate(err error) error { return c.from.locate(err) }

// Settings is the configuration as the proxy takes it.
func (c Config) Settings() proxy.Settings {
	return proxy.Settings{
		Config: c.Proxy, Mode: c.Mode, Scope: c.Scope, Limits: c.Rewrite, SummaryMode: c.Summarize.Mode,
		Upstream: c.Upstream, Upstreams: c.Upstreams, Routes: c.Routes, Clients: c.Clients, Contexts: c.Context.Names,
	}
}

// expand puts values of the environment into the places that may hold a secret, and wants those there that are asked
// for later.
func (c *Config) expand(lookup func(string) (string, bool)) (err error) {
	if c.Console.Token, err = expandText(c.Console.Token, lookup); err != nil {
		return unit.Wrong([]string{"console", "token"}, "cannot use console.token: %w", err)
	}
	if c.Store.URL, err = expandText(c.Store.URL, lookup); err != nil {
		return unit.Wrong([]string{"store", "url"}, "cannot use store.url: %w", err)
	}
	if c.Store.SentinelPassword, err = expandText(c.Store.SentinelPassword, lookup); err != nil {
		return unit.Wrong([]string{"store", "sentinel_password"}, "cannot use store.sentinel_password: %w", err)
	}
	if name := c.Summarize.KeyEnv; name != "" {
		if key, _ := lookup(name); strings.TrimSpace(key) == "" { // the name may be the key, put into the wrong place
			return unit.Wrong([]string{"summarize", "key_env"},
				"cannot use summarize.key_env: the environment variable that it names "+
					"is not set or empty; set it, and write its name here, not the key")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Upstreams)) {
		headers := c.Upstreams[name].Headers
		for _, h := range slices.Sorted(maps.Keys(headers)) {
			if headers[h], err = expandText(headers[h], lookup); err != nil {
				return unit.Wrong([]string{"upstreams", name, "headers", h},
					"cannot use upstreams.%s.headers.%s: %w", name, h, err)
			}
		}
	}
	return nil
}

// expandText is text with each "${NAME}" replaced by the variable's value. An empty value counts as
// none: what stands there is a credential, and an empty one would silently take its place.
func expandText(text string, lookup func(string) (string, bool)) (string, error) {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, "${")
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		name, after, closed := strings.Cut(rest, "}")
		if !closed {
			return "", errors.New(`a "${" has no "}"; write "${NAME}" with the name of an environment variable`)
		}
		value, _ := lookup(name)
		if value == "" {
			return "", fmt.Errorf("the environment variable %s is not set or empty; set it, or take out ${%s}", name, name)
		}
		out.WriteString(value)
		text = after
	}
}

// Validate says what is wrong with c first, in one sentence, and where that was written.
func (c Config) Validate() error { return c.from.locate(c.check()) }

func (c Config) check() error {
	if !slices.Contains([]string{event.ModeOn, event.ModeObserve, event.ModeOff}, c.Mode) {
		return unit.Wrong([]string{"mode"}, "cannot use mode %q: write on, observe or off", c.Mode)
	}
	if err := checkScope(c.Scope); err != nil {
		return err
	}
	_, port, err := net.SplitHostPort(c.Listen)
	if _, portErr := strconv.ParseUint(port, 10, 16); err != nil || portErr != nil {
		return unit.Wrong([]string{"listen"},
			"cannot use listen %q: write host:port, as in 127.0.0.1:7070 or [::1]:7070", c.Listen)
	}
	if err := c.checkUpstreams(); err != nil {
		return err
	}
	if err := checkConsole(c.Console); err != nil {
		return err
	}
	if err := checkClients(c); err != nil {
		return err
	}
	if c.Otel.Endpoint != "" && !isAddress(c.Otel.Endpoint) {
		return unit.Wrong([]string{"otel", "endpoint"},
			"cannot use otel.endpoint: write an absolute http or https URL, as in http://127.0.0.1:4318")
	}
	if err := checkLog(c.Log); err != nil {
		return err
	}
	if err := c.checkKeeping(); err != nil {
		return err
	}
	if err := cmp.Or(checkBucket(c.Offload), checkShared(c)); err != nil {
		return err
	}
	return checkProxy(c.Proxy)
}

// checkUpstreams says what is wrong with where requests go.
func (c Config) checkUpstreams() error {
	names := slices.Sorted(maps.Keys(c.Upstreams))
	known := strings.Join(names, ", ")
	if !slices.Contains(names, c.Upstream) {
		return unit.Wrong([]string{"upstream"},
			"cannot use upstream %q: write one of %s, or a base URL such as https://api.openai.com/v1", c.Upstream, known)
	}
	for _, name := range names {
		if err := checkUpstream(name, c.Upstreams[name]); err != nil {
			return err
		}
	}
	for i, r := range c.Routes {
		route := []string{"routes", strconv.Itoa(i)}
		if r.Model == "" {
			return unit.Wrong(append(route, "model"),
				"cannot use route %d: its model is empty; write a pattern such as gpt-*", i+1)
		}
		if !slices.Contains(names, r.Upstream) {
			return unit.Wrong(append(route, "upstream"),
				"cannot use route %d, model %q: unknown upstream %q; write one of %s", i+1, r.Model, r.Upstream, known)
		}
	}
	return nil
}

func checkScope(scope string) error {
	name, ok := strings.CutPrefix(scope, "header:")
	if ok && isHeaderName(name) || slices.Contains([]string{"auto", "credential", "shared"}, scope) {
		return nil
	}
	return unit.Wrong([]string{"scope"},
		"cannot use scope %q: write auto, credential, shared, or header:NAME with the name of a header", scope)
}

func checkConsole(c console.Config) error {
	if strings.ContainsFunc(c.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return unit.Wrong([]string{"console", "token"},
			"cannot use console.token: it has to travel in a header; write letters, digits and signs, without spaces")
	}
	for i, host := range c.Hosts {
		_, _, port := net.SplitHostPort(host)
		if host == "" || strings.ContainsAny(host, "/ \t\r\n*") || port == nil {
			return unit.Wrong([]string{"console", "hosts", strconv.Itoa(i)},
				"cannot use console.hosts %q: write a host name such as epitome.example.com, without a port", host)
		}
	}
	return nil
}

func checkProxy(p proxy.Config) error {
	v := reflect.ValueOf(p)
	for f, number := range v.Fields() {
		if !number.CanInt() {
			continue
		}
		if key := f.Tag.Get("toml"); number.Int() <= 0 {
			return unit.Wrong([]string{"proxy", key},
				"cannot use proxy.%s %v: it must be greater than zero", key, number)
		}
	}
	if p.MaxInFlight < p.MaxBody {
		return &unit.KeyError{Keys: [][]string{{"proxy", "max_in_flight"}, {"proxy", "max_body"}}, Err: fmt.Errorf(
			"cannot use proxy.max_in_flight %s: it must hold at least one body of proxy.max_body, %s", p.MaxInFlight, p.MaxBody)}
	}
	return nil
}

const letters = "abcdefghijklmnopqrstuvwxyz0123456789"

func checkUpstream(name string, u proxy.UpstreamConfig) error {
	table := []string{"upstreams", name}
	if strings.Trim(name, letters+"._-") != "" || strings.IndexAny(name, letters) != 0 {
		return unit.Wrong(table,
			"cannot use the upstream name %q: write a-z, 0-9, dot, dash and underscore, with a letter or digit first", name)
	}
	if err := CheckURL(u.URL); err != nil {
		return unit.Wrong(append(table, "url"), "cannot use upstreams.%s.url: %w", name, err)
	}
	if (u.TLS.CertFile == "") != (u.TLS.KeyFile == "") {
		return unit.Wrong(append(table, "tls"),
			"cannot use upstreams.%s.tls: cert_file and key_file belong together; write both or neither", name)
	}
	if strings.HasPrefix(u.URL, "http://") && u.TLS != (proxy.Trust{}) {
		return unit.Wrong(append(table, "tls"),
			"cannot use upstreams.%s.tls: its url begins with http://, which has no TLS; write https:// or remove the table", name)
	}
	if ways := money.Billings(); !slices.Contains(ways, u.Billing) {
		return unit.Wrong(append(table, "billing"),
			"cannot use upstreams.%s.billing %q: write %s", name, u.Billing, strings.Join(ways[1:], ", "))
	}
	if err := proxy.CheckProject(cmp.Or(u.Project, "none")); err != nil {
		return unit.Wrong(append(table, "project"), "cannot use upstreams.%s.project: %w", name, err)
	}
	for _, h := range slices.Sorted(maps.Keys(u.Headers)) {
		if err := checkHeader(h, u.Headers[h]); err != nil {
			return unit.Wrong(append(table, "headers", h), "cannot use upstreams.%s.headers.%q: %w", name, h, err)
		}
	}
	return nil
}

// CheckURL never repeats all of raw: what is not its scheme and its host may hold a password or a key.
func CheckURL(raw string) error {
	u, err := url.Parse(raw)
	switch {
	case err == nil && u.Scheme != "http" && u.Scheme != "https" && u.Hostname() != "":
		return fmt.Errorf("%s://%s is neither http nor https; write an absolute URL, as in https://api.openai.com/v1",
			u.Scheme, u.Host)
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return errors.New("write an absolute http or https URL, as in https://api.openai.com/v1")
	case u.User != nil:
		return errors.New("it holds a user name or password; write them as an Authorization header instead")
	case strings.ContainsAny(raw, "?#"):
		return errors.New("it has a query or a fragment; write a base URL, to which paths can be appended")
	}
	if _, err := strconv.ParseUint(cmp.Or(u.Port(), "443"), 10, 16); err != nil {
		return errors.New("its port is above 65535; write the port on which the upstream listens")
	}
	return nil
}

// isHeaderName goes by RFC 9110, section 5.6.2.
func isHeaderName(name string) bool {
	return name != "" && strings.Trim(name, letters+strings.ToUpper(letters)+"!#$%&'*+-.^_`|~") == ""
}

// checkHeader never repeats value: it may be a credential.
func checkHeader(name, value string) error {
	if !isHeaderName(name) {
		return errors.New("this is no header name; write letters, digits and dashes")
	}
	switch strings.ToLower(name) {
	case "connection", "content-length", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade":
		return errors.New("epitome itself addresses and frames each request; remove it")
	}
	if strings.ContainsAny(value, "\r\n\x00") {
		return errors.New("its value holds a line break or NUL; take it out (a variable read from a file often ends in one)")
	}
	return nil
}
