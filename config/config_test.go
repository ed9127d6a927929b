package config

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"epitome/config/configtest"
	"epitome/proxy/route"
	"epitome/unit"
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

// refusals returns the check that a configuration file is answered with an error, or taken with none. Before one
// about a value stands a line of the file; which one is for TestWrongValuesAreNamedWithTheirLine.
func refusals(t *testing.T) func(text, want string) {
	place := regexp.MustCompile(`^config\.toml:[0-9]+: `)
	return func(text, want string) {
		t.Helper()
		got := refusal(t, text, Overrides{})
		if strings.HasPrefix(want, "cannot use ") && place.MatchString(got) {
			got = place.ReplaceAllString(got, "")
		}
		if got != want {
			t.Errorf("%q is answered\n     %s\nwant %s", text, got, want)
		}
	}
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
	want.Upstreams["openai"] = route.UpstreamConfig{URL: "https://api.openai.com/v1", Headers: map[string]string{"x-team": "red"}}
	want.Upstreams["mine"] = route.UpstreamConfig{URL: "http://127.0.0.1:8000/v1"}
	want.Routes = []route.Rule{{Model: "claude-*", Upstream: "anthropic"}, {Model: "*", Upstream: "mine"}}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("got  %+v\nwant %+v", c, want)
	}
}

func TestInlineTablesAreLaidOverTheDefaultsToo(t *testing.T) {
	want := Defaults(configtest.Text())
	want.Proxy.MaxBody = unit.MB
	want.Upstreams["openai"] = route.UpstreamConfig{URL: "https://api.openai.com/v1", Headers: map[string]string{"a": "b"}}
	want.Upstreams["mine"] = route.UpstreamConfig{URL: "http://mine"}
	f := func(text string) {
		t.Helper()
		if got := load(t, text); !reflect.DeepEqual(got, want) {
			t.Errorf("%q gives\n     %+v\nwant %+v", text, got, want)
		}
	}
	f("proxy = { max_body = \"1MB\" }\nupstreams = { mine = { url = \"http://mine\" }, openai = { headers = { a = \"b\" } } }")
	f("proxy.max_body = \"1MB\"\nupstreams.mine.url = \"http://mine\"\nupstreams.openai.headers.a = \"b\"")
	f("\ufeffproxy.max_body = \"1MB\"\r\n[upstreams]\r\nmine = { url = \"http://mine\" }\r\nopenai.headers = { a = \"b\" }\r\n")
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

func TestMissingFileIsNamed(t *testing.T) {
	_, err := Load(configtest.Text(), "no/such.toml", Overrides{})
	want := "cannot read configuration no/such.toml: no such file or directory; check the path and its permissions"
	if err == nil || runtime.GOOS != "windows" && err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestUnknownKeyIsNamedWithTheNearest(t *testing.T) {
	f := refusals(t)
	f("# one\n[proxy]\n\nmax_bodi = \"1MB\"", "config.toml:4: unknown key proxy.max_bodi; did you mean proxy.max_body?")
	f("lisen = \"x\"", "config.toml:1: unknown key lisen; did you mean listen?")
	f("proxy.max_bodi = 1", "config.toml:1: unknown key proxy.max_bodi; did you mean proxy.max_body?")
	f("proxy = { max_bodi = 1 }", "config.toml:1: unknown key max_bodi; did you mean proxy.max_body?")
	f("[proxi]\nmax_body = 1", "config.toml:1: unknown key proxi; did you mean proxy?")
	f("[upstream.mine]\nurl = \"http://mine\"", "config.toml:1: unknown key upstream.mine; did you mean upstreams.mine?")
	f("[upstreams.mine]\nurll = \"http://mine\"", "config.toml:2: unknown key upstreams.mine.urll; did you mean upstreams.mine.url?")
	f("[upstreams.mine.tls]\ncafile = \"x\"", "config.toml:2: unknown key upstreams.mine.tls.cafile; did you mean upstreams.mine.tls.ca_file?")
	f("[[routes]]\nmodel = \"a\"\nupstream = \"openai\"\n[[routes]]\nmodels = \"a\"", "config.toml:5: unknown key routes.models; did you mean routes.model?")
	// The right name in the wrong table.
	f("[proxy]\nlisten = \"x\"", "config.toml:2: unknown key proxy.listen; did you mean listen?")
	f("max_body = \"1MB\"", "config.toml:1: unknown key max_body; did you mean proxy.max_body?")
	f("url = \"http://mine\"", "config.toml:1: unknown key url; did you mean upstreams.NAME.url?")
	f("[upstreams.mine]\nca_file = \"x\"", "config.toml:2: unknown key upstreams.mine.ca_file; did you mean upstreams.mine.tls.ca_file?")
	// Nothing is near.
	f("frobnicate = 1", "config.toml:1: unknown key frobnicate; no key has a name like it; remove it")
	f("[upstreams.mine]\nfrobnicate = 1", "config.toml:2: unknown key upstreams.mine.frobnicate; no key has a name like it; remove it")
	f("upstreams.mine = { frobnicate = 1 }", "config.toml:1: unknown key frobnicate; no key has a name like it; remove it")
	f("upstreams = { mine = { urll = 1 } }", "config.toml:1: unknown key urll; did you mean upstreams.NAME.url?")
	f("[frobnicate.more]\na = 1", "config.toml:1: unknown key frobnicate.more; no key has a name like it; remove it")
}

func TestBadValueIsNamedWithItsLine(t *testing.T) {
	f := refusals(t)
	const quantity = `write a number with its unit in quotes, as in "90s" or "64MB"`
	const duration = "write a number with its unit, as in 500ms, 90s, 15m or 720h"
	f("[proxy]\nkeep_alive = 5", "config.toml:2: cannot set proxy.keep_alive: "+quantity)
	f("[proxy]\nkeep_alive = 1.5", "config.toml:2: cannot set proxy.keep_alive: "+quantity)
	f("[proxy]\nmax_body = 64", "config.toml:2: cannot set proxy.max_body: "+quantity)
	f("[proxy]\nmax_body = true", "config.toml:2: cannot set proxy.max_body: "+quantity)
	f("[proxy]\nkeep_alive = \"5\"", "config.toml:2: cannot set proxy.keep_alive: cannot read duration \"5\": "+duration)
	f("[proxy]\nkeep_alive = \"-5s\"", "config.toml:2: cannot set proxy.keep_alive: cannot read duration \"-5s\": "+duration)
	f("[proxy]\nmax_body = \"64\"", "config.toml:2: cannot set proxy.max_body: cannot read size \"64\": write a whole number with its unit, as in 512B, 32KB, 64MB or 1GB")
	f("[proxy]\nmax_connections = \"12\"", "config.toml:2: cannot set proxy.max_connections: write a whole number, without quotes")
	f("[proxy]\nmax_connections = 1.5", "config.toml:2: cannot set proxy.max_connections: write a whole number, without quotes")
	f("listen = 7070", "config.toml:1: cannot set listen: write a text in quotes")
	f("[prices]\n\"my-model*\" = 1", "config.toml:2: cannot set prices.my-model*: write a table, under its name in [ ]")
	f("[console]\nhosts = \"a\"", `config.toml:2: cannot set console.hosts: write a list such as ["one", "two"]`)
	f("[console]\nhosts = [1]", "config.toml:2: cannot set console.hosts: write a text in quotes")
	f("[upstreams.mine.tls]\ninsecure_skip_verify = \"no\"", "config.toml:2: cannot set upstreams.mine.tls.insecure_skip_verify: write true or false, without quotes")
	f("[rewrite]\nrent = \"x\"", "config.toml:2: cannot set rewrite.rent: write a number, as in 0.8, without quotes")
	f("[rewrite]\nrepeats = \"x\"", "config.toml:2: cannot set rewrite.repeats: write true or false, without quotes")
	const tokens = `write a number of tokens, as in 128000 or "128k"`
	f("[window]\ndefault = 3.5", "config.toml:2: cannot set window.default: "+tokens)
	f("[window]\ndefault = \"3.5k\"", `config.toml:2: cannot set window.default: cannot read tokens "3.5k": `+
		`write a number of them, as in 128000, or "128k" or "1M" in quotes`)
	f("[window.models]\ngpt-4.1 = \"32k\"", "config.toml:2: cannot set window.models \"gpt-4\": "+tokens+
		`; a pattern with a dot needs quotes, as in "gpt-4.1"`)
	f("proxy = 1", "config.toml:1: cannot set proxy: write a table, under its name in [ ]")
	f("upstreams.mine = \"http://mine\"", "config.toml:1: cannot set upstreams.mine: write a table, under its name in [ ]")
	f("routes = \"a\"", "config.toml:1: cannot set routes: write a list of tables, each under its name in [[ ]]")
	f("[listen]\na = 1", "config.toml:1: cannot set listen: write a text in quotes")
	f("[[proxy]]", "config.toml:1: cannot set proxy: write a table, under its name in [ ]")
	f("\nmode = \"on\"\nmode = \"off\"", "config.toml:3: cannot set mode: key mode is already defined")
	f("[proxy]\n[console]\n[proxy]", "config.toml:3: cannot set proxy: table proxy already exists")
	f("mode = on", "config.toml:1: cannot read TOML: unexpected character U+006F 'o' at start of value")
	f("\nmode", "config.toml:2: cannot read TOML: expected '=' after key")
	f("mode = \"on", "config.toml:1: cannot read TOML: unterminated basic string")
}

func TestInvalidConfigurationSaysWhatToWrite(t *testing.T) {
	f := refusals(t)
	f(`mode = "On"`, `cannot use mode "On": write on, observe or off`)
	for _, listen := range []string{"", "7070", "localhost", "127.0.0.1:", "127.0.0.1:http", "::1:7070",
		"127.0.0.1:65536", "127.0.0.1:-1"} {
		f(`listen = "`+listen+`"`, `cannot use listen "`+listen+`": write host:port, as in 127.0.0.1:7070 or [::1]:7070`)
	}
	f(`upstream = "opnai"`, `cannot use upstream "opnai": write one of anthropic, chatgpt, openai, or a base URL such as https://api.openai.com/v1`)
	f(`upstream = "ftp://me:secret@x/key"`,
		"cannot use upstream: ftp://x is neither http nor https; write an absolute URL, as in https://api.openai.com/v1")
	f("upstream = \"http://x\"\n[upstreams.default]\nurl = \"http://y\"", "cannot use a base URL as upstream: [upstreams.default] holds its name; give that table another one")
	f("[[routes]]\nupstream = \"openai\"", "cannot use route 1: its model is empty; write a pattern such as gpt-*")
	f("[[routes]]\nmodel = \"*\"\nupstream = \"opnai\"", `cannot use route 1, model "*": unknown upstream "opnai"; write one of anthropic, chatgpt, openai`)
	f("[proxy]\nmax_in_flight = \"1MB\"", "cannot use proxy.max_in_flight 1MB: it must hold at least one body of proxy.max_body, 64MB")
	f("[proxy]\nmax_connections = -1", "cannot use proxy.max_connections -1: it must be greater than zero")
	f("[proxy]\nwrite_idle = \"0s\"", "cannot use proxy.write_idle 0s: it must be greater than zero")
	f("[proxy]\nmin_body_rate = \"0B\"", "cannot use proxy.min_body_rate 0B: it must be greater than zero")
	f("[console]\ntoken = \"a b\"", "cannot use console.token: it has to travel in a header; write letters, digits and signs, without spaces")
	f("[console]\nhosts = [\"\"]", `cannot use console.hosts "": write a host name such as epitome.example.com, without a port`)
	f("[console]\nhosts = [\"http://a\"]", `cannot use console.hosts "http://a": write a host name such as epitome.example.com, without a port`)
	f("[console]\nhosts = [\"a:80\"]", `cannot use console.hosts "a:80": write a host name such as epitome.example.com, without a port`)
	const name = ": write a-z, 0-9, dot, dash and underscore, with a letter or digit first"
	f("[upstreams.Mine]\nurl = \"http://x\"", `cannot use the upstream name "Mine"`+name)
	f("[upstreams.-mine]\nurl = \"http://x\"", `cannot use the upstream name "-mine"`+name)
	f("[upstreams.\"a/b\"]\nurl = \"http://x\"", `cannot use the upstream name "a/b"`+name)
	f("[upstreams.\"\"]\nurl = \"http://x\"", `cannot use the upstream name ""`+name)
	f("[upstreams.mine]\nurl = \"http://x\"\nproject = \"a\\nb\"",
		"cannot use upstreams.mine.project: write a name of 1 to 200 characters on one line")
	f("[upstreams.mine]\nurl = \"http://x\"\nbilling = \"flat\"",
		"cannot use upstreams.mine.billing \"flat\": write tokens, subscription, free")
	f("[prices.\"a*\"]\ninput = 1", "cannot use prices.\"a*\": it has no output: write what a million tokens cost, in dollars")
	f("[prices]\na = { input = 1.5, output = -1 }",
		"cannot use prices.\"a\": output is -1: write dollars for a million tokens, from 0 to 1000000")
	f("[upstreams.mine]\nurl = \"http://x\"\n[upstreams.mine.tls]\ncert_file = \"c\"", "cannot use upstreams.mine.tls: cert_file and key_file belong together; write both or neither")
}

func TestUpstreamURLMustBeABaseURL(t *testing.T) {
	check := refusals(t)
	f := func(url, want string) {
		t.Helper()
		if want != "" {
			want = "cannot use upstreams.mine.url: " + want
		}
		check("[upstreams.mine]\nurl = \""+url+"\"", want)
	}
	const absolute = "write an absolute http or https URL, as in https://api.openai.com/v1"
	const base = "it has a query or a fragment; write a base URL, to which paths can be appended"
	f("http://127.0.0.1:8000/v1", "")
	f("HTTPS://[::1]:8000", "")
	f("", absolute)
	f("api.openai.com", absolute)
	f("/v1", absolute)
	f("https:///v1", absolute)
	f("https://:443", absolute)
	f("ws://x", "ws://x is neither http nor https; write an absolute URL, as in https://api.openai.com/v1")
	f("http://x:y", absolute)
	f("http://x y", absolute)
	f("http://x:65536", "its port is above 65535; write the port on which the upstream listens")
	f("http://u:secret@x", "it holds a user name or password; write them as an Authorization header instead")
	f("http://x?key=secret", base)
	f("http://x?", base)
	f("http://x#", base)
}

func TestUpstreamHeadersMustBeLegal(t *testing.T) {
	check := refusals(t)
	f := func(header, want string) {
		t.Helper()
		if want != "" {
			want = "cannot use upstreams.openai.headers." + want
		}
		check("[upstreams.openai.headers]\n"+header, want)
	}
	f(`x-key_1 = "any value; \"quotes\" and $ and ${"`, `x-key_1: a "${" has no "}"; write "${NAME}" with the name of an environment variable`)
	f(`x-key_1 = "any value; \"quotes\" and $ and {}"`, "")
	f(`"" = "a"`, `"": this is no header name; write letters, digits and dashes`)
	f(`"a b" = "a"`, `"a b": this is no header name; write letters, digits and dashes`)
	f(`"ä" = "a"`, `"ä": this is no header name; write letters, digits and dashes`)
	f(`"a:" = "a"`, `"a:": this is no header name; write letters, digits and dashes`)
	f(`Content-Length = "1"`, `"Content-Length": epitome itself addresses and frames each request; remove it`)
	const broken = `"k": its value holds a line break or NUL; take it out (a variable read from a file often ends in one)`
	f(`k = "secret\r"`, broken)
	f(`k = "secret\n"`, broken)
	f(`k = "secret\u0000"`, broken)
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
	f := refusals(t)
	f("console.token = \"${EPITOME_TEST_NONE}\"", "cannot use console.token: the environment variable EPITOME_TEST_NONE is not set or empty; set it, or take out ${EPITOME_TEST_NONE}")
	f("upstreams.openai.headers.k = \"${EPITOME_TEST_EMPTY}\"", "cannot use upstreams.openai.headers.k: the environment variable EPITOME_TEST_EMPTY is not set or empty; set it, or take out ${EPITOME_TEST_EMPTY}")
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

func TestDataFolderIsTheUsersOwnUnlessNamed(t *testing.T) {
	f := func(data, want string) {
		t.Helper()
		want, _ = filepath.Abs(want)
		conf := Config{Data: data}
		if got, err := conf.DataFolder(); got != want || err != nil {
			t.Errorf("data %q means %q, %v; want %q", data, got, err, want)
		}
	}
	f("/a", "/a")
	f("a/../b", "b")
	if runtime.GOOS != "linux" {
		return
	}
	t.Setenv("HOME", "/home/u")
	t.Setenv("XDG_DATA_HOME", "/xdg")
	f("", "/xdg/epitome")
	t.Setenv("XDG_DATA_HOME", "relative")
	f("", "/home/u/.local/share/epitome")
	t.Setenv("XDG_DATA_HOME", "")
	f("", "/home/u/.local/share/epitome")
	t.Setenv("HOME", "")
	if got, err := new(Config).DataFolder(); err == nil {
		t.Errorf("without a home: %q", got)
	}
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
