package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"epitome/event"
	"epitome/internal/fakeapi"
)

// summed returns the Report of everything.
func summed(t *testing.T, r rig, by string) Report {
	t.Helper()
	all, err := r.Reports(time.Time{}, time.Time{}, by)
	if err != nil {
		t.Fatal(err)
	}
	return all[0]
}

func TestMemoryIsBounded(t *testing.T) {
	r := begin(t)
	const events = 3 * mostRecent
	for i := range events {
		e := talking(fmt.Sprintf("conversation-%04d", i/3), i%3000)
		e.Model = fmt.Sprint("m", i%(3*mostModels))
		r.RecordExchange(new(e))
		if i%1000 == 0 {
			r.Settle()
		}
	}
	r.Settle()
	s := summed(t, r, "model")
	if len(s.Notes) > 0 || s.Total.Exchanges != events || len(s.Rows) != mostModels+1 {
		t.Errorf("%d exchanges by %d models, noted %q", s.Total.Exchanges, len(s.Rows), s.Notes)
	}
	if after, _, whole := r.Since(0); whole || len(after) > mostRecent*11/10 {
		t.Errorf("%d events are kept", len(after))
	}
	if all := r.Conversations(); len(all) > mostConversations*11/10 {
		t.Errorf("%d conversations are kept", len(all))
	}
	r.mu.Lock() // the queue is not emptied
	for range mostQueued + 1 {
		r.RecordSummary(event.Summary{})
	}
	r.mu.Unlock()
	if len(summed(t, r, "day").Notes) != 1 {
		t.Error("events beyond the queue are not noted")
	}
}

// Whoever reaches the port can send requests without a key. They must not push out what clients did.
func TestStrangersPushNothingOut(t *testing.T) {
	r := begin(t)
	r.RecordExchange(new(talking("c1", 0)))
	for range 200 {
		r.RecordExchange(new(event.Exchange{Start: noon, Method: "POST", Status: 401, Fault: event.Refused}))
	}
	if s := summed(t, r, "day"); s.Total.Exchanges != 1 {
		t.Errorf("%d exchanges are kept", s.Total.Exchanges)
	}
}

// Whatever is summed up is in the whole once, and once in its row.
func TestSumsCountEveryExchangeOnce(t *testing.T) {
	r := begin(t)
	r.RecordExchange(new(talking("c1", 0)))
	cut := talking("c1", 1)
	cut.Usage = event.Usage{
		Source: event.UsageProvider, Input: 3000, Write5m: 40, Write1h: 2, Read: 2000, Output: 20, Reasoning: 7, Cut: true,
	}
	cut.Fault, cut.Miss = event.ClientGone, event.MissProvider
	r.RecordExchange(new(cut))
	unknown := talking("c1", 2)
	unknown.Usage = event.Usage{Source: event.UsageProvider, Input: 3000, Output: 30, CacheUnknown: true}
	unknown.Rescue = event.Rescue{Kind: "input", Rescued: true}
	unknown.Mode, unknown.Code = event.ModeObserve, "too_small"
	r.RecordExchange(new(unknown))
	failed := talking("c2", 3)
	failed.Status, failed.Usage = 500, event.Usage{}
	r.RecordExchange(new(failed))
	charged := talking("c3", 4)
	charged.Usage = event.Usage{Source: event.UsageProvider, Input: 3000, Output: 1, Charged: 5}
	charged.Model, charged.TokensBefore = "unknown", event.Tokens{Results: 10_001}
	r.RecordExchange(new(charged))

	s := summed(t, r, "upstream")
	want := Sums{Exchanges: 5, Failed: 2, Rescued: 1, Shaped: 4, TokensBefore: 22_001, TokensAfter: 12_000}
	want.Observed.Exchanges, want.Observed.TokensBefore, want.Observed.TokensAfter = 1, 4000, 3000
	want.Usage = UsageSums{Reported: 4, Input: 12_000, Read: 4800, Write: 42, Output: 61, Reasoning: 7, CacheInput: 9000,
		Cut: 1}
	want.Money = s.Total.Money
	if got := s.Total; got != want || len(s.Rows) != 1 || s.Rows[0].Sums != want {
		t.Errorf("got  %+v\nwant %+v\nrows %+v", got, want, s.Rows)
	}
	m := s.Total.Money
	billed := int64(200*3000+2800*1000+10*7000) + (3000*1000 + 30*7000) + 5 // the one that was cut has no price of writing
	if m.Billed != billed || m.Measured != 3 || m.AtLeast != 1 || m.Unpriced != 1 || m.Oversized != 1 ||
		m.Outgrown != 1 {
		t.Errorf("the money is %+v, billed %d", m, billed)
	}
}

func TestConversationIsToldWithItsTurns(t *testing.T) {
	r := begin(t)
	r.RecordExchange(new(talking("c1", 0)))
	two := talking("c1", 1)
	two.Decided, two.Action, two.Cleared, two.TakenOut = true, "clear", 11, 25_900
	r.RecordExchange(new(two))
	failed := talking("c2", 2)
	failed.Status = 500
	r.RecordExchange(new(failed))
	r.RecordSummary(event.Summary{
		Kind: event.SummaryCompleted, Conversation: "c1", Upstream: "openai", Model: "small", Time: noon,
		Cost: event.Cost{Requests: 1, InputTokens: 100},
	})
	r.now.Store(noon.Add(2 * time.Minute))
	s, err := r.Conversation("c1")
	if err != nil || len(s.Exchanges) != 2 {
		t.Fatalf("%v: %+v", err, s)
	}
	c := s.Conversation
	if s.Exchanges[1].Turn != 2 || s.Exchanges[1].Seq != 2 || c.Turns != 2 || c.Tokens != 3000 || c.Raw != 4000 ||
		c.Window != 10_000 || c.Share != .3 || !c.Live || fmt.Sprintf("%.3f", c.Cached) != "0.933" {
		t.Errorf("got %+v", c)
	}
	if m := c.Sums.Money; m.Saved != m.Raw-m.Sent || m.Raw <= m.Sent || m.Own != 300_000 {
		t.Errorf("saved %d, own %d", m.Saved, m.Own)
	}
	if c.Latest != "turn 2: clear 11 results, −25.9k tokens" {
		t.Errorf("the latest decision is %q", c.Latest)
	}
	if _, err := r.Conversation("c9"); err != ErrUnknown {
		t.Errorf("an unknown conversation gives %v", err)
	}
	if all := r.Troubles(); len(all) != 1 || all[0].Conversation != "c2" {
		t.Errorf("the troubles are %+v", all)
	}
}

func TestStatusIsOfTheSessionThatAsks(t *testing.T) {
	r := begin(t)
	record := func(id, session string, minutes int) {
		e := talking(id, minutes)
		e.Session = event.SessionOf(session)
		r.RecordExchange(new(e))
	}
	check := func(session, want string) {
		t.Helper()
		if s, err := r.Status("", session); s.ID != want || (err == nil) == (want == "") {
			t.Errorf("the status of session %q is of %q, want %q", session, s.ID, want)
		}
	}
	record("a", "one", 0)
	check("two", "")
	record("b", "", 1)
	record("c", "two", 2)
	check("one", "a")
	check("two", "c")
	check("three", "b") // its requests may not name it
	check("", "c")
	record("a", "", 3)
	check("one", "a")
	record("title", "one", 4)
	check("one", "a") // a longer one is live
	r.now.Store(noon.Add(15 * time.Minute))
	check("one", "title")
}

// keeping returns a Book over a folder that has read it.
func keeping(t *testing.T, folder string, at time.Time) rig {
	t.Helper()
	now := &clock{}
	now.Store(at)
	c := configured(now)
	c.Folder, c.Quota = folder, 64<<20
	r := rig{Open(c), now}
	t.Cleanup(r.Close)
	<-r.loaded
	return r
}

// answers returns everything that a Book answers, as JSON.
func answers(t *testing.T, r rig) string {
	t.Helper()
	var all bytes.Buffer
	out := json.NewEncoder(&all)
	for _, by := range []string{"day", "model", "agent", "upstream", "client"} {
		_ = out.Encode(summed(t, r, by))
	}
	for _, c := range r.Conversations() {
		s, err := r.Conversation(c.ID)
		if err != nil {
			t.Fatal(err)
		}
		_ = out.Encode(s)
	}
	return all.String()
}

func TestAnswersAreTheSameAfterARestart(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "events")
	dice, r := cast(1), keeping(t, folder, noon)
	for restart := range 3 {
		dice.record(r, 400)
		want := answers(t, r)
		r.Close()
		r = keeping(t, folder, r.now.Load())
		if got := answers(t, r); got != want {
			at := 0
			for at < min(len(got), len(want)) && got[at] == want[at] {
				at++
			}
			at = max(0, at-100)
			t.Fatalf("restart %d: got …%.300s\nwant …%.300s", restart, got[at:], want[at:])
		}
	}
}

func TestDamagedLinesAreSkipped(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "events")
	r := keeping(t, folder, noon)
	for range 10 {
		r.RecordExchange(new(talking("c1", 0)))
		r.flush()
	}
	r.Close()
	path := filepath.Join(folder, noon.Format(fileName))
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all := bytes.SplitAfter(text, []byte("\n"))
	all[2] = append(bytes.Repeat([]byte("<"), 2<<20), '\n')
	all[3] = []byte("{}\n")
	all[9] = all[9][:20] // as a loss of power may leave it
	if err := os.WriteFile(path, bytes.Join(all, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(folder, noon.Add(2*time.Hour).Format(fileName)), 0o700); err != nil {
		t.Fatal(err)
	}
	s := summed(t, keeping(t, folder, noon), "day")
	if s.Total.Exchanges != 7 || len(s.Notes) != 1 || strings.Contains(s.Notes[0], folder) {
		t.Errorf("%d exchanges were read, noted %q", s.Total.Exchanges, s.Notes)
	}
}

// A compaction has a number, a line and an observer's call of its own. Files of the conversation, which the owner alone is
// shown, are in it and not in the exchange.
func TestACompactionIsAnEventOfItsOwn(t *testing.T) {
	for _, mode := range []string{event.ModeOn, event.ModeObserve} {
		var kinds []string
		folder := filepath.Join(t.TempDir(), "events")
		now := &clock{}
		now.Store(noon)
		c := configured(now)
		c.Folder = folder
		c.Observers = []func(Entry){func(n Entry) {
			kinds = append(kinds, fmt.Sprintf("%d %t", *n.Seq(), n.Compaction != nil))
		}}
		b := Open(c)
		e := talking("c1", 0)
		e.Mode = mode
		e.Compaction = event.Compaction{
			Kind: event.CompactionCompleted, MessagesBefore: 30, FilesRead: []string{"secret.go"},
		}
		b.RecordExchange(new(e))
		b.Settle()
		s, err := b.Conversation("c1")
		b.Close()
		want := []string{"1 true", "2 false"}
		if mode == event.ModeObserve {
			want = []string{"1 false"}
		}
		if err != nil || !reflect.DeepEqual(kinds, want) || len(s.Exchanges) != 1 ||
			s.Exchanges[0].Compaction.MessagesBefore != 30 || s.Exchanges[0].Compaction.FilesRead != nil {
			t.Errorf("%s: %v: %v, %+v", mode, err, kinds, s.Exchanges)
		}
		text, err := os.ReadFile(filepath.Join(folder, noon.Format(fileName)))
		line := `{"compaction":{"seq":1,"time":"2026-11-20T12:00:00Z","exchange":"x","conversation":"c1",`
		if hasLine := bytes.HasPrefix(text, []byte(line)); err != nil || hasLine != (mode == event.ModeOn) {
			t.Errorf("%s: %v: %s", mode, err, text)
		}
		r := keeping(t, folder, noon)
		if s := summed(t, r, "day"); s.Total.Exchanges != 1 || len(s.Notes) > 0 {
			t.Errorf("%s: %d exchanges after a restart, noted %q", mode, s.Total.Exchanges, s.Notes)
		}
	}
}

// The sums of a run are of all its requests, though only the newest are in memory.
func TestALongRunIsToldWhole(t *testing.T) {
	r := keeping(t, filepath.Join(t.TempDir(), "events"), noon)
	const requests = mostRecent * 3 / 2
	for i := range requests {
		e := talking("c1", 0)
		e.Run = "long"
		r.RecordExchange(new(e))
		if i%1000 == 0 {
			r.Settle()
		}
	}
	if run, err := r.Run("long"); err != nil || run.Sums.Exchanges != requests {
		t.Errorf("%v: %d requests of %d", err, run.Sums.Exchanges, requests)
	}
}

func TestADiskThatFailsCostsFilesOnly(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "events")
	if err := os.WriteFile(folder, nil, 0o600); err != nil { // in the place of the folder
		t.Fatal(err)
	}
	r := keeping(t, folder, noon)
	r.RecordExchange(new(talking("c1", 0)))
	r.flush()
	if s := summed(t, r, "day"); s.Total.Exchanges != 1 || len(s.Notes) != 1 {
		t.Errorf("%d exchanges, noted %q", s.Total.Exchanges, s.Notes)
	}
	if err := os.Remove(folder); err != nil {
		t.Fatal(err)
	}
	r.RecordExchange(new(talking("c1", 1)))
	r.flush()
	r.Close()
	if s := summed(t, keeping(t, folder, noon), "day"); s.Total.Exchanges != 2 {
		t.Errorf("%d exchanges were written", s.Total.Exchanges)
	}
}

// Requests that fit, those beyond the window, and summaries are three sums. Summaries are a loss of a session that fits,
// and none of one that outgrew its window. A request that went out larger than the window, or whose answer failed, was not.
func TestOutgrownSessionIsNoLoss(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "events")
	r := keeping(t, folder, noon)
	summary := event.Summary{
		Kind: event.SummaryCompleted, Conversation: "long", Upstream: "openai", Model: "small", Time: noon,
		Cost: event.Cost{Requests: 1, InputTokens: 100},
	} // costs 300,000 nano-dollars
	for turn := range 5 {
		e := talking("long", turn)
		if turn > 1 {
			e.TokensBefore.Results = 10_000*turn + 1
		}
		r.RecordExchange(&e)
		r.RecordSummary(summary)
		r.Settle()
	}
	short := summary
	short.Conversation, short.Cost.InputTokens = "short", 10_000
	unchanged, failed := talking("short", 1), talking("short", 2)
	unchanged.TokensBefore.Results, unchanged.TokensAfter.Results = 20_000, 20_000
	failed.TokensBefore.Results, failed.Fault = 20_000, event.Failed
	for _, e := range []event.Exchange{talking("short", 0), unchanged, failed} {
		r.RecordExchange(&e)
	}
	r.RecordSummary(short)

	billed := int64(200*3000 + 2800*1000 + 10*7000) // of each request
	check := func(id string, want Money, endsAt int, isLoss bool) {
		c, err := r.Conversation(id)
		if err != nil {
			t.Fatal(err)
		}
		m := c.Sums.Money
		want.Raw, want.Sent, want.Saved = m.Raw, m.Sent, m.Raw-m.Sent
		gain, known := m.Gain()
		if m != want || m.Raw == 0 || c.BeyondFrom != endsAt || isLoss != (known && gain < 0) {
			t.Errorf("%s is beyond its window from turn %d on with\n%+v, want\n%+v", id, c.BeyondFrom, m, want)
		}
	}
	for range 2 { // and after a restart
		check("long", Money{
			Billed: 5 * billed, Measured: 5, Compared: 2, Own: 1_500_000,
			Oversized: 3, OversizedBilled: 3 * billed, Outgrown: 1,
		}, 3, false)
		check("short", Money{Billed: 3 * billed, Measured: 3, Compared: 2, Own: 30_000_000}, 0, true)
		r.Close()
		r = keeping(t, folder, noon)
	}
}

// Of conversations that are forgotten nothing stays in memory and on disk, and others stay as they were.
func TestForgetLeavesOtherConversationsAlone(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "events")
	dice, r := cast(5), keeping(t, folder, noon)
	dice.record(r, 400)
	other := func() string {
		s, err := r.Conversation("c3")
		text, _ := json.Marshal(s)
		return fmt.Sprint(string(text), err)
	}
	want := other()
	for _, id := range []string{"c1", "c2"} {
		if err := r.Forget(id); err != nil {
			t.Fatal(err)
		}
		for _, when := range []string{"after", "after a restart"} {
			if _, err := r.Conversation(id); err != ErrUnknown || other() != want {
				t.Errorf("%s, %s is %v", when, id, err)
			}
			r.Close()
			for _, path := range r.files.list() {
				if text, _ := os.ReadFile(path); strings.Contains(string(text), `"`+id+`"`) {
					t.Errorf("%s, %s has %s", when, path, id)
				}
			}
			r = keeping(t, folder, r.now.Load())
		}
	}
}

func TestFilesStayWithinKeepAndQuota(t *testing.T) {
	folder := t.TempDir()
	write := func(name string, size int) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("2026-10-01T00.jsonl", 10) // too old
	write("2026-11-18T00.jsonl", 600)
	write("2026-11-19T00.jsonl", 600)
	write("other.txt", 5000)
	f := files{folder: folder, quota: 1000}
	for i := range 3 {
		f.append(Entry{Summary: &event.Summary{Reason: strings.Repeat("x", 50)}})
		if err := f.flush(noon.Add(time.Duration(i) * 40 * time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	f.tidy(noon.Add(-30 * 24 * time.Hour))
	if all := f.list(); len(all) != 3 || !strings.HasPrefix(filepath.Base(all[0]), "2026-11-19") {
		t.Errorf("the files are %v", all)
	}
}

// However much comes within an hour, all files together have about the quota, and the newest events are kept: after
// a restart too, and if the clock goes back.
func TestEventsOfABusyHourStayWithinTheQuota(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "agents [old]", "events") // a pattern, if the path were one
	const events, newest = 300, 100
	for round, begins := range []time.Time{noon, noon.Add(events * time.Second), noon.Add(-3 * time.Hour)} {
		r := keeping(t, folder, begins)
		r.files.quota = 200_000
		for i := range events {
			e := talking(fmt.Sprint("c", round, "-", i), 0)
			e.Kept = []string{"keep: " + strings.Repeat("x", 50_000)}
			r.RecordExchange(&e)
			r.now.Store(begins.Add(time.Duration(i) * time.Second))
			r.flush()
		}
		r.Close()
		size := int64(0)
		for _, path := range r.files.list() {
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			size += info.Size()
		}
		if size < 100_000 || size > 240_000 {
			t.Errorf("the files have %d bytes", size)
		}
		r = keeping(t, folder, begins)
		for i := range newest {
			c, err := r.Conversation(fmt.Sprint("c", round, "-", events-1-i))
			if err != nil || len(c.Kept) != 1 || len(c.Kept[0]) > 200 {
				t.Fatalf("round %d, event %d from the end: %v, kept %.300q", round, i, err, c.Kept)
			}
		}
		r.Close()
	}
	c := configured(&clock{})
	c.Now, c.Folder, c.Quota = time.Now, folder, 1 // less than the newest file has
	again := Open(c)
	defer again.Close()
	if _, err := again.Conversation(fmt.Sprint("c2-", events-1)); err != nil {
		t.Errorf("the newest event: %v", err)
	}
}

// While the disk is full, a conversation cannot be forgotten, and its file stays as it was.
func TestForgettingOnAFullDiskLosesNothing(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "events")
	r := keeping(t, folder, noon)
	r.RecordExchange(new(talking("c1", 0)))
	r.RecordExchange(new(talking("c2", 0)))
	r.flush()
	path := filepath.Join(folder, noon.Format(fileName))
	before, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("/dev/full"); err != nil {
		fakeapi.Skip(t, "there is no full disk here")
	}
	if err := os.Symlink("/dev/full", path+".new"); err != nil {
		t.Fatal(err)
	}
	if r.Forget("c1") == nil {
		t.Error("it is said to be forgotten")
	}
	if after, err := os.Lstat(path); err != nil || !os.SameFile(before, after) || after.Size() != before.Size() {
		t.Fatalf("%v: the file is another one", err)
	}
}

// A client may send any name of a model. Those that no provider has answered leave places for the others, and a place
// is free again when the days of its model are no longer kept.
func TestMadeUpModelsHideNoModel(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "events")
	r := keeping(t, folder, noon)
	record := func(conversation, model string, status int) {
		e := talking(conversation, 0)
		e.Model, e.Status, e.Start = model, status, r.now.Load()
		r.RecordExchange(new(e))
	}
	for i := range 2 * mostModels {
		record("c", fmt.Sprint("made-up-", i), http.StatusNotFound)
	}
	for _, status := range []int{429, 200, 429} { // the first one does not know it yet
		record("c", "m", status)
	}
	rows := func() map[string]int64 {
		all := map[string]int64{}
		for _, row := range summed(t, r, "model").Rows {
			all[row.Key] = row.Sums.Exchanges
		}
		return all
	}
	if got := rows(); got["m"] != 2 || got[otherName] != 3*mostModels/2+1 {
		t.Errorf("the models have %v", got)
	}
	for i := range mostModels {
		record("d", fmt.Sprint("old-", i), http.StatusOK)
	}
	want := rows()
	r.Close()
	r = keeping(t, folder, noon)
	if got := rows(); !maps.Equal(got, want) {
		t.Errorf("after a restart the models have %v, want %v", got, want)
	}
	r.now.Store(noon.Add(2 * r.Keep))
	r.expire()
	record("c", "new", http.StatusOK)
	if got := rows(); got["new"] != 1 || len(got) != 1 {
		t.Errorf("later the models have %v", got)
	}
}
