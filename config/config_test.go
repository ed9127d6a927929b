package config

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"epitome/config/configtest"
	"epitome/internal/unit"
	"epitome/proxy"
)

// written puts a configuration file into a new folder.
func written(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func load(t *testing.T, text string) Config {
	t.Helper()
	c, err := Load(configtest.Text(), written(t, text), Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	c.from = origins{} // two that are alike may be written in different places
	return c
}

// refusal is what is said about a configuration file, with the file's folder taken off.
func refusal(t *testing.T, text string, over Overrides) string {
	t.Helper()
	path := written(t, text)
	_, err := Load(configtest.Text(), path, over)
	if err == nil {
		return ""
	}
	return strings.ReplaceAll(err.Error(), filepath.Dir(path)+string(filepath.Separator), "")
}

// leaves are the keys of Config that hold values and not further keys with names of their own.
func leaves() []string {
	all := appendKeys(nil, reflect.TypeFor[Config](), nil)
	var keys []string
	for _, key := range all {
		inner := func(k []string) bool { return len(k) == len(key)+1 && slices.Equal(k[:len(key)], key) }
		if !slices.ContainsFunc(all, inner) {
			keys = append(keys, strings.TrimSuffix(strings.Join(key, "."), ".NAME"))
		}
	}
	return keys
}

// uncommented is config.toml with its commented-out examples in force. They are written "#key = value"
// and "#[table]", prose is written "# prose".
func uncommented() string {
	return regexp.MustCompile(`(?m)^#([a-z[])`).ReplaceAllString(configtest.Text(), "$1")
}

// marks reads what a text such as config.toml says about each of its keys: "reload" or "restart". A key
// without a mark of its own shares the one above it.
func marks(text string) map[string]string {
	said := map[string]string{}
	table, mark := "", ""
	parts := regexp.MustCompile(`(?m)^(?:\[+([a-z."*-]+)\]+|# \[(reload|restart)\]|([a-z_1]+) = .*)$`)
	for _, m := range parts.FindAllStringSubmatch(text, -1) {
		switch {
		case m[1] != "":
			table = m[1] + "."
		case m[2] != "":
			mark = m[2]
		default:
			said[table+m[3]] = mark
		}
	}
	return said
}

func TestConfigTomlSetsOrShowsEveryKey(t *testing.T) {
	f := func(text string, example *regexp.Regexp) {
		t.Helper()
		named := regexp.MustCompile(`^(upstreams|clients|prices)\.[a-z"*-]+`)
		there := map[string]bool{}
		for key := range marks(text) {
			there[named.ReplaceAllString(key, "$1.NAME")] = true
		}
		for _, key := range leaves() {
			if there[key] == example.MatchString(key) {
				t.Errorf("%s is in config.toml: %v, want %v", key, there[key], !there[key])
			}
		}
	}
	if len(leaves()) < 25 {
		t.Fatalf("Config has only the keys %v", leaves())
	}
	f(uncommented(), regexp.MustCompile(`^$`))
	f(configtest.Text(), regexp.MustCompile(`\.headers|\.tls\.|^upstreams\..*\.(context|project)$|^routes\.|^clients\.|^prices\.|^rewrite\.(offload_.*(tokens|keep)|protect_tokens|rent|cached_price|tools\..*)$|^window\.models`))
}

func TestDefaultsAreValid(t *testing.T) {
	c := Defaults(configtest.Text())
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
	if got := load(t, ""); !reflect.DeepEqual(got, c) {
		t.Errorf("an empty file gives %+v, the defaults are %+v", got, c)
	}
	if got := load(t, configtest.Text()); !reflect.DeepEqual(got, c) {
		t.Errorf("the defaults as a user's file give %+v, want %+v", got, c)
	}
	for _, name := range []string{"openai", "anthropic"} {
		if c.Upstreams[name].URL == "" {
			t.Errorf("upstream %s is not built in", name)
		}
	}
}

func TestExamplesInConfigTomlAreValid(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "o")
	t.Setenv("ANTHROPIC_API_KEY", "a")
	c := load(t, uncommented())
	if got := c.Upstreams["openai"].Headers["Authorization"]; got != "Bearer o" {
		t.Errorf("openai's example header is %q", got)
	}
	if len(c.Rewrite.ToolLimits) != 1 || len(c.Window.Models) != 2 ||
		c.Window.Models["small-*"] != 8000 {
		t.Errorf("the examples set %+v and %+v", c.Rewrite.ToolLimits, c.Window.Models)
	}
	if len(c.Routes) != 1 || c.Upstreams["local"].TLS.CAFile == "" {
		t.Errorf("the examples set %+v", c)
	}
}

func TestFileIsLaidOverTheDefaults(t *testing.T) {
	c := load(t, `
mode = "off"
[proxy]
read_idle = "3m"
[console]
hosts = ["epitome.example.com"]
[upstreams.openai]
headers = { x-team = "red" }
[upstreams.mine]
url = "http://127.0.0.1:8000/v1"
[[routes]]
model = "claude-*"
upstream = "anthropic"
[[routes]]
model = "*"
upstream = "mine"
`)
	want := Defaults(configtest.Text())
	want.Mode = "off"
	want.Proxy.ReadIdle = unit.Duration(3 * time.Minute)
	want.Console.Hosts = []string{"epitome.example.com"}
	want.Upstreams["openai"] = proxy.UpstreamConfig{URL: "https://api.openai.com/v1", Headers: map[string]string{"x-team": "red"}}
	want.Upstreams["mine"] = proxy.UpstreamConfig{URL: "http://127.0.0.1:8000/v1"}
	want.Routes = []proxy.RouteRule{{Model: "claude-*", Upstream: "anthropic"}, {Model: "*", Upstream: "mine"}}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("got  %+v\nwant %+v", c, want)
	}
}

func TestCommandLineGoesBeforeTheFile(t *testing.T) {
	path := written(t, "listen = \"127.0.0.1:1\"\nmode = \"off\"\ndata = \"/file\"\nupstream = \"anthropic\"")
	f := func(over, want Overrides) {
		t.Helper()
		c, err := Load(configtest.Text(), path, over)
		if got := (Overrides{c.Listen, c.Upstream, c.Data, c.Mode}); got != want || err != nil {
			t.Errorf("%+v gives %+v, %v; want %+v", over, got, err, want)
		}
	}
	f(Overrides{}, Overrides{"127.0.0.1:1", "anthropic", "/file", "off"})
	f(Overrides{Mode: "on"}, Overrides{"127.0.0.1:1", "anthropic", "/file", "on"})
	f(Overrides{"127.0.0.1:2", "openai", "/flag", "observe"}, Overrides{"127.0.0.1:2", "openai", "/flag", "observe"})
}

func TestBaseURLBecomesTheDefaultUpstream(t *testing.T) {
	const text = `upstream = "http://127.0.0.1:8000/v1"`
	c := load(t, text)
	if c.Upstream != "default" || c.Upstreams["default"].URL != "http://127.0.0.1:8000/v1" {
		t.Errorf("got %+v", c)
	}
	c, err := Load(configtest.Text(), written(t, text), Overrides{Upstream: "https://example.com"})
	if err != nil || c.Upstreams["default"].URL != "https://example.com" {
		t.Errorf("got %+v, %v", c, err)
	}
	// A table of that name is a good upstream, as long as no URL needs its place.
	c = load(t, "upstream = \"default\"\n[upstreams.default]\nurl = \"http://mine\"")
	if c.Upstreams["default"].URL != "http://mine" {
		t.Errorf("got %+v", c)
	}
}

func TestUsersOwnFileIsReadWhenThereIsOne(t *testing.T) {
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "AppData"} {
		t.Setenv(name, t.TempDir())
	}
	if c, err := Load(configtest.Text(), "", Overrides{}); err != nil || c.Mode != "on" {
		t.Fatalf("without a file: %+v, %v", c, err)
	}
	folder, err := os.UserConfigDir()
	if err == nil {
		err = os.MkdirAll(folder, 0o700)
	}
	if err == nil {
		err = os.Rename(filepath.Dir(written(t, `mode = "off"`)), filepath.Join(folder, "epitome"))
	}
	if err != nil {
		t.Fatal(err)
	}
	if c, err := Load(configtest.Text(), "", Overrides{}); err != nil || c.Mode != "off" {
		t.Errorf("with a file: %+v, %v", c, err)
	}
}

func TestSecretsComeFromTheEnvironment(t *testing.T) {
	t.Setenv("EPITOME_TEST_A", "one${EPITOME_TEST_B}")
	t.Setenv("EPITOME_TEST_B", "two")
	t.Setenv("EPITOME_TEST_EMPTY", "")
	c := load(t, "[console]\ntoken = \"${EPITOME_TEST_B}\"\n[upstreams.openai.headers]\nk = \"Bearer ${EPITOME_TEST_A}-${EPITOME_TEST_B}$\"")
	if c.Console.Token != "two" {
		t.Errorf("token is %q", c.Console.Token)
	}
	if got, want := c.Upstreams["openai"].Headers["k"], "Bearer one${EPITOME_TEST_B}-two$"; got != want {
		t.Errorf("header is %q, want %q", got, want)
	}
}

func TestNoErrorRepeatsASecret(t *testing.T) {
	f := func(text string, over Overrides) {
		t.Helper()
		got := refusal(t, text, over)
		if got == "" || strings.Contains(got, "secret") {
			t.Errorf("%q is answered %q", text, got)
		}
	}
	t.Setenv("EPITOME_TEST_A", "secret\n")
	f("upstreams.openai.headers.k = \"${EPITOME_TEST_A}\"", Overrides{})
	f("summarize.key_env = \"secret\"", Overrides{})
	f("console.token = \"${EPITOME_TEST_A}\"", Overrides{})
	f("upstreams.openai.headers.k = \"a secret ${x\"", Overrides{})
	f("upstreams.openai.url = \"http://user:secret@host\"", Overrides{})
	f("upstreams.openai.url = \"http://user:secret@ho st\"", Overrides{})
	f("upstreams.openai.url = \"http://host/?key=secret\"", Overrides{})
	f("", Overrides{Upstream: "http://user:secret@host"})
	f("", Overrides{Upstream: "http://user:secret@host:port"})
}

func FuzzAnyFileIsReadOrRefusedInOneLine(f *testing.F) {
	f.Add([]byte("mode = 'on'\n[proxy]\nmax_body = '1MB'\n[upstreams.mine]\nurl = 'http://x'"))
	f.Add([]byte("routes.model = 'a'\n[upstream.mine]\n[[proxy]]\nupstreams = {a = {b = [{}]}}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c := Defaults(configtest.Text())
		err := c.decode("config.toml", bytes.Clone(text))
		if err == nil {
			err = c.Validate()
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("more than a line: %q", err)
		}
	})
}
