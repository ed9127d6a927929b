package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"epitome/internal/lazyregexp"
)

// DataFolder is the folder of what is kept on disk, as an absolute path; it need not exist.
func (c *Config) DataFolder() (string, error) {
	if c.Data != "" {
		return filepath.Abs(c.Data)
	}
	var base string
	var err error
	switch runtime.GOOS {
	case "darwin", "ios":
		base, err = os.UserConfigDir() // ~/Library/Application Support
	case "windows":
		base, err = os.UserCacheDir() // %LocalAppData%, which stays on this machine
	default:
		if base = os.Getenv("XDG_DATA_HOME"); !filepath.IsAbs(base) { // a relative one is void, by its specification
			base, err = os.UserHomeDir()
			base = filepath.Join(base, ".local", "share")
		}
	}
	if err != nil {
		return "", fmt.Errorf("cannot find the user's data folder: %w; name one with --data", err)
	}
	return filepath.Join(base, "epitome"), nil
}

// runKey matches the names of the folders that 'epitome run' makes.
var runKey = lazyregexp.New(`^[0-9]+$`)

// HomeOf is the user's data folder, of which folder may be one within that 'epitome run' has made.
func HomeOf(folder string) string {
	if run := filepath.Dir(folder); filepath.Base(run) == "run" && runKey().MatchString(filepath.Base(folder)) {
		return filepath.Dir(run)
	}
	return folder
}

const (
	// dataFormat is the newest format of a data folder that this program reads and writes. It rises when an older
	// program would take what lies there for damage, or delete it.
	dataFormat = 1

	formatFile = "format" // in the data folder; without it, or if it is empty, the format is 1
)

// CheckFormat refuses a data folder that a newer epitome has written. It writes nothing.
func CheckFormat(folder string) error {
	text, err := os.ReadFile(filepath.Join(folder, formatFile))
	if err != nil || len(text) == 0 {
		return nil // a folder that cannot be read is refused by its store
	}
	number, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || number < 1 || number > dataFormat {
		return fmt.Errorf("cannot use the data folder %s: it has format %.20q, and this epitome knows formats up to %d; "+
			"use a newer epitome, or give another folder with --data", folder, strings.TrimSpace(string(text)), dataFormat)
	}
	return nil
}

// MarkFormat writes the format into the data folder, which it makes if there is none. A folder with a format keeps it.
func MarkFormat(folder string) error {
	path := filepath.Join(folder, formatFile)
	if found, err := os.Stat(path); err == nil && found.Size() > 0 {
		return nil
	}
	err := os.MkdirAll(folder, 0o700)
	if err == nil || errors.Is(err, fs.ErrExist) {
		err = os.WriteFile(path, []byte(strconv.Itoa(dataFormat)+"\n"), 0o600)
	}
	if err != nil {
		return fmt.Errorf("cannot write the format of the data folder, %s: %w", path, PathCause(err))
	}
	return nil
}
