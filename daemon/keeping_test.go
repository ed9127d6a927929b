package daemon

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"epitome/config"
	"epitome/dialect/chat"
	"epitome/event"
	"epitome/internal/fakeapi"
	"epitome/internal/unit"
	"epitome/proxy"
	"epitome/rewrite"
	"epitome/rewrite/ledger"
	"epitome/service"
)

// shape shapes a conversation with so many large results.
func shape(s *rewrite.Shaper, calls int) rewrite.Output {
	conf := defaults()
	return s.Shape(rewrite.Input{Dialect: chat.Dialect{}, Body: fakeapi.Conversation(calls), Upstream: "up",
		Limits:  &conf.Rewrite,
		Summary: conf.Summarize})
}

// artifactFiles are the artifacts in a data folder.
func artifactFiles(folder string) []string {
	found, _ := filepath.Glob(filepath.Join(folder, ArtifactFolder, "*.txt"))
	return found
}

// Another version's decisions are not used, which the log says once. The first versions marked nothing.
func TestAnotherVersionsDecisionsAreTold(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	p := run(t, folder, "http://127.0.0.1:1")
	for _, mark := range []string{"chain 4", "unmarked"} {
		standing, err := p.service.Store.Swap("format", []byte(ledger.Format), []byte(mark), century)
		if mark == "unmarked" {
			err = errors.Join(err, p.service.Store.Delete("format"))
		}
		if err != nil || string(standing) != mark {
			t.Fatal(string(standing), err)
		}
		for starts := range 2 {
			p.stop()
			p = run(t, folder, "http://127.0.0.1:1")
			p.wantLog(`"msg":"listening"`)
			if told := strings.Contains(p.log.String(), `"was":"`+mark); told != (starts == 0) {
				t.Errorf("start %d, %s: it is told: %v", starts, mark, told)
			}
		}
	}
}

func TestShadowSeesWhatIsLiveAndWritesNothing(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	p := run(t, folder, "http://127.0.0.1:1")
	live := shape(p.service.Live, 1)
	if live.Report.Action != "offload" || len(artifactFiles(folder)) != 1 {
		t.Fatalf("%+v, artifacts %v", live.Report, artifactFiles(folder))
	}
	if seen := shape(p.observer, 1); !bytes.Equal(seen.Body, live.Body) || seen.Report.Decided {
		t.Errorf("the shadow would send something else: %+v", seen.Report)
	}
	first := shape(p.observer, 2)
	if len(first.Changes()) != 2 || !first.Report.Decided || first.Report.Err != nil {
		t.Errorf("%+v", first.Report)
	}
	if again := shape(p.observer, 2); !bytes.Equal(again.Body, first.Body) {
		t.Error("the shadow forgets what it would have decided")
	}
	if n := len(artifactFiles(folder)); n != 1 {
		t.Errorf("the shadow has left %d artifacts", n-1)
	}
	if live := shape(p.service.Live, 2); !live.Report.Decided {
		t.Errorf("what only the shadow saw is decided: %+v", live.Report)
	}
}

// Promise 5.
func TestDecisionsOutliveTheProcess(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	p := run(t, folder, "http://127.0.0.1:1")
	before := shape(p.service.Live, 2)
	p.stop()
	p = run(t, folder, "http://127.0.0.1:1")
	after := shape(p.service.Live, 2)
	if !bytes.Equal(before.Body, after.Body) || after.Report.Decided ||
		bytes.Equal(after.Body, fakeapi.Conversation(2)) {
		t.Errorf("before %+v\nafter %+v", before.Report, after.Report)
	}
	for _, c := range after.Changes() {
		for _, name := range c.Artifacts {
			if _, err := p.service.Shelf.Get(name); err != nil {
				t.Errorf("what was taken out is not kept: %v", err)
			}
		}
	}
	p.stop()
	old := time.Now().Add(-100 * 24 * time.Hour) // of the last renewal
	for _, name := range artifactFiles(folder) {
		if err := os.Chtimes(name, old, old); err != nil {
			t.Fatal(err)
		}
	}
	run(t, folder, "http://127.0.0.1:1")
	if !fakeapi.Eventually(func() bool { return len(artifactFiles(folder)) == 0 }) {
		t.Errorf("expired, and still there: %v", artifactFiles(folder))
	}
}

// Words of clients and providers, each said once.
const (
	plantedKey    = "sk-planted-credential"
	plantedQuery  = "planted-query-key"
	plantedAnswer = "planted words of the model"
	plantedError  = "planted words of a refusal"
	plantedResult = "of table_1: value" // of fakeapi.Conversation
)

// talkative answers with words, or refuses with words, by the header that the client sends.
func talkative(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch r.Header.Get("x-play") {
	case "refuse":
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":{"message":"` + plantedError + `","type":"invalid_request_error"}}`))
	case "break":
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte("data: {\"error\":{\"message\":\"" + plantedError + "\"}}\n\n"))
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	default:
		_, _ = w.Write([]byte(`{"choices":[{"message":{"role":"assistant","content":"` + plantedAnswer + `"}}]}`))
	}
}

// Of exchanges, figures are kept beside decisions and artifacts, and no words; and nobody else may look into the data
// folder, whoever has made it, with whatever rights.
func TestNothingThatWasSaidLiesAround(t *testing.T) {
	t.Parallel()
	up := httptest.NewServer(http.HandlerFunc(talkative))
	defer up.Close()
	folder := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(folder, 0o755); err != nil { // as who names a folder of their own with --data has made it
		t.Fatal(err)
	}
	p := run(t, folder, up.URL)
	for _, play := range []string{"answer", "refuse", "break", "answer"} {
		post(t, p.url+"/v1/chat/completions?key="+plantedQuery, string(fakeapi.Conversation(2)),
			"Authorization: Bearer "+plantedKey, "x-play: "+play)
	}
	wantPrivate(t, folder)
	p.stop()
	wantPrivate(t, folder) // with the newest requests
	said := []string{plantedKey, plantedQuery, plantedAnswer, plantedError, plantedResult, "table_1"}
	for _, text := range said {
		if strings.Contains(p.log.String(), text) {
			t.Errorf("the log has %q", text)
		}
	}
	const title = "Look at the tables." // words of the user that the events have for the owner
	if strings.Contains(p.log.String(), title) {
		t.Error("the log has the words of the user")
	}
	events := filepath.Join(folder, EventFolder)
	if found := filesWith(t, events, said...); len(found) > 0 {
		t.Errorf("among the events: %v", found)
	}
	if len(filesWith(t, events, `"status":400`)) == 0 || len(filesWith(t, events, title)) == 0 || !strings.Contains(p.log.String(), `"status":400`) ||
		len(filesWith(t, filepath.Join(folder, ArtifactFolder), plantedResult)) == 0 ||
		len(filesWith(t, filepath.Join(folder, RequestFolder), plantedResult)) == 0 ||
		len(filesWith(t, filepath.Join(folder, StoreFolder), "omitted. Full output: ")) == 0 {
		t.Error("exchanges, artifacts, requests or edits lie nowhere: the test sees nothing")
	}
	if found := filesWith(t, folder, said[:4]...); len(found) > 0 {
		t.Errorf("on the disk: %v", found)
	}
}

// The record of earlier runs may be large. While it is read, requests are served, and commands find the epitome.
func TestStartWaitsForNoEvents(t *testing.T) {
	t.Parallel()
	up := httptest.NewServer(http.HandlerFunc(talkative))
	defer up.Close()
	folder := t.TempDir()
	record := filepath.Join(folder, EventFolder, time.Now().UTC().Add(-24*time.Hour).Format("2006-01-02T15.jsonl"))
	if err := os.Mkdir(filepath.Dir(record), 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mkfifo", record).CombinedOutput(); err != nil {
		fakeapi.Skip(t, "there are no pipes here: %v, %s", err, out)
	}
	events, err := os.OpenFile(record, os.O_RDWR, 0) // it ends when it is closed
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = events.Close() })
	p := run(t, folder, up.URL)
	card, err := Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	p.read("/-/ready")
	p.chat(string(fakeapi.Conversation(1)))
	if s, err := card.State(); err != nil || !s.Loading || s.Mode != event.ModeOn || len(s.Newest) != 0 {
		t.Errorf("while the record is read, the state is %+v, %v", s, err)
	}
	_ = events.Close()
	var s service.State
	if !fakeapi.Eventually(func() bool { s, err = card.State(); return err == nil && len(s.Newest) == 1 }) {
		t.Errorf("after that, the state is %+v, %v", s, err)
	}
}

// While the turns of a conversation go on, its newest request is written only if others may soon drive it out of memory,
// where max_recent are kept; at the end of the process it is written in any case.
func TestMaxRecentAndRequestsThatOutliveTheProcess(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		task      int // bytes
		recent    unit.Bytes
		meanwhile int // requests that are written while the turns go on
	}{{"small", 20, 24 << 20, 0}, {"large", 13 << 20, 24 << 20, 1}, {"large, with room", 13 << 20, 64 << 20, 0}} {
		conf := defaults()
		p := run(t, t.TempDir(), "http://127.0.0.1:1", func(conf *config.Config) { conf.MaxRecent = c.recent })
		now, task := time.Now(), []byte(strings.Repeat("Look at ", c.task/8))
		p.service.Live.Shape(rewrite.Input{Dialect: chat.Dialect{}, Upstream: "up", Limits: &conf.Rewrite, Now: now,
			Body: bytes.Replace(fakeapi.Conversation(2), []byte("Look at the tables"), task, 1)})
		p.service.KeepRequests(now.Add(-time.Second))
		if written, _ := os.ReadDir(p.service.Requests); len(written) != c.meanwhile {
			t.Errorf("%s: %d requests are written, want %d", c.name, len(written), c.meanwhile)
		}
		p.stop()
		if written, _ := os.ReadDir(p.service.Requests); len(written) != 1 {
			t.Errorf("%s: at the end %d requests are written, want 1", c.name, len(written))
		}
	}
}

// The newest requests of all conversations together stay within their quota: the oldest go.
func TestRequestsStayWithinTheirQuota(t *testing.T) {
	t.Parallel()
	p := run(t, t.TempDir(), "http://127.0.0.1:1", func(c *config.Config) { c.Store.Requests = 50 << 10 }) // two of them
	conf := defaults()
	for n := range 5 {
		title := fmt.Sprint("Look at book ", n)
		p.service.Live.Shape(rewrite.Input{Dialect: chat.Dialect{}, Upstream: "up", Limits: &conf.Rewrite,
			Body: bytes.Replace(fakeapi.Conversation(2), []byte("Look at the tables"), []byte(title), 1)})
		if kept := p.service.KeptRequests(); len(kept) != min(n+1, 2) {
			t.Errorf("after %d conversations %d are kept", n+1, len(kept))
		}
	}
}

// wantPrivate fails the test if somebody else may read something in the folder.
func wantPrivate(t *testing.T, folder string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		return // it has other permissions
	}
	open, all := fakeapi.OpenToOthers(folder, StoreFolder)
	if open = slices.DeleteFunc(open, func(path string) bool { return path == folder }); len(open) > 0 || all < 7 {
		t.Errorf("of %d files and folders others may look into %q", all, open)
	}
}

// filesWith are the files in the folder that hold one of the texts, compressed or not; of a store, its folder.
func filesWith(t *testing.T, folder string, texts ...string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		var content []byte
		switch {
		case err != nil:
			return err
		case e.Name() == StoreFolder:
			content, err = storedIn(path), fs.SkipDir
		case e.IsDir():
			return nil
		default:
			content, err = os.ReadFile(path)
		}
		if unpack, failed := gzip.NewReader(bytes.NewReader(content)); failed == nil {
			content, err = io.ReadAll(unpack)
		}
		for _, text := range texts {
			if bytes.Contains(content, []byte(text)) {
				found = append(found, filepath.Base(path)+" has "+text)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// storedIn returns all that the files of a store hold, whose blocks are compressed.
func storedIn(folder string) (content []byte) {
	db, err := badger.OpenManaged(badger.DefaultOptions(folder).WithLogger(nil))
	if err != nil {
		panic(err)
	}
	defer func() { _ = db.Close() }()
	all := db.NewTransactionAt(math.MaxUint64, false).NewIterator(badger.IteratorOptions{AllVersions: true})
	defer all.Close()
	for all.Rewind(); all.Valid(); all.Next() {
		content = append(content, all.Item().Key()...)
		value, err := all.Item().ValueCopy(nil)
		if err != nil {
			panic(err)
		}
		content = append(content, value...)
	}
	return content
}

// Promise 7: of two clients that say the same to the same upstream, none gets a name, a conversation or a byte of what
// the other one's requests left; a new key of one of them gets its own. Both are named in log and events, without keys.
func TestNothingCrossesBetweenKeys(t *testing.T) {
	t.Parallel()
	const alice, aliceNew, bob, teams = "sk-epitome-ALICE", "sk-epitome-ALICENEW", "sk-epitome-BOB",
		"sk-planted-of-the-team"
	provider := fakeapi.StartProvider(t, fakeapi.Options{})
	folder := filepath.Join(t.TempDir(), "data")
	p := run(t, folder, provider.URL, func(c *config.Config) {
		c.Upstreams["up"] = proxy.UpstreamConfig{URL: provider.URL, Headers: map[string]string{"Authorization": "Bearer " +
			teams}}
		c.Clients = map[string]proxy.ClientConfig{"bob": {Keys: []string{proxy.HashOfKey(bob)}},
			"alice": {Keys: []string{proxy.HashOfKey(alice), proxy.HashOfKey(aliceNew)}}}
	})
	ask := func(key, body string) (conversation, sent string, artifacts []string) {
		t.Helper()
		resp, _ := p.chat(body, "Authorization: Bearer "+key)
		sent = provider.Last()
		return resp.Header.Get("x-epitome-conversation"), sent,
			regexp.MustCompile(`\b[a-z2-7]{26}\b`).FindAllString(sent, -1)
	}
	same := string(fakeapi.Conversation(3))
	alices, sentByAlice, hers := ask(alice, same)
	bobs, _, his := ask(bob, same)
	again, sentAgain, _ := ask(aliceNew, same)
	if alices == "" || alices == bobs || again != alices || sentAgain != sentByAlice {
		t.Errorf("conversations of alice %s, of bob %s, of alice with a new key %s", alices, bobs, again)
	}
	shared := slices.ContainsFunc(his, func(n string) bool { return slices.Contains(hers, n) })
	if len(hers) == 0 || len(his) == 0 || shared {
		t.Errorf("alice gets the artifacts %v, bob %v", hers, his)
	}
	ask(alice, strings.Replace(same, "Look at the tables.", "Look at the planted word of alice.", 1))
	if _, sent, _ := ask(bob, strings.Replace(same, `"model":"m"`, `"model":"m","seed":1`, 1)); strings.Contains(sent,
		"planted") {
		t.Error("bob's request holds a word of alice's")
	}
	for _, x := range provider.Exchanges() {
		if got := x.Header.Get("Authorization"); got != "Bearer "+teams {
			t.Errorf("the provider got the credential %q", got)
		}
	}
	p.stop()
	if found := filesWith(t, folder, alice, bob, aliceNew, teams); len(found) > 0 {
		t.Errorf("keys lie in %v", found)
	}
	if !strings.Contains(p.log.String(), `"client":"alice"`) ||
		len(filesWith(t, filepath.Join(folder, EventFolder), `"client":"bob"`)) == 0 {
		t.Error("neither log nor events name the clients")
	}
}
