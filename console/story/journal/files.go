package journal

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// folder is where files lie. Its methods may be called from any goroutine.
type folder struct {
	o    Options
	life context.Context //nolint:containedctx // of what runs beside the writer

	moving sync.Mutex // held while a file becomes an archive, and by who reads them all

	mu    sync.Mutex
	notes []string
	down  bool // nothing can be written
}

func (f *folder) path(name string) string { return filepath.Join(f.o.Folder, name) }

// Endings of names.
const (
	lines   = ".jsonl"
	zip     = ".gz"
	fresh   = ".new"     // of what is being written
	damaged = ".damaged" // of what was set aside
)

// fileName names a part of a day.
type fileName struct {
	day  string // 2026-11-20
	part int    // from 1
}

// String is the name of the file while it is no archive.
func (n fileName) String() string {
	if n.part == 1 {
		return n.day + lines
	}
	return n.day + "." + strconv.Itoa(n.part) + lines
}

func (n fileName) compare(m fileName) int {
	return cmp.Or(strings.Compare(n.day, m.day), cmp.Compare(n.part, m.part))
}

// parseName reads the name of a file of lines.
func parseName(text string) (n fileName, ok bool) {
	text, ok = strings.CutSuffix(text, lines)
	day, part, parted := strings.Cut(text, ".")
	n = fileName{day, 1}
	if parted {
		number, err := strconv.Atoi(part)
		n.part, ok = number, ok && err == nil && number > 1
	}
	_, err := time.Parse(time.DateOnly, day)
	return n, ok && err == nil
}

// held is a file of lines in the folder.
type held struct {
	fileName
	zipped  bool
	size    int64
	changed string // the day on which something was written to it
}

// dayChanged is the day on which something was written to a file.
func dayChanged(about os.FileInfo) string { return about.ModTime().Format(time.DateOnly) }

// base is the name of the file as it is.
func (h held) base() string {
	if h.zipped {
		return h.String() + zip
	}
	return h.String()
}

// list returns the files of lines, the oldest first. Where a file is there as an archive as well, which happens when
// epitome is killed while it zips, the archive is left out.
func (f *folder) list() (all []held) {
	entries, err := os.ReadDir(f.o.Folder)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		plain, zipped := strings.CutSuffix(e.Name(), zip)
		name, ok := parseName(plain)
		about, err := e.Info()
		if !ok || err != nil || !about.Mode().IsRegular() {
			continue
		}
		all = append(all, held{name, zipped, about.Size(), dayChanged(about)})
	}
	slices.SortFunc(all, func(a, b held) int {
		return cmp.Or(a.compare(b.fileName), strings.Compare(a.base(), b.base()))
	})
	return slices.CompactFunc(all, func(a, b held) bool { return a.fileName == b.fileName })
}

// setAside keeps a file that cannot be read out of the way.
func (f *folder) setAside(name string, err error) {
	f.note(fmt.Sprintf("%s could not be read and was set aside as %s: figures may lack what it held", name, name+damaged))
	f.o.Log.Warn("a file of what has happened cannot be read and was set aside", "file", name, "error", err.Error())
	_ = os.Rename(f.path(name), f.path(name+damaged)) // it is noted, and passed over all the same
}

// note adds a sentence to the notes.
func (f *folder) note(text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.notes) < mostNotes {
		f.notes = append(f.notes, text)
	}
}

const mostNotes = 10

// listNotes is what readers of figures should know.
func (f *folder) listNotes() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.down {
		return append([]string{"what happens cannot be written to disk at present: it is lost if epitome ends meanwhile"}, f.notes...)
	}
	return slices.Clone(f.notes)
}

// setDown says whether writing fails.
func (f *folder) setDown(down bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.down = down
}
