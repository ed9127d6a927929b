//go:build e2e

package sdktest

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"testing"
	"time"
)

// Build builds the program for the test, as it is released without what debuggers read, and returns the binary.
func Build(tb testing.TB) string {
	tb.Helper()
	root := findRoot(tb)
	watchSources(tb, root)
	binary := filepath.Join(tb.TempDir(), "epitome")
	if out, err := Command(tb.Context(), root, "go", "build", "-ldflags=-s -w", "-o", binary, "."); err != nil {
		tb.Fatalf("cannot build epitome: %v\n%s", err, out)
	}
	return binary
}

// findRoot returns the project's folder, in which or below which the test runs.
func findRoot(tb testing.TB) string {
	folder, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(folder, "main.go")); err == nil {
			return folder
		}
		above := filepath.Dir(folder)
		if above == folder {
			tb.Fatal("cannot find the project's folder: the test does not run in it")
		}
		folder = above
	}
}

// watchSources reads the module's folders: go test's cache sees what a test opens but not what the go build it starts
// reads, and would keep a stale "ok".
func watchSources(tb testing.TB, root string) {
	err := filepath.WalkDir(root, func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && entry.Name() == ".git" {
			return filepath.SkipDir
		}
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
}

// Serve starts the program that Build built, on a port of its own choice and with a folder of its own, until the test
// ends. It returns where the program listens, without a slash at the end. args are further flags of serve.
func Serve(tb testing.TB, binary string, args ...string) string {
	tb.Helper()
	dir := tb.TempDir()
	serve := []string{"serve", "--listen", "127.0.0.1:0", "--data", filepath.Join(dir, "data")}
	cmd := exec.CommandContext(tb.Context(), binary, append(serve, args...)...)
	cmd.Dir, cmd.WaitDelay = dir, time.Second
	home := filepath.Join(dir, "home") // not there: no configuration of the user's is read
	cmd.Env = append(Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home)
	var log printed
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	tb.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
		if tb.Failed() {
			tb.Logf("epitome's log:\n%s", log.text())
		}
	})
	base, err := awaitReady(&log, ended)
	if err != nil {
		tb.Fatal(err)
	}
	return base
}

// printed holds what a process prints.
type printed struct {
	mu   sync.Mutex
	said []byte // guarded by mu
}

func (l *printed) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.said = append(l.said, p...)
	return len(p), nil
}

func (l *printed) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.said)
}

// listening is where the log says the program listens; it chooses the port itself.
var listening = regexp.MustCompile(`"msg":"listening","address":"(http://[^"]+)"`)

// awaitReady returns the program's URL once it answers; it gives up after two minutes or when the process ends.
func awaitReady(log *printed, ended chan error) (string, error) {
	client := http.Client{Timeout: 2 * time.Minute}
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); {
		if found := listening.FindStringSubmatch(log.text()); found != nil {
			resp, err := client.Get(found[1] + "/-/ready")
			if err == nil && resp.Body.Close() == nil && resp.StatusCode == http.StatusOK {
				return found[1], nil
			}
		}
		select {
		case err := <-ended:
			ended <- err
			return "", fmt.Errorf("cannot wait for epitome, which ended before it was ready: %w", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
	return "", errors.New("cannot wait for epitome any longer: it is not ready after two minutes")
}
