package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"epitome/bench/baselines"
	"epitome/bench/benchtest"
	"epitome/bench/policy"
	"epitome/bench/replay/figures"
	"epitome/bench/report"
	"epitome/bench/sessions"
	"epitome/rewrite/chat"
	"epitome/rewrite/conversation"
)

// replayOne replays one conversation through one policy.
func replayOne(t *testing.T, conversation string, window int, s policy.Shaping) (figures.Row, *figures.Report) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "one.json")
	if err := os.WriteFile(path, []byte(conversation), 0o600); err != nil {
		t.Fatal(err)
	}
	it := policy.Policy{Name: "it", Open: func(policy.Setting) (policy.Shaping, error) { return s, nil }}
	report, err := Run(t.Context(), Options{Paths: []string{path}, Windows: []int{window},
		Policies: []policy.Policy{it}, Progress: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	return report.Rows[len(report.Rows)-1], report
}

func near(t *testing.T, what string, got *float64, want float64) {
	t.Helper()
	if got == nil || math.Abs(*got-want) > 1e-9 {
		t.Errorf("%s: %s, want %g", what, report.Optional(got, "%g"), want)
	}
}

func TestReplayPricesTheCommonPrefixAtATenth(t *testing.T) {
	// 11 new · 11 cached, 20 new · 31 cached, 20 new
	raw := 11.0 + (1.1 + 20) + (3.1 + 20)
	row, report := replayOne(t, benchtest.Smalltalk(), 1000, policy.Shaping{Shaper: benchtest.Unchanged{}})
	near(t, "cost of everything", row.Cost, 1)
	near(t, "breaks", row.BreaksPer100, 0)
	if report.Requests != 3 || report.RawTokens != 11+31+51 || row.Tokens != report.RawTokens || row.Died != 0 ||
		len(report.Missed()) != 0 {
		t.Errorf("%+v, missed %q", report, report.Missed())
	}

	// The third request changes the third message: 1 beside the messages and two of 10 are cached.
	row, report = replayOne(t, benchtest.Smalltalk(), 1000,
		policy.Shaping{Shaper: benchtest.Replacing(benchtest.Third, "!!!!", "????")})
	near(t, "cost with a change", row.Cost, (11+21.1+0.1*21+30)/raw)
	near(t, "breaks", row.BreaksPer100, 100.0/3)
	if row.Unrecorded != 0 || row.Dearer != 1 || row.Tokens != 93 || len(report.Missed()) != 0 {
		t.Errorf("%+v, missed %q", row, report.Missed())
	}
}

func TestReplayCountsChangesWithoutADecision(t *testing.T) {
	plain := benchtest.Replacing(benchtest.Twenty+"!", benchtest.Twenty, "another text, 20 ch.")
	row, report := replayOne(t, benchtest.Smalltalk(), 1000,
		policy.Shaping{Shaper: benchtest.ShaperFunc(func(body []byte) (policy.Shaped, error) {
			s, err := plain(body)
			s.Decided = false
			return s, err
		})})
	if row.Unrecorded != 1 || len(report.Faults) != 1 ||
		!strings.Contains(report.Faults[0], "request 2: message 0 changed") {
		t.Errorf("%+v, faults %q", row, report.Faults)
	}
	if got := report.Missed(); len(got) != 1 || !strings.Contains(got[0],
		"changed without a decision, it, window 1000: 1.00") {
		t.Errorf("missed %q", got)
	}
}

func TestReplayCountsNeedsByAge(t *testing.T) {
	f := func(window int, s policy.Shaping, want map[string]float64) figures.Row {
		t.Helper()
		row, _ := replayOne(t, benchtest.Needy(), window, s)
		got := map[string]*float64{"all": row.RecallAll, "hot": row.Recall, "recent": row.Recent, "older": row.Older,
			"lines": row.Lines}
		for name, share := range want {
			near(t, name, got[name], share)
		}
		return row
	}
	everything := map[string]float64{"all": 100, "hot": 100, "recent": 100, "older": 100, "lines": 100}
	f(300, policy.Shaping{Shaper: benchtest.Unchanged{}}, everything)

	over := f(100, policy.Shaping{Shaper: benchtest.Unchanged{}},
		map[string]float64{"all": 0, "hot": 0, "recent": 0, "older": 0, "lines": 0})
	if over.Died != 1 || over.Over == 0 || over.Misses != 0 { // it does not fit, but nothing was taken out
		t.Errorf("%+v", over)
	}

	gone := benchtest.Replacing(`"3"`, `src/old other_name\n`+benchtest.Line+`\n`, benchtest.Stub)
	// It is cut after the answer that needed it.
	if row := f(300, policy.Shaping{Shaper: gone}, everything); row.Misses != 0 {
		t.Errorf("%+v", row)
	}

	early := func() policy.Shaper {
		return benchtest.Replacing(`"2"`, `src/old other_name\n`+benchtest.Line+`\n`, benchtest.Stub)
	}
	lost := map[string]float64{"all": 200.0 / 3, "hot": 200.0 / 3, "recent": 100, "older": 0, "lines": 0}
	row := f(300, policy.Shaping{Shaper: early()}, lost)
	near(t, "retrievable", row.Retrievable, 0)
	artifact := func(content string) func(string) ([]byte, bool) {
		return func(name string) ([]byte, bool) { return []byte(content), name == benchtest.Stub[4:] }
	}
	row = f(300, policy.Shaping{Shaper: early(), Artifact: artifact("src/old, whole")}, lost)
	near(t, "retrievable", row.Retrievable, 100)
	row = f(300, policy.Shaping{Shaper: early(), Artifact: artifact("something else")}, lost)
	near(t, "retrievable", row.Retrievable, 0)

	named := benchtest.Replacing(`"2"`, `src/old other_name\n`+benchtest.Line+`\n`, benchtest.Stub+" src/old")
	row = f(300, policy.Shaping{Shaper: named}, lost) // a bare name says nothing of what it is about
	near(t, "bare", row.Bare, 100.0/3)
	near(t, "bare older", row.BareOlder, 100)
	inside := benchtest.Replacing(`"2"`, `src/old other_name\n`+benchtest.Line+`\n`, benchtest.Stub+" src/oldx")
	f(300, policy.Shaping{Shaper: inside}, map[string]float64{"all": 200.0 / 3, "older": 0})
}

func TestReplayCountsUserTextWordForWord(t *testing.T) {
	f := func(want float64, pairs ...string) {
		t.Helper()
		row, _ := replayOne(t, benchtest.Smalltalk(), 100,
			policy.Shaping{Shaper: benchtest.Replacing(benchtest.Third, pairs...)})
		near(t, "user text", row.UserText, want)
	}
	f(100)
	f(100.0*2/3, benchtest.Says("user", benchtest.Twenty+"!"), benchtest.Says("user", "gone"))
	f(100, benchtest.Says("user", benchtest.Twenty+"!"), benchtest.Says("user", "quoted: "+benchtest.Twenty+"!"))
}

func TestReplayCountsInvalidRequests(t *testing.T) {
	f := func(s benchtest.ShaperFunc, want int, why string) {
		t.Helper()
		row, report := replayOne(t, benchtest.Needy(), 300, policy.Shaping{Shaper: s})
		if row.Invalid != want || len(report.Missed()) == 0 || !strings.Contains(report.Faults[0], why) {
			t.Errorf("%d invalid, want %d; faults %q", row.Invalid, want, report.Faults)
		}
		if row.RecallAll == nil {
			t.Error("nothing was measured")
		}
	}
	all := 11
	f(func([]byte) (policy.Shaped, error) { return policy.Shaped{}, errors.New("no luck") }, all,
		"cannot shape the request: no luck")
	f(func([]byte) (policy.Shaped, error) { return policy.Shaped{Body: []byte("{")}, nil }, all, "not JSON")
	f(func(body []byte) (policy.Shaped, error) {
		return policy.Shaped{Body: body, Invalid: errors.New("own check")}, nil
	}, all, "own check")
	f(benchtest.Replacing("", benchtest.Answers("1", "src/old other_name\n"+benchtest.Line+"\n")+",", ""), all-2,
		"a call is not answered (1)")
}

func TestPrefixIsTheRecordedRequestWithoutWhatCameLater(t *testing.T) {
	body := benchtest.Chat(benchtest.Says("user", "a"), benchtest.Says("assistant", "b"), benchtest.Says("user", "c"))
	body = strings.Replace(body, `"seed"`, `"tools": [{}], "seed"`, 1)
	c, err := newRecording(chat.Dialect{}, []byte(body), policy.Unit{})
	if err != nil {
		t.Fatal(err)
	}
	first := prefixOf(t, c, 1)
	want := strings.Replace(benchtest.Chat(benchtest.Says("user", "a")), `"seed"`, `"tools": [{}], "seed"`, 1)
	if string(first.Body) != want || string(first.Tools.Of(first.Body)) != "[{}]" || len(first.Items) != 1 {
		t.Errorf("%s, tools %s", first.Body, first.Tools.Of(first.Body))
	}
	if last := prefixOf(t, c, 3); string(last.Body) != body {
		t.Errorf("%s", last.Body)
	}
}

func TestReplayReportsWhatItCannotRead(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"a/good.json": benchtest.Smalltalk(), "a/b/one.json": benchtest.Chat(benchtest.Says("user", "Hello.")),
		"a/odd.json":  benchtest.Chat(`{"role":"alien","content":[{"type":"image_url"},{"text":"x"}]}`, `{}`),
		"broken.json": benchtest.Smalltalk()[:100], "list.json": `[1]`, "empty.json": ``,
		"none.json": `{"messages":[]}`, "other.json": `{"a":1}`,
		"bad.json": `{"messages":[{"role":"user","content":"a"}],"x":tru}`, "not.txt": "x",
	} {
		path := filepath.Join(folder, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700),
			os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	report, err := Run(t.Context(), Options{Paths: []string{folder, filepath.Join(folder, "a"), folder + "/missing"},
		Progress: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	policies := len(baselines.All(policy.Unit{})) + len(baselines.Adversaries(policy.Unit{}))
	if report.Conversations != 3 || len(report.Skipped) != 7 || len(report.Rows) != 4*policies ||
		len(report.Missed()) != 0 {
		t.Errorf("%d conversations, %d rows, skipped %q, missed %q", report.Conversations, len(report.Rows),
			report.Skipped, report.Missed())
	}
	report, err = Run(t.Context(), Options{Paths: []string{t.TempDir()}, Progress: io.Discard})
	if err != nil || len(report.Missed()) != 1 {
		t.Errorf("an empty folder: %v, missed %q", err, report.Missed())
	}
	if _, err := json.Marshal(report); err != nil {
		t.Error(err)
	}
}

func TestReplayReadsLogsOfManyFormats(t *testing.T) {
	opts := Options{Paths: []string{"../sessions/testdata"}, Windows: []int{1000}, Progress: io.Discard}
	report, err := Run(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]figures.Origin{
		sessions.ClaudeCode: {Dialect: AsMessages, Logs: 1, Conversations: 4, Timed: 4},
		sessions.Codex:      {Dialect: AsResponses, Logs: 2, Conversations: 3, Timed: 2},
		sessions.OpenCode:   {Logs: 1, Conversations: 2, Timed: 2}, sessions.Pi: {Logs: 1, Conversations: 3, Timed: 3},
		sessions.Requests: {Logs: 1, Conversations: 3},
	}
	for _, o := range report.Origins {
		format := o.Format
		if o.Format = ""; format != sessions.ClaudeCode {
			o.Dialect = strings.TrimPrefix(o.Dialect, AsChat)
		}
		if o != want[format] {
			t.Errorf("%s: %+v, want %+v", format, o, want[format])
		}
	}
	if len(report.Origins) != len(want) || len(report.Skipped) != 2 || report.Rows[0].Invalid != 0 {
		t.Errorf("%+v, skipped %q", report.Origins, report.Skipped)
	}
	var text strings.Builder
	if err := report.Print(&text); err != nil || !strings.Contains(text.String(), "SKIPPED left out of") {
		t.Errorf("%v\n%s", err, text.String())
	}
}

func TestReplayMakesUpSessions(t *testing.T) {
	some := baselines.All(policy.Unit{})[:2]
	madeUp := figures.Origin{Format: sessions.MadeUp, Dialect: AsChat, Logs: 2, Conversations: 2, Timed: 2}
	f := func(seed uint64, write float64) *figures.Report {
		t.Helper()
		report, err := Run(t.Context(), Options{Sessions: 2, Seed: seed, Provider: Provider{WritePrice: write},
			Windows: []int{64_000}, Progress: io.Discard, baselines: some})
		if err != nil || report.Conversations != 2 || report.Origins[0] != madeUp ||
			len(report.Skipped) != 0 {
			t.Fatalf("%v, %+v", err, report)
		}
		return report
	}
	first := f(1, 0)
	if again := f(1, 1); again.RawTokens != first.RawTokens || *again.Rows[1].Cost != *first.Rows[1].Cost ||
		*again.Rows[1].Billed != *first.Rows[1].Billed {
		t.Errorf("%+v, then %+v", first.Rows[1], again.Rows[1])
	}
	if f(2, 0).RawTokens == first.RawTokens {
		t.Error("another seed gives the same sessions")
	}
	dearer := f(1, 1.25).Rows[1]
	if *dearer.Cost != *first.Rows[1].Cost {
		t.Errorf("the price of writing makes the cost %g, and not %g", *dearer.Cost, *first.Rows[1].Cost)
	}
	if *dearer.Billed == *first.Rows[1].Billed {
		t.Error("the price of writing makes no difference to the bill")
	}
	for _, life := range []time.Duration{-1, 1000 * time.Hour} {
		never, err := Run(t.Context(), Options{Sessions: 2, Seed: 1, Provider: Provider{CacheLife: life},
			Windows: []int{64_000}, Progress: io.Discard, baselines: some})
		if err != nil || first.Expired == 0 || first.CacheMinutes != 5 || never.Expired != 0 ||
			never.RawTokens != first.RawTokens {
			t.Errorf("%v: %d requests of %d come after the cache has forgotten", err, never.Expired, first.Expired)
		}
	}
	if first.Expired == 0 || first.Timed <= first.Expired || first.Timed != first.Requests-2 {
		t.Errorf("%d requests came late, %d have times, of %d", first.Expired, first.Timed, first.Requests)
	}
}

func TestReplayEndsWithItsPolicies(t *testing.T) {
	path := filepath.Join(t.TempDir(), "one.json")
	if err := os.WriteFile(path, []byte(benchtest.Smalltalk()), 0o600); err != nil {
		t.Fatal(err)
	}
	opened, closed := 0, 0
	open := func(s policy.Setting) (policy.Shaping, error) {
		if s.Window == 2 {
			return policy.Shaping{}, errors.New("no store")
		}
		opened++
		return policy.Shaping{Shaper: benchtest.Unchanged{},
			Close: func() error { closed++; return errors.New("disk") }}, nil
	}
	opts := Options{Paths: []string{path}, Windows: []int{1, 2}, Policies: []policy.Policy{{Name: "it", Open: open}},
		Progress: io.Discard}
	if _, err := Run(t.Context(), opts); err == nil || !strings.Contains(err.Error(), "it: no store") || opened != 1 ||
		closed != 1 {
		t.Errorf("%v, %d opened, %d closed", err, opened, closed)
	}
	opts.Windows = []int{1}
	if _, err := Run(t.Context(), opts); err == nil || !strings.Contains(err.Error(), "it: disk") {
		t.Errorf("%v", err)
	}
}

func TestReplayIsTheSameEveryTime(t *testing.T) {
	folder := t.TempDir()
	for i := range 12 {
		text := strings.Replace(benchtest.Needy(), "Well.", strings.Repeat("Well. ", i), 1+i%5)
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprint(i, ".json")), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var first string
	for range 5 {
		report, err := Run(t.Context(), Options{Paths: []string{folder}, Windows: []int{200, 300},
			Progress: io.Discard})
		if err != nil {
			t.Fatal(err)
		}
		for i := range report.Rows {
			report.Rows[i].CPUMS = nil
		}
		text, err := json.Marshal(report)
		if err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = string(text)
		}
		if string(text) != first {
			t.Fatalf("%s\nafter\n%s", text, first)
		}
	}
}

// prefixOf is the request that the client sent when the conversation had k messages.
func prefixOf(t *testing.T, c *recording, k int) *conversation.Request {
	t.Helper()
	r, err := c.prefix(k)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
