package load

import (
	"os"
	"testing"
)

func TestStatTicksCountsBehindTheProgramsName(t *testing.T) {
	f := func(stat string, want int64) {
		t.Helper()
		if got, err := statTicks(stat); err != nil || got != want {
			t.Errorf("statTicks(%q) = %d, %v; want %d", stat, got, err, want)
		}
	}
	f("7 (nginx) S 1 7 7 0 -1 4194560 500 0 0 0 12 30 0 0 20 0 1 0 100 1000 50", 42)
	f("7 (a) b) 9 ( c) R 1 7 7 0 -1 4194560 500 0 0 0 1 2 0 0 20 0 1 0 100 1000 50", 3)
	for _, stat := range []string{"", "7 (x) S 1 2", "7 (x) S 1 7 7 0 -1 4194560 500 0 0 0 a 30 0 0"} {
		if got, err := statTicks(stat); err == nil {
			t.Errorf("statTicks(%q) = %d, want an error", stat, got)
		}
	}
}

func TestOwnProcessHasTimeAndMemory(t *testing.T) {
	if _, err := CPUTime(os.Getpid()); err != nil {
		t.Error(err)
	}
	if rss, err := ResidentBytes(os.Getpid()); err != nil || rss < 1<<20 {
		t.Errorf("resident memory is %d bytes, %v", rss, err)
	}
}
