package rewrite_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidwall/gjson"
	"pgregory.net/rapid"

	"epitome/dialect/chat"
	"epitome/dialect/conversation"
	"epitome/dialect/messages"
	"epitome/dialect/responses"
	"epitome/event"
	"epitome/inject"
	"epitome/internal/unit"
	"epitome/offload"
	"epitome/rewrite"
	"epitome/rewrite/ladder"
	"epitome/rewrite/ledger"
	"epitome/rewrite/view"
	"epitome/store"
	"epitome/summarize"
	"epitome/tokenize"
)

func TestMain(m *testing.M) {
	_ = flag.Set("rapid.checks", "6") // unless the command line says otherwise; make nightly plays more
	os.Exit(m.Run())
}

// keep is how long decisions are kept.
const keep = 30 * 24 * time.Hour

var (
	memo     = sync.OnceValue(func() *tokenize.Memo { return tokenize.NewMemo(1 << 16) })
	dialects = map[string]conversation.Dialect{"chat": chat.Dialect{}, "messages": messages.Dialect{},
		"responses": responses.Dialect{}}
)

// storage is what processes share and leave behind: a store for decisions and a shelf for artifacts. Writes fail by
// luck.
type storage struct {
	store.Store
	now time.Time

	mu        sync.Mutex
	luck      func() bool // nil: all writes succeed
	full      bool        // it takes only artifacts that cannot wait
	artifacts map[string]string
}

func newStorage() *storage {
	return &storage{Store: store.NewMemory(1 << 30), artifacts: map[string]string{},
		now: time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)}
}

func (s *storage) write() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.luck != nil && !s.luck() {
		return errors.New("the disk fails")
	}
	return nil
}

func (s *storage) Swap(key string, old, value []byte, keep time.Duration) ([]byte, error) {
	if err := s.write(); err != nil {
		return nil, err
	}
	return s.Store.Swap(key, old, value, keep)
}

func (s *storage) artifact(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.artifacts[name]
}

// has reports whether an artifact has a text.
func (s *storage) has(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	hasText := func(content string) bool { return strings.Contains(content, text) }
	return slices.ContainsFunc(slices.Collect(maps.Values(s.artifacts)), hasText)
}

// lose deletes all artifacts behind the back of all processes.
func (s *storage) lose() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.artifacts)
}

// shelf is the storage as a shelf.
type shelf struct{ *storage }

func (shelf) Name(scope string, content []byte) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s%s", len(scope), scope, content))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:])[:26])
}

func (shelf) Address(name string) string { return "http://127.0.0.1:7070/-/artifacts/" + name }

func (shelf) Full() bool { return false }

func (s shelf) Touch(name string) bool { return s.artifact(name) != "" }

// literal is a string in JSON.
var literal = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// Put keeps a content, and the strings in it if it is JSON, and what these say if they are JSON strings themselves.
func (s shelf) Put(name string, content []byte, urgent bool) error {
	if s.full && !urgent {
		return errors.New("the shelf is full")
	}
	if err := s.write(); err != nil {
		return err
	}
	if s.Touch(name) {
		return nil
	}
	var text strings.Builder
	text.Write(content)
	if bytes.IndexAny(content, `[{"`) == 0 {
		for _, l := range literal.FindAllString(string(content), -1) {
			says := gjson.Parse(l).Str
			text.WriteString("\x00" + says + "\x00" + gjson.Parse(says).Str)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.artifacts[name] = text.String()
	return nil
}

// artifactNames returns what may be names of artifacts in a text.
func artifactNames(text string) []string {
	words := strings.FieldsFunc(text, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '2' || r > '7') })
	return slices.DeleteFunc(words, func(word string) bool { return !offload.IsName(word) })
}

type request struct {
	name    string // of the API
	api     api
	body    []byte
	scope   string
	window  int
	limits  ladder.Limits
	folder  string // that the agent is told; mostly none
	refused int    // tokens that the provider takes at most, as it has refused the request; 0: it has not
	now     time.Time
}

type response struct {
	body   []byte
	action string
	broke  bool  // it was decided now to send earlier messages in another form than before
	err    error // only what was decided before was sent, if anything
	faults error // of steps that were left out: the others were decided

	conversation string // its ID
}

// process is a Shaper over a storage that outlives it.
type process struct {
	*rewrite.Shaper
	window *atomic.Int64
	known  map[string]*conversation.Request // by scope, the request before
}

func start(s *storage) process {
	p := process{window: &atomic.Int64{}, known: map[string]*conversation.Request{}}
	p.Shaper = rewrite.NewShaper(rewrite.Deps{
		Ledger: ledger.New(s, keep), Shelf: shelf{s},
		Memo: memo(), Keep: keep, Inject: &inject.Injector{Shelf: shelf{s}},
		Window: func(_, _ string, maxOutput int) (int, int) {
			window := int(p.window.Load())
			return window, window - min(max(maxOutput, min(8192, window/8)), window/4)
		},
	})
	return p
}

func (p process) shape(r request) response {
	p.window.Store(int64(r.window))
	in := rewrite.Input{Dialect: dialects[r.name], Body: r.body, Scope: r.scope, Upstream: "up", Limits: &r.limits,
		Runtime: r.folder, Now: r.now}
	if r.refused > 0 {
		in.Rescue = &rewrite.Rescue{Most: r.refused, From: ladder.StageClear}
	}
	out := p.Shape(in)
	if out.Settle != nil && !out.Settle() {
		out.Report.Err = errors.New("the rescue is not recorded")
	}
	report := out.Report
	return response{out.Body, report.Action, report.Broke, report.Err, report.Faults, report.Conversation}
}

// readsAlike holds that a request reads the same with and without the one before it.
func (p process) readsAlike(t rapid.TB, r request) {
	got, err := conversation.Read(dialects[r.name], r.body, p.known[r.scope])
	want, wantErr := conversation.Read(dialects[r.name], r.body, nil)
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("read with the request before: %v; without: %v", err, wantErr)
	}
	if err != nil {
		return
	}
	if !reflect.DeepEqual(got.Chain(), want.Chain()) || !reflect.DeepEqual(got.Items, want.Items) ||
		got.Head != want.Head {
		t.Fatalf("a request differs when it is read with the one before: %+v, %+v", got, want)
	}
	p.known[r.scope] = want
}

// play is some conversations, and what may happen to them.
type play struct {
	*rapid.T
	process
	replica process // over the same storage
	judge   *judge
	name    string // of the API
	talks   []*talk
	window  int
	limits  ladder.Limits
}

func newPlay(t *rapid.T, name string) *play {
	t.Helper()
	s := newStorage()
	p := &play{T: t, process: start(s), replica: start(s), judge: newJudge(t, s), name: name}
	p.configure()
	return p
}

// draw returns a number below n.
func (p *play) draw(name string, n int) int { return rapid.IntRange(0, n-1).Draw(p.T, name) }

func (p *play) seed() uint64 { return rapid.Uint64().Draw(p.T, "seed") }

// configure draws a window and limits that are so low that short conversations are shaped too.
func (p *play) configure() {
	one := func(name string, of ...int) int { return rapid.SampledFrom(of).Draw(p.T, name) }
	p.window = one("window", 3000, 8000, 20_000, 100_000)
	l := defaultLimits()
	l.Floor, l.ClearAtLeast, l.OffloadShare = 100, 50, 1
	l.Offload, l.OffloadKeep = one("offload", 100, 300, 1500), one("keep", 20, 200)
	l.Lookups, l.OffloadReads = l.Offload, 2*l.Offload
	l.Replayed, l.Stale = one("replayed", 0, 0, 100), one("stale", 0, 0, 100)
	l.ClearAt, l.Target = ladder.Line(one("clear at", 30, 80))/100, float64(one("compact to", 20, 50))/100
	l.KeepTail, l.Protect, l.Groups = one("tail", 0, 600, 20_000), one("protect", 0, 300, 2000),
		one("groups", 0, 1, 2, 5)
	options := map[string]func(n int){
		"compact_turns":       func(n int) { l.Answers = n },
		"exclude_names":       func(int) { l.Excluded = []string{"bot", "grep"} },
		"keep":                func(int) { l.ToolLimits = []ladder.Limit{{Tool: "grep", Keep: true}} },
		"keep_turns":          func(n int) { l.KeepTurns = n },
		"newest_messages":     func(n int) { l.Messages = 4 * n },
		"newest_tool_results": func(n int) { l.Pairs = n },
		"newest_turns":        func(n int) { l.Turns = n },
		"text_only":           func(int) { l.TextOnly = true },
		"window":              func(n int) { p.window = 500 * n * n },
	}
	for range one("options", 0, 0, 1, 2, 3) {
		options[rapid.SampledFrom(slices.Sorted(maps.Keys(options))).Draw(p.T, "option")](1 + p.draw("n", 9))
	}
	p.limits = l
	p.judge.filters = p.judge.filters || !l.Off()
}

// defaultLimits are those of the default configuration.
func defaultLimits() ladder.Limits {
	l := ladder.Usual()
	l.ClearAt, l.CompactAt, l.Target, l.KeepTail = .8, .9, .5, 20_000
	l.CacheLife = unit.Duration(5 * time.Minute)
	if err := l.SetPreset("balanced"); err != nil {
		panic(err)
	}
	return l
}

func (p *play) request(c *talk) request {
	p.judge.storage.now = p.judge.storage.now.Add(time.Second)
	return request{name: p.name, api: c.api, body: c.body(), scope: c.scope, window: p.window, limits: p.limits,
		folder: c.folder, now: p.judge.storage.now}
}

func (p *play) ask(r request) response {
	p.T.Helper()
	p.readsAlike(p.T, r)
	s := p.shape(r)
	p.judge.check(r, s)
	return s
}

// step is something that happens to a conversation, or to all of them.
func (p *play) step(c *talk) {
	p.T.Helper()
	storage := p.judge.storage
	switch rapid.SampledFrom([]string{"grow", "grow", "grow", "grow", "grow", "grow", "grow", "grow", "restart",
		"restart", "replica", "replica", "configure", "fork", "twin", "at once", "model", "clock", "prompt", "mode", "tools",
		"pause", "lose", "fail", "refuse"}).Draw(p.T, "what") {
	case "restart":
		p.ask(p.request(c))
		p.configure()
		if p.draw("restarts", 2) == 1 {
			p.process = start(storage)
		}
		p.ask(p.request(c))
	case "replica":
		p.process, p.replica = p.replica, p.process
		p.grow(c)
	case "configure":
		p.configure()
	case "twin": // begins with the same words, and mostly with the same prompt
		twin := newTalk(p.name, c.seed, c.scope, c.broken)
		twin.pen = newPen(p.seed(), uint64(100+len(p.talks))) // no other twin with another prompt has all the same answers
		if p.draw("prompt", 2) == 1 {
			twin.system = number.ReplaceAllString(twin.system, fmt.Sprint(p.draw("time", 24)))
		}
		if c.folder != "" {
			twin.folder = fmt.Sprintf("\n- working folder: /w/%d", p.draw("folder", 3))
		}
		p.talks = append(p.talks, twin)
		p.ask(p.request(twin))
	case "fork":
		if n := len(c.ends); n > 0 {
			c = c.fork(p.draw("back to", n), p.seed())
			p.talks = append(p.talks, c)
			p.ask(p.request(c))
		}
	case "at once":
		c.grow()
		p.atOnce(p.request(c))
	case "model":
		c.model += "-1"
	case "clock":
		c.system = number.ReplaceAllString(c.system, fmt.Sprint(p.draw("time", 24)))
		p.grow(c)
	case "prompt":
		if c.system != "" { // with another number of system messages it is another conversation
			c.system = "It is 12 o'clock. " + c.words(c.IntN(20))
		}
		p.grow(c)
	case "mode":
		if c.system != "" {
			c.system, c.other = c.other, c.system
		}
		p.grow(c)
	case "tools":
		c.tools = p.draw("tools", 4)
		p.grow(c)
	case "lose":
		if !p.judge.loose {
			storage.lose()
			storage.now = storage.now.Add(time.Hour) // a process looks for them from time to time
		}
	case "fail":
		if p.judge.loose {
			luck, most := rand.New(rand.NewPCG(p.seed(), 3)), p.draw("failures", 6)
			storage.mu.Lock()
			storage.luck = func() bool { return luck.IntN(6) >= most }
			storage.mu.Unlock()
		}
	case "refuse":
		c.grow()
		r := p.request(c)
		p.ask(r)
		if size := p.judge.size; size > 200 {
			r.refused = size * (1 + p.draw("tenths", 9)) / 10
			p.ask(r)
			r.refused = 0
			p.ask(r)
		}
	case "pause":
		storage.now = storage.now.Add(6 * time.Minute)
		fallthrough
	default:
		p.grow(c)
	}
}

// grow sends the next request of a conversation.
func (p *play) grow(c *talk) {
	p.T.Helper()
	c.grow()
	p.ask(p.request(c))
}

// atOnce sends a request three times at the same time.
func (p *play) atOnce(r request) {
	p.T.Helper()
	var sent [3]response
	var all sync.WaitGroup
	for i := range sent {
		all.Go(func() { sent[i] = p.shape(r) })
	}
	all.Wait()
	for _, s := range sent[1:] { // one of them says that it broke
		sent[0].broke = sent[0].broke || s.broke
		if !p.judge.loose && !bytes.Equal(s.body, sent[0].body) {
			p.T.Fatalf("promise 5: equal requests at the same time became different")
		}
	}
	p.judge.check(r, sent[0])
}

// Random conversations keep the promises while processes restart and take turns, limits and windows change, conversations
// fork and others begin alike, models, prompts and tools change, artifacts vanish and writes fail.
func TestRandomConversationsKeepThePromises(t *testing.T) {
	for name := range apis {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				kind := rapid.SampledFrom([]string{"sound", "sound", "broken", "failing"}).Draw(t, "kind")
				p := newPlay(t, name)
				p.judge.loose, p.judge.broken = kind == "failing", kind == "broken"
				for i := range 2 {
					c := newTalk(name, p.seed(), fmt.Sprint("scope ", i), kind == "broken")
					c.folder = rapid.SampledFrom([]string{"", "\n- working folder: /w/3"}).Draw(t, "folder")
					p.talks = append(p.talks, c)
				}
				for range rapid.IntRange(1, 60).Draw(t, "steps") {
					p.step(p.talks[p.draw("who", len(p.talks))])
				}
			})
		})
	}
}

// Promise 7: beside a conversation that begins alike another one is sent as if it were alone. The other one is in
// another scope, is answered otherwise at first, by an equal prompt or another one, or is a fork.
func TestConversationsThatBeginAlikeAreApart(t *testing.T) {
	for name := range apis {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				apart := rapid.SampledFrom([]string{"scope", "answer", "digits", "system", "fork"}).Draw(t, "apart by")
				p, alone := newPlay(t, name), newPlay(t, name)
				alone.window, alone.limits, alone.judge.filters = p.window, p.limits, p.judge.filters
				seed := p.seed()
				c, other := newTalk(name, seed, "scope", false), newTalk(name, seed, "scope", false) // they grow alike
				switch apart {
				case "scope":
					other.scope = "another"
				case "digits":
					c.system, other.system = "You serve account 1111.", "You serve account 9999."
				case "system":
					c.system, other.system = "Answer in German.", "Answer in French."
				}
				if apart != "scope" && apart != "fork" {
					p.ask(p.request(other))
					p.ask(p.request(c))
					other.pen = newPen(p.seed(), 6)
					c.answer(answer{text: "The first."}, 1)
					other.answer(answer{text: "The other."}, 1)
				}
				for turn := range rapid.IntRange(2, 16).Draw(t, "turns") {
					if (turn > 0 || apart != "fork") && rapid.Bool().Draw(t, "beside") {
						if apart == "fork" {
							other = c.fork(p.draw("back to", len(c.ends)), p.seed())
							p.ask(p.request(other))
						}
						for range 1 + p.draw("turns beside", 3) {
							other.grow()
							p.ask(p.request(other))
						}
					}
					c.grow()
					r := p.request(c)
					if beside, own := p.ask(r), alone.ask(r); !bytes.Equal(beside.body, own.body) {
						t.Fatalf("promise 7: beside a conversation with another %s it is sent as\n%s\nand alone as\n%s",
							apart, beside.body, own.body)
					}
				}
			})
		})
	}
}

// Promise 4: a stale result is cleared only where its stub takes fewer tokens than the model gets of it. OpenAI's models
// get results of parallel calls with escapes, by which a few emoji take more than a stub.
func TestStaleResultIsClearedForFewerTokensOfTheModel(t *testing.T) {
	emoji := strings.Repeat("🙂 user_id ", 16)
	for _, c := range []struct {
		name, model string
		parallel    bool
		clears      bool
	}{
		{"chat", "gpt-5", true, true}, {"chat", "gpt-5", false, false}, {"chat", "llama", true, false},
		{"responses", "gpt-5.6", true, true}, {"responses", "gpt-5.6", false, false},
		{"responses", "llama", true, false}, {"messages", "claude-sonnet-4", true, false},
	} {
		t.Run(fmt.Sprintf("%s of %s, parallel %v", c.name, c.model, c.parallel), func(t *testing.T) {
			s := newStorage()
			p, j, limits := start(s), newJudge(t, s), defaultLimits()
			limits.Floor, limits.Stale = 100, 10
			agent := &talk{pen: pen{rand.New(greatest{})}, api: apis[c.name], model: c.model}
			step := func(calls ...call) (sent string) {
				agent.add(agent.api.answer(answer{calls: calls})...)
				agent.add(agent.api.results(agent.pen, calls)...)
				r := request{name: c.name, api: agent.api, body: agent.body(), window: 20_000, limits: limits, now: s.now}
				shaped := p.shape(r)
				j.check(r, shaped)
				return string(shaped.body)
			}
			agent.add(agent.api.user(agent.pen, "Mend it."))
			reads := []call{{id: "c1", tool: "Read", arguments: `{"file_path":"a.go"}`, result: emoji},
				{id: "c2", tool: "Read", arguments: `{"file_path":"b.go"}`, result: "package b"}}
			if c.parallel {
				step(reads...)
			} else {
				step(reads[0])
				step(reads[1])
			}
			sent := step(call{id: "c3", tool: "write_file", arguments: `{"path":"a.go","content":""}`, result: "ok"})
			if isCleared := !strings.Contains(sent, emoji); isCleared != c.clears {
				t.Errorf("cleared is %v; want %v", isCleared, c.clears)
			}
		})
	}
}

// Promise 5: a reminder that begins a turn, and is gone in the next request, changes nothing for the turns before.
func TestFilterHoldsWithoutAReminder(t *testing.T) {
	s, limits := newStorage(), defaultLimits()
	p, j := start(s), newJudge(t, s)
	limits.Turns, j.filters = 1, true
	a := messagesAPI{}
	agent := &talk{pen: pen{rand.New(greatest{})}, api: a, model: "claude-sonnet-4"}
	agent.add(a.user(agent.pen, "Mend it."))
	for i := range 3 {
		made := call{id: fmt.Sprint("c", i), tool: "grep", arguments: `{"pattern":"a"}`, result: prose(1000)}
		agent.add(a.answer(answer{calls: []call{made}})...)
		results := a.results(agent.pen, []call{made})
		results[0]["content"] = append(results[0]["content"].([]any), a.part("<system-reminder>It snows.</system-reminder>"))
		agent.add(results...)
		agent.reminder = ""
		if i == 1 {
			content := []any{a.picture(), a.part("<system-reminder>It rains.</system-reminder>")}
			agent.reminder = agent.json(object{"role": "user", "content": content})
		}
		r := request{name: "messages", api: a, body: agent.body(), window: 20_000, limits: limits, now: s.now}
		shaped := p.shape(r)
		j.check(r, shaped)
		if shaped.broke != (i == 1) {
			t.Errorf("request %d: %s, decided anew: %v", i, shaped.action, shaped.broke)
		}
	}
}

// Promise 4: a panic costs the rewriting of one request. A Shaper without a store panics with each.
func TestPanicCostsOnlyTheRewriting(t *testing.T) {
	body := []byte(`{"model":"m","messages":[{"role":"user","content":"hello"}]}`)
	out := rewrite.NewShaper(rewrite.Deps{}).Shape(rewrite.Input{Dialect: chat.Dialect{}, Body: body,
		Limits: &ladder.Limits{}})
	if !bytes.Equal(out.Body, body) || out.Changed || out.Report.Action != event.ActionBypass || out.Report.Err == nil {
		t.Errorf("got %q with %+v", out.Body, out.Report)
	}
}

// Promise 4: so does one in any call of the store or the shelf, which run on goroutines of their own.
func TestPanicInAStoreCostsOnlyTheRewriting(t *testing.T) {
	limits := defaultLimits()
	in := rewrite.Input{Dialect: dialects["chat"], Limits: &limits,
		Body: bodyOf("chat", []exchange{{calls: []call{bash("make", prose(60_000))}}})}
	for calls := 0; ; calls++ {
		s, left := newStorage(), calls
		s.luck = func() bool {
			left--
			if left < 0 {
				panic("a bug in a driver")
			}
			return true
		}
		p := start(s)
		p.window.Store(100_000)
		out := p.Shape(in)
		if left >= 0 && out.Changed && calls > 3 { // there are no more calls
			return
		}
		if out.Changed || out.Report.Err == nil {
			t.Fatalf("a panic in call %d: %s, %v", calls, out.Report.Action, out.Report.Err)
		}
	}
}

// A step that fails is left out alone, in each request anew. Here a model panics, or a summary cannot be appended to the
// task, which the ledger has as edited.
func TestStepThatFailsIsLeftOutAlone(t *testing.T) {
	for name, d := range dialects {
		for _, deps := range []rewrite.Deps{{Summarizer: &answerer{}}, {}} { // the answerer has no map to write into
			s, limits, faults := newStorage(), defaultLimits(), 0
			deps.Ledger, deps.Shelf, deps.Memo = ledger.New(s, keep), shelf{s}, memo()
			deps.Window = func(string, string, int) (int, int) { return 10_000, 10_000 }
			shaper := rewrite.NewShaper(deps)
			var all []exchange
			for range 20 {
				all = append(all, exchange{said: prose(1000), calls: []call{bash("make", prose(20_000))}})
				body := bodyOf(name, all)
				if r, _ := conversation.Read(d, body, nil); len(all) == 1 && deps.Summarizer == nil {
					of := ledger.Request{Dialect: d.API().Name, Upstream: "up", Model: r.Model, Chain: r.Chain()}
					edit := view.Edit{Count: 1, Op: view.ReplaceText, Text: "Mend it.", Step: view.StepOffload}
					_, _, _ = deps.Ledger.Record(of, ledger.Decision{Items: r.Head, Edits: []view.Edit{edit}}, false)
				}
				out := shaper.Shape(rewrite.Input{Dialect: d, Body: body, Upstream: "up", Limits: &limits,
					Summary: summarize.Config{Mode: "hybrid"}, Client: t.Context(), Now: s.now})
				if out.Report.Err != nil || out.Report.Offloaded == 0 && len(all) > 1 ||
					out.Report.Compaction.Kind == event.CompactionCompleted {
					t.Fatalf("%s, request %d: %+v, %v", name, len(all), out.Report.Shaping, out.Report.Err)
				}
				if out.Report.Faults != nil {
					faults++
				}
			}
			if faults < 2 {
				t.Errorf("%s: %d steps fail", name, faults)
			}
		}
	}
}

// strict is Chat Completions with one rule more: no text is an excerpt.
type strict struct{ chat.Dialect }

func (d strict) Check(c *conversation.Checker, r *conversation.Request, i int) {
	d.Dialect.Check(c, r, i)
	if strings.Contains(r.TextOf(&r.Items[i]), own) {
		c.Add("a text is an excerpt", "")
	}
}

// Promise 3: edits that would break a rule of the API are not sent, even if they stand in the ledger, where one drops a
// result and leaves its call.
func TestFlawedEditsAreNotSent(t *testing.T) {
	body := bodyOf("chat", commands(3))
	r, err := conversation.Read(chat.Dialect{}, body, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, limits := newStorage(), defaultLimits()
	of := ledger.Request{Dialect: chat.Dialect{}.API().Name, Model: r.Model, Chain: r.Chain(), Head: r.Head, Ends: r.Ends()}
	flawed := []view.Edit{{First: 2, Count: 1, Op: view.Drop, Step: view.StepCompact}}
	_, _, err = ledger.New(s, keep).Record(of, ledger.Decision{Items: len(r.Items) - 2, Edits: flawed}, false)
	if err != nil {
		t.Fatal(err)
	}
	p := start(s)
	p.window.Store(100_000)
	out := p.Shape(rewrite.Input{Dialect: chat.Dialect{}, Body: body, Limits: &limits, Now: s.now})
	if !bytes.Equal(out.Body, body) || out.Changed || out.Report.Err != nil {
		t.Errorf("got %s with %+v", out.Body, out.Report)
	}
	body = bodyOf("chat", []exchange{{calls: []call{bash("make", prose(60_000))}}})
	for _, d := range []conversation.Dialect{chat.Dialect{}, strict{}} {
		out := start(newStorage()).Shape(rewrite.Input{Dialect: d, Body: body, Limits: &limits, Now: s.now})
		if out.Changed != (d == chat.Dialect{}) || out.Changed == bytes.Equal(out.Body, body) {
			t.Errorf("%T: got %s with %+v", d, out.Body, out.Report)
		}
	}
}
