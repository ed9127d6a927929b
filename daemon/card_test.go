package daemon

import (
	"path/filepath"
	"testing"

	"epitome/config"
	"epitome/internal/fakeapi"
)

// The first epitome of a folder is the one that commands find; once it has ended, none is.
func TestCardOfTheFirstStays(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	pin := func(listen string) *Card {
		t.Helper()
		c, err := Pin(folder, listen, false)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	first, second := pin("127.0.0.1:7070"), pin("127.0.0.1:7071")
	second.Unpin()
	if c, err := Read(folder); err != nil || c.Token != first.Token || c.Token == second.Token {
		t.Fatalf("got %+v, %v; want the first's card", c, err)
	}
	first.Unpin()
	if c, err := Read(folder); err == nil {
		t.Fatalf("after its end there is %+v", c)
	}
}

// Commands trust an epitome that speaks TLS by its card, which proves more than a certificate would.
func TestCommandsFindAnEpitomeThatSpeaksTLS(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	cert, key := filepath.Join(folder, "c.pem"), filepath.Join(folder, "k.pem")
	fakeapi.Issue(t, "epitome.test", cert, key)
	p := run(t, filepath.Join(folder, "data"), "http://127.0.0.1:1", func(c *config.Config) {
		c.TLS.CertFile, c.TLS.KeyFile = cert, key
	})
	card, err := Read(filepath.Join(folder, "data"))
	if err != nil {
		t.Fatal(err)
	}
	if err := card.Get("/-/ready", &struct{}{}); err != nil || card.URL() != "https://"+p.Address() {
		t.Errorf("the pages are at %s: %v", card.URL(), err)
	}
	p.wantLog(`"address":"https://` + p.Address() + `"`)
}
