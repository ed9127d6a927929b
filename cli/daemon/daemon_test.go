package daemon

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"epitome/config"
	"epitome/config/configtest"
	"epitome/internal/fakeapi"
	"epitome/proxy"
)

// What serve refuses because of its configuration, check refuses in the same words, with the port and the folder
// untouched.
func TestCheckRefusesWhatServeRefuses(t *testing.T) {
	folder := t.TempDir()
	f := func(want, text string, over config.Overrides) {
		t.Helper()
		if over.Data == "" {
			over.Data = folder
		}
		conf, err := config.Load(configtest.Text(), fileWith(t, text), over)
		if err != nil {
			t.Fatal(err)
		}
		_, checked := conf.Admit()
		d := &Daemon{log: slog.New(slog.DiscardHandler), load: func() (config.Config, error) { return conf, nil }}
		served := d.Start()
		for end := time.Now().Add(fakeapi.Patience); portTaken(served) &&
			time.Now().Before(end); served = d.Start() {
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
	local := config.Overrides{Listen: "127.0.0.1:" + port}
	f("<nil>", "", local)
	f("<nil>", "", config.Overrides{Listen: "127.0.0.1:0"})
	f("ca_file", "upstreams.mine.url = \"https://mine\"\nupstreams.mine.tls.ca_file = \"/no/such\"", local)
	f("ca_file", "upstreams.mine.url = \"https://mine\"\nupstreams.mine.tls.ca_file = '"+fileWith(t, "")+"'", local)
	f("cert_file", "[upstreams.mine]\nurl = \"https://mine\"\ntls = {cert_file = \"/no/such\", key_file = \"/no/such\"}", local)

	// What is taken by another one is not touched.
	if ln, err := net.Listen("tcp", local.Listen); err == nil {
		defer func() { _ = ln.Close() }()
	} else if !portTaken(err) {
		t.Fatal(err)
	}
	c := config.Config{Listen: local.Listen, Data: filepath.Join(folder, "new")}
	c.Upstream, c.Upstreams = "up", map[string]proxy.UpstreamConfig{"up": {URL: "http://example.com"}}
	if _, err := c.Admit(); err != nil {
		t.Errorf("with its port taken: %v", err)
	}
	if names, _ := filepath.Glob(filepath.Join(folder, "new")); len(names) > 0 {
		t.Error("the data folder was made")
	}
}

// fileWith is the path of a new file.
func fileWith(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
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
