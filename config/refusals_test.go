package config

import (
	"strings"
	"testing"
)

// Files with one flaw each, and what the refusal says of it. It has one line.
func TestRefusals(t *testing.T) {
	t.Setenv("EPITOME_TEST_EMPTY", " \n")
	for text, want := range map[string]string{
		// keys
		"# one\n[proxy]\n\nmax_bodi = \"1MB\"": "config.toml:4: unknown key proxy.max_bodi; did you mean proxy.max_body?",
		"proxy = { max_bodi = 1 }":             "config.toml:1: unknown key max_bodi; did you mean proxy.max_body?",
		"max_body = \"1MB\"":                   "did you mean proxy.max_body?",
		"upstream.mine.url = \"http://mine\"":  "config.toml:1: upstream.mine",
		"[upstreams.mine]\nca_file = \"x\"":    "config.toml:2: unknown key upstreams.mine.ca_file; did you mean upstreams.mine.tls.ca_file?",
		"[[routes]]\nmodels = \"a\"":           "did you mean routes.model?",
		"frobnicate = 1":                       "config.toml:1: unknown key frobnicate",
		"mode = \"on\"\nmode = \"off\"":        "config.toml:2: ",
		"mode = on":                            "config.toml:1: ",
		"listen = 7070":                        "config.toml:1: listen must not be a TOML integer",
		"[proxy]\nmax_connections = \"12\"":    "config.toml:2: proxy.max_connections must not be a TOML string",
		"[proxy]\nread_idle = 5":               `cannot read duration "5 without quotes": write a number with its unit`,
		"[proxy]\nread_idle = \"-5s\"":         `cannot read duration "-5s"`,
		"[proxy]\nmax_body = \"64\"":           `cannot read size "64"`,
		"[window]\ndefault = 3.5":              `cannot read tokens "3.5"`,
		"[window.models]\ngpt-4.1 = \"32k\"":   "config.toml:2: window.models.gpt-4",
		// values
		`mode = "On"`:          `mode must be on, observe or off, not "On"`,
		`scope = "header:a b"`: "scope must be",
		`listen = "7070"`:      "listen must be host:port",
		`upstream = "opnai"`:   `upstream must be one of anthropic, chatgpt, openai, or a base URL`,
		`upstream = "ftp://x"`: "upstreams.default.url: must be an http or https URL",
		"upstream = \"http://x\"\n[upstreams.default]\nurl = \"http://y\"":                    "a table [upstreams.default]",
		"[proxy]\nmax_in_flight = \"1MB\"":                                                    "at least proxy.max_body, 64MB",
		"[proxy]\nmax_connections = -1":                                                       "proxy.max_connections must be greater than zero",
		"[proxy]\nread_idle = \"0s\"":                                                         "proxy.read_idle must be greater than zero",
		"[console]\ntoken = \"a b\"":                                                          "console.token",
		"console.token = \"${EPITOME_TEST_NONE}\"":                                            "console.token needs the environment variable EPITOME_TEST_NONE",
		"[console]\nhosts = [\"b c\"]":                                                        "console.hosts",
		"[upstreams.Mine]\nurl = \"http://x\"":                                                "upstreams.Mine: ",
		"[upstreams.mine]":                                                                    "upstreams.mine.url: must be",
		"[upstreams.mine]\nurl = \"http://x:65536\"":                                          "a port above 65535",
		"[upstreams.mine]\nurl = \"http://u:p@x\"":                                            "a user name or password",
		"[upstreams.mine]\nurl = \"http://x?key=k\"":                                          "without a query",
		"[upstreams.openai]\nproject = \"a\\nb\"":                                             "upstreams.openai.project: ",
		"[upstreams.openai]\nbilling = \"flat\"":                                              "upstreams.openai.billing must be",
		"[upstreams.openai.tls]\ncert_file = \"a\"":                                           "both cert_file and key_file",
		"[upstreams.openai.tls]\nca_file = \"/no/such\"":                                      "ca_file",
		"[upstreams.openai.headers]\nContent-Length = \"1\"":                                  "cannot be set",
		"[upstreams.openai.headers]\n\"a b\" = \"x\"":                                         "is no header name",
		"[upstreams.openai.headers]\nk = \"${\"":                                              `has a "${" without "}"`,
		"[[routes]]\nupstream = \"openai\"":                                                   "route 1 needs a model",
		"[[routes]]\nmodel = \"*\"\nupstream = \"opnai\"":                                     `not "opnai"`,
		"[prices.\"a*\"]\ninput = 1":                                                          `prices."a*": needs input and output`,
		"[rewrite]\npreset = \"bold\"":                                                        "one of balanced, faithful, cautious, economy",
		"[rewrite]\nclear_at = 1.5":                                                           "clear_at",
		"[rewrite]\ncompact_at = 0.5":                                                         "compact_to",
		"[window]\ndefault = 8":                                                               "window.default must be at least 1024 tokens",
		"[window.models]\n\"gpt-*\" = 8":                                                      `window.models."gpt-*"`,
		"[summarize]\nmode = \"best\"":                                                        "write one of auto, llm",
		"[summarize]\nupstream = \"openai\"":                                                  "summarize.model",
		"[summarize]\nmodel = \"m\"\nupstream = \"opnai\"":                                    `not "opnai"`,
		"[summarize]\nmodel = \"m\"\nupstream = \"openai\"\nkey_env = \"EPITOME_TEST_EMPTY\"": "summarize.key_env",
		"[memory]\nenabled = true":                                                            "memory.enabled needs summarize.model",
		"[offload]\naddress = \"mail\"":                                                       "offload.address must be path, url, both, tool, auto or none",
		"[offload]\nbucket = \"https://b\"":                                                   "s3://BUCKET/PREFIX",
		"[offload]\nsecret_file = \"x\"":                                                      "offload.secret_file needs offload.bucket",
		"[store]\nkeep = \"0s\"":                                                              "store.keep must be greater than zero",
		"[store]\nurl = \"redis://a\"":                                                        "store.url needs a bucket, or the absolute path of a shared folder",
		"[offload]\nfolder = \"/mnt/shared\"":                                                 "offload.folder needs store.url",
		"[otel]\nendpoint = \"localhost:4318\"":                                               "otel.endpoint must be an http or https URL",
		"[log]\nlevel = \"loud\"":                                                             "unknown name",
		"[clients.a]":                                                                         "clients.a has no keys; 'epitome key a' makes one",
		"[tls]\ncert_file = \"x\"":                                                            "both cert_file and key_file",
	} {
		got := refusal(t, text, Overrides{})
		if !strings.Contains(got, want) || strings.Contains(got, "\n") {
			t.Errorf("%q is answered\n     %s\nwant %s", text, got, want)
		}
	}
}

func TestAllMistakesAreToldAtOnce(t *testing.T) {
	got := refusal(t, "mod = 1\n[proxy]\nmax_bodi = 1\n", Overrides{})
	if want := "config.toml:1: unknown key mod; did you mean mode?\nconfig.toml:3: unknown key proxy.max_bodi; did you mean proxy.max_body?"; got != want {
		t.Errorf("unknown keys: %q", got)
	}
	got = refusal(t, "mode = \"x\"\nlisten = \"y\"\n", Overrides{})
	if !strings.Contains(got, "mode must be") || !strings.Contains(got, "listen must be") {
		t.Errorf("wrong values: %q", got)
	}
}
