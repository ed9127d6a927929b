package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"epitome/proxy"
)

// admission is what serve and check say about a file and flags, with the file's folder taken off.
func admission(t *testing.T, text string, over Overrides) string {
	t.Helper()
	path := written(t, text)
	c, err := Load(defaultConfig, path, over)
	if err == nil {
		_, err = c.admit()
	}
	if err == nil {
		return ""
	}
	return strings.ReplaceAll(err.Error(), filepath.Dir(path)+string(filepath.Separator), "")
}

// Each file below has one value that is wrong, on the line that is named.
func TestWrongValuesAreNamedWithTheirLine(t *testing.T) {
	f := func(line int, key, text string) {
		t.Helper()
		place := fmt.Sprintf("config.toml:%d: cannot ", line)
		got := admission(t, text, Overrides{})
		if !strings.HasPrefix(got, place) || !strings.Contains(got, key) || !strings.ContainsAny(got, ":;") || strings.Contains(got, "\n") {
			t.Errorf("%q is answered\n     %s\nwant %s... %s", text, got, place, key)
		}
	}
	f(1, "mode", `mode = "On"`)
	f(3, "mode", "# one\n\nmode = \"On\"")
	f(2, "mode", "listen = \"127.0.0.1:0\"\n  Mode='On'")
	f(1, "scope", `scope = "all"`)
	f(1, "listen", `listen = "7070"`)
	f(1, "upstream", `upstream = "opnai"`)
	f(1, "upstream", `upstream = "ftp://x"`)
	f(1, "upstream", "upstream = \"http://x\"\n[upstreams.default]\nurl = \"http://y\"")
	f(3, "proxy.write_idle", "[proxy]\nkeep_alive = \"1m\"\nwrite_idle = \"0s\"")
	f(1, "proxy.write_idle", `proxy.write_idle = "0s"`)
	f(1, "proxy.write_idle", `proxy = { keep_alive = "1m", write_idle = "0s" }`)
	f(2, "proxy.max_in_flight", "[proxy]\nmax_in_flight = \"1MB\"")
	f(2, "proxy.max_in_flight", "[proxy]\nmax_body = \"1GB\"")
	f(2, "preset", "[rewrite]\npreset = \"bold\"")
	f(3, "rewrite.clear_at", "[rewrite]\nrepeats = true\nclear_at = 1.5")
	f(2, "rewrite.newest_turns", "[rewrite]\nnewest_turns = -1")
	f(2, "rewrite.compact_at", "[rewrite]\ncompact_at = 0.4")
	f(2, "rewrite.compact_at", "[rewrite]\ncompact_to = 0.95")
	f(3, "rewrite.compact_at", "[rewrite]\ncompact_to = 0.3\nclear_at = 0.95")
	f(4, "rewrite.tools", "[[rewrite.tools]]\ntool = \"a\"\nkeep = true\n[[rewrite.tools]]\ntool = \"b\"")
	f(2, "rewrite.tools", "[rewrite]\ntools = [{tool = \"a\"}]")
	f(2, "window.default", "[window]\ndefault = 8")
	f(3, "window.models", "[window.models]\n\"gpt-4.1*\" = 8000\n\"gpt-*\" = 8")
	f(2, "window.models", "[window]\nmodels = { a = 8000, \"b*\" = 8 }")
	f(2, "summarize.mode", "[summarize]\nmode = \"best\"")
	f(2, "summarize.detail", "[summarize]\ndetail = \"all\"")
	f(2, "summarize.prepare", "[summarize]\nprepare = \"yes\"")
	f(2, "summarize.upstream", "[summarize]\nupstream = \"openai\"")
	f(3, "summarize.upstream", "[summarize]\nmodel = \"m\"\nupstream = \"opnai\"")
	f(2, "summarize.key_env", "[summarize]\nkey_env = \"EPITOME_TEST_NONE\"")
	f(2, "summarize.tries", "[summarize]\ntries = 0")
	f(2, "summarize.max_output", "[summarize]\nmax_output = 1")
	f(2, "offload.address", "[offload]\naddress = \"mail\"")
	f(2, "offload.quota", "[offload]\nquota = \"0B\"")
	f(4, "store.keep", "[offload]\nquota = \"1GB\"\n[store]\nkeep = \"0s\"")
	f(2, "console.token", "[console]\ntoken = \"a b\"")
	f(2, "console.token", "[console]\ntoken = \"${EPITOME_TEST_NONE}\"")
	f(2, "console.hosts", "[console]\nhosts = [\"a\", \"b c\"]")
	f(4, "console.hosts", "[console]\nhosts = [\n  \"a\",\n  \"b c\",\n]")
	f(2, "upstreams.mine.url", "[upstreams.mine]\nurl = \"mine\"")
	f(1, "upstreams.mine.url", "[upstreams.mine]")
	f(1, "upstreams.mine.url", "upstreams.mine = { url = \"mine\" }")
	f(1, "upstream name", "[upstreams.Mine]\nurl = \"http://mine\"")
	f(3, "upstreams.mine.tls", "[upstreams.mine]\nurl = \"https://mine\"\n[upstreams.mine.tls]\ncert_file = \"a\"")
	f(3, "ca_file", "upstreams.mine.url = \"https://mine\"\n[upstreams.mine.tls]\nca_file = \"/no/such\"")
	f(3, "cert_file", "upstreams.mine.url = \"https://mine\"\n[upstreams.mine.tls]\ncert_file = \"/no/such\"\nkey_file = \"/no/such\"")
	f(2, "upstreams.openai.headers", "[upstreams.openai.headers]\nHost = \"x\"")
	f(2, "upstreams.openai.headers", "[upstreams.openai]\nheaders = { k = \"${EPITOME_TEST_NONE}\" }")
	f(4, "route 2", "[[routes]]\nmodel = \"a\"\nupstream = \"openai\"\n[[routes]]\nupstream = \"openai\"")
	f(3, "route 1", "[[routes]]\nmodel = \"*\"\nupstream = \"opnai\"")
}

func TestWrongFlagsAreNamed(t *testing.T) {
	f := func(over Overrides, text, want string) {
		t.Helper()
		if got := admission(t, text, over); !strings.HasPrefix(got, want) {
			t.Errorf("%+v is answered\n     %s\nwant %s", over, got, want)
		}
	}
	f(Overrides{Mode: "On"}, `mode = "off"`, `--mode: cannot use mode "On": write on, observe or off`)
	f(Overrides{Listen: "7070"}, "", `--listen: cannot use listen "7070"`)
	f(Overrides{Upstream: "opnai"}, `upstream = "openai"`, `--upstream: cannot use upstream "opnai"`)
	f(Overrides{Upstream: "ftp://x"}, "", "--upstream: cannot use upstream: write an absolute")
	f(Overrides{Mode: "on"}, "scope = \"all\"", "config.toml:1: cannot use scope")
	f(Overrides{Data: filepath.Join(written(t, ""), "under")}, "", "--data: cannot make the data folder ")
	f(Overrides{Listen: "127.0.0.1:7171", Upstream: "http://127.0.0.1:7171/v1"}, "", "--upstream: cannot use upstream default: its url")
}

// What serve refuses because of its configuration, check refuses in the same words, with the port and the folder untouched.
func TestCheckRefusesWhatServeRefuses(t *testing.T) {
	folder := t.TempDir()
	f := func(want, text string, over Overrides) {
		t.Helper()
		if over.Data == "" {
			over.Data = folder
		}
		conf, err := Load(defaultConfig, written(t, text), over)
		if err != nil {
			t.Fatal(err)
		}
		_, checked := conf.admit()
		d := &daemon{log: slog.New(slog.DiscardHandler), load: func() (Config, error) { return conf, nil }}
		served := d.start(false)
		for end := time.Now().Add(patience); portTaken(served) && time.Now().Before(end); served = d.start(false) {
			time.Sleep(50 * time.Millisecond) // another program has the port just now
		}
		if served == nil {
			d.giveBack()
		}
		if fmt.Sprint(checked) != fmt.Sprint(served) || !strings.Contains(fmt.Sprint(checked), want) {
			t.Errorf("check says %v\nserve says %v\nwant %s", checked, served, want)
		}
	}
	port := freePort(t)
	local, anywhere := Overrides{Listen: "127.0.0.1:" + port}, Overrides{Listen: ":" + port}
	const loop = "is where epitome itself listens"
	f("<nil>", "", local)
	f("<nil>", "", Overrides{Listen: "127.0.0.1:0"})
	for _, over := range []Overrides{local, anywhere, {Listen: "localhost:" + port}, {Listen: "0.0.0.0:" + port}} {
		f(loop, "[upstreams.mine]\nurl = \"http://127.0.0.1:"+port+"/v1\"", over)
		f(loop, "upstream = \"http://localhost:"+port+"\"", over)
	}
	f("give an address of this machine", "", Overrides{Listen: "192.0.2.1:" + port})
	f("give an address of this machine", "", Overrides{Listen: "no.such.host.invalid:" + port})
	f("cannot make the data folder", "", Overrides{Listen: local.Listen, Data: written(t, "")})
	f("cannot make the data folder", "", Overrides{Listen: local.Listen, Data: filepath.Join(written(t, ""), "a", "b")})
	f("ca_file", "upstreams.mine.url = \"https://mine\"\nupstreams.mine.tls.ca_file = \"/no/such\"", local)
	f("ca_file", "upstreams.mine.url = \"https://mine\"\nupstreams.mine.tls.ca_file = '"+written(t, "none")+"'", local)
	f("cert_file", "[upstreams.mine]\nurl = \"https://mine\"\ntls = {cert_file = \"/no/such\", key_file = \"/no/such\"}", local)

	// What is taken by another one is not touched.
	if ln, err := net.Listen("tcp", local.Listen); err == nil {
		defer func() { _ = ln.Close() }()
	} else if !portTaken(err) {
		t.Fatal(err)
	}
	c := Config{Listen: local.Listen, Data: filepath.Join(folder, "new"), from: origins{}}
	c.Upstream, c.Upstreams = "up", map[string]proxy.UpstreamConfig{"up": {URL: "http://example.com"}}
	if _, err := c.admit(); err != nil {
		t.Errorf("with its port taken: %v", err)
	}
	if names, _ := filepath.Glob(filepath.Join(folder, "new")); len(names) > 0 {
		t.Error("the data folder was made")
	}
}

// portTaken tells whether a program could not listen because another one listens there.
func portTaken(err error) bool { return errors.Is(err, syscall.EADDRINUSE) }

// freePort is a port that nobody listens on, on any address.
func freePort(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	_, port, err := net.SplitHostPort(ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}
