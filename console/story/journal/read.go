package journal

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"slices"
)

// mostLine is more than a line has, in bytes. A longer one is passed over.
const mostLine = 1 << 20

// after is Journal.After.
func (f *folder) after(place Position, most int) [][]byte {
	f.moving.Lock()
	defer f.moving.Unlock()
	files := f.list()
	slices.Reverse(files)
	after, placed := parseName(place.File)
	var all [][]byte // the newest first
	for _, h := range files {
		order := h.compare(after)
		if placed && order < 0 || len(all) >= most || f.life.Err() != nil {
			break
		}
		from := int64(0)
		if placed && order == 0 {
			from = place.Offset
		}
		found := f.linesOf(h, from, most-len(all))
		slices.Reverse(found)
		all = append(all, found...)
	}
	slices.Reverse(all)
	return all
}

// linesOf returns the last lines of a file, at most that many, of those behind an offset if it is no archive.
func (f *folder) linesOf(h held, from int64, most int) [][]byte {
	found, err := f.read(h, from, most)
	if err != nil && f.life.Err() == nil {
		f.setAside(h.base(), err)
	}
	return found
}

// read returns what can be read, whatever the error.
func (f *folder) read(h held, from int64, most int) ([][]byte, error) {
	file, err := os.Open(f.path(h.base()))
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil, nil // its time was over
		}
		return nil, err
	}
	defer func() { _ = file.Close() }()
	if !h.zipped {
		return last(startOf(file, from, most), most)
	}
	archive, err := gzip.NewReader(file)
	if err != nil {
		return nil, err
	}
	return last(archive, most)
}

// typicalLine is what most lines are below, in bytes.
const typicalLine = 4 << 10

// startOf puts a file at an offset, or further on if more lines would come than are wanted. A place that does not begin
// a line is not what it was.
func startOf(file *os.File, from int64, most int) io.Reader {
	about, err := file.Stat()
	if err != nil {
		return file
	}
	var before [1]byte
	if n, _ := file.ReadAt(before[:], from-1); from > 0 && (n != 1 || before[0] != '\n') {
		from = 0
	}
	late := about.Size() - int64(most)*typicalLine
	if _, err := file.Seek(max(from, late), io.SeekStart); err != nil {
		return file
	}
	r := bufio.NewReaderSize(file, bufferSize)
	if late > from {
		_, _ = r.ReadSlice('\n') // a part of a line; what follows may begin within one, which is then no JSON
	}
	return r
}

// last returns the last lines of what can be read, at most that many. One that is not whole is none.
func last(r io.Reader, most int) ([][]byte, error) {
	var ring [][]byte
	next := 0
	in := bufio.NewReaderSize(r, mostLine)
	for {
		line, err := in.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue // what comes of a part of a line is for the reader of lines to see
		case err != nil && !errors.Is(err, io.EOF):
			return ordered(ring, next), err
		case err != nil:
			return ordered(ring, next), nil
		}
		if len(line) == 1 { // it ends a torn line that was ended already
			continue
		}
		line = bytes.Clone(line[:len(line)-1])
		if len(ring) < most {
			ring = append(ring, line)
			continue
		}
		ring[next] = line
		next = (next + 1) % most
	}
}

// ordered is a ring from its oldest line on.
func ordered(ring [][]byte, next int) [][]byte {
	return append(ring[next:len(ring):len(ring)], ring[:next]...)
}
