package config

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"epitome/internal/unit"
	"epitome/proxy"
	"epitome/proxy/certificatetest"
)

// A listener that strangers reach spends no credential for them, unless that is written.
func TestOpenListenersAreRefused(t *testing.T) {
	t.Setenv("TEST_KEY", "k")
	f := func(address, text, want string) {
		t.Helper()
		err := checkOpen(load(t, text), address)
		var at *unit.KeyError
		refused := errors.As(err, &at) && strings.Contains(err.Error(), want)
		if (err != nil) != (want != "") || err != nil && !refused {
			t.Errorf("%s with %q: %v, want %q", address, text, err, want)
		}
	}
	header := "[upstreams.openai]\nheaders = { Authorization = \"Bearer x\" }\n"
	const beyond = "0.0.0.0:7070"
	for _, address := range []string{"127.0.0.1:7070", "[::1]:7070", "127.1.2.3:1"} {
		f(address, header, "")
	}
	for _, address := range []string{beyond, "[::]:7070", "192.168.0.1:7070"} {
		f(address, "", "")
		f(address, header, "cannot listen on "+address+": whoever reaches it could spend what upstreams.openai.headers.Authorization adds; "+
			"give clients keys of their own in [clients], or write open = true")
	}
	f(beyond, "open = true\n"+header, "")
	f(beyond, header+"[clients.a]\nkeys = [\""+proxy.HashOfKey("k")+"\"]", "")
	f(beyond, "[upstreams.openai]\nheaders = { Authorization = \"\" }\n", "") // which only takes off
	f(beyond, "[upstreams.openai.tls]\ncert_file = \"a\"\nkey_file = \"b\"\n", "upstreams.openai.tls.cert_file")
	f(beyond, "[summarize]\nkey_env = \"TEST_KEY\"\nupstream = \"openai\"\nmodel = \"m\"\n", "summarize.key_env")
}

// Agents elsewhere find nothing under an address of this machine.
func TestABucketNeedsAnAddressThatAgentsReach(t *testing.T) {
	f := func(address, text, want string) {
		t.Helper()
		err := load(t, text).CheckAt(address)
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s with %q: %v, want %q", address, text, err, want)
		}
	}
	bucket := "[offload]\naddress = \"url\"\nbucket = \"s3://b/p?region=r\"\n"
	f("127.0.0.1:7070", bucket, "")
	f("0.0.0.0:7070", "", "")
	f("0.0.0.0:7070", strings.Replace(bucket, "\"url\"", "\"none\"", 1), "")
	f("0.0.0.0:7070", bucket, "cannot use offload.bucket on 0.0.0.0:7070 without offload.url: agents elsewhere would be told")
	f("0.0.0.0:7070", bucket+"url = \"https://epitome.example.com/-/artifacts/\"\n", "")
}

// check and serve agree: both look at it.
func TestAdmissionLooksAtWhoMayCome(t *testing.T) {
	c := load(t, "listen = \"0.0.0.0:0\"\n[upstreams.openai]\nheaders = { Authorization = \"Bearer x\" }\n")
	c.Data = t.TempDir()
	if _, err := c.Admit(); err == nil || !strings.Contains(err.Error(), "open = true") {
		t.Errorf("an open listener: %v", err)
	}
	c = load(t, "[tls]\ncert_file = \"/absent\"\nkey_file = \"/absent\"\n")
	c.Data, c.Listen = t.TempDir(), "127.0.0.1:0"
	if _, err := c.Admit(); err == nil || !strings.Contains(err.Error(), "cannot load tls.cert_file") {
		t.Errorf("an absent certificate: %v", err)
	}
	c.TLS.CertFile, c.TLS.KeyFile = filepath.Join(c.Data, "c"), filepath.Join(c.Data, "k")
	certificatetest.Issue(t, c.TLS.CertFile, c.TLS.KeyFile, "x")
	if _, err := c.Admit(); err != nil {
		t.Error(err)
	}
}

func TestHashesOfKeysAreNotShown(t *testing.T) {
	for _, v := range load(t, "[clients.alice]\nkeys = [\""+proxy.HashOfKey("k")+"\"]\ntokens_per_minute = 5").List() {
		if strings.Contains(v.Text, "sha256") || strings.HasPrefix(v.Key, "clients.alice.keys") && !v.Secret ||
			v.Key == "clients.alice.tokens_per_minute" && v.Text != "5" {
			t.Errorf("%+v", v)
		}
	}
}
