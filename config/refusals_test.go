package config

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"epitome/config/configtest"
	"epitome/proxy"
)

// admission is what serve and check say about a file and flags, with the file's folder taken off.
func admission(t *testing.T, text string, over Overrides) string {
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

// TestRefusalsNameTheLineAndSayWhatToDo has files with one flaw each, on the line that is named.
func TestRefusalsNameTheLineAndSayWhatToDo(t *testing.T) {
	t.Setenv("EPITOME_TEST_EMPTY", " \n")
	t.Setenv("EPITOME_TEST_KEY", "sk-ours")
	f := func(line int, text, want string) {
		t.Helper()
		got := admission(t, text, Overrides{})
		if !strings.HasPrefix(got, fmt.Sprintf("config.toml:%d: ", line)) || !strings.Contains(got, want) || strings.Contains(got, "\n") {
			t.Errorf("%q is answered\n     %s\nwant %d: … %s", text, got, line, want)
		}
	}
	// keys
	f(4, "# one\n[proxy]\n\nmax_bodi = \"1MB\"", "unknown key proxy.max_bodi; did you mean proxy.max_body?")
	f(1, "proxy = { max_bodi = 1 }", "did you mean proxy.max_body?")
	f(1, "max_body = \"1MB\"", "did you mean proxy.max_body?")
	f(1, "[upstream.mine]\nurl = \"http://mine\"", "did you mean upstreams.mine?")
	f(2, "[upstreams.mine]\nca_file = \"x\"", "did you mean upstreams.mine.tls.ca_file?")
	f(5, "[[routes]]\nmodel = \"a\"\nupstream = \"openai\"\n[[routes]]\nmodels = \"a\"", "did you mean routes.model?")
	f(1, "frobnicate = 1", "no key has a name like it; remove it")
	// kinds of values
	f(2, "[proxy]\nread_idle = 5", `write a number with its unit in quotes, as in "90s" or "64MB"`)
	f(2, "[proxy]\nread_idle = \"-5s\"", `cannot read duration "-5s": write a number with its unit`)
	f(2, "[proxy]\nmax_body = \"64\"", `cannot read size "64": write a whole number with its unit`)
	f(2, "[proxy]\nmax_connections = \"12\"", "write a whole number, without quotes")
	f(1, "listen = 7070", "write a text in quotes")
	f(2, "[console]\nhosts = \"a\"", `write a list such as ["one", "two"]`)
	f(2, "[rewrite]\ntext_only = \"x\"", "write true or false, without quotes")
	f(2, "[rewrite]\nrent = \"x\"", "write a number, as in 0.8, without quotes")
	f(2, "[window]\ndefault = 3.5", `write a number of tokens, as in 128000 or "128k"`)
	f(2, "[window.models]\ngpt-4.1 = \"32k\"", `a pattern with a dot needs quotes, as in "gpt-4.1"`)
	f(1, "proxy = 1", "write a table, under its name in [ ]")
	f(1, "routes = \"a\"", "write a list of tables, each under its name in [[ ]]")
	f(3, "\nmode = \"on\"\nmode = \"off\"", "key mode is already defined")
	f(1, "mode = on", "cannot read TOML")
	// values
	f(1, `mode = "On"`, `cannot use mode "On": write on, observe or off`)
	f(1, `scope = "all"`, `cannot use scope "all": write auto, credential, shared, or header:NAME`)
	f(1, `scope = "header:a b"`, "cannot use scope")
	f(1, `listen = "7070"`, "write host:port, as in 127.0.0.1:7070")
	f(1, `upstream = "opnai"`, `cannot use upstream "opnai": write one of anthropic, chatgpt, openai, or a base URL`)
	f(1, `upstream = "ftp://x"`, "ftp://x is neither http nor https")
	f(1, "upstream = \"http://x\"\n[upstreams.default]\nurl = \"http://y\"", "[upstreams.default] holds its name")
	f(2, "[proxy]\nmax_in_flight = \"1MB\"", "it must hold at least one body of proxy.max_body, 64MB")
	f(2, "[proxy]\nmax_connections = -1", "it must be greater than zero")
	f(3, "[proxy]\nshutdown_grace = \"1m\"\nread_idle = \"0s\"", "cannot use proxy.read_idle 0s")
	f(2, "[console]\ntoken = \"a b\"", "write letters, digits and signs, without spaces")
	f(2, "console.hosts = []\nconsole.token = \"${EPITOME_TEST_NONE}\"", "the environment variable EPITOME_TEST_NONE is not set or empty")
	f(4, "[console]\nhosts = [\n  \"a\",\n  \"b c\",\n]", "write a host name such as epitome.example.com, without a port")
	f(1, "[upstreams.Mine]\nurl = \"http://x\"", "write a-z, 0-9, dot, dash and underscore")
	f(1, "[upstreams.mine]", "write an absolute http or https URL")
	f(2, "[upstreams.mine]\nurl = \"http://x:65536\"", "its port is above 65535")
	f(2, "[upstreams.mine]\nurl = \"http://u:p@x\"", "it holds a user name or password")
	f(2, "[upstreams.mine]\nurl = \"http://x?key=k\"", "it has a query or a fragment")
	f(3, "[upstreams.mine]\nurl = \"http://x\"\nproject = \"a\\nb\"", "write a name of 1 to 200 characters on one line")
	f(3, "[upstreams.mine]\nurl = \"http://x\"\nbilling = \"flat\"", "write tokens, subscription, free")
	f(3, "[upstreams.mine]\nurl = \"https://mine\"\n[upstreams.mine.tls]\ncert_file = \"a\"", "cert_file and key_file belong together")
	f(3, "upstreams.mine.url = \"https://mine\"\n[upstreams.mine.tls]\nca_file = \"/no/such\"", "ca_file")
	f(2, "[upstreams.openai.headers]\nContent-Length = \"1\"", "epitome itself addresses and frames each request")
	f(2, "[upstreams.openai.headers]\nk = \"a\\nb\"", "its value holds a line break or NUL")
	f(2, "[upstreams.openai.headers]\n\"a b\" = \"x\"", "this is no header name")
	f(2, "[upstreams.openai.headers]\nk = \"${\"", `write "${NAME}" with the name of an environment variable`)
	f(4, "[[routes]]\nmodel = \"a\"\nupstream = \"openai\"\n[[routes]]\nupstream = \"openai\"", "cannot use route 2: its model is empty")
	f(3, "[[routes]]\nmodel = \"*\"\nupstream = \"opnai\"", `unknown upstream "opnai"`)
	f(1, "[prices.\"a*\"]\ninput = 1", "it has no output")
	f(2, "[rewrite]\npreset = \"bold\"", "write one of balanced, faithful, cautious, economy")
	f(3, "[rewrite]\ntext_only = true\nclear_at = 1.5", "write a share from 0.01 to 1")
	f(2, "[rewrite]\ncompact_at = nan", "write a share from 0.01 to 1")
	f(2, "[rewrite]\ncompact_at = 0.5", "compact_to must be below compact_at")
	f(2, "[rewrite]\ncached_price = 1.5", "write a price from 0 to 1")
	f(2, "[rewrite]\nrent = -1.0", "write a factor from 0 to 1000")
	f(2, "[rewrite]\nnewest_turns = -1", "write a whole number of turns from 0")
	f(2, "[rewrite]\noffload_tokens = 0", "write a whole number of tokens from 1")
	f(4, "[[rewrite.tools]]\ntool = \"a\"\nkeep = true\n[[rewrite.tools]]\ntool = \"b\"", "write a pattern as tool, and tokens above zero or keep = true")
	f(2, "[rewrite]\nbound_thinking = { \"\" = true }", "write a pattern such as claude-*")
	f(2, "[window]\ndefault = 8", "write at least 1024 tokens")
	f(3, "[window.models]\n\"gpt-4.1*\" = 8000\n\"gpt-*\" = 8", "at least 1024 tokens")
	f(2, "[summarize]\nmode = \"best\"", "write one of auto, llm, intent, hybrid, window, lossless")
	f(2, "[summarize]\nprepare = \"yes\"", "write auto, on or off")
	f(2, "[summarize]\nupstream = \"openai\"", "write summarize.model as well")
	f(3, "[summarize]\nmodel = \"m\"\nupstream = \"opnai\"", "write one of anthropic, chatgpt, openai")
	f(4, "[summarize]\nmodel = \"m\"\nupstream = \"openai\"\nkey_env = \"EPITOME_TEST_EMPTY\"", "write its name here, not the key")
	f(2, "[summarize]\nkey_env = \"EPITOME_TEST_KEY\"", "write summarize.upstream as well")
	f(2, "[memory]\nenabled = true", "write summarize.model as well")
	f(2, "[offload]\naddress = \"mail\"", "write path, url, both, tool, auto or none")
	f(2, "[offload]\nbucket = \"https://b\"", "write s3://BUCKET/PREFIX")
	f(2, "[offload]\nsecret_file = \"x\"", "cannot use offload.secret_file without offload.bucket")
	f(4, "[offload]\nquota = \"1GB\"\n[store]\nkeep = \"0s\"", "it must be greater than zero")
	f(2, "[store]\nurl = \"redis://a\"", "cannot use store.url without offload.folder")
	f(2, "[offload]\nfolder = \"/mnt/shared\"", "it is for epitomes that share a store")
	f(2, "[otel]\nendpoint = \"localhost:4318\"", "write an absolute http or https URL")
	f(2, "[clients.a]\nkeys = [\"sk-epitome-X\"]", "and not the key")
	f(1, "[clients.a]", "it has no keys; 'epitome key a' makes one")
	f(3, "[clients.a]\nkeys = [\""+proxy.HashOfKey("k")+"\"]\nupstreams = [\"none\"]", `unknown upstream "none"`)
	f(1, "[tls]\ncert_file = \"x\"", "write both or neither")
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
	f(Overrides{Upstream: "ftp://x"}, "", "--upstream: cannot use upstream: ftp://x is neither http nor https")
	f(Overrides{Listen: "127.0.0.1:7171", Upstream: "http://127.0.0.1:7171/v1"}, "", "--upstream: cannot use upstream default: its url")
}

func TestWhatIsSoundIsTaken(t *testing.T) {
	for _, text := range []string{
		`scope = "header:X-Team"`, "[upstreams.mine]\nurl = \"HTTPS://[::1]:8000\"",
		"[rewrite]\ncompact_at = 0.7\ncompact_to = 0.3\nclear_at = 0.7\ncached_price = 0\nrent = 0",
		"[[rewrite.tools]]\ntool = \"a\"\nkeep = true", "[memory]\nenabled = true\n[summarize]\nmodel = \"small\"",
		"[upstreams.openai.headers]\nx-key_1 = \"any value; \\\"quotes\\\" and $ and {}\"",
		"[clients.\"a.b\"]\nkeys = [\"" + proxy.HashOfKey("l") + "\"]\nupstreams = [\"openai\"]",
	} {
		if got := admission(t, text, Overrides{}); got != "" {
			t.Errorf("%q is refused: %s", text, got)
		}
	}
}
