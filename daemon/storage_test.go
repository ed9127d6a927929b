package daemon

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"epitome/scripted/scriptedtest"
	"epitome/store/disk"
)

func TestSweepsComeAsOftenAsKeepingAsks(t *testing.T) {
	f := func(keep, want time.Duration) {
		t.Helper()
		if got := sweepEvery(keep); got != want {
			t.Errorf("what is kept for %s is swept every %s, want %s", keep, got, want)
		}
	}
	f(720*time.Hour, 6*time.Hour)
	f(48*time.Hour, 6*time.Hour)
	f(24*time.Hour, 3*time.Hour)
	f(2*time.Minute, 15*time.Second)
	f(time.Second, 10*time.Second)
}

func TestStartSweepsWhatExpiredLongAgo(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	long := func() time.Time { return time.Now().Add(-90 * 24 * time.Hour) }
	d, err := disk.Open(disk.Options{Folder: filepath.Join(folder, StoreFolder), Now: long, Fault: func(err error) { t.Error(err) },
		Free: func(string) (uint64, error) { return 1 << 40, nil }})
	if err != nil {
		t.Fatal(err)
	}
	l := newLedger(d, 30*24*time.Hour)
	l.now = long
	for i := range 5 {
		if _, _, err := l.Add(fmt.Sprint("d/", i), []byte("old")); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	log := &lockedBuffer{}
	k := keptIn(t, folder, log)
	defer k.close()
	if !scriptedtest.Eventually(func() bool {
		return strings.Contains(log.text(), `msg="swept the store of decisions" decisions=5`)
	}) {
		t.Errorf("nothing was swept: %s", log.text())
	}
}
