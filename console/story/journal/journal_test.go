package journal

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// desk is a Journal whose day the test turns, and what it says in the log.
type desk struct {
	*Journal
	now time.Time
	log bytes.Buffer
}

// sit makes a Journal over a folder.
func sit(t *testing.T, folder string, quota int64) *desk {
	t.Helper()
	d := &desk{now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
	d.Journal = New(Options{
		Folder: folder, Keep: 30 * 24 * time.Hour, Quota: quota, Now: func() time.Time { return d.now },
		Log: slog.New(slog.NewTextHandler(&d.log, nil)),
	})
	t.Cleanup(d.Close)
	return d
}

// settle waits until nothing runs beside the test.
func (d *desk) settle() {
	d.Flush()
	d.tidier.done.Wait()
}

// names lists the folder, separated by spaces.
func (d *desk) names() string {
	entries, _ := os.ReadDir(d.folder.o.Folder)
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}

// text is lines as one text.
func text(found [][]byte) string { return string(bytes.Join(found, []byte(" "))) }

func TestLinesComeBackInTheirOrder(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "events")
	d := sit(t, folder, 1<<20)
	var want []string
	for i := range 50 {
		line := fmt.Sprintf("line%02d", i)
		d.Append([]byte(line))
		want = append(want, line)
		if i%10 == 9 {
			d.now = d.now.Add(24 * time.Hour)
			d.settle()
		}
	}
	d.settle()
	f := func(most int) {
		t.Helper()
		if got := text(d.After(Position{}, most)); got != strings.Join(want[50-most:], " ") {
			t.Errorf("the last %d lines are %s", most, got)
		}
	}
	for _, most := range []int{1, 9, 10, 11, 25, 50} {
		f(most)
	}
	if names := d.names(); !strings.HasPrefix(names, "2026-11-20.jsonl.gz 2026-11-21.jsonl.gz") ||
		!strings.HasSuffix(names, "2026-11-24.jsonl") {
		t.Errorf("the folder has %s", names)
	}
}

func TestLinesBehindAPlaceAreRead(t *testing.T) {
	d := sit(t, filepath.Join(t.TempDir(), "events"), 1<<20)
	d.Append([]byte("one"))
	d.Append([]byte("two"))
	d.Flush()
	place := d.Position()
	d.Append([]byte("three"))
	d.Flush()
	f := func(at Position, want string) {
		t.Helper()
		if got := text(d.After(at, 100)); got != want {
			t.Errorf("behind %v there is %s, want %s", at, got, want)
		}
	}
	f(place, "three")
	f(d.Position(), "")
	f(Position{place.File, place.Offset - 1}, "one two three") // that is no place
	f(Position{place.File, 1 << 30}, "one two three")
	d.now = d.now.Add(24 * time.Hour)
	d.Append([]byte("four"))
	d.settle()
	f(place, "one two three four") // an archive has no places
	f(Position{"2026-11-21.jsonl", 0}, "four")
	f(Position{"../card.json", 0}, "one two three four")
}

func TestTornLineIsNotJoined(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "2026-11-20.jsonl"), []byte("one\ntor"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := sit(t, folder, 1<<20)
	if got := text(d.After(Position{}, 10)); got != "one" {
		t.Errorf("before there is %s", got)
	}
	d.Append([]byte("two"))
	d.Flush()
	if got := text(d.After(Position{}, 10)); got != "one tor two" {
		t.Errorf("there is %s", got)
	}
}

func TestQuotaAndKeepTakeTheOldestAway(t *testing.T) {
	d := sit(t, filepath.Join(t.TempDir(), "events"), 40_000)
	line := bytes.Repeat([]byte("x"), 999)
	for range 100 { // in parts of a quarter of the quota
		d.Append(line)
	}
	d.settle()
	d.Tidy() // one that comes while another runs does nothing
	d.settle()
	if names := d.names(); !strings.Contains(names, "2026-11-20.10.jsonl") || !strings.Contains(names, "2026-11-20.9.jsonl.gz") {
		t.Errorf("the folder has %s", names)
	}
	for i := range 20 { // what does not zip
		name := fmt.Sprintf("2026-11-%02d.jsonl.gz", max(1, i))
		_ = os.WriteFile(d.folder.path(name), bytes.Repeat([]byte("y"), 5000), 0o600)
	}
	d.Tidy()
	d.settle()
	size := int64(0)
	for _, h := range d.folder.list() {
		size += h.size
	}
	if size > 40_000 || size < 30_000 {
		t.Errorf("%d bytes are kept: %s", size, d.names())
	}
	if names := d.names(); strings.Contains(names, "2026-11-01") || !strings.Contains(names, "2026-11-19") {
		t.Errorf("the oldest did not go first: %s", names)
	}
	d.now = d.now.Add(31 * 24 * time.Hour)
	d.Append(line)
	d.settle()
	if names := d.names(); names != "2026-12-21.jsonl" {
		t.Errorf("after a month there is %s", names)
	}
}

func TestArchivesOfADayAreNotOverwritten(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "events")
	d := sit(t, folder, 4000)
	for i := range 30 {
		d.Append(fmt.Appendf(nil, "%0100d", i))
		d.settle()
		if i%7 == 6 {
			d.Close()
			d = sit(t, folder, 4000)
		}
	}
	d.settle()
	if got := d.After(Position{}, 100); len(got) != 30 || !slices.IsSortedFunc(got, bytes.Compare) {
		t.Errorf("%d lines of %s", len(got), d.names())
	}
}

// The first parts of a large day may be gone: a start goes on behind the last one.
func TestLinesOfALargeDayComeBackInTheirOrder(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "events")
	d := sit(t, folder, 1000)
	for i := range 200 {
		d.Append(fmt.Appendf(nil, "%0100d", i))
		d.settle()
		if i%20 == 19 {
			d.Close()
			d = sit(t, folder, 1000)
		}
	}
	got := d.After(Position{}, 1000)
	n := len(got)
	if n == 0 || n == 200 || !slices.IsSortedFunc(got, bytes.Compare) || !bytes.HasSuffix(got[n-1], []byte("199")) {
		t.Errorf("%d lines, %q, of %s", n, got, d.names())
	}
}

func TestDamagedArchiveIsSetAside(t *testing.T) {
	folder := t.TempDir()
	d := sit(t, folder, 1<<20)
	for i := range 5000 {
		d.Append(fmt.Appendf(nil, "line %d of many", i*i))
	}
	d.now = d.now.Add(24 * time.Hour)
	d.Append([]byte("new"))
	d.settle()
	archive := filepath.Join(folder, "2026-11-20.jsonl.gz")
	packed, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	copy(packed[len(packed)/2:], "damaged")
	if err = os.WriteFile(archive, packed, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := d.After(Position{}, 10_000); len(got) == 0 || string(got[len(got)-1]) != "new" {
		t.Errorf("%d lines were read", len(got))
	}
	if notes := d.Notes(); len(notes) != 1 || !strings.Contains(notes[0], "2026-11-20.jsonl.gz.damaged") {
		t.Errorf("noted %q", notes)
	}
	if names := d.names(); names != "2026-11-20.jsonl.gz.damaged 2026-11-21.jsonl" {
		t.Errorf("the folder has %s", names)
	}
}

// fullFolder is one in which nothing can be written into the file of the day.
func fullFolder(t *testing.T) (folder, path string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has a device that is full")
	}
	folder = t.TempDir()
	path = filepath.Join(folder, "2026-11-20.jsonl")
	if err := os.Symlink("/dev/full", path); err != nil {
		t.Fatal(err)
	}
	return folder, path
}

func TestFullDiskIsSaidOnce(t *testing.T) {
	folder, path := fullFolder(t)
	d := sit(t, folder, 1<<20)
	for range 10 {
		d.Append([]byte("waited"))
		d.Flush()
		d.Save([]byte("{}"))
		d.now = d.now.Add(time.Minute) // it is tried again each time
	}
	if n := strings.Count(d.log.String(), "\n"); n != 1 || len(d.Notes()) != 1 {
		t.Errorf("%d lines in the log, noted %q: %s", n, d.Notes(), &d.log)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	d.Append([]byte("then"))
	d.Flush()
	d.Save([]byte("{}"))
	want := strings.Repeat("waited ", 10) + "then"
	if got := text(d.After(Position{}, 20)); got != want || len(d.Notes()) != 0 || string(d.Snapshot()) != "{}" {
		t.Errorf("there is %s, noted %q", got, d.Notes())
	}
	if at, held := d.Position(), int64(len(want))+1; at.Offset != held {
		t.Errorf("it has come to %v, want %d", at, held)
	}
}

// No event has to come for what waits to be written.
func TestWhatWaitsIsWrittenWhenThereIsRoom(t *testing.T) {
	folder, path := fullFolder(t)
	d := sit(t, folder, 1<<20)
	d.Append([]byte("waits"))
	for range 5 {
		d.Flush()
		d.now = d.now.Add(time.Minute)
	}
	if d.Save([]byte("{}")) && len(d.Notes()) == 0 {
		t.Error("a snapshot says that what waits is written")
	}
	if err := errors.Join(os.Remove(path), os.WriteFile(path, []byte("tor"), 0o600)); err != nil {
		t.Fatal(err)
	}
	d.now = d.now.Add(time.Minute)
	d.Flush()
	if text, err := os.ReadFile(path); err != nil || string(text) != "tor\nwaits\n" || len(d.Notes()) != 0 {
		t.Errorf("the file has %q, %v; noted %q", text, err, d.Notes())
	}
}

func TestWhatWaitsForRoomIsWrittenBeforeTheEnd(t *testing.T) {
	folder, path := fullFolder(t)
	d := sit(t, folder, 16<<20)
	d.Append([]byte("old"))
	d.Flush()
	large := bytes.Repeat([]byte("x"), 400_000)
	for range 4 {
		d.Append(large)
	}
	d.Append([]byte("whole")) // of which the beginning was written, as far as there was room
	if len(d.pending) > mostPending {
		t.Errorf("%d bytes wait", len(d.pending))
	}
	if err := errors.Join(os.Remove(path), os.WriteFile(path, []byte("one\nwho"), 0o600)); err != nil {
		t.Fatal(err)
	}
	d.Retry() // its time has not come, but the end has
	d.Save([]byte("{}"))
	d.Close()
	got := sit(t, folder, 16<<20).After(Position{}, 1000)
	if len(got) != 5 || string(got[0]) != "one" || string(got[1]) != "who" || !bytes.Equal(got[3], large) ||
		string(got[4]) != "whole" || string(d.Snapshot()) != "{}" {
		t.Errorf("%d lines are there: %.100q, snapshot %s", len(got), got, d.Snapshot())
	}
}

func TestKillWhileZippingLosesNothing(t *testing.T) {
	folder := t.TempDir()
	for name, content := range map[string]string{
		"2026-11-18.jsonl": "one\n", "2026-11-18.jsonl.gz": "half of an archi", "2026-11-19.jsonl": "two\n",
		"2026-11-19.jsonl.gz.new": "half", "notes.txt": "not ours", "2026-11-19.0.jsonl": "nor this",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d := sit(t, folder, 1<<20)
	if got := text(d.After(Position{}, 10)); got != "one two" {
		t.Errorf("there is %s", got)
	}
	d.Tidy()
	d.settle()
	if got := text(d.After(Position{}, 10)); got != "one two" {
		t.Errorf("then there is %s", got)
	}
	if names := d.names(); names != "2026-11-18.jsonl.gz 2026-11-19.0.jsonl 2026-11-19.jsonl.gz notes.txt" {
		t.Errorf("the folder has %s", names)
	}
}

// A start that has nothing to write yet holds the quota, whatever day it is.
func TestQuotaIsHeldAtAStartBehindAClockThatWasSetBack(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "events")
	d := sit(t, folder, 40_000)
	for range 30 {
		d.Append(bytes.Repeat([]byte("x"), 999))
	}
	d.settle()
	d.Close()
	d = sit(t, folder, 10_000)
	d.now = d.now.AddDate(0, 0, -2)
	d.Tidy()
	d.settle()
	size := int64(0)
	for _, h := range d.folder.list() {
		size += h.size
	}
	if size > 10_000+999 {
		t.Errorf("%d bytes are kept: %s", size, d.names())
	}
}

// A clock may be far ahead for a moment. What is written behind that is kept as long as anything else.
func TestFilesOfALaterDayGoAfterTheirTime(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "events")
	d := sit(t, folder, 1<<20)
	today := time.Now()
	write := func(days int, line string) {
		d.now = today.AddDate(0, 0, days)
		d.Append([]byte(line))
		d.settle()
		for _, h := range d.folder.list() { // what was written now has the time of the machine, not of the test
			if h.changed == today.Format(time.DateOnly) {
				_ = os.Chtimes(d.folder.path(h.base()), d.now, d.now)
			}
		}
	}
	write(1000, "ahead")
	_ = os.Chtimes(filepath.Join(folder, d.name.String()), today, today)
	for day := range 60 {
		write(1+day, fmt.Sprintf("day %02d", day))
		if day%7 == 6 {
			d.Close()
			d = sit(t, folder, 1<<20)
			write(1+day, fmt.Sprintf("day %02d, later", day)) // in the part of its day
		}
	}
	got := d.After(Position{}, 1000)
	if first := string(got[0]); first < "day 28" || first > "day 30" || len(got) < 33 || string(got[len(got)-1]) != "day 59" {
		t.Errorf("%d lines are kept, from %q to %q: %s", len(got), first, got[len(got)-1], d.names())
	}
}
