package daemon

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"epitome/console/story"
	"epitome/event"
	"epitome/offload"
	"epitome/scripted/scriptedtest"
	"epitome/store/disk"
)

const (
	aDay         = 24 * time.Hour
	yearKeep     = 30 * aDay
	yearShare    = 10      // of so many requests, one puts an artifact aside
	yearRecord   = 2 << 10 // bytes that each request writes down
	yearArtifact = 8 << 10 // bytes
)

// yearRequests is few, for the time that a day takes; the figures in docs are those of 200.
var yearRequests = flag.Int("year.requests", 40, "requests a day in the test of a year")

// year is a data folder over which time passes.
type year struct {
	t      *testing.T
	folder string
	now    time.Time
	store  *disk.Store
	shelf  *offload.Shelf
	ledger *ledger
	book   *story.Book

	quota, eventQuota int64 // bytes
	put, refused      int   // artifacts of the day before

	starts []time.Duration // what opening took
	swept  []disk.Swept
}

// newYear begins with the year, within the quotas of the defaults.
func newYear(t *testing.T) *year {
	return &year{t: t, folder: t.TempDir(), now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), quota: 2 << 30,
		eventQuota: 256 << 20}
}

func (y *year) clock() time.Time { return y.now }

// start opens what a start opens.
func (y *year) start() {
	y.t.Helper()
	begun := time.Now()
	var err error
	y.store, err = disk.Open(disk.Options{
		Folder: filepath.Join(y.folder, StoreFolder), Now: y.clock,
		Free:  func(string) (uint64, error) { return 1 << 40, nil },
		Fault: func(err error) { y.t.Error(err) },
	})
	if err == nil && y.store.Notice() != "" {
		y.t.Fatal(y.store.Notice())
	}
	if err == nil {
		y.shelf, err = offload.Open(offload.Options{
			Folder: y.folder, Store: y.store, Quota: y.quota, Keep: yearKeep, Address: "path", Now: y.clock,
		})
	}
	if err != nil {
		y.t.Fatal(err)
	}
	y.starts = append(y.starts, time.Since(begun))
	y.ledger = newLedger(y.store, yearKeep)
	y.ledger.now = y.clock
	y.book = story.New(
		story.Config{Version: "v1", Folder: filepath.Join(y.folder, EventFolder), Keep: yearKeep, Quota: y.eventQuota},
		story.Plugs{
			Log: slog.New(slog.DiscardHandler), Now: y.clock, Mode: func() string { return event.ModeOn },
			Prices: func() story.Prices { return story.Prices{} },
		})
}

// end closes what was opened.
func (y *year) end() {
	y.t.Helper()
	y.book.Close()
	if err := y.store.Close(); err != nil {
		y.t.Fatal(err)
	}
}

// filling is some text that differs for each name, and does not compress.
func filling(name string, size int) []byte {
	out := make([]byte, 0, size+64)
	for x := uint64(len(name)) + 0x9e3779b97f4a7c15; len(out) < size; {
		for _, c := range []byte(name) {
			x = (x ^ uint64(c)) * 0x100000001b3
		}
		out = fmt.Appendf(out, "%016x", x*0x9e3779b97f4a7c15)
	}
	return out[:size]
}

func decisionOf(day, i int) (key string) {
	return fmt.Sprintf("d/%s", filling(fmt.Sprint(day, "-", i), 32))
}

func artifactOf(day, i int) []byte {
	return filling(fmt.Sprint("artifact ", day, " ", i), yearArtifact)
}

// spend is one day of work, and the sweeps of its end.
func (y *year) spend(day int) {
	y.t.Helper()
	y.put, y.refused = 0, 0
	for i := range *yearRequests {
		key := decisionOf(day, i)
		if _, _, err := y.ledger.Add(key, filling(key, yearRecord)); err != nil {
			y.t.Fatal(err)
		}
		if i > 0 {
			y.ledger.Touch(decisionOf(day, i-1))
		}
		if i%yearShare == 0 {
			content := artifactOf(day, i)
			name := y.shelf.Name("scope", content)
			switch err := y.shelf.Put(name, content); {
			case err == nil:
				y.put++
			case errors.Is(err, offload.ErrFull):
				y.refused++
			default:
				y.t.Fatal(err)
			}
		}
		y.book.RecordExchange(yearExchange(day, i, y.now))
		y.now = y.now.Add(aDay / time.Duration(*yearRequests))
	}
	y.book.Settle()
	if _, _, err := y.shelf.Sweep(context.Background()); err != nil {
		y.t.Fatal(err)
	}
	swept, err := y.store.Sweep(context.Background())
	if err != nil {
		y.t.Fatal(err)
	}
	y.swept = append(y.swept, swept)
}

func yearExchange(day, i int, at time.Time) event.Exchange {
	return event.Exchange{
		ID: fmt.Sprint(day, "-", i), Start: at, Duration: time.Second, Method: "POST", Path: "/v1/chat/completions",
		Upstream: "openai", Mode: event.ModeOn, Action: "none", Status: 200,
		Shaping: event.Shaping{
			Model: "m", Conversation: fmt.Sprint("c", day, "-", i/25), ShapeTime: time.Millisecond,
			Window: 10_000, Usable: 9_000,
			TokensBefore: event.Tokens{System: 100, Results: 3900},
			TokensAfter:  event.Tokens{System: 100, Results: 2900},
		},
		Usage: event.Usage{Source: event.UsageProvider, Input: 3000, Read: 2800, Output: 10},
	}
}

// sizes is how many files lie in a folder, and how many bytes; those of Badger's that are made in their full size at
// once are left out.
func sizes(t *testing.T, folder string) (files int, size int64) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasSuffix(path, ".vlog") || strings.HasSuffix(path, ".mem") {
			return err
		}
		about, err := e.Info()
		if err == nil {
			files++
			size += about.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files, size
}

// wantDay holds what is kept of a day to what was put on it.
func (y *year) wantDay(day int, live bool) {
	y.t.Helper()
	for i := 0; i < *yearRequests; i += 17 {
		key := decisionOf(day, i)
		value, _, found := y.ledger.Get(key)
		if found != live || live && !bytes.Equal(value, filling(key, yearRecord)) {
			y.t.Errorf("day %d, decision %d: found is %v; want %v, as it was put", day, i, found, live)
		}
	}
}

// amount is what lies on the disk at the end of a week.
type amount struct {
	store, artifacts, events int64 // bytes
	files                    int   // of artifacts and events
}

func (y *year) amount() (a amount) {
	y.t.Helper()
	_, a.store = sizes(y.t, filepath.Join(y.folder, StoreFolder))
	files, more := 0, 0
	files, a.artifacts = sizes(y.t, filepath.Join(y.folder, ArtifactFolder))
	more, a.events = sizes(y.t, filepath.Join(y.folder, EventFolder))
	a.files = files + more
	return a
}

// most is the largest amount of each kind.
func most(all []amount) (m amount) {
	for _, a := range all {
		m = amount{max(m.store, a.store), max(m.artifacts, a.artifacts), max(m.events, a.events), max(m.files, a.files)}
	}
	return m
}

// middleOfEvents is the median of the bytes of events.
func middleOfEvents(all []amount) int64 {
	list := make([]int64, len(all))
	for i, a := range all {
		list[i] = a.events
	}
	slices.Sort(list)
	return list[len(list)/2]
}

// TestAYearOnDiskIsBounded lets a year pass by the clock that all of storage obeys, with a restart each week. What
// takes room is flat from when the oldest has expired. A start reads all of the store, so that it is bounded likewise.
func TestAYearOnDiskIsBounded(t *testing.T) {
	t.Parallel()
	if raceDetector || testing.Short() {
		t.Skip("a year takes ten seconds of processor time, and many times as much under the race detector")
	}
	y := newYear(t)
	y.start()
	var weeks []amount
	for day := range 7 * 52 {
		y.spend(day)
		if day%7 < 6 {
			continue
		}
		y.end()
		weeks = append(weeks, y.amount())
		y.start()
		t.Logf("day %3d: %+v, start %v, swept %+v", day+1, weeks[len(weeks)-1],
			y.starts[len(y.starts)-1].Round(time.Millisecond), y.swept[day])
		if day > 40 {
			y.wantDay(day-20, true)
			y.wantDay(day-32, false)
		}
	}
	y.end()
	slices.Sort(y.starts)
	t.Logf("%d starts: the median took %v, the slowest %v", len(y.starts), y.starts[len(y.starts)/2], y.starts[len(y.starts)-1])

	early, late := most(weeks[8:26]), most(weeks[26:])
	widest := late.events // an end may come before yesterday's events are packed: then one day of them lies plain
	early.events, late.events = middleOfEvents(weeks[8:26]), middleOfEvents(weeks[26:])
	flat := func(name string, early, late, most int64) {
		t.Helper()
		if late > early+early/5 || late > most {
			t.Errorf("%s: %d after a quarter, %d after a year; want a fifth more at most, and no more than %d", name, early, late, most)
		}
	}
	days := int64(yearKeep/aDay) + 5 // artifacts are kept an eighth longer than asked for
	requests, taken := int64(*yearRequests), int64(*yearRequests/yearShare)
	flat("bytes of the store", early.store, late.store, 3*days*(requests*(yearRecord+200)+taken*200)+4<<20)
	flat("bytes of artifacts", early.artifacts, late.artifacts, days*taken*yearArtifact)
	flat("bytes of events", early.events, late.events, days*requests*1000)
	flat("bytes of events and a day's of them plain", widest, widest, days*requests*1000)
	flat("files", int64(early.files), int64(late.files), days*taken+days+1)
	for day, swept := range y.swept {
		if n := int64(swept.Looked); n > days*(requests+taken) {
			t.Errorf("on day %d a sweep looked at %d records", day, n)
		}
	}
}

// TestQuotasHoldWhileTimePasses gives artifacts and events room for a few days. What has expired makes room again.
func TestQuotasHoldWhileTimePasses(t *testing.T) {
	t.Parallel()
	if raceDetector || testing.Short() {
		t.Skip("seventy days take some seconds, and many times as much under the race detector")
	}
	y := newYear(t)
	taken := *yearRequests / yearShare
	y.quota, y.eventQuota = int64(10*taken*yearArtifact), 16<<10
	y.start()
	refused, late := 0, 0
	for day := range 10 * 7 {
		y.spend(day)
		refused += y.refused
		if day > 40 {
			late += y.put
		}
		if day%7 < 6 {
			continue
		}
		y.end()
		if _, size := sizes(t, filepath.Join(y.folder, ArtifactFolder)); size > y.quota {
			t.Errorf("on day %d artifacts take %d bytes of %d", day, size, y.quota)
		}
		y.start()
		y.book.Settle()
	}
	if refused == 0 || late == 0 {
		t.Errorf("%d artifacts were refused, and %d put when the oldest had expired; want some of both", refused, late)
	}
	// Files are zipped and taken away beside the writer, whenever it begins another one: at a quarter of the quota.
	most, size := y.eventQuota+y.eventQuota/4+1<<10, int64(0)
	if !scriptedtest.Eventually(func() bool {
		size = y.lines()
		return size > 0 && size <= most
	}) {
		t.Errorf("events take %d bytes; want %d at most, some above the quota of %d", size, most, y.eventQuota)
	}
	y.end()
}

// lines is how many bytes the events take that are written down.
func (y *year) lines() (size int64) {
	files, _ := filepath.Glob(filepath.Join(y.folder, EventFolder, "*.jsonl*"))
	for _, path := range files {
		if about, err := os.Stat(path); err == nil { // else it has just gone
			size += about.Size()
		}
	}
	return size
}

func TestStartSweepsWhatExpiredLongAgo(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	y := newYear(t)
	y.folder, y.now = folder, time.Now().Add(-2*yearKeep)
	y.start()
	for i := range 5 {
		if _, _, err := y.ledger.Add(decisionOf(0, i), []byte("old")); err != nil {
			t.Fatal(err)
		}
	}
	y.end()
	log := &lockedBuffer{}
	k := keptIn(t, folder, log)
	defer k.close()
	if !scriptedtest.Eventually(func() bool {
		return strings.Contains(log.text(), `msg="swept the store of decisions" decisions=5`)
	}) {
		t.Errorf("nothing was swept: %s", log.text())
	}
}
