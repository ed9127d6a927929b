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
	"epitome/event/eventtest"
	"epitome/internal/fakeapi/scriptedtest"
	"epitome/rewrite"
	"epitome/rewrite/chat"
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
	return newShapers(conf, s, upstreamsOf(conf), eventtest.Discard{})
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
	k := keptIn(t, folder, io.Discard)
	k.live.Shape(askedFor(1))
	k.close()
	old := time.Now().Add(-100 * 24 * time.Hour) // of the last renewal
	for _, name := range artifactFiles(folder) {
		if err := os.Chtimes(name, old, old); err != nil {
			t.Fatal(err)
		}
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
	k.windows.Configure(config.Defaults(configtest.Text()).Window, nil) // as a reload does
	want(k)
}
