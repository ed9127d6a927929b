package config_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"epitome/config"
)

// listOf lists the configuration of a file.
func listOf(t *testing.T, text string, over config.Overrides) map[string]config.Value {
	t.Helper()
	path := filepath.Join(t.TempDir(), "own.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	builtin, err := os.ReadFile("../config.toml")
	if err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(string(builtin), path, over)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]config.Value{}
	for _, v := range c.List() {
		if _, twice := all[v.Key]; twice {
			t.Errorf("%s is listed twice", v.Key)
		}
		v.From = strings.TrimPrefix(v.From, path)
		all[v.Key] = v
	}
	return all
}

func TestListSaysEachValueAndWhereItWasWritten(t *testing.T) {
	all := listOf(t, "scope = \"shared\"\n[proxy]\nmax_body = \"8MB\"\n[console]\nhosts = [\"a\", \"b\"]\n"+
		"[upstreams.local]\nurl = \"http://localhost:1/v1\"\n[[routes]]\nmodel = \"q*\"\nupstream = \"local\"\n",
		config.Overrides{Mode: "observe"})
	f := func(key, text, from string) {
		t.Helper()
		if v := all[key]; v.Text != text || v.From != from || v.Secret {
			t.Errorf("%s is %+v, want %s from %q", key, v, text, from)
		}
	}
	f("listen", `"127.0.0.1:7070"`, "")
	f("mode", `"observe"`, "--mode")
	f("scope", `"shared"`, ":1")
	f("proxy.max_body", `"8MB"`, ":3")
	f("proxy.max_connections", "4096", "")
	f("proxy.read_idle", `"10m0s"`, "")
	f("console.hosts", `["a", "b"]`, ":5")
	f("upstreams.local.url", `"http://localhost:1/v1"`, ":7")
	f("routes.0.model", `"q*"`, ":9")
}

// A value behind a pointer is shown, one that is not set is left out, and what a command has set says so.
func TestListShowsWhatPointersPointTo(t *testing.T) {
	builtin, err := os.ReadFile("../config.toml")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "config.toml")
	text := "[prices.\"a.b\"]\ninput = 1.25\ncached = 0\noutput = 9\n[prices.c]\ninput = 2\noutput = 9\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(string(builtin), path, config.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	c.SetBy("epitome demo", "prices", "a.b")
	c.SetBy("epitome demo", "mode")
	all := map[string]config.Value{}
	for _, v := range c.List() {
		all[v.Key] = v
	}
	f := func(key, text, from string) {
		t.Helper()
		if v := all[key]; v.Text != text || strings.TrimPrefix(v.From, path) != from {
			t.Errorf("%s is %+v, want %s from %q", key, v, text, from)
		}
	}
	f("prices.a.b.input", "1.25", "epitome demo")
	f("prices.a.b.cached", "0", "epitome demo")
	f("prices.c.input", "2", ":6")
	f("mode", `"on"`, "epitome demo")
	f("listen", `"127.0.0.1:7070"`, "")
	if v, listed := all["prices.a.b.written"]; listed {
		t.Errorf("what is not set is listed: %+v", v)
	}
}

func TestListShowsNoSecret(t *testing.T) {
	const secret = "s3cr3t-v4lue"
	t.Setenv("LIST_TEST_KEY", secret)
	all := listOf(t, "[console]\ntoken = \"${LIST_TEST_KEY}\"\n[upstreams.openai]\nheaders = { authorization = \"Bearer "+
		secret+"\", x-team = \"${LIST_TEST_KEY}\" }\n"+
		"[store]\nurl = \"redis://:${LIST_TEST_KEY}@host:6379/0\"\nsentinel_password = \"\"\n[offload]\nfolder = \"/mnt/shared\"\n",
		config.Overrides{})
	var masked []string
	for key, v := range all {
		if strings.Contains(v.Text, secret) {
			t.Errorf("%s shows the secret: %+v", key, v)
		}
		if v.Secret {
			masked = append(masked, key+v.From)
		}
	}
	slices.Sort(masked)
	want := []string{"console.token:2", "store.url:6",
		"upstreams.openai.headers.authorization:4", "upstreams.openai.headers.x-team:4"}
	if !slices.Equal(masked, want) {
		t.Errorf("masked are %q, want %q", masked, want)
	}
}
