package command

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
)

// alike is copies of programs, all made in one way. A linker leaves a file otherwise in the system's cache than a copy
// does, and more of the one than of the other may count as the memory of who runs it.
type alike struct{ folder string }

// newAlike makes a folder for copies. Who made it removes it.
func newAlike() (a alike, err error) {
	if a.folder, err = os.MkdirTemp("", "epitome-alike-"); err != nil {
		return a, fmt.Errorf("cannot make a folder for copies of programs: %w", err)
	}
	return a, nil
}

func (a alike) remove() { _ = os.RemoveAll(a.folder) } // it lies where the system clears up

// of returns the path of a copy of a program, of which there may be several.
func (a alike) of(program string, number int) (path string, err error) {
	path = filepath.Join(a.folder, strconv.Itoa(number)+"-"+filepath.Base(program))
	if err = copyProgram(program, path); err != nil {
		return "", fmt.Errorf("cannot copy the program %s: %w", program, err)
	}
	return path, nil
}

func copyProgram(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o700)
	if err != nil {
		return err
	}
	// No file system may share what it holds of both.
	_, err = io.Copy(struct{ io.Writer }{out}, struct{ io.Reader }{in})
	if closed := out.Close(); err == nil {
		err = closed
	}
	return err
}
