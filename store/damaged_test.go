package store

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
)

// A process that is killed while it writes a table leaves it half written. These tables do not pile up on the disk.
func TestHalfWrittenTablesDoNotPileUp(t *testing.T) {
	folder := t.TempDir()
	table := filepath.Join(folder, "000900.sst")
	if err := os.WriteFile(table, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := OpenBadger(folder, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	left, _ := filepath.Glob(table + "*")
	if len(left) > 0 {
		t.Errorf("left are %q", left)
	}
}
