package config

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// DataFolder is where c keeps what is kept on disk, as an absolute path; it need not exist.
func (c Config) DataFolder() (string, error) {
	if c.Data != "" {
		return filepath.Abs(c.Data)
	}
	base, err := "", error(nil)
	switch runtime.GOOS {
	case "darwin", "ios":
		base, err = os.UserConfigDir() // ~/Library/Application Support
	case "windows":
		base, err = os.UserCacheDir() // %LocalAppData%, which stays on this machine
	default:
		if base = dataHome(); base == "" {
			base, err = os.UserHomeDir()
			base = filepath.Join(base, ".local", "share")
		}
	}
	if err != nil {
		return "", fmt.Errorf("cannot find the user's data folder: %w; name one with --data", err)
	}
	return filepath.Join(base, "epitome"), nil
}

// dataHome is the folder that the environment says the user's data lies in; empty if it says none. A relative one is
// void, by its specification.
func dataHome() string {
	home := os.Getenv("XDG_DATA_HOME")
	if !filepath.IsAbs(home) {
		return ""
	}
	return home
}
