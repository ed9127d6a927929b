package config

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
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

// HomeOf is the user's data folder, of which folder may be one within that 'epitome run' has made.
func HomeOf(folder string) string {
	run := filepath.Dir(folder)
	if _, err := strconv.Atoi(filepath.Base(folder)); err == nil && filepath.Base(run) == "run" {
		return filepath.Dir(run)
	}
	return folder
}
