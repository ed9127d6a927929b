package daemon

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"epitome/event"
)

// crashFile gets the last words of a process in which a bug, or an error of the disk in a mapped file, has ended all.
const crashFile = "crash.log"

// tellCrash logs that the epitome before this one has crashed in a data folder, and has the last words of this one
// written there: its log may have no reader, and takes no line after a crash. A second epitome with the folder does
// neither.
func (d *Daemon) tellCrash(folder string) {
	if !d.card.lock.Locked() {
		return
	}
	path := filepath.Join(folder, crashFile)
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
