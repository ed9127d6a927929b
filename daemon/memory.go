package daemon

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"runtime/metrics"
	"strings"

	"epitome/config"
	"epitome/event"
	"epitome/summarize"
)

// spareMemory is what the program may take besides the bodies under way, in bytes, before it collects garbage more
// often.
const spareMemory = 256 << 20

// boundMemory keeps garbage, which is mostly bodies that were sent, from growing far beyond what is allowed for those
// under way and for those that wait to be summarised.
func boundMemory(conf config.Config) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(int64(conf.Proxy.MaxInFlight+summarize.MaxPending) + spareMemory)
	}
}

// paceGarbage is called every few seconds. Go itself lets garbage grow as large as what is in use; here it grows to 32
// MB, or to half of what is in use.
func paceGarbage() {
	if os.Getenv("GOGC") != "" {
		return
	}
	used := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(used)
	percent := min(max(100*(32<<20)/max(used[0].Value.Uint64(), 1), 50), 100)
	debug.SetGCPercent(int(percent)) //nolint:gosec // at most 100
}

// crashFile gets the last words of a process in which a bug, or an error of the disk in a mapped file, has ended all.
const crashFile = "crash.log"

// tellCrash logs that the epitome before this one has crashed in a data folder, and has the last words of this one
// written there: its log may have no reader, and takes no line after a crash. A second epitome with the folder does
// neither.
func (d *Daemon) tellCrash() {
	if !d.card.lock.Locked() {
		return
	}
	path := filepath.Join(d.card.folder, crashFile)
	text, _ := os.ReadFile(path) // there is none after an orderly end
	if len(text) > 0 && os.Rename(path, path+".old") == nil {
		why, _, _ := strings.Cut(string(text), "\n\n") // behind it are the goroutines; Go gives some reasons to stderr alone
		d.log.Error("the epitome before this one has crashed", "why", event.Clip(why), "where", path+".old")
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return // the standard error has to do
	}
	_ = debug.SetCrashOutput(file, debug.CrashOptions{}) // likewise
	_ = file.Close()                                     // it was duplicated
	d.atEnd(func() {
		_ = debug.SetCrashOutput(nil, debug.CrashOptions{})
		_ = os.Remove(path)
	})
}
