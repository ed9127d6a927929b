package logging

import (
	"os"
	"sync"
)

// file is a log file. Its lines are appended; before it holds more than half of the quota, it becomes the file before
// it, whose name ends in ".1", and a new one begins.
type file struct {
	path string
	half int64 // bytes

	mu   sync.Mutex
	now  *os.File
	size int64
}

func openFile(path string, quota int64) (*file, error) {
	f := &file{path: path, half: quota / 2}
	return f, f.open()
}

// open goes on with the file as it is.
func (f *file) open() error {
	now, err := os.OpenFile(f.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	s, err := now.Stat()
	if err != nil {
		_ = now.Close()
		return err
	}
	f.now, f.size = now, s.Size()
	return nil
}

// Write appends one line. If no new file can be begun, the old one grows on: a log is worth more than its bound.
func (f *file) Write(line []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.size > 0 && f.size+int64(len(line)) > f.half {
		f.turn()
	}
	n, err := f.now.Write(line)
	f.size += int64(n)
	return n, err
}

// turn begins a new file.
func (f *file) turn() {
	old := f.now
	_ = old.Close() // Windows renames no file that is open
	_ = os.Rename(f.path, f.path+".1")
	if f.open() != nil {
		f.now, f.size = old, f.half // it is closed: this line is lost, and the next one tries again
	}
}

// Close ends the log.
func (f *file) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now.Close()
}
