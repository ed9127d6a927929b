package story

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// told is all that a Book answers, as JSON.
func told(t *testing.T, r rig) string {
	t.Helper()
	var all bytes.Buffer
	out := json.NewEncoder(&all)
	for _, by := range []string{ByDay, ByHour, ByModel, ByUpstream, ByConversation} {
		s := summed(t, r, by)
		s.Notes = nil
		_ = out.Encode(s)
	}
	page, err := r.Conversations(Listing{})
	if err != nil {
		t.Fatal(err)
	}
	_ = out.Encode(page)
	for _, c := range page.Items {
		s, err := r.Conversation(c.ID)
		if err != nil {
			t.Fatal(err)
		}
		_ = out.Encode(s)
	}
	return all.String()
}

// sameText fails the test with the first difference.
func sameText(t *testing.T, what, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	i := 0
	for i < min(len(got), len(want)) && got[i] == want[i] {
		i++
	}
	i = max(0, i-100)
	t.Errorf("%s: got …%.300s\nwant …%.300s", what, got[i:], want[i:])
}

// keeping makes a Book over a folder, at a time; it has recalled what is there.
func keeping(t *testing.T, folder string, at time.Time) rig {
	t.Helper()
	now := &clock{}
	now.Store(at)
	p := plugged(now)
	p.Bill, p.Charge = billed, charged
	r := rig{New(Config{Version: "v1", Folder: folder, Keep: 30 * 24 * time.Hour, Quota: 64 << 20}, p), now}
	t.Cleanup(r.Close)
	r.recalled()
	return r
}

// recalled waits until the events of earlier processes are there.
func (r rig) recalled() {
	r.Settle()
	<-r.writer.recalled
	r.Settle()
}

func TestAllIsTheSameAfterARestart(t *testing.T) {
	for seed := range uint64(2) {
		folder := filepath.Join(t.TempDir(), "events")
		dice := cast(seed)
		r := keeping(t, folder, noon)
		for restart := range 3 {
			dice.record(r, 400) // of two days, or so
			want := told(t, r)
			r.Close()
			r = keeping(t, folder, r.now.Load())
			sameText(t, "after a restart", told(t, r), want)
			if notes := summed(t, r, ByDay).Notes; len(notes) > 0 {
				t.Errorf("restart %d: noted %q", restart, notes)
			}
		}
		r.writer.do(r.writer.journal.Tidy)
		r.Close()
		if packed, _ := filepath.Glob(filepath.Join(folder, "*.jsonl.gz")); len(packed) < 3 {
			t.Errorf("%d days are zipped", len(packed))
		}
	}
}

func TestAllIsTheSameAfterAKill(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "events")
	dice := cast(7)
	r := keeping(t, folder, noon)
	dice.record(r, 300)
	r.Close() // leaves a snapshot
	r = keeping(t, folder, r.now.Load())
	dice.record(r, 300)
	r.writer.do(r.writer.journal.Flush)
	want := told(t, r)
	sameText(t, "after a kill", told(t, keeping(t, asKilled(t, folder), r.now.Load())), want)
}

// asKilled is a copy of a folder that is written to, as a kill would have left it. A copy takes a while, as a kill does
// not: where a day's file is packed meanwhile, it is made again.
func asKilled(t *testing.T, folder string) string {
	t.Helper()
	killed := filepath.Join(t.TempDir(), "killed")
	err := os.CopyFS(killed, os.DirFS(folder))
	for tries := 0; errors.Is(err, fs.ErrNotExist) && tries < 100; tries++ {
		err = errors.Join(os.RemoveAll(killed), os.CopyFS(killed, os.DirFS(folder)))
	}
	if err != nil {
		t.Fatal(err)
	}
	return killed
}

// Events whose file went before a snapshot had them are missed, and that is said.
func TestLostEventsAreNoted(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "events")
	r := keeping(t, folder, noon)
	f := func(want int64, notes string) {
		t.Helper()
		r.Close()
		r = keeping(t, folder, r.now.Load())
		s := summed(t, r, ByDay)
		if s.Total.Exchanges != want || strings.Join(s.Notes, "|") != notes {
			t.Errorf("%d exchanges, noted %q; want %d, and %q", s.Total.Exchanges, s.Notes, want, notes)
		}
	}
	day := func(days int) {
		r.now.Store(noon.Add(time.Duration(days) * 24 * time.Hour))
		for range 3 {
			r.RecordExchange(talking("c1", days*24*60))
			r.Settle()
		}
	}
	day(0)
	f(3, "")
	snapshot, err := os.ReadFile(filepath.Join(folder, "fold.json"))
	day(1)
	day(2)
	r.Close()
	for _, gone := range []string{"2026-11-21.jsonl", "2026-11-21.jsonl.gz"} {
		_ = os.Remove(filepath.Join(folder, gone)) // it is there as one of them
	}
	if err = errorsOf(err, os.WriteFile(filepath.Join(folder, "fold.json"), snapshot, 0o600)); err != nil {
		t.Fatal(err)
	}
	f(6, "3 events stand in no file any more, and in no snapshot: figures lack them")
	f(6, "")
	r.Close()
	if err = errorsOf(os.Remove(filepath.Join(folder, "fold.json")), os.RemoveAll(filepath.Join(folder, "2026-11-20.jsonl.gz")),
		os.RemoveAll(filepath.Join(folder, "2026-11-20.jsonl"))); err != nil {
		t.Fatal(err)
	}
	f(3, "")
}

func TestDamagedLinesArePassedOver(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "events")
	r := keeping(t, folder, noon)
	for range 10 {
		r.RecordExchange(talking("c1", 0))
	}
	r.Close()
	path := filepath.Join(folder, "2026-11-20.jsonl")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all := bytes.SplitAfter(text, []byte("\n"))
	all[2] = append(bytes.Repeat([]byte("<"), 2<<20), '\n')
	all[3] = []byte("{}\n")
	all[4] = []byte("{\"exchange\":{\"seq\":-5}}\n")
	all[9] = all[9][:20] // and no line behind it is joined to it
	err = os.WriteFile(path, bytes.Join(all, nil), 0o600)
	if err = errorsOf(err, os.Remove(filepath.Join(folder, "fold.json"))); err != nil {
		t.Fatal(err)
	}
	r = keeping(t, folder, noon)
	r.RecordExchange(talking("c1", 0))
	r.Close()
	r = keeping(t, folder, noon)
	s := summed(t, r, ByDay)
	if s.Total.Exchanges != 7 {
		t.Errorf("%d exchanges were read, noted %q", s.Total.Exchanges, s.Notes)
	}
	os.Remove(filepath.Join(folder, "fold.json"))
	r.Close()
	os.Remove(filepath.Join(folder, "fold.json"))
	r = keeping(t, folder, noon)
	if s := summed(t, r, ByDay); s.Total.Exchanges != 7 || len(s.Notes) != 1 {
		t.Errorf("%d exchanges were read, noted %q", s.Total.Exchanges, s.Notes)
	}
}

func errorsOf(all ...error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}

func TestFilesAreTheOwnersAlone(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "events")
	r := keeping(t, folder, noon)
	r.RecordExchange(talking("c1", 0))
	r.Settle()
	r.now.Store(noon.Add(24 * time.Hour))
	r.RecordExchange(talking("c1", 24*60))
	r.Close()
	seen := 0
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if about, _ := d.Info(); about.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is %v", path, about.Mode())
		}
		seen++
		return err
	})
	if err != nil || seen < 4 {
		t.Errorf("%v, %d files", err, seen)
	}
}

func TestWithoutAFolderNothingIsWritten(t *testing.T) {
	t.Chdir(t.TempDir())
	r := begin(t, nil)
	r.RecordExchange(talking("c1", 0))
	r.Close()
	if left, err := os.ReadDir("."); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", err, left)
	}
}

func TestADiskThatFailsCostsFilesAlone(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "events")
	if err := os.WriteFile(folder, nil, 0o600); err != nil { // no folder can be there
		t.Fatal(err)
	}
	r := keeping(t, folder, noon)
	for range 3 {
		r.RecordExchange(talking("c1", 0))
	}
	if s := summed(t, r, ByDay); s.Total.Exchanges != 3 || len(s.Notes) != 1 {
		t.Errorf("%d exchanges, noted %q", s.Total.Exchanges, s.Notes)
	}
	if err := os.Remove(folder); err != nil {
		t.Fatal(err)
	}
	r.now.Store(noon.Add(time.Hour))
	r.RecordExchange(talking("c1", 60))
	r.writer.do(r.writer.journal.Flush)
	want := told(t, r)
	if s := summed(t, r, ByDay); len(s.Notes) != 0 {
		t.Errorf("noted %q", s.Notes)
	}
	r.Close()
	r = keeping(t, folder, r.now.Load())
	if s := summed(t, r, ByDay); s.Total.Exchanges != 4 {
		t.Errorf("%d exchanges of %s", s.Total.Exchanges, want)
	}
}
