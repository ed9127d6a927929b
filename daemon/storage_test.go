package daemon

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"epitome/internal/fakeapi/scriptedtest"
	"epitome/store/disk"
)

func TestStartSweepsWhatExpiredLongAgo(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	long := func() time.Time { return time.Now().Add(-90 * 24 * time.Hour) }
	d, err := disk.Open(disk.Options{Folder: filepath.Join(folder, StoreFolder), Now: long, Fault: func(err error) { t.Error(err) },
		Free: func(string) (uint64, error) { return 1 << 40, nil }})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		if _, err := d.Put(fmt.Sprint("d", i), []byte("old"), 30*24*time.Hour); err != nil {
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
