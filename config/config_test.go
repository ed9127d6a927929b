package config

import (
	"cmp"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"epitome/console"
	"epitome/internal/unit"
	"epitome/proxy"
)

// configToml is the program's own configuration file.
func configToml() string {
	text, err := os.ReadFile("../config.toml")
	if err != nil {
		panic(err)
	}
	return string(text)
}

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
	c, err := Load(configToml(), written(t, text), Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	return &c
}

// refusal is the error of Load or Admit for a configuration file, with the file's folder taken off.
func refusal(t *testing.T, text string) string {
	t.Helper()
	path := written(t, text)
	c, err := Load(configToml(), path, Overrides{})
	if err == nil {
		c.Data = t.TempDir()
		err = c.Admit()
	}
	if err == nil {
		return ""
	}
	return strings.ReplaceAll(err.Error(), filepath.Dir(path)+string(filepath.Separator), "")
}

// uncommented is config.toml with its commented-out examples in force.
func uncommented() string { return comment.ReplaceAllString(configToml(), "$1") }

// keysOf lists the keys and tables of config.toml.
func keysOf(reference string) (keys []string) {
	for _, k := range knownIn(reference) {
		keys = append(keys, k.key)
	}
	return keys
}

func TestConfigTomlShowsEveryKey(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "o")
	t.Setenv("ANTHROPIC_API_KEY", "a")
	c := load(t, uncommented())
	rows := regexp.MustCompile(`^(rewrite\.tools|routes)\.\d+`)
	maps := regexp.MustCompile(`^(window\.models|rewrite\.bound_thinking|upstreams\.NAME\.headers)\..*`)
	all, texts := c.values()
	if texts["routes.1.model"] != "'claude-*'" || texts["prices.'mine-*'.input"] != "1.25" {
		t.Errorf("the values are %q", texts)
	}
	for _, key := range all {
		key = chosenName.ReplaceAllString(rows.ReplaceAllString(key, "$1"), "$1.NAME")
		if !slices.Contains(keysOf(configToml()), maps.ReplaceAllString(key, "$1")) {
			t.Errorf("%s is not in config.toml", key)
		}
	}
}

func TestDefaultsAreValid(t *testing.T) {
	c := Defaults(configToml())
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
	got := load(t, configToml())
	got.file, got.entries = c.file, c.entries
	if !reflect.DeepEqual(*got, c) {
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
first_byte_timeout = "3m"
[upstreams.openai]
headers = { x-team = "red" }
[upstreams.mine]
url = "http://127.0.0.1:8000/v1"
[[routes]]
model = "claude-*"
upstream = "anthropic"
`)
	want := Defaults(configToml())
	want.Mode = "off"
	want.FirstByteTimeout = unit.Duration(3 * time.Minute)
	want.Upstreams["openai"] = proxy.UpstreamConfig{URL: "https://api.openai.com/v1",
		Headers: map[string]string{"x-team": "red"}}
	want.Upstreams["mine"] = proxy.UpstreamConfig{URL: "http://127.0.0.1:8000/v1"}
	want.Routes = []proxy.RouteRule{{Model: "claude-*", Upstream: "anthropic"}}
	c.file, c.entries = want.file, want.entries
	if !reflect.DeepEqual(*c, want) {
		t.Errorf("got  %+v\nwant %+v", c, want)
	}
}

// A flag goes before the file, and a base URL becomes the default upstream.
func TestFlagsGoBeforeTheFile(t *testing.T) {
	path := written(t, "listen = '127.0.0.1:1'\nmode = 'off'\ndata = '/file'\nupstream = 'http://127.0.0.1:8000/v1'")
	for _, over := range []Overrides{{}, {"127.0.0.1:2", "https://example.com", "/flag", "observe"}} {
		want := over
		if over.Mode == "" {
			want = Overrides{"127.0.0.1:1", "http://127.0.0.1:8000/v1", "/file", "off"}
		}
		c, err := Load(configToml(), path, over)
		if got := (Overrides{c.Listen, c.Upstreams[c.Upstream].URL, c.Data, c.Mode}); got != want ||
			c.Upstream != "default" || err != nil {
			t.Errorf("%+v gives %+v, %v; want %+v", over, got, err, want)
		}
	}
}

func TestUsersOwnFileIsReadWhenThereIsOne(t *testing.T) {
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "AppData"} {
		t.Setenv(name, t.TempDir())
	}
	if c, err := Load(configToml(), "", Overrides{}); err != nil || c.Mode != "on" {
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
	if c, err := Load(configToml(), "", Overrides{}); err != nil || c.Mode != "off" {
		t.Errorf("with a file: %+v, %v", c, err)
	}
}

func TestDataFolderIsTheUsers(t *testing.T) {
	f := func(conf, data, want string) {
		t.Helper()
		t.Setenv("XDG_DATA_HOME", data)
		c := load(t, conf)
		if c.Data != want {
			t.Errorf("with %q and XDG_DATA_HOME=%s: %s; want %s", conf, data, c.Data, want)
		}
	}
	home, other := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("LocalAppData", filepath.Join(home, "Local"))
	users := map[string]string{"windows": filepath.Join(home, "Local"),
		"darwin": filepath.Join(home, "Library", "Application Support")}[runtime.GOOS]
	users = filepath.Join(cmp.Or(users, filepath.Join(home, ".local", "share")), "epitome")
	f("", "", users)
	f("", "not/absolute", users)
	f("", other, filepath.Join(other, "epitome"))
	f(`data = "`+filepath.ToSlash(home)+`"`, other, home)
}

func TestSecretsComeFromTheEnvironment(t *testing.T) {
	t.Setenv("EPITOME_TEST_A", "one${EPITOME_TEST_B}")
	t.Setenv("EPITOME_TEST_B", "two")
	c := load(t, "console.token = \"of-16-letters-${EPITOME_TEST_B}\"\n"+
		"upstreams.openai.headers.k = \"Bearer ${EPITOME_TEST_A}-${EPITOME_TEST_B}$\"")
	if got := c.Upstreams["openai"].Headers["k"]; c.Console.Token != "of-16-letters-two" ||
		got != "Bearer one${EPITOME_TEST_B}-two$" {
		t.Errorf("the token is %q, and the header %q", c.Console.Token, got)
	}
}

// Neither an error nor the list of values repeats a secret.
func TestSecretsAreNotRepeated(t *testing.T) {
	t.Setenv("EPITOME_TEST_A", "secret\n")
	for _, text := range []string{
		"upstreams.openai.headers.k = \"${EPITOME_TEST_A}\"", "summarize.key_env = \"secret\"",
		"console.token = \"${EPITOME_TEST_A}\"", "upstreams.openai.headers.k = \"a secret ${x\"",
		"upstreams.openai.url = \"http://user:secret@ho st\"", "upstreams.openai.url = \"http://host/?key=secret\"",
		"upstream = \"http://user:secret@host:port\"", "[clients.a]\nkeys = [\"secret\"]",
	} {
		if got := refusal(t, text); got == "" || strings.Contains(got, "secret") {
			t.Errorf("%q is answered %q", text, got)
		}
	}
	t.Setenv("EPITOME_TEST_A", "secret-of-at-least-16")
	c := load(t, "scope = \"shared\"\nconsole.token = \"${EPITOME_TEST_A}\"\n"+
		"upstreams.openai.headers.authorization = \"Bearer secret\"\n"+
		"store.url = \"redis://:${EPITOME_TEST_A}@host:6379/0\"\noffload.folder = \"/mnt/shared\"\n"+
		"[clients.alice]\nkeys = [\""+proxy.HashOfKey("k")+"\"]\n")
	all := map[string]console.Setting{}
	for _, v := range c.List() {
		if all[v.Key] = v; strings.Contains(v.Text, "secret") || strings.Contains(v.Text, "sha256") {
			t.Errorf("%s shows a secret: %+v", v.Key, v)
		}
	}
	for _, want := range []console.Setting{
		{Key: "listen", Text: `'127.0.0.1:7070'`}, {Key: "scope", Text: `'shared'`, Changed: true},
		{Key: "store.url", Changed: true, Secret: true},
		{Key: "upstreams.openai.headers.authorization", Changed: true, Secret: true},
	} {
		got := all[want.Key]
		got.Default, got.Comment = "", ""
		if got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}

// Each value has its default and the comment of config.toml, which keys in sequence share.
func TestListExplains(t *testing.T) {
	all := map[string]console.Setting{}
	for _, v := range load(t, "rewrite.keep_turns = 7\nwindow.models.\"m\" = 64000\n").List() {
		all[v.Key] = v
		if v.Comment == "" {
			t.Errorf("%s is not explained", v.Key)
		}
	}
	if !strings.Contains(all["scope"].Comment, "trust\nBehind") {
		t.Errorf("the text behind a list begins no line: %s", all["scope"].Comment)
	}
	for key, want := range map[string][2]string{
		"listen":             {"'127.0.0.1:7070'", "The address to listen on"},
		"rewrite.keep_turns": {"0", "compact_turns: compact"},
		"window.models.m":    {"", "Windows by pattern"}, "rewrite.preset": {"'balanced'", "A preset sets"},
	} {
		if got := all[key]; got.Default != want[0] || !strings.HasPrefix(got.Comment, want[1]) {
			t.Errorf("%s: %+v, want %q", key, got, want)
		}
	}
}

// Listeners that strangers reach spend no credential for them, unless the configuration says so.
func TestOpenListenersAreRefused(t *testing.T) {
	t.Setenv("TEST_KEY", "k")
	header := "[upstreams.openai]\nheaders = { Authorization = \"Bearer x\" }\n"
	const beyond = "0.0.0.0:7070"
	for _, one := range []struct{ address, text, refused string }{
		{"127.0.0.1:7070", header, ""}, {"[::1]:7070", header, ""}, {beyond, "", ""},
		{beyond, header, "upstreams.openai.headers.Authorization"}, {"[::]:7070", header, "open = true"},
		{"192.168.0.1:7070", header, "cannot listen on 192.168.0.1:7070"}, {beyond, "open = true\n" + header, ""},
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
}

func TestNumbersOfAFileStandAboveItsPreset(t *testing.T) {
	f := func(text string, protect, offload int, rent float64) {
		t.Helper()
		if l := load(t, text).Rewrite; l.Protect != protect || l.Offload != offload || l.Rent != rent {
			t.Errorf("%q gives protect_tokens %d, offload_tokens %d, rent %v", text, l.Protect, l.Offload, l.Rent)
		}
	}
	f("", 5_000, 4_000, 5)
	f("rewrite.preset = \"faithful\"", 10_000, 8_000, 6)
	f("[rewrite]\nrent = 4.0\npreset = \"economy\"", 5_000, 4_000, 4)
	// The life of a cache is the model's own, unless the file gives it, even the same.
	own, l := load(t, "[rewrite]\ncache_life = \"5m\"\n").Rewrite, load(t, "").Rewrite
	if l.LifeFixed || l.CacheLife != own.CacheLife || !own.LifeFixed {
		t.Error("a life of the file does not hold for every model")
	}
}

func TestBoundThinkingOfAFileIsAddedToTheDefaults(t *testing.T) {
	c := load(t, "[rewrite.bound_thinking]\n\"my-*\" = true\n\"claude-opus-5-5\" = false")
	for model, want := range map[string]bool{
		"my-model": true, "claude-opus-5-5": false, "claude-opus-5-5-20260901": true,
		"anthropic/claude-haiku-5.5":          true,
		"us.anthropic.Claude-Sonnet-5-5-v1:0": true, "claude-opus-5": false, "gpt-5.5": false,
	} {
		if c.Rewrite.BindsThinking(model) != want {
			t.Errorf("%s binds its thinking: %v", model, !want)
		}
	}
}

// A server of the user's own makes no summary ahead of need, unless the configuration says so.
func TestLocalServersPrepareNoSummaries(t *testing.T) {
	c := load(t, "")
	f := func(want bool, urls ...string) {
		t.Helper()
		for _, url := range urls {
			c.AddUpstream("up", url)
			if got := c.Prepares("up"); got != want {
				t.Errorf("prepare %q, asking %q: prepares for %s is %v", c.Summarize.Prepare, c.Summarize.Upstream,
					url, got)
			}
		}
	}
	const near, far = "http://10.0.0.5/v1", "https://api.example.com/v1"
	f(false, near, "http://[::1]:8000", "http://LocalHost:11434", "http://172.16.9.9", "http://192.168.1.2:8080",
		"http://[fe80::1%25eth0]:80", "http://0.0.0.0:8000", "http://gpu:8000", "http://nas.local",
		"http://llm.corp.internal.")
	f(true, far, "http://8.8.8.8", "http://172.32.0.1", "http://local.example.com", "http://mylocal.dev")
	c.Summarize.Prepare = "on"
	f(true, near)
	c.Summarize.Prepare = "off"
	f(false, far)
	c.Summarize.Prepare, c.Summarize.Upstream = "auto", "other" // which does not serve the conversation
	f(true, near)
}

// Files with one mistake each, and the error, which has one line with its place and what to write instead.
func TestMistakesAreErrors(t *testing.T) {
	t.Setenv("EPITOME_TEST_EMPTY", " \n")
	const gateway = "; limits are a gateway's: see docs/configuration.md, Who limits"
	for text, want := range map[string]string{
		"[window.models]\nmy-model* = \"32k\"":                 "quote a name with other signs",
		"[window.models]\nlisten = \"127.0.0.1:1\"":            "if it is not meant for [window.models], write it above all tables",
		"# one\n[proxy]\n\nmax_bodi = \"1MB\"":                 "config.toml:4: unknown key proxy.max_bodi (did you mean max_body?)",
		"[proxi]\nmax_body = \"1MB\"\nshutdown_grace = \"1s\"": "config.toml:1: unknown key proxi (did you mean proxy?)",
		"max_body = \"1MB\"":                                   "did you mean proxy.max_body?",
		"upstreams.a = { url = \"http://x\", uri = 1 }":        "config.toml:1: unknown key upstreams.a.uri (did you mean url?)",
		"rewrite.tools = [ { tool = \"a\", keep = 1 } ]":       "config.toml:1: rewrite.tools: must not be a TOML integer: write it as in [[rewrite.tools]]",
		"mode = \"on\"\nmode = \"off\"":                        "config.toml:2: key mode is already defined",
		"listen = 7070":                                        `config.toml:1: listen: must not be a TOML integer: write it as in listen = "127.0.0.1:7070"`,
		"[upstreams.openai]\nheaders = \"Bearer x\"":           `config.toml:2: upstreams.openai.headers: must not be a TOML string: write it as in headers = { Authorization = "`,
		"[summarize]\ndetail = 3":                              "summarize.detail: must be low, medium, high, full or truncate, in quotes",
		"[proxy]\n'max_connections' = \"12\"":                  "config.toml:2: proxy.'max_connections': must not be a TOML string: write it as in [proxy]",
		`mode = "On"`:                                          `mode must be on, observe or off, not "On"`,
		`scope = "header:a b"`:                                 "scope must be",
		"listen = \"\"\"\nmode = 3\n\"\"\"":                    "config.toml:1: listen must be host:port",
		`upstream = "opnai"`:                                   `upstream must be anthropic, chatgpt, openai or a base URL`,
		"[proxy]\nmax_in_flight = \"1MB\"":                     "at least proxy.max_body, 64MB",
		"[proxy]\nmax_connections = -1":                        "proxy.max_connections must be greater than zero",
		"console.token = \"${EPITOME_NONE}\"":                  "console.token needs the environment variable EPITOME_NONE",
		"console.token = \"a-short-token\"":                    "at least 16 characters",
		"[upstreams.openai]\nbilling = \"flat\"":               "upstreams.openai.billing must be",
		"[upstreams.openai.tls]\ncert_file = \"a\"":            "both cert_file and key_file",
		"[upstreams.openai.headers]\nContent-Length = \"1\"":   "cannot be set",
		"[[routes]]\nupstream = \"openai\"":                    "routes.1 needs a model",
		"[prices.\"a*\"]\ninput = 1":                           `prices."a*": needs input and output`,
		"[window.models]\n\"gpt-*\" = 8":                       `window.models."gpt-*"`,
		"[summarize]\nmode = \"best\"":                         "summarize.mode must be auto, llm",
		"[summarize]\nmodel = \"m\"\nupstream = \"openai\"\nkey_env = \"EPITOME_TEST_EMPTY\"": "summarize.key_env",
		"[offload]\nfolder = \"/f\"\n[store]\nurl = \"rediss://a\"\nca = \"/absent\"":         "store.ca: open /absent",
		"[memory]\nenabled = true":                               "memory.enabled needs summarize.model",
		"[offload]\naddress = \"mail\"":                          "offload.address must be path, url, both, tool",
		"[offload]\nbucket = \"https://b\"":                      "s3://BUCKET/PREFIX",
		"[offload]\nsecret_file = \"/absent\"":                   "offload.secret_file: open /absent",
		"[store]\nurl = \"redis://a\"":                           "store.url needs a bucket, or the absolute path",
		"[otel]\nendpoint = \"localhost:4318\"":                  "otel.endpoint: must be an http or https URL",
		"[clients.a]":                                            "clients.a has no keys; 'epitome key a' makes one",
		"[tls]\ncert_file = \"/absent\"\nkey_file = \"/absent\"": "tls.cert_file",
		"[clients.a]\nteam = \"web\"":                            "config.toml:2: unknown key clients.a.team" + gateway,
		"clients.a.concurrent = 2":                               "config.toml:1: unknown key clients.a.concurrent" + gateway,
		"clients.a = { dollars_per_day = 2 }":                    "unknown key clients.a.dollars_per_day" + gateway,
		"[teams.web]\ntokens_per_minute = 9":                     "config.toml:1: unknown key teams.web" + gateway,
		"[all]\nrequests_per_minute = 9":                         "config.toml:1: unknown key all" + gateway,
		"[all]":                                                  "config.toml:1: unknown key all" + gateway,
	} {
		if got := refusal(t, text); !strings.Contains(got, want) || strings.Contains(got, "\n") {
			t.Errorf("%q is answered\n     %s\nwant %s", text, got, want)
		}
	}
	// All mistakes of a file are told at once, in the order of its lines.
	got := refusal(t, `listen = "127.0.0.1:99999999"
[upstreams.local]
base_url = "http://x"
[rewrite]
clear_att = 0.5
preset = "foo"
rent = -1
[proxy]
shutdown_grace = 5
[log]
level = [
  "loud",
]
[[routes]]
model = "a"
upstream = "openai"
[[routes]]
model = "b"
upstream = "opnai"
context_window = 5
`)
	want := strings.Join([]string{
		"1: listen must be host:port", "3: unknown key upstreams.local.base_url",
		"5: unknown key rewrite.clear_att (did you mean clear_at?)", "6: rewrite.preset: write one of balanced, ",
		"7: cannot use rewrite.rent -1: write a factor from 0 to 1000", `9: proxy.shutdown_grace: cannot read duration "5 `,
		"11: log.level: must be debug, info, warn or error, in quotes", `19: routes.2.upstream must be anthropic, chatgpt, local or openai`,
		"20: unknown key routes.2.context_window",
	}, ".*\nconfig.toml:")
	want = "^config.toml:" + strings.NewReplacer("(", `\(`, ")", `\)`, "?", `\?`).Replace(want)
	if !regexp.MustCompile(want).MatchString(got) {
		t.Errorf("all mistakes of a file: %s\nwant %s", got, want)
	}
}
