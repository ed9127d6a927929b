package journal

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
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
