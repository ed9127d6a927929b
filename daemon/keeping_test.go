package daemon

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"epitome/config"
	"epitome/config/configtest"
	"epitome/instance"
	"epitome/proxy"
	"epitome/rewrite"
	"epitome/rewrite/chat"
	"epitome/rewrite/decision"
	"epitome/scripted/scriptedtest"
	"epitome/store/memory"
	"epitome/window"
)

// keptIn opens what is kept in the folder; log hears of it.
func keptIn(t *testing.T, folder string, log io.Writer) *shapers {
	t.Helper()
	conf := config.Defaults(configtest.Text())
	s, err := openStorage(conf, folder, "127.0.0.1:7070", slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	return newShapers(conf, s)
}

func askedFor(calls int) rewrite.Input {
	limits := config.Defaults(configtest.Text()).Rewrite
	return rewrite.Input{Dialect: chat.Dialect{}, Body: scriptedtest.Conversation(calls), Upstream: "up", Limits: &limits}
}

// artifactFiles are the artifacts in a data folder.
func artifactFiles(folder string) []string {
	found, err := filepath.Glob(filepath.Join(folder, ArtifactFolder, "*.txt"))
	if err != nil {
		panic(err)
	}
	return found
}

func TestShadowSeesWhatIsLiveAndWritesNothing(t *testing.T) {
	folder := t.TempDir()
	k := keptIn(t, folder, io.Discard)
	defer k.close()
	live := k.live.Shape(askedFor(1))
	if live.Report.Action != rewrite.ActionOffload || len(artifactFiles(folder)) != 1 {
		t.Fatalf("%+v, artifacts %v", live.Report, artifactFiles(folder))
	}
	if seen := k.shadow.Shape(askedFor(1)); !bytes.Equal(seen.Body, live.Body) || seen.Report.Decided {
		t.Errorf("the shadow would send something else: %+v", seen.Report)
	}
	first := k.shadow.Shape(askedFor(2))
	if first.Report.Repeated != 1 || len(first.Report.Changes) != 1 || first.Report.Err != nil {
		t.Errorf("%+v", first.Report)
	}
	if again := k.shadow.Shape(askedFor(2)); !bytes.Equal(again.Body, first.Body) {
		t.Error("the shadow forgets what it would have decided")
	}
	if n := len(artifactFiles(folder)); n != 1 {
		t.Errorf("the shadow has left %d artifacts", n-1)
	}
	if live := k.live.Shape(askedFor(2)); !live.Report.Decided {
		t.Errorf("what only the shadow saw is decided: %+v", live.Report)
	}
}

func TestShadowLedgerLeavesWhatIsLive(t *testing.T) {
	live := newLedger(memory.New(1<<20, time.Now), time.Hour)
	_, version, err := live.Add("live", []byte("one"))
	if err != nil {
		t.Fatal(err)
	}
	s := shadowed(rewrite.Deps{Ledger: live}, time.Hour).Ledger
	want := func(g decision.Ledger, key, value string) {
		t.Helper()
		if got, _, _ := g.Get(key); string(got) != value {
			t.Errorf("%s is %q, want %q", key, got, value)
		}
	}
	if standing, _, err := s.Add("live", []byte("two")); string(standing) != "one" || err != nil {
		t.Errorf("got %q %v", standing, err)
	}
	if standing, _, swapped, err := s.Swap("live", version, []byte("two")); string(standing) != "two" || !swapped ||
		err != nil {
		t.Errorf("got %q %v %v", standing, swapped, err)
	}
	if _, _, err := s.Add("new", []byte("three")); err != nil {
		t.Error(err)
	}
	standing, newer, err := s.Add("live", []byte("other"))
	if string(standing) != "two" || err != nil {
		t.Errorf("after the swap there stands %q, %v", standing, err)
	}
	if standing, _, swapped, err := s.Swap("live", newer+1, []byte("four")); swapped || string(standing) != "two" ||
		err != nil {
		t.Errorf("swapped in the place of another version: %q %v %v", standing, swapped, err)
	}
	if standing, _, swapped, err := s.Swap("live", newer, []byte("four")); !swapped || string(standing) != "four" ||
		err != nil {
		t.Errorf("got %q %v %v", standing, swapped, err)
	}
	want(s, "live", "four")
	want(live, "live", "one")
	want(live, "new", "")
	want(s, "new", "three")
	if s.Touch("live") {
		t.Error("the shadow touches what is live")
	}
}

// What nobody wants any more goes when epitome starts.
func TestExpiredArtifactsAreSweptAtTheStart(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	k := keptIn(t, folder, io.Discard)
	k.live.Shape(askedFor(1))
	k.close()
	old := time.Now().Add(-time.Hour) // the modification time is when it may go
	for _, name := range artifactFiles(folder) {
		if err := os.Chtimes(name, old, old); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.RemoveAll(filepath.Join(folder, StoreFolder)); err != nil { // else they are as live as their metadata
		t.Fatal(err)
	}
	k = keptIn(t, folder, io.Discard)
	defer k.close()
	if !scriptedtest.Eventually(func() bool { return len(artifactFiles(folder)) == 0 }) {
		t.Errorf("still there: %v", artifactFiles(folder))
	}
}

func TestDecisionsOutliveTheProcess(t *testing.T) {
	folder := t.TempDir()
	k := keptIn(t, folder, io.Discard)
	before := k.live.Shape(askedFor(2))
	k.close()
	k = keptIn(t, folder, io.Discard)
	defer k.close()
	after := k.live.Shape(askedFor(2))
	if !bytes.Equal(before.Body, after.Body) || after.Report.Decided ||
		bytes.Equal(after.Body, scriptedtest.Conversation(2)) {
		t.Errorf("before %+v\nafter %+v", before.Report, after.Report)
	}
	came, err := chat.Read(scriptedtest.Conversation(2))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range after.StandingChanges(came) {
		if _, err := k.storage.shelf.Get(c.Artifact); err != nil {
			t.Errorf("what was taken out is not kept: %v", err)
		}
	}
}

func TestWhatIsInMemoryIsSaid(t *testing.T) {
	f := func(broken string, says ...string) {
		t.Helper()
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, broken), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		k := keptIn(t, folder, &log)
		k.close()
		if !k.storage.passing {
			t.Errorf("with a broken %s it counts as lasting", broken)
		}
		for _, s := range says {
			if !strings.Contains(log.String(), s) {
				t.Errorf("with a broken %s the log does not say %q: %s", broken, s, &log)
			}
		}
	}
	f(StoreFolder, "decisions are kept in memory until epitome ends")
	f(ArtifactFolder, "what is taken out of conversations is kept in memory until epitome ends")
}

// A start that fails late must give everything back: the store could not be opened again otherwise.
func TestFailedStartGivesEverythingBack(t *testing.T) {
	f := func(name string, start func(d *Daemon, conf config.Config, folder string) error) {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			conf := config.Defaults(configtest.Text())
			conf.Listen, conf.Data = "127.0.0.1:0", folder
			d := &Daemon{log: slog.New(slog.DiscardHandler), load: func() (config.Config, error) { return conf, nil }}
			if err := start(d, conf, folder); err == nil {
				t.Fatal("it started")
			}
			if _, err := instance.Read(folder); err == nil {
				t.Error("its card is still there")
			}
			if _, err := d.ln.Accept(); !errors.Is(err, net.ErrClosed) {
				t.Errorf("its listener says %v", err)
			}
			k := keptIn(t, folder, io.Discard)
			defer k.close()
			if k.storage.passing {
				t.Error("the store is still held")
			}
		})
	}
	f("a folder that takes no card", func(d *Daemon, _ config.Config, folder string) error {
		if err := os.MkdirAll(filepath.Join(folder, instance.CardFile, "taken"), 0o700); err != nil {
			t.Fatal(err)
		}
		return d.Start(false)
	})
	f("a certificate that has gone since it was looked at", func(d *Daemon, conf config.Config, folder string) (err error) {
		if d.ln, err = config.Listen(conf.Listen); err != nil {
			t.Fatal(err)
		}
		u := conf.Upstreams["openai"]
		u.TLS.CAFile = filepath.Join(folder, "absent.pem")
		conf.Upstreams["openai"] = u
		err = d.open(conf, folder, false)
		d.giveBack()
		return err
	})
}

func TestScopesOfDifferentKindsDiffer(t *testing.T) {
	k := keptIn(t, t.TempDir(), io.Discard)
	defer k.close()
	scope := k.plug(proxy.Plugs{}).Scope
	if a, b := scope("credential", "x"), scope("header:team", "x"); a == b || strings.Contains(a, "x ") ||
		a != scope("credential", "x") {
		t.Errorf("got %q and %q", a, b)
	}
}

func TestWhatWasLearnedOfWindowsOutlivesTheProcess(t *testing.T) {
	folder := t.TempDir()
	k := keptIn(t, folder, io.Discard)
	sent := window.Sent{Tokens: 40_000, Window: 128_000}
	if _, ok := k.windows.LearnRefusal("up", "nobody", window.Refusal{Cause: window.Input, Limit: 32_768}, sent); !ok {
		t.Error("a stated window is not learned")
	}
	want := func(k *shapers) {
		t.Helper()
		if got := k.windows.Of("up", "nobody"); got != (window.Window{Tokens: 32_768, Source: window.Learned}) {
			t.Errorf("the window is %v", got)
		}
	}
	want(k)
	k.close()
	k = keptIn(t, folder, io.Discard)
	defer k.close()
	want(k)
	k.windows.Configure(config.Defaults(configtest.Text()).Window) // as a reload does
	want(k)
}
