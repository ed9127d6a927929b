package daemon

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"epitome/config"
	"epitome/proxy"
)

func pin(t *testing.T, folder, listen string) *Card {
	t.Helper()
	c, err := Pin(folder, listen, false)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCardIsTheUsersAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such permissions")
	}
	folder := filepath.Join(t.TempDir(), "data")
	defer pin(t, folder, "127.0.0.1:7070").Unpin()
	for path, want := range map[string]os.FileMode{folder: 0o700, filepath.Join(folder, CardFile): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has the permissions %v, %v; want %v", path, info, err, want)
		}
	}
}

// The first epitome of a folder is the one that commands find; once it has ended, none is.
func TestCardOfTheFirstStays(t *testing.T) {
	folder := t.TempDir()
	first, second := pin(t, folder, "127.0.0.1:7070"), pin(t, folder, "127.0.0.1:7071")
	second.Unpin()
	if c, err := Read(folder); err != nil || !first.Admits(c.Token) || second.Admits(c.Token) {
		t.Fatalf("got %+v, %v; want the first's card", c, err)
	}
	first.Unpin()
	if c, err := Read(folder); err == nil {
		t.Fatalf("after its end there is %+v", c)
	}
}

// Whatever listens at the address of an epitome that was killed is asked nothing.
func TestDeadEpitomeIsNotAsked(t *testing.T) {
	there := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("it is sent %s with %v", r.URL, r.Header)
	}))
	defer there.Close()
	folder := t.TempDir()
	pin(t, folder, there.Listener.Addr().String()).lock.Close() // as the end of its process would
	if cards := RunningIn(folder); len(cards) > 0 {
		t.Errorf("found %+v", cards[0])
	}
	again := pin(t, folder, "127.0.0.1:7071")
	defer again.Unpin()
	if c, err := Read(folder); err != nil || c.Listen != "127.0.0.1:7071" {
		t.Errorf("after a restart got %+v, %v", c, err)
	}
}

func TestSettingsTellEpitomesApart(t *testing.T) {
	with := func(name, key string) config.Config {
		return config.Config{Upstreams: map[string]proxy.UpstreamConfig{name: {Headers: map[string]string{"Authorization": key}}}}
	}
	none := Settings(config.Config{})
	for what, conf := range map[string]config.Config{"its mode": {Mode: "off"}, "its place": {Listen: "x", Data: "x",
		Upstream: "x"},
		"an upstream of a run": with(RunUpstream+"openai", "x"), "an upstream of a flag": with(config.URLUpstream, "x")} {
		if Settings(conf) != none {
			t.Errorf("%s tells it apart", what)
		}
	}
	if Settings(with("u", "alice")) == Settings(with("u", "bob")) {
		t.Error("another credential does not tell it apart")
	}
	t.Setenv("HTTPS_PROXY", "http://p.example")
	if Settings(config.Config{}) == none {
		t.Error("a forward proxy does not tell it apart")
	}
}

func TestLeaseEndsWithTheLastUser(t *testing.T) {
	ended := func(l *Leases) bool {
		synctest.Wait()
		select {
		case <-l.Done():
			return true
		default:
			return false
		}
	}
	for _, leased := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			var l Leases
			l.Start(leased)
			time.Sleep(20 * time.Second)
			first, _ := l.Take()
			second, _ := l.Take()
			first()
			time.Sleep(time.Hour)
			if ended(&l) {
				t.Fatal("it ends while one uses it")
			}
			second()
			time.Sleep(time.Second)
			third, ok := l.Take()
			if !ok {
				t.Fatal("a run that follows closely is refused")
			}
			third()
			time.Sleep(3 * time.Second)
			if _, taken := l.Take(); ended(&l) != leased || taken == leased {
				t.Errorf("leased %t: it has ended: %t, takes users: %t", leased, ended(&l), taken)
			}
		})
	}
}

func TestNobodyComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Leases
		l.Start(true)
		time.Sleep(31 * time.Second)
		<-l.Done()
	})
}
