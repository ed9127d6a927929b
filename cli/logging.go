package cli

import (
	"fmt"
	"io"
	"log/slog"
	"os"

	"gopkg.in/natefinch/lumberjack.v2"

	"epitome/config"
)

// openLog begins the log: at standard error, or in file, which stays within the quota with the one before it.
func openLog(c config.LogConfig, file string) (*slog.Logger, io.Closer, error) {
	var to io.Writer = os.Stderr
	var end io.Closer = io.NopCloser(nil)
	if file != "" {
		f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600) // the other one says so with the first line
		if err != nil {
			return nil, nil, fmt.Errorf("cannot write a log: %w; name another file as log.file", err)
		}
		_ = f.Close()
		l := &lumberjack.Logger{Filename: file, MaxSize: max(1, int(c.Quota/2>>20)), MaxBackups: 1}
		to, end = l, l
	}
	how := &slog.HandlerOptions{Level: c.Level}
	if c.Format == config.LogText || c.Format == config.LogAuto && file == "" && isTerminal(os.Stderr) {
		return slog.New(slog.NewTextHandler(to, how)), end, nil
	}
	return slog.New(slog.NewJSONHandler(to, how)), end, nil
}

// isTerminal reports whether somebody reads along.
func isTerminal(f *os.File) bool {
	s, err := f.Stat()
	return err == nil && s.Mode()&os.ModeCharDevice != 0
}
