//go:build e2e

// Package e2e runs official SDKs, real agents and a real browser, unchanged, through the real program, in front of
// strict providers on this machine.
//
// It needs node, npm and a registry, and the browser's test needs Chromium; a test that lacks them is skipped. What a
// test starts ends with it, and nothing of the user's own configuration reaches a client or the program.
package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"epitome/internal/fakeapi"
)

const source = "testdata/node"

// folder holds what is built and installed for all tests.
var folder string

func TestMain(m *testing.M) {
	var err error
	if folder, err = os.MkdirTemp("", "epitome-e2e-"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(folder)
	os.Exit(code)
}

// run runs a program to its end and returns what it printed.
func run(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.WaitDelay = dir, time.Minute
	return cmd.CombinedOutput()
}

// built builds the program.
var built = sync.OnceValues(func() (binary string, err error) {
	binary = filepath.Join(folder, "epitome")
	if out, err := run(context.Background(), "..", "go", "build", "-ldflags=-s -w", "-o", binary, "."); err != nil {
		return "", fmt.Errorf("cannot build epitome: %w\n%s", err, out)
	}
	return binary, nil
})

// build returns the program. It reads the module's folders: go test's cache would not see that a source has changed.
func build(t *testing.T) string {
	t.Helper()
	_ = filepath.WalkDir("..", func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Name() == ".git" {
			return filepath.SkipDir
		}
		return err
	})
	binary, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return binary
}

// SDKs and libraries are dependencies in package.json; agents and the browser's driver, which take ten times the room,
// are developer's and optional ones.
var (
	libraries = sync.OnceValues(func() (string, error) { return installed("libraries", "--omit=dev", "--omit=optional") })
	clients   = sync.OnceValues(func() (string, error) { return installed("clients") })
)

// installed installs what the lock file pins into a folder. No script of a package is run.
func installed(name string, omit ...string) (dir string, err error) {
	dir = filepath.Join(folder, name)
	if err := os.CopyFS(dir, os.DirFS(source)); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	args := append([]string{"ci", "--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund"}, omit...)
	out, err := run(ctx, dir, "npm", args...)
	if err != nil {
		return "", fmt.Errorf("cannot install what %s pins: %w\n%s", source, err, out)
	}
	return dir, nil
}

// install returns the folder with the libraries, or with the clients.
func install(t *testing.T, of func() (string, error)) string {
	t.Helper()
	dir, err := of()
	switch {
	case err == nil:
	case strings.Contains(err.Error(), "EUSAGE"), strings.Contains(err.Error(), "EINTEGRITY"): // the lock file is wrong
		t.Fatal(err)
	default:
		fakeapi.Skip(t, "%v", err)
	}
	return dir
}

// find returns the one file of the clients that matches.
func find(t *testing.T, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(install(t, clients), "node_modules", pattern))
	if err != nil || len(found) != 1 {
		fakeapi.Skip(t, "there are %d files %s, want one; some clients are pinned for Linux on x64 alone",
			len(found), pattern)
	}
	return found[0]
}

// npm ci uses whatever registry the machine is set up for.
func TestLockFileNamesNoRegistry(t *testing.T) {
	lock, err := os.ReadFile(filepath.Join(source, "package-lock.json"))
	if err != nil || bytes.Contains(lock, []byte(`"resolved"`)) {
		t.Errorf("the lock file holds addresses: write it with npm install --omit-lockfile-registry-resolved (%v)", err)
	}
}

var steering = regexp.MustCompile(`^(?i)((OPENAI|ANTHROPIC|CODEX|COPILOT|EPITOME)_\w*|CLAUDE\w*|\w*_PROXY)=`)

// environ is this process's environment without what would lead a client or the program elsewhere.
func environ() (kept []string) {
	for _, v := range os.Environ() {
		if !steering.MatchString(v) {
			kept = append(kept, v)
		}
	}
	return kept
}

var listening = regexp.MustCompile(`"msg":"listening","address":"(http://[^"]+)"`)

// serve runs "epitome serve" on a port of its own choice, with a folder of its own, until the test ends. It returns its
// base URL.
func serve(t *testing.T, args ...string) (base string) {
	t.Helper()
	dir := t.TempDir()
	flags := []string{"serve", "--listen", "127.0.0.1:0", "--data", filepath.Join(dir, "data")}
	cmd := exec.CommandContext(t.Context(), build(t), append(flags, args...)...)
	home := filepath.Join(dir, "home") // not there, so that no configuration is read
	cmd.Dir, cmd.Env = dir, append(environ(), "HOME="+home, "XDG_CONFIG_HOME="+home)
	var log fakeapi.Log
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &log, &log, time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
		if t.Failed() {
			t.Logf("epitome's log:\n%s", &log)
		}
	})
	ready := fakeapi.Eventually(func() bool {
		found := listening.FindStringSubmatch(log.String())
		if found == nil {
			return false
		}
		base = found[1]
		resp, err := fakeapi.Direct().Get(base + "/-/ready")
		return err == nil && resp.Body.Close() == nil && resp.StatusCode == 200
	})
	if !ready {
		t.Fatal("epitome does not become ready")
	}
	return base
}

// posts are the exchanges that began with a POST: epitome itself asks by GET how large a window is.
func posts(p *fakeapi.Provider) (all []fakeapi.Exchange) {
	for _, x := range p.Exchanges() {
		if x.Method == "POST" {
			all = append(all, x)
		}
	}
	return all
}
