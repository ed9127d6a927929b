package config

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"epitome/internal/unit"
)

// LogConfig is the table [log]; all of it is fixed at start.
type LogConfig struct {
	Level  string     `toml:"level"`
	Format string     `toml:"format"`
	File   string     `toml:"file"`
	Quota  unit.Bytes `toml:"quota"`
}

// Formats of lines, as log.format has them.
const (
	LogAuto = "auto" // text at a terminal, else JSON
	LogText = "text"
	LogJSON = "json"
)

// leastLog is the least quota of a log, in bytes: two files of a megabyte each.
const leastLog = 2 << 20

// LeastLevel is the level below which nothing is logged.
func (c LogConfig) LeastLevel() slog.Level {
	var level slog.Level
	_ = level.UnmarshalText([]byte(c.Level)) // it was checked
	return level
}

func checkLog(c LogConfig) error {
	switch {
	case !slices.Contains([]string{"debug", "info", "warn", "error"}, c.Level):
		return unit.Wrong([]string{"log", "level"}, "cannot use log.level %q: write debug, info, warn or error", c.Level)
	case !slices.Contains([]string{LogAuto, LogText, LogJSON}, c.Format):
		return unit.Wrong([]string{"log", "format"}, "cannot use log.format %q: write auto, text or json", c.Format)
	case c.Quota < leastLog:
		return unit.Wrong([]string{"log", "quota"}, "cannot use log.quota %s: write at least %s", c.Quota, unit.Bytes(leastLog))
	}
	return nil
}

// checkLogFile refuses a file in a folder that is not there.
func checkLogFile(path string) error {
	if path == "" {
		return nil
	}
	if s, err := os.Stat(filepath.Dir(path)); err != nil || !s.IsDir() {
		return unit.Wrong([]string{"log", "file"}, "cannot use log.file %s: its folder is not there; make it, or name another file", path)
	}
	return nil
}
