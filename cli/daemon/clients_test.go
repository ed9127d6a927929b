package daemon

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"epitome/config"
	"epitome/config/configtest"
	"epitome/internal/fakeapi"
	"epitome/proxy"
	"epitome/proxy/certificatetest"
)

// The keys of alice, of whom one is new, and of bob; and the credential that the configuration adds.
const (
	aliceKey    = "sk-epitome-ALICE"
	aliceNewKey = "sk-epitome-ALICENEW"
	bobKey      = "sk-epitome-BOB"
	teamsKey    = "sk-planted-of-the-team"
)

// teamsProvider keeps what it got.
type teamsProvider struct {
	mu     sync.Mutex
	keys   []string
	bodies []string
}

func (h *teamsProvider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	h.mu.Lock()
	h.keys, h.bodies = append(h.keys, r.Header.Get("Authorization")+r.Header.Get("x-api-key")), append(h.bodies, string(body))
	h.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}]}`)
}

// team is an epitome for alice and bob that speaks TLS.
func team(t *testing.T, folder string, upstream string) (*kept, *http.Client) {
	t.Helper()
	cert, key := filepath.Join(t.TempDir(), "c.pem"), filepath.Join(t.TempDir(), "k.pem")
	trust := certificatetest.Issue(t, cert, key, "epitome.test")
	conf, err := config.Load(configtest.Text(), fileWith(t, "upstream = \"p\"\n"+
		"[window]\nprobe = false\n[upstreams.p]\nurl = \""+upstream+"\"\n"+ // what the provider gets is the clients' alone
		"headers = { Authorization = \"Bearer "+teamsKey+"\" }\n[tls]\ncert_file = \""+cert+"\"\nkey_file = \""+key+"\"\n"+
		"[clients.alice]\nkeys = [\""+proxy.HashOfKey(aliceKey)+"\", \""+proxy.HashOfKey(aliceNewKey)+"\"]\n"+
		"[clients.bob]\nkeys = [\""+proxy.HashOfKey(bobKey)+"\"]\n"),
		config.Overrides{Listen: "127.0.0.1:0", Data: folder})
	if err != nil {
		t.Fatal(err)
	}
	k, err := serve(conf)
	if err != nil {
		t.Fatal(err)
	}
	return k, trusting(trust)
}

func trusting(trust *x509.CertPool) *http.Client {
	once := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trust}, DisableKeepAlives: true}
	return &http.Client{Transport: once}
}

// TestNothingCrossesBetweenKeys: of two clients that say the same to the same upstream, none is told a name, a
// conversation or a byte of what the other one's requests left; a new key of one of them is told its own.
func TestNothingCrossesBetweenKeys(t *testing.T) {
	var p teamsProvider
	up := httptest.NewServer(&p)
	defer up.Close()
	folder := filepath.Join(t.TempDir(), "data")
	k, client := team(t, folder, up.URL)
	ask := func(key, body string) (conversation, sent string) {
		t.Helper()
		req, err := http.NewRequest(http.MethodPost, "https://"+k.Address()+"/v1/chat/completions", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+key)
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != 200 {
			t.Fatalf("the client with %s gets %s", key, resp.Status)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		return resp.Header.Get("x-epitome-conversation"), p.bodies[len(p.bodies)-1]
	}
	name := regexp.MustCompile(`\b[a-z2-7]{26}\b`)
	names := func(sent string) []string { return name.FindAllString(sent, -1) }
	same := string(fakeapi.Conversation(3))
	alices, sentByAlice := ask(aliceKey, same)
	bobs, sentByBob := ask(bobKey, same)
	again, sentAgain := ask(aliceNewKey, same)
	if alices == "" || alices == bobs || again != alices || sentAgain != sentByAlice {
		t.Errorf("conversations of alice %s, of bob %s, of alice with a new key %s", alices, bobs, again)
	}
	hers, his := names(sentByAlice), names(sentByBob)
	shared := slices.ContainsFunc(his, func(n string) bool { return slices.Contains(hers, n) })
	if len(hers) == 0 || len(his) == 0 || shared {
		t.Errorf("alice is told %v, bob %v", hers, his)
	}
	secret := strings.Replace(same, "Look at the tables.", "Look at the planted word of alice.", 1)
	ask(aliceKey, secret)
	if _, sent := ask(bobKey, strings.Replace(same, `"model":"m"`, `"model":"m","seed":1`, 1)); strings.Contains(sent, "planted") {
		t.Error("bob's request holds a word of alice's")
	}
	for _, got := range p.keys {
		if got != "Bearer "+teamsKey {
			t.Errorf("the provider got the credential %q", got)
		}
	}
	k.end(t)
	if found := filesWith(t, folder, aliceKey, bobKey, aliceNewKey, teamsKey); len(found) > 0 {
		t.Errorf("keys lie in %v", found)
	}
	log := k.log.text()
	for _, text := range []string{"sk-epitome", teamsKey} {
		if strings.Contains(log, text) {
			t.Errorf("the log has %q: %s", text, log)
		}
	}
	if !strings.Contains(log, `"client":"alice"`) || len(filesWith(t, filepath.Join(folder, EventFolder), `"client":"bob"`)) == 0 {
		t.Error("neither log nor events name the clients")
	}
}

// TestCommandsFindAnEpitomeThatSpeaksTLS: by its card, which proves more than a certificate would. A command that is
// run gets another one: it has no key of this one.
func TestCommandsFindAnEpitomeThatSpeaksTLS(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "data")
	k, _ := team(t, folder, "http://127.0.0.1:1")
	defer k.end(t)
	card, err := Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := card.State(); err != nil {
		t.Error(err)
	}
	if err := card.Get("/-/ready", &struct{}{}); err != nil {
		t.Error(err)
	}
	if got := card.URL(); got != "https://"+k.Address() {
		t.Errorf("the pages are at %s", got)
	}
	if text := k.log.text(); !strings.Contains(text, `"address":"https://`+k.Address()+`"`) {
		t.Errorf("the log says %s", text)
	}
}

// TestOpenListenersDoNotStart: nor does a reload open one.
func TestOpenListenersDoNotStart(t *testing.T) {
	text := "upstream = \"p\"\n[upstreams.p]\nurl = \"http://127.0.0.1:1\"\n"
	load := func(text string) config.Config {
		t.Helper()
		conf, err := config.Load(configtest.Text(), fileWith(t, text), config.Overrides{Listen: "0.0.0.0:0", Data: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		return conf
	}
	adds := load(text + "headers = { Authorization = \"Bearer x\" }\n")
	var log bytes.Buffer
	d := New(slog.New(slog.NewTextHandler(&log, nil)), nil, func() (config.Config, error) { return adds, nil })
	if err := d.Start(); err == nil || !strings.Contains(err.Error(), "open = true") {
		t.Errorf("it starts: %v", err)
	}
	now := load(text)
	d = New(slog.New(slog.NewTextHandler(&log, nil)), nil, func() (config.Config, error) { return now, nil })
	if err := d.Start(); err != nil {
		t.Fatal(err)
	}
	defer d.giveBack()
	now = adds
	d.reload()
	if !strings.Contains(log.String(), "the old one stays in force") || d.config.Load().Upstreams["p"].Headers != nil {
		t.Errorf("the log says %s", log.String())
	}
}
