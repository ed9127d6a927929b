package config

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"epitome/config/configtest"
	"epitome/console"
	"epitome/inject"
	"epitome/internal/unit"
	"epitome/proxy"
	"epitome/proxy/certificatetest"
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

func load(t *testing.T, text string) *Config {
	t.Helper()
	c, err := Load(configtest.Text(), written(t, text), Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	return &c
}

// refusal is what Load and Admit say about a configuration file, with the file's folder taken off.
func refusal(t *testing.T, text string, over Overrides) string {
	t.Helper()
	path := written(t, text)
	c, err := Load(configtest.Text(), path, over)
	if err == nil {
		c.Data = t.TempDir()
		_, err = c.Admit()
	}
	if err == nil {
		return ""
	}
	return strings.ReplaceAll(err.Error(), filepath.Dir(path)+string(filepath.Separator), "")
}

// uncommented is config.toml with its commented-out examples in force. They are written "#key = value" and "#[table]",
// prose is written "# prose".
func uncommented() string {
	return regexp.MustCompile(`(?m)^#([a-z[])`).ReplaceAllString(configtest.Text(), "$1")
}

func TestConfigTomlShowsEveryKey(t *testing.T) {
	there := map[string]bool{}
	table := ""
	named := regexp.MustCompile(`^(upstreams|clients|prices)\.[a-z"*-]+`)
	for _, m := range regexp.MustCompile(`(?m)^(?:\[+([a-z."*-]+)\]+|([a-z_1]+) = .*)$`).FindAllStringSubmatch(uncommented(), -1) {
		if m[1] != "" {
			table = m[1] + "."
			continue
		}
		there[named.ReplaceAllString(table+m[2], "$1.NAME")] = true
	}
	all := keysOf(reflect.TypeFor[Config](), nil)
	for _, key := range all {
		isTable := slices.ContainsFunc(all, func(k []string) bool { return len(k) > len(key) && slices.Equal(k[:len(key)], key) })
		if name := strings.TrimSuffix(strings.Join(key, "."), ".NAME"); !isTable && !there[name] {
			t.Errorf("%s is not in config.toml", name)
		}
	}
}

func TestDefaultsAreValid(t *testing.T) {
	c := Defaults(configtest.Text())
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
	if got := load(t, configtest.Text()); !reflect.DeepEqual(*got, c) {
		t.Errorf("the defaults as a user's file give %+v, want %+v", got, c)
	}
	t.Setenv("OPENAI_API_KEY", "o")
	t.Setenv("ANTHROPIC_API_KEY", "a")
	if got := load(t, uncommented()).Upstreams["openai"].Headers["Authorization"]; got != "Bearer o" {
		t.Errorf("openai's example header is %q", got)
	}
}

func TestFileIsLaidOverTheDefaults(t *testing.T) {
	c := load(t, `
mode = "off"
[proxy]
read_idle = "3m"
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
	want.Upstreams["openai"] = proxy.UpstreamConfig{URL: "https://api.openai.com/v1", Headers: map[string]string{"x-team": "red"}}
	want.Upstreams["mine"] = proxy.UpstreamConfig{URL: "http://127.0.0.1:8000/v1"}
	want.Routes = []proxy.RouteRule{{Model: "claude-*", Upstream: "anthropic"}, {Model: "*", Upstream: "mine"}}
	if !reflect.DeepEqual(*c, want) {
		t.Errorf("got  %+v\nwant %+v", c, want)
	}
}

func TestFlagsGoBeforeTheFile(t *testing.T) {
	path := written(t, "listen = \"127.0.0.1:1\"\nmode = \"off\"\ndata = \"/file\"\nupstream = \"anthropic\"")
	for _, over := range []Overrides{{}, {Mode: "on"}, {"127.0.0.1:2", "openai", "/flag", "observe"}} {
		want := Overrides{"127.0.0.1:1", "anthropic", "/file", "off"}
		if over.Mode != "" {
			want.Mode = over.Mode
		}
		if over.Listen != "" {
			want = over
		}
		c, err := Load(configtest.Text(), path, over)
		if got := (Overrides{c.Listen, c.Upstream, c.Data, c.Mode}); got != want || err != nil {
			t.Errorf("%+v gives %+v, %v; want %+v", over, got, err, want)
		}
	}
}

func TestBaseURLBecomesTheDefaultUpstream(t *testing.T) {
	c, err := Load(configtest.Text(), written(t, `upstream = "http://127.0.0.1:8000/v1"`), Overrides{Upstream: "https://example.com"})
	if err != nil || c.Upstream != "default" || c.Upstreams["default"].URL != "https://example.com" {
		t.Errorf("got %+v, %v", c, err)
	}
	// A table of that name is a good upstream, as long as no URL needs its place.
	if c := load(t, "upstream = \"default\"\n[upstreams.default]\nurl = \"http://mine\""); c.Upstreams["default"].URL != "http://mine" {
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
	c := load(t, "[console]\ntoken = \"${EPITOME_TEST_B}\"\n[upstreams.openai.headers]\nk = \"Bearer ${EPITOME_TEST_A}-${EPITOME_TEST_B}$\"")
	if c.Console.Token != "two" {
		t.Errorf("token is %q", c.Console.Token)
	}
	if got, want := c.Upstreams["openai"].Headers["k"], "Bearer one${EPITOME_TEST_B}-two$"; got != want {
		t.Errorf("header is %q, want %q", got, want)
	}
}

func TestNoErrorRepeatsASecret(t *testing.T) {
	t.Setenv("EPITOME_TEST_A", "secret\n")
	for _, text := range []string{
		"upstreams.openai.headers.k = \"${EPITOME_TEST_A}\"", "summarize.key_env = \"secret\"",
		"console.token = \"${EPITOME_TEST_A}\"", "upstreams.openai.headers.k = \"a secret ${x\"",
		"upstreams.openai.url = \"http://user:secret@host\"", "upstreams.openai.url = \"http://user:secret@ho st\"",
		"upstreams.openai.url = \"http://host/?key=secret\"", "upstream = \"http://user:secret@host\"",
		"upstream = \"http://user:secret@host:port\"", "[clients.a]\nkeys = [\"secret\"]",
	} {
		if got := refusal(t, text, Overrides{}); got == "" || strings.Contains(got, "secret") {
			t.Errorf("%q is answered %q", text, got)
		}
	}
}

func TestListShowsValuesAndNoSecret(t *testing.T) {
	const secret = "s3cr3t-v4lue"
	t.Setenv("LIST_TEST_KEY", secret)
	c := load(t, "scope = \"shared\"\n[console]\ntoken = \"${LIST_TEST_KEY}\"\nhosts = [\"a\", \"b\"]\n[upstreams.openai]\n"+
		"headers = { authorization = \"Bearer "+secret+"\" }\n[clients.alice]\nkeys = [\""+proxy.HashOfKey("k")+"\"]\n"+
		"[store]\nurl = \"redis://:${LIST_TEST_KEY}@host:6379/0\"\n[offload]\nfolder = \"/mnt/shared\"\n[[routes]]\nmodel = \"q*\"\n"+
		"upstream = \"openai\"\n")
	all := map[string]console.Setting{}
	for _, v := range c.List() {
		all[v.Key] = v
		if strings.Contains(v.Text, secret) || strings.Contains(v.Text, "sha256") {
			t.Errorf("%s shows a secret: %+v", v.Key, v)
		}
	}
	for _, want := range []console.Setting{
		{Key: "listen", Text: `'127.0.0.1:7070'`}, {Key: "scope", Text: `'shared'`, Changed: true},
		{Key: "console.hosts", Text: `['a', 'b']`, Changed: true}, {Key: "proxy.max_connections", Text: "4096"},
		{Key: "proxy.read_idle", Text: `'10m0s'`}, {Key: "routes.0.model", Text: `'q*'`, Changed: true},
		{Key: "console.token", Changed: true, Secret: true}, {Key: "store.url", Changed: true, Secret: true},
		{Key: "clients.alice.keys", Changed: true, Secret: true},
		{Key: "upstreams.openai.headers.authorization", Changed: true, Secret: true},
	} {
		if all[want.Key] != want {
			t.Errorf("%+v, want %+v", all[want.Key], want)
		}
	}
}

func TestSomeChangesNeedARestart(t *testing.T) {
	next := load(t, "listen = \"127.0.0.1:1\"\nmode = \"off\"\n[store]\nkeep = \"3h\"\n[proxy]\nmax_connections = 9\nread_idle = \"3s\"\n")
	got := NeedRestart(Defaults(configtest.Text()), *next)
	if want := []string{"listen", "proxy.max_connections", "store.keep"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Listeners that strangers reach spend no credential for them, unless the configuration says so.
func TestOpenListenersAreRefused(t *testing.T) {
	t.Setenv("TEST_KEY", "k")
	header := "[upstreams.openai]\nheaders = { Authorization = \"Bearer x\" }\n"
	const beyond = "0.0.0.0:7070"
	for _, one := range []struct{ address, text, refused string }{
		{"127.0.0.1:7070", header, ""}, {"[::1]:7070", header, ""}, {"127.1.2.3:1", header, ""}, {beyond, "", ""},
		{beyond, header, "upstreams.openai.headers.Authorization"}, {"[::]:7070", header, "open = true"},
		{"192.168.0.1:7070", header, "cannot listen on 192.168.0.1:7070"},
		{beyond, "open = true\n" + header, ""},
		{beyond, header + "[clients.a]\nkeys = [\"" + proxy.HashOfKey("k") + "\"]", ""},
		{beyond, "[upstreams.openai]\nheaders = { Authorization = \"\" }\n", ""}, // it only takes the client's off
		{beyond, "[upstreams.openai.tls]\ncert_file = \"a\"\nkey_file = \"b\"\n", "upstreams.openai.tls.cert_file"},
		{beyond, "[summarize]\nkey_env = \"TEST_KEY\"\nupstream = \"openai\"\nmodel = \"m\"\n", "summarize.key_env"},
		{beyond, "[offload]\naddress = \"url\"\nbucket = \"s3://b/p?region=r\"\n", "needs offload.url"},
	} {
		err := load(t, one.text).CheckAt(one.address)
		if (err != nil) != (one.refused != "") || err != nil && !strings.Contains(err.Error(), one.refused) {
			t.Errorf("%s with %q: %v, want %q", one.address, one.text, err, one.refused)
		}
	}
	if got := refusal(t, "listen = \"0.0.0.0:0\"\n"+header, Overrides{}); !strings.Contains(got, "open = true") {
		t.Errorf("check says %q of an open listener", got)
	}
}

func TestCertificatesAreReadBeforeTheStart(t *testing.T) {
	c := load(t, "[tls]\ncert_file = \"/absent\"\nkey_file = \"/absent\"\n")
	c.Data = t.TempDir()
	if _, err := c.Admit(); err == nil || !strings.Contains(err.Error(), "tls.cert_file") {
		t.Errorf("an absent certificate: %v", err)
	}
	c.TLS.CertFile, c.TLS.KeyFile = filepath.Join(c.Data, "c"), filepath.Join(c.Data, "k")
	certificatetest.Issue(t, c.TLS.CertFile, c.TLS.KeyFile, "x")
	if _, err := c.Admit(); err != nil {
		t.Error(err)
	}
}

func TestContextsMustHaveFiles(t *testing.T) {
	home := t.TempDir()
	if err := inject.FilesIn(home).Add("docs", "api.md", []byte("# API\n")); err != nil {
		t.Fatal(err)
	}
	c := load(t, "context.names = [\"docs\"]")
	for _, folder := range []string{home, filepath.Join(home, "run", "1234")} { // 'epitome run' shares the user's files
		if err := c.checkContexts(folder); err != nil {
			t.Error(err)
		}
	}
	c.Upstreams["mine"] = proxy.UpstreamConfig{Context: []string{"../docs"}}
	if err := c.checkContexts(home); err == nil || !strings.Contains(err.Error(), "../docs") {
		t.Errorf("an unknown context: %v", err)
	}
}

func TestNumbersOfAFileStandAboveItsPreset(t *testing.T) {
	f := func(text string, protect, offload int, rent float64) {
		t.Helper()
		l := load(t, text).Rewrite
		if l.Protect != protect || l.Offload != offload || l.Rent != rent {
			t.Errorf("%q gives protect_tokens %d, offload_tokens %d, rent %v", text, l.Protect, l.Offload, l.Rent)
		}
	}
	f("", 5_000, 4_000, 5)
	f("rewrite.preset = \"faithful\"", 10_000, 8_000, 6)
	f("[rewrite]\nrent = 4.0\npreset = \"economy\"", 5_000, 4_000, 4)
	f("[rewrite]\nrent = 0", 5_000, 4_000, 0)
}

// The price of a cached token is the model's own, unless the file gives one, even the same.
func TestAPriceInTheFileHoldsForEveryModel(t *testing.T) {
	for text, want := range map[string]float64{"": 0.05, "[rewrite]\nrent = 2\n": 0.05, "[rewrite]\ncached_price = 0.1\n": 0.1} {
		if got := load(t, text).Rewrite.AtPrice(0.05).CachedPrice; got != want {
			t.Errorf("%q: a cached token costs %v, want %v", text, got, want)
		}
	}
}

func TestBoundThinkingOfAFileIsAddedToTheDefaults(t *testing.T) {
	c := load(t, "[rewrite.bound_thinking]\n\"my-*\" = true\n\"claude-opus-5-5\" = false")
	for model, want := range map[string]bool{
		"my-model": true, "claude-opus-5-5": false, "claude-opus-5-5-20260901": true, "anthropic/claude-haiku-5.5": true,
		"us.anthropic.Claude-Sonnet-5-5-v1:0": true, "claude-fable-5-1": true, "claude-mythos-5-1": false,
		"claude-opus-5": false, "claude-opus-4-5-20251101": false, "gpt-5.5": false,
	} {
		if c.Rewrite.BindsThinking(model) != want {
			t.Errorf("%s binds its thinking: %v", model, !want)
		}
	}
}

func TestParseWindow(t *testing.T) {
	for text, want := range map[string]int{
		"32k": 32_000, "200000": 200_000, "64_000": 64_000, "1M": 1_000_000, "128K": 128_000,
		"": 0, "k": 0, "-32k": 0, "1023": 0, "32 k": 0, "1.5M": 0, "1e6": 0, "101M": 0, "99999999999999999999": 0,
	} {
		if got, err := ParseWindow(text); got != want || (err == nil) != (want > 0) {
			t.Errorf("%q: got %v, %v", text, got, err)
		}
	}
}

func TestLocalServersAreAskedForNothingAheadOfNeed(t *testing.T) {
	c := load(t, "")
	f := func(want bool, urls ...string) {
		t.Helper()
		for _, url := range urls {
			c.AddUpstream("up", url)
			if got := c.Prepares("up"); got != want {
				t.Errorf("prepare %q, asking %q: prepares for %s is %v", c.Summarize.Prepare, c.Summarize.Upstream, url, got)
			}
		}
	}
	const near, far = "http://10.0.0.5/v1", "https://api.example.com/v1"
	f(false, near, "http://127.0.0.1:8000", "http://[::1]:8000", "http://LocalHost:11434", "http://localhost.",
		"http://172.16.9.9", "http://192.168.1.2:8080", "http://169.254.1.1", "http://[fe80::1%25eth0]:80",
		"http://[::ffff:192.168.1.2]", "http://0.0.0.0:8000", "http://gpu:8000", "http://nas.local",
		"http://llm.corp.internal.", "http://a.localhost", "http://host.docker.internal:11434")
	f(true, far, "http://8.8.8.8", "http://172.32.0.1", "http://[2001:db8::1]", "http://local.example.com",
		"http://internal.example", "http://x.notlocal", "http://mylocal.dev")
	if c.Prepares("nobody") {
		t.Error("prepares for an unknown upstream")
	}
	c.Summarize.Prepare = "on"
	f(true, near)
	c.Summarize.Prepare = "off"
	f(false, far)
	c.Summarize.Prepare, c.Summarize.Upstream = "auto", "other" // which does not serve the conversation
	f(true, near)
	c.Summarize.Upstream = "up"
	f(false, near)
	f(true, far)
}
