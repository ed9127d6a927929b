package config

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"epitome/config/configtest"
)

// admission is what serve and check say about a file and flags, with the file's folder taken off.
func admission(t *testing.T, text string, over Overrides) string {
	t.Helper()
	path := written(t, text)
	c, err := Load(configtest.Text(), path, over)
	if err == nil {
		_, err = c.Admit()
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
		if !strings.HasPrefix(got, place) || !strings.Contains(got, key) || !strings.ContainsAny(got, ":;") ||
			strings.Contains(got, "\n") {
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
	f(Overrides{Upstream: "ftp://x"}, "", "--upstream: cannot use upstream: ftp://x is neither http nor https")
	f(Overrides{Mode: "on"}, "scope = \"all\"", "config.toml:1: cannot use scope")
	f(Overrides{Data: filepath.Join(written(t, ""), "under")}, "", "--data: cannot make the data folder ")
	f(Overrides{Listen: "127.0.0.1:7171", Upstream: "http://127.0.0.1:7171/v1"}, "", "--upstream: cannot use upstream default: its url")
}
