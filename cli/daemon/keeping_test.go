package daemon

import (
	"bytes"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"epitome/config"
	"epitome/config/configtest"
	"epitome/internal/fakeapi"
	"epitome/rewrite"
	"epitome/rewrite/chat"
)

// startedIn starts an epitome over a folder that serves nobody; it logs to log. giveBack ends it.
func startedIn(t testing.TB, folder string, log io.Writer, changes ...func(*config.Config)) *Daemon {
	t.Helper()
	conf := config.Defaults(configtest.Text())
	conf.Listen, conf.Data = "127.0.0.1:0", folder
	for _, change := range changes {
		change(&conf)
	}
	if err := conf.Validate(); err != nil {
		t.Fatal(err)
	}
	d := New(slog.New(slog.NewTextHandler(log, nil)), nil, func() (config.Config, error) { return conf, nil })
	if err := d.Start(); err != nil {
		t.Fatal(err)
	}
	return d
}

func askedFor(calls int) rewrite.Input {
	limits := config.Defaults(configtest.Text()).Rewrite
	return rewrite.Input{Dialect: chat.Dialect{}, Body: fakeapi.Conversation(calls), Upstream: "up", Limits: &limits}
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
	k := startedIn(t, folder, io.Discard)
	defer k.giveBack()
	live := k.live.Shape(askedFor(1))
	if live.Report.Action != "offload" || len(artifactFiles(folder)) != 1 {
		t.Fatalf("%+v, artifacts %v", live.Report, artifactFiles(folder))
	}
	if seen := k.observer.Shape(askedFor(1)); !bytes.Equal(seen.Body, live.Body) || seen.Report.Decided {
		t.Errorf("the shadow would send something else: %+v", seen.Report)
	}
	first := k.observer.Shape(askedFor(2))
	if len(first.Changes()) != 2 || !first.Report.Decided || first.Report.Err != nil {
		t.Errorf("%+v", first.Report)
	}
	if again := k.observer.Shape(askedFor(2)); !bytes.Equal(again.Body, first.Body) {
		t.Error("the shadow forgets what it would have decided")
	}
	if n := len(artifactFiles(folder)); n != 1 {
		t.Errorf("the shadow has left %d artifacts", n-1)
	}
	if live := k.live.Shape(askedFor(2)); !live.Report.Decided {
		t.Errorf("what only the shadow saw is decided: %+v", live.Report)
	}
}

// What nobody wants any more goes when epitome starts.
func TestExpiredArtifactsAreSweptAtTheStart(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	k := startedIn(t, folder, io.Discard)
	k.live.Shape(askedFor(1))
	k.giveBack()
	old := time.Now().Add(-100 * 24 * time.Hour) // of the last renewal
	for _, name := range artifactFiles(folder) {
		if err := os.Chtimes(name, old, old); err != nil {
			t.Fatal(err)
		}
	}
	k = startedIn(t, folder, io.Discard)
	defer k.giveBack()
	if !fakeapi.Eventually(func() bool { return len(artifactFiles(folder)) == 0 }) {
		t.Errorf("still there: %v", artifactFiles(folder))
	}
}

func TestDecisionsOutliveTheProcess(t *testing.T) {
	folder := t.TempDir()
	k := startedIn(t, folder, io.Discard)
	before := k.live.Shape(askedFor(2))
	k.giveBack()
	k = startedIn(t, folder, io.Discard)
	defer k.giveBack()
	after := k.live.Shape(askedFor(2))
	if !bytes.Equal(before.Body, after.Body) || after.Report.Decided ||
		bytes.Equal(after.Body, fakeapi.Conversation(2)) {
		t.Errorf("before %+v\nafter %+v", before.Report, after.Report)
	}
	for _, c := range after.Changes() {
		for _, name := range c.Artifacts {
			if _, err := k.storage.shelf.Get(name); err != nil {
				t.Errorf("what was taken out is not kept: %v", err)
			}
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
		k := startedIn(t, folder, &log)
		k.giveBack()
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
}
