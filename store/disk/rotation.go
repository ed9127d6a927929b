package disk

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// entryCost is what an entry takes of a memtable beside its key and value, in bytes, at most.
const entryCost = 256

// rotation knows when a write may be the one with which Badger begins another memtable. If the file for that cannot be
// made, be it for a limit or a quota that free space does not tell of, the write fails, and the next one ends the
// process. So such a write is refused before.
type rotation struct {
	folder string

	mu     sync.Mutex // guards what follows
	newest int        // number of the newest memtable's file
	used   int        // bytes of it, at most
}

// watch begins with what lies in the folder of a store that has just been opened: an empty memtable.
func (r *rotation) watch(folder string) error {
	r.folder = folder
	files, err := os.ReadDir(folder)
	for _, file := range files {
		if name, is := strings.CutSuffix(file.Name(), memSuffix); is {
			if n, err := strconv.Atoi(name); err == nil {
				r.newest = max(r.newest, n)
			}
		}
	}
	return err
}

const memSuffix = ".mem"

// allow returns an error if a write of so many bytes may be the one that begins a memtable whose file cannot be made.
func (r *rotation) allow(size int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	size += entryCost
	if r.used += size; r.used < memTableSize {
		return nil
	}
	for r.exists(r.newest + 1) {
		r.newest, r.used = r.newest+1, size
	}
	if r.used < memTableSize {
		return nil
	}
	return r.try()
}

func (r *rotation) exists(number int) bool {
	_, err := os.Stat(filepath.Join(r.folder, fmt.Sprintf("%05d%s", number, memSuffix)))
	return err == nil
}

// try makes a file as large as that of a memtable, and removes it.
func (r *rotation) try() (err error) {
	path := filepath.Join(r.folder, "room")
	file, err := os.Create(path)
	if err == nil {
		err = file.Truncate(2 * memTableSize)
		if closed := file.Close(); err == nil {
			err = closed
		}
		_ = os.Remove(path) // the next try begins it anew
	}
	if err != nil {
		return fmt.Errorf("cannot begin another file of the store: %w", err)
	}
	return nil
}
