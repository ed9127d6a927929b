package daemon

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"epitome/config"
	"epitome/dialect"
	"epitome/event"
	"epitome/internal/fakeapi"
	"epitome/rewrite"
)

// replica is one of several epitomes that share facts and artifacts.
func replica(t *testing.T, redis string, change func(*config.Config)) *program {
	t.Helper()
	return run(t, t.TempDir(), "http://127.0.0.1:1", func(c *config.Config) {
		c.Window.Default, c.Summarize.Mode = 32_000, "intent"
		if redis != "" {
			c.Store.URL = redis + "?read_timeout=3s&write_timeout=3s&dial_timeout=3s" // on a busy machine
		}
		change(c)
	})
}

// sharing has replicas put artifacts into one folder.
func sharing(folder string) func(*config.Config) {
	return func(c *config.Config) { c.Offload.Folder = folder }
}

// session is one of an agent that reads and runs things, in one dialect, on a clock.
type session struct {
	api   string
	dice  *rand.Rand
	items []string
	now   time.Time
}

// newSession begins later than any moment at which a busy machine keeps the server from answering. What was noted
// before such a gap is not trusted.
func newSession(api string, seed uint64) *session {
	s := &session{api: api, dice: rand.New(rand.NewPCG(seed, 7)), now: time.Date(2099, 11, 1, 9, 0, 0, 0, time.UTC)}
	s.items = append(s.items, fmt.Sprintf(`{"role":"user","content":"Task %d: find out why the build fails."}`, seed))
	return s
}

// turn adds a call with its result, mostly short, now and then long, and now and then what the user says.
func (s *session) turn() {
	n, lines := len(s.items), 5+s.dice.IntN(60)
	if s.dice.IntN(5) == 0 {
		lines = 600 + s.dice.IntN(900)
	}
	result := ""
	for i := range lines {
		result += fmt.Sprintf(`%d: value %x of alpha\n`, i, s.dice.Uint32())
	}
	s.items = append(s.items, calling(s.api, fmt.Sprint("call_", n), fmt.Sprintf("cat src/file%d.go",
		s.dice.IntN(40)), result)...)
	if s.dice.IntN(3) == 0 {
		s.items = append(s.items, `{"role":"assistant","content":"I go on."}`,
			fmt.Sprintf(`{"role":"user","content":"Now step %d."}`, n))
	}
	if s.now = s.now.Add(time.Minute); n%40 > 37 {
		s.now = s.now.Add(time.Hour)
	}
}

// calling are the items of a call of the shell and its result. Both are texts within quotes.
func calling(api, id, command, result string) []string {
	switch api {
	case "messages":
		return []string{`{"role":"assistant","content":[{"type":"tool_use","id":"` + id +
			`","name":"bash","input":{"command":"` +
			command + `"}}]}`, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + id +
			`","content":"` + result + `"}]}`}
	case "responses":
		return []string{`{"type":"function_call","call_id":"` + id + `","name":"bash","arguments":"{\"command\":\"` +
			command + `\"}"}`,
			`{"type":"function_call_output","call_id":"` + id + `","output":"` + result + `"}`}
	}
	return []string{`{"role":"assistant","content":null,"tool_calls":[{"id":"` + id +
		`","type":"function","function":{"name":"bash",` +
		`"arguments":"{\"command\":\"` + command + `\"}"}}]}`, `{"role":"tool","tool_call_id":"` + id +
		`","content":"` + result + `"}`}
}

// sends shapes the session's next request.
func (p *program) sends(s *session) rewrite.Output {
	list := map[string]string{"chat": "messages", "messages": "messages", "responses": "input"}[s.api]
	body := fmt.Sprintf(`{"model":"some-model","%s":[%s]}`, list, strings.Join(s.items, ","))
	if s.api == "messages" {
		body = strings.Replace(body, `"messages"`, `"max_tokens":1000,"messages"`, 1)
	}
	d, err := dialect.Of(s.api, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	return p.service.Live.Shape(rewrite.Input{Dialect: d, Body: []byte(body), Upstream: "openai", Limits: &p.started.Rewrite,
		Summary: p.started.Summarize, Now: s.now})
}

// wantAlike expects that replicas, each in its turn, send a session as one process does alone.
func wantAlike(t *testing.T, one *program, api string, replicas ...*program) {
	t.Helper()
	s, decided := newSession(api, uint64(len(replicas))), 0
	for i := range 40 {
		s.turn()
		want, got := one.sends(s), replicas[i%len(replicas)].sends(s)
		if got.Report.Err != nil || want.Report.Err != nil {
			t.Fatal(i, got.Report.Err, want.Report.Err)
		}
		if !bytes.Equal(want.Body, got.Body) {
			t.Fatalf("%s, turn %d: %d bytes are sent, one process sends %d; %+v and %+v", api, i, len(got.Body),
				len(want.Body),
				got.Changes(), want.Changes())
		}
		if got.Report.Decided {
			decided++
		}
	}
	if decided < 3 {
		t.Errorf("%d decisions in all", decided)
	}
}

// Promise 5: replicas over Redis, with artifacts in a folder or in a bucket of S3, send the bytes of one process.
func TestReplicasSendWhatOneProcessSends(t *testing.T) {
	server := fakeapi.StartRedis(t)
	bucket, _ := s3(t)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte(strings.Repeat("5e", 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	inBucket := func(c *config.Config) {
		c.Offload.Bucket, c.Offload.Secret, c.Offload.URL = bucket, secret, "http://epitome.team:7070"
	}
	for _, api := range []string{"chat", "messages", "responses"} {
		server.Flush()
		folder := t.TempDir()
		one := replica(t, "", func(c *config.Config) { c.Data = folder })
		share := sharing(folder)
		wantAlike(t, one, api, replica(t, server.URL(), share), replica(t, server.URL(), share),
			replica(t, server.URL(), share))
	}
	server.Flush()
	wantAlike(t, replica(t, "", inBucket), "chat", replica(t, server.URL(), inBucket),
		replica(t, server.URL(), inBucket))
}

// Promise 7: a transcript may be that of a fork that another replica serves, so find searches nothing that came after it.
// Each replica finds it, by as few calls of the store however many other conversations there are.
func TestFindInASharedStoreEndsAtTheTranscript(t *testing.T) {
	server, folder := fakeapi.StartRedis(t), t.TempDir()
	a, p, provider := chatter(t, func(c *config.Config) {
		c.Store.URL = server.URL() + "?read_timeout=3s&write_timeout=3s&dial_timeout=3s"
		c.Offload.Folder = folder
	})
	provider.untilCompacted()
	_, summaryEnd, _ := strings.Cut(provider.last(), "[end of summary")
	transcript := regexp.MustCompile(`[a-z2-7]{26}`).FindString(summaryEnd)
	a.lines = 3_000
	a.work(2)
	p.awaitEvents(a.turns)
	other := replica(t, server.URL(), sharing(folder))
	p.others(1000)
	commands := func() (n int) {
		stats, _ := server.Client.Info(t.Context(), "stats").Result()
		_, stats, _ = strings.Cut(stats, "total_commands_processed:")
		_, _ = fmt.Sscan(stats, &n)
		return n
	}
	before := commands()
	for _, p := range []*program{p, other} {
		edits, err := p.service.EditsWith(t.Context(), nil, transcript)
		if n := len(edits); err != nil || n == 0 || edits[n-1].Artifact != transcript {
			t.Errorf("%d edits, %v", n, err)
		}
	}
	if n := commands() - before; n <= 0 || n > 200 {
		t.Errorf("%d commands", n)
	}
}

// others records requests of other conversations.
func (p *program) others(n int) {
	for i := range n {
		e := event.Exchange{Start: time.Now().Add(time.Minute), Status: 200}
		e.Conversation, e.Decision = strconv.Itoa(i), fmt.Sprintf("p%d/other", i)
		p.book.RecordExchange(&e)
	}
	p.book.Settle()
}

// s3 is a service with a bucket that can be made to fail with a status.
func s3(t *testing.T) (address string, fails *atomic.Int32) {
	fails = new(atomic.Int32)
	return fakeapi.StartS3(t, func(w http.ResponseWriter, _ *http.Request) bool {
		status := int(fails.Load())
		if status > 0 {
			w.WriteHeader(status)
		}
		return status > 0
	}), fails
}

// Artifacts lie in the bucket, where another epitome finds them. While it is away, conversations go on as they came, no
// text names what was not put, and users can see why.
func TestArtifactsLieInTheBucket(t *testing.T) {
	provider := fakeapi.StartProvider(t, fakeapi.Options{})
	at, fails := s3(t)
	inBucket := func(c *config.Config) { c.Offload.Bucket = at }
	one, other := run(t, t.TempDir(), provider.URL, inBucket), run(t, t.TempDir(), provider.URL, inBucket)
	send := func(body string) string {
		one.chat(body)
		return provider.Last()
	}
	body := string(fakeapi.Conversation(2))
	sent := send(body)
	name := regexp.MustCompile(`/-/artifacts/([a-z2-7]{26})`).FindStringSubmatch(sent)
	if name == nil {
		t.Fatalf("no text names an artifact: %.300s", sent)
	}
	if got := other.read(name[0]); !strings.Contains(got, plantedResult) {
		t.Errorf("the other one has %.100q", got)
	}
	if metrics := one.read("/-/metrics"); strings.Contains(metrics, "\nepitome_artifact_") {
		t.Error("the metrics tell bytes and a quota, which a bucket has not")
	}
	fails.Store(http.StatusServiceUnavailable)
	fresh := strings.Replace(body, "Look at the tables.", "Look at other tables.", 1)
	for k := range 5 { // some find out
		fresh = strings.Replace(fresh, "table_1: value", "table_1: other", 1+k)
		if got := send(fresh); got != fresh {
			t.Errorf("while the bucket is away %.300s is sent", got)
		}
	}
	if got := strings.TrimSpace(one.read("/-/ready")); got != `{"bucket":"away","status":"ready"}` {
		t.Errorf("while the bucket is away it is ready so: %s", got)
	}
	if one.service.Keeps() {
		t.Error("artifacts are said to be kept")
	}
	if again := send(body); again != sent {
		t.Errorf("a known conversation is sent as %.300s", again)
	}
	t.Run("secret_file", func(t *testing.T) {
		_, err := launch(t, t.TempDir(), provider.URL, inBucket)
		if err == nil || !strings.Contains(err.Error(), "offload.secret_file") {
			t.Errorf("without the secret it starts: %v", err)
		}
	})
	if n := strings.Count(one.log.String(), "the bucket of artifacts does not answer: nothing"); n != 1 {
		t.Errorf("the log says it %d times: %s", n, one.log)
	}
	// A bucket that takes nothing, as without the right to write, is seen from the start on.
	fails.Store(http.StatusForbidden)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte(strings.Repeat("5e", 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	refused := run(t, t.TempDir(), provider.URL, inBucket, func(c *config.Config) { c.Offload.Secret = secret })
	if !fakeapi.Eventually(func() bool { return refused.parts()["bucket"] == "refuses" }) {
		t.Errorf("the bucket is %v", refused.parts())
	}
}

// A client has its own conversation searched, which is among the newest, and not each one of which the store knows. An
// agent may call the tool while the answer that calls it goes on.
func TestFindOutlivesOtherConversations(t *testing.T) {
	var p *program
	own, name := http.Header{"Authorization": {"Bearer key"}}, ""
	provider := fakeapi.StartProvider(t, fakeapi.Options{Answer: func(e fakeapi.Exchange) []fakeapi.Part {
		name = regexp.MustCompile(`[a-z2-7]{26}`).FindString(string(e.Body))
		if edits, err := p.service.EditsWith(t.Context(), own, name); len(edits) == 0 || err != nil {
			t.Errorf("under way, %d edits, %v", len(edits), err)
		}
		return []fakeapi.Part{fakeapi.Text("I see.")}
	}})
	p = run(t, t.TempDir(), provider.URL)
	p.chat(string(fakeapi.Conversation(1)), "Authorization: Bearer key")
	p.awaitEvents(1)
	if edits, err := p.service.EditsWith(t.Context(), own, name); len(edits) == 0 || err != nil {
		t.Errorf("%d edits, %v", len(edits), err)
	}
	p.others(1000)
	if edits, err := p.service.EditsWith(t.Context(), own, name); len(edits) == 0 || err != nil {
		t.Errorf("after others, %d edits, %v", len(edits), err)
	}
}
