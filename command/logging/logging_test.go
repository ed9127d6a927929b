package logging

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

func TestLevelAndFormat(t *testing.T) {
	f := func(o Options, want ...string) {
		t.Helper()
		var out bytes.Buffer
		o.Errors = &out
		log, end, err := Open(o)
		if err != nil {
			t.Fatal(err)
		}
		log.Debug("one")
		log.Info("two")
		log.Warn("three", "n", 3)
		if err := end.Close(); err != nil {
			t.Error(err)
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if len(lines) != len(want) {
			t.Fatalf("%+v: %q", o, lines)
		}
		for i, w := range want {
			if !strings.Contains(lines[i], w) {
				t.Errorf("%q does not stand in %q", w, lines[i])
			}
		}
	}
	f(Options{Level: slog.LevelDebug}, `"msg":"one"`, `"msg":"two"`, `"msg":"three","n":3`)
	f(Options{Text: true}, `msg=two`, `msg=three n=3`)
	f(Options{Level: slog.LevelWarn, Text: true}, `level=WARN msg=three n=3`)
}

func TestFileStaysWithinItsQuota(t *testing.T) {
	const quota = 4000
	path := filepath.Join(t.TempDir(), "epitome.log")
	if err := os.WriteFile(path, []byte("{\"msg\":\"an older line\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	log, end, err := Open(Options{File: path, Quota: quota})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			for i := range 50 {
				log.Info("a line", "worker", worker, "i", i)
				if n := sizeOf(t, path) + sizeOf(t, path+".1"); n > quota {
					t.Errorf("%d bytes, the quota is %d", n, quota)
				}
			}
		})
	}
	all.Wait()
	log.Info("the last")
	if err := end.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), "the last") {
		t.Errorf("%v: the newest line does not stand in the file itself:\n%s", err, text)
	}
	before, err := os.ReadFile(path + ".1")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(before) + string(text)) {
		if !json.Valid([]byte(line)) {
			t.Errorf("not whole: %q", line)
		}
	}
}

func sizeOf(t *testing.T, path string) int64 {
	s, err := os.Stat(path)
	if os.IsNotExist(err) {
		return 0
	}
	if err != nil {
		t.Error(err)
		return 0
	}
	return s.Size()
}

func TestFileGoesOnWhereItWas(t *testing.T) {
	path := filepath.Join(t.TempDir(), "epitome.log")
	for i := range 3 {
		log, end, err := Open(Options{File: path, Quota: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		log.Info(fmt.Sprint("start ", i))
		if err := end.Close(); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil || strings.Count(string(text), "start") != 3 {
		t.Errorf("%v:\n%s", err, text)
	}
	if s, err := os.Stat(path); runtime.GOOS != "windows" && (err != nil || s.Mode().Perm() != 0o600) {
		t.Errorf("%v, %v", s.Mode(), err)
	}
}

func TestFileThatCannotBeWrittenIsRefused(t *testing.T) {
	_, _, err := Open(Options{File: filepath.Join(t.TempDir(), "none", "epitome.log"), Quota: 1 << 20})
	if err == nil || !strings.Contains(err.Error(), "cannot write a log: ") || !strings.Contains(err.Error(), "log.file") {
		t.Error(err)
	}
}
