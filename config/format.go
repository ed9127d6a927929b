package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"epitome/internal/unit"
)

const (
	// dataFormat is the newest format of a data folder that this program reads and writes. It rises when what lies
	// there is written in a way that an older program would take for damage, or delete.
	dataFormat = 1

	formatFile = "format" // in the data folder; one without it has format 1
)

// CheckFormat refuses a data folder that a newer epitome has written in a format of its own. It writes nothing.
func CheckFormat(folder string) error {
	path := filepath.Join(folder, formatFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return unit.Wrong([]string{"data"}, "cannot read the format of the data folder, %s: %w; "+
			"see to the file, or give another folder with --data", path, PathCause(err))
	}
	if len(text) == 0 { // a power failure took what MarkFormat had written
		return nil
	}
	number, err := strconv.Atoi(strings.TrimSpace(string(text)))
	switch {
	case err != nil || number < 1:
		return unit.Wrong([]string{"data"}, "cannot use the data folder: its file %s is damaged; "+
			"write the number %d into it if no newer epitome was used there, or give another folder with --data", path, dataFormat)
	case number > dataFormat:
		return unit.Wrong([]string{"data"}, "cannot use the data folder: a newer epitome has written %s in format %d, "+
			"and this one knows formats up to %d; use the newer epitome, or give another folder with --data",
			folder, number, dataFormat)
	}
	return nil
}

// MarkFormat writes down the format of the data folder, which it makes if there is none. A folder that has a format
// keeps it. It waits for no disk: a power failure may leave the file empty or take it, and then the folder has format
// 1 as before. A program whose dataFormat is higher has to wait before it writes anything else.
func MarkFormat(folder string) error {
	path := filepath.Join(folder, formatFile)
	if found, err := os.Lstat(path); err == nil && found.Size() > 0 {
		return nil
	}
	if err := markFormat(folder, path); err != nil {
		return fmt.Errorf("cannot write the format of the data folder, %s: %w", path, PathCause(err))
	}
	return nil
}

func markFormat(folder, path string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(folder, ".format-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temp.Name()) }()
	_, err = fmt.Fprintln(temp, dataFormat)
	if err = errors.Join(err, temp.Close()); err != nil {
		return err
	}
	return os.Rename(temp.Name(), path)
}
