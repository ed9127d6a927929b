// Package config reads config.toml: the defaults, the user's file over them, the command line over both.
//
// An unknown key is an error with its line and the nearest key, all mistakes are reported at once, and no error repeats
// a secret. Serve and check refuse the same configurations.
package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"epitome/console"
	"epitome/event"
	"epitome/inject"
	"epitome/internal/unit"
	"epitome/proxy"
	"epitome/rewrite"
	"epitome/rewrite/ladder"
	"epitome/summarize"
	"epitome/window"
)

// Config is the whole of config.toml, which explains each key. One that Load returned is valid, holds no "${NAME}" and
// is not changed afterwards.
type Config struct {
	Listen      string            `toml:"listen"`
	Data        string            `toml:"data"` // an absolute path; the folder need not exist
	Open        bool              `toml:"open"`
	TLS         proxy.Certificate `toml:"tls"`
	ClientsFile string            `toml:"clients_file"`

	proxy.Settings // mode, scope, upstreams, routes, clients and [proxy], without what ForProxy adds

	Rewrite   ladder.Limits       `toml:"rewrite"`
	Window    window.Config       `toml:"window"`
	Summarize summarize.Config    `toml:"summarize"`
	Offload   OffloadConfig       `toml:"offload"`
	Context   inject.FilesConfig  `toml:"context"`
	Memory    inject.MemoryConfig `toml:"memory"`
	Store     struct {
		Keep     unit.Duration `toml:"keep"`
		Requests unit.Bytes    `toml:"requests"`
		URL      string        `toml:"url"`
		CA       string        `toml:"ca"`
	} `toml:"store"`
	Log struct {
		Level slog.Level `toml:"level"`
	} `toml:"log"`
	Metrics struct {
		Clients bool `toml:"clients"`
	} `toml:"metrics"`
	Otel struct {
		Endpoint string `toml:"endpoint"`
	} `toml:"otel"`
	Console console.Config  `toml:"console"`
	Prices  event.OwnPrices `toml:"prices"`

	Named     bool   `toml:"-"` // Upstream is that of a flag: it serves every agent
	Hosted    bool   `toml:"-"` // no user has started it: it ends with the last command that uses it
	reference string // the text of the embedded config.toml
	file      string // the user's, with its entries
	entries   []entry
}

// OffloadConfig is the table [offload].
type OffloadConfig struct {
	Address string     `toml:"address"` // path, url, both, tool, auto or none
	Bucket  string     `toml:"bucket"`
	Secret  string     `toml:"secret_file"`
	Quota   unit.Bytes `toml:"quota"`
	Folder  string     `toml:"folder"`
	URL     string     `toml:"url"`
	Shown   string     `toml:"-"` // see offload.Options
}

// TellsTool reports whether stubs may name the tool that reads artifacts.
func (c OffloadConfig) TellsTool() bool { return c.Address == "tool" || c.Address == "auto" }

// Place is the address that stubs name if the client does not offer the tool: "path", "url", "both" or "none".
func (c OffloadConfig) Place() string {
	switch c.Address {
	case "tool":
		return "none"
	case "auto":
		return "path"
	}
	return c.Address
}

// Overrides are the flags that stand above the file. An empty one was not given.
type Overrides struct {
	Listen, Upstream, Data, Mode string
}

// URLUpstream is the name of the upstream that is given as a base URL in place of a name.
const URLUpstream = "default"

// Defaults returns the configuration of a user without a file. text is the program's own config.toml.
func Defaults(text string) Config {
	c := Config{Rewrite: ladder.Usual(), reference: text}
	if m := c.decode("config.toml", []byte(text)); m != nil {
		panic(fmt.Errorf("BUG: cannot read the embedded config.toml: %w", errors.Join(m...)))
	}
	_ = c.resolveData() // Load tells why it cannot
	return c
}

// Load returns the configuration to run with: the defaults, over them the file at path, over it the flags. With an
// empty path it reads the user's own file, if there is one.
func Load(defaults, path string, over Overrides) (Config, error) {
	c := Defaults(defaults)
	file := cmp.Or(path, UserFile())
	text, err := os.ReadFile(file)
	if err != nil && (path != "" || !errors.Is(err, fs.ErrNotExist)) {
		return Config{}, fmt.Errorf("cannot read the configuration: %w", err)
	}
	m := c.decode(file, text)
	flags := map[string]string{"listen": over.Listen, "upstream": over.Upstream, "data": over.Data, "mode": over.Mode}
	c.entries = slices.DeleteFunc(c.entries, func(e entry) bool { return flags[e.key] != "" })
	c.Listen, c.Data = cmp.Or(over.Listen, c.Listen), cmp.Or(over.Data, c.Data)
	c.Upstream, c.Mode = cmp.Or(over.Upstream, c.Upstream), cmp.Or(over.Mode, c.Mode)
	c.Named = over.Upstream != ""
	if strings.Contains(c.Upstream, "://") {
		// The headers of a table of that name may hold credentials for another provider.
		_, taken := c.Upstreams[URLUpstream]
		m.require(!taken, "upstream cannot be a base URL beside a table [upstreams.default]; rename the table")
		c.AddUpstream(URLUpstream, c.Upstream)
		c.Upstream = URLUpstream
	}
	if err := errors.Join(errors.Join(m...), c.resolveData(), c.expand(), c.readClients(), c.Validate()); err != nil {
		return Config{}, c.place(err)
	}
	return c, nil
}

// UserFile is the path of the user's own configuration, which need not exist; empty for a user without a home.
func UserFile() string {
	folder, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(folder, "epitome", "config.toml")
}

// File is the absolute path of the configuration file; empty for the user's own.
func (c *Config) File() string {
	path, err := filepath.Abs(c.file)
	if err != nil || c.file == UserFile() {
		return ""
	}
	return path
}

// AddUpstream adds an upstream, or replaces the one of that name.
func (c *Config) AddUpstream(name, url string) { c.Upstreams[name] = proxy.UpstreamConfig{URL: url} }

// ForProxy returns the part of the configuration that the proxy takes.
func (c *Config) ForProxy() proxy.Settings {
	s := c.Settings
	s.Input = rewrite.Input{Limits: &c.Rewrite, Summary: c.Summarize}
	s.Contexts = c.Context.Names
	return s
}

// Prepares reports whether summaries of conversations with the upstream are made ahead of need. With "auto" they are
// not if a local server answers them: most work for one client at a time, so a question in the background makes the
// agent wait, and pushes its conversation out of the cache.
func (c *Config) Prepares(upstream string) bool {
	switch c.Summarize.Prepare {
	case "on":
		return true
	case "off":
		return false
	}
	asked := c.Summarize.Upstream // empty: the conversation's own
	if asked != "" && asked != upstream {
		return true
	}
	u, known := c.Upstreams[upstream]
	return known && !IsLocal(u.URL)
}

// resolveData makes the data folder an absolute path. An empty one becomes the user's own.
func (c *Config) resolveData() (err error) {
	if c.Data == "" {
		c.Data, err = dataHome()
		c.Data = filepath.Join(c.Data, "epitome")
	}
	data, failed := filepath.Abs(c.Data)
	c.Data = data
	return cmp.Or(err, failed)
}

// dataHome is the folder in which programs of this user keep their data.
func dataHome() (string, error) {
	if folder := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(folder) {
		return folder, nil
	}
	switch runtime.GOOS {
	case "windows":
		return os.UserCacheDir() // %LocalAppData%
	case "darwin":
		return os.UserConfigDir()
	}
	return filepath.Join(cmp.Or(os.Getenv("HOME"), "/"), ".local", "share"), nil
}

// URLAt is the URL of an address that c listens on.
func (c *Config) URLAt(address string) string {
	if c.TLS.IsSet() {
		return "https://" + address
	}
	return "http://" + address
}

// ArtifactsAt is the URL of the artifacts of an epitome that listens on an address, unless offload.url gives another.
func (c *Config) ArtifactsAt(listen string) string {
	if c.Offload.URL != "" {
		return strings.TrimSuffix(c.Offload.URL, "/") + "/"
	}
	return c.URLAt(Reachable(listen)) + "/-/artifacts/"
}

// Reachable is the address at which programs on this machine find one that listens on all addresses or on localhost.
func Reachable(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	ip := net.ParseIP(host)
	if err == nil && (host == "" || strings.EqualFold(host, "localhost") || ip != nil && ip.IsUnspecified()) {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return listen
}

// IsLocal reports whether a base URL is that of a server on this machine or in its own network.
func IsLocal(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if ip, err := netip.ParseAddr(host); err == nil {
		ip = ip.Unmap()
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsUnspecified()
	}
	at := strings.LastIndexByte(host, '.')
	return at < 0 || slices.Contains([]string{".localhost", ".local", ".internal"}, host[at:])
}

// List returns all values, those outside tables first. It shows no secret.
func (c *Config) List() (all []console.Setting) {
	defaults := Defaults(c.reference)
	_, usual := defaults.values()
	known := knownIn(c.reference)
	keys, texts := c.values()
	for _, key := range keys {
		// Of an upstream, defaults name no key: an empty text or list is none.
		isChanged := strings.Trim(texts[key], "'[]") != strings.Trim(usual[key], "'[]")
		v := console.Setting{Key: key, Text: texts[key], Default: usual[key], Comment: nearest(known, key).comment,
			Changed: isChanged, Secret: isSecret(key, texts[key])}
		if v.Secret {
			v.Text = ""
		}
		all = append(all, v)
	}
	return all
}

// NeedRestart lists the keys in which the two differ and that only a new start puts in force.
func NeedRestart(running, wanted Config) (keys []string) {
	fixed := []string{"listen", "data", "tls.", "store.", "offload.", "log.", "otel.", "proxy.max_in_flight",
		"proxy.max_recent", "proxy.max_connections"}
	_, was := running.values()
	all, is := wanted.values()
	return slices.DeleteFunc(all, func(key string) bool {
		isFixed := slices.ContainsFunc(fixed, func(prefix string) bool { return strings.HasPrefix(key, prefix) })
		return !isFixed || was[key] == is[key]
	})
}

// Differ lists the keys of wanted that running has other values for, without those that each "epitome run" has for
// itself.
func Differ(running, wanted Config) []string {
	_ = running.Rewrite.SetPreset(wanted.Rewrite.Preset) // it is known
	_, is := running.values()
	all, want := wanted.values()
	return slices.DeleteFunc(all, func(key string) bool {
		isOwn := slices.Contains([]string{"listen", "data", "mode", "upstream"}, key)
		isOwn = isOwn || strings.HasPrefix(key, "upstreams."+URLUpstream+".")
		return isOwn || strings.Trim(is[key], "'[]") == strings.Trim(want[key], "'[]")
	})
}

// values returns all values as TOML writes them, secrets included, and their keys in the order of Config.
func (c *Config) values() (keys []string, texts map[string]string) {
	shown := *c
	if c.ClientsFile != "" { // it may have thousands
		shown.Clients = nil
	}
	text, err := toml.Marshal(shown)
	if err != nil {
		panic(fmt.Errorf("BUG: cannot list the configuration: %w", err))
	}
	texts = map[string]string{}
	for _, e := range entriesIn(string(text)) {
		_, value, isKey := strings.Cut(strings.TrimSpace(e.text), " = ")
		if isKey { // else it is the head of a table
			keys = append(keys, e.key)
			texts[e.key] = value
		}
	}
	return keys, texts
}

// isSecret reports whether a key holds a credential: by its name, or as a user and password in a URL.
func isSecret(key, value string) bool {
	_, rest, isURL := strings.Cut(value, "://")
	if isURL && (strings.Contains(rest, "@") || strings.Contains(rest, "password=")) {
		return true
	}
	named := strings.Contains(key, ".headers.") || strings.HasSuffix(key, ".token") || strings.HasSuffix(key, ".keys")
	return named && value != "''" && value != "[]"
}
