//go:build e2e

// Package sdktest brings what tests need that drive the built program from outside: clients that are installed for the
// purpose, and a running epitome.
//
// It promises that what a test starts ends with it, and that nothing of the user's own configuration reaches a client
// or the program. It assumes that the test runs in a folder of the project. Where a client cannot be installed the test
// is skipped with the reason.
package sdktest

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"epitome/internal/needtest"
)

// installing is how long a registry that cannot be reached may hold a test.
const installing = 3 * time.Minute

// InstallNode copies the package in source to a folder of the test's own, installs there what its lock file pins, and
// returns the folder. No script of a package is run.
func InstallNode(tb testing.TB, source string) string {
	tb.Helper()
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			needtest.Skip(tb, "%s cannot be installed: %v", source, err)
		}
	}
	dir := tb.TempDir()
	if err := os.CopyFS(dir, os.DirFS(source)); err != nil {
		tb.Fatal(err)
	}
	out, err := install(tb, dir, "npm", "ci", "--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund")
	if err != nil {
		cannotInstall(tb, source, err, out)
	}
	return dir
}

// InstallGo builds the command that is the Go module in source, with what it pins, and returns the binary.
func InstallGo(tb testing.TB, source string) string {
	tb.Helper()
	if out, err := install(tb, source, "go", "mod", "download"); err != nil {
		cannotInstall(tb, source, err, out)
	}
	binary := filepath.Join(tb.TempDir(), "client")
	// Clients are large and need not be fast: without optimising they compile in two thirds of the time.
	build := []string{"build", "-gcflags=github.com/...=-N -l", "-ldflags=-s -w", "-o", binary, "."}
	if out, err := Command(tb.Context(), source, "go", build...); err != nil {
		tb.Fatalf("cannot build %s: %v\n%s", source, err, out)
	}
	return binary
}

func install(tb testing.TB, dir, name string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(tb.Context(), installing)
	defer cancel()
	out, err := Command(ctx, dir, name, args...)
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return out, err
}

// Command runs a program to its end and returns what it printed. However long a build takes, go test's own limit
// alone ends it.
func Command(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.WaitDelay = dir, time.Minute
	return cmd.CombinedOutput()
}

// cannotInstall skips the test, unless the fault lies in the pinned versions and not in the way to a registry.
func cannotInstall(tb testing.TB, source string, err error, out []byte) {
	tb.Helper()
	for _, ours := range []string{"EUSAGE", "EINTEGRITY", "EJSONPARSE", "checksum mismatch", "go.sum", "go.mod:"} {
		if bytes.Contains(out, []byte(ours)) {
			tb.Fatalf("what %s pins cannot be installed: %v\n%s", source, err, out)
		}
	}
	needtest.Skip(tb, "what %s pins cannot be installed: %v\n%s", source, err, out)
}

// CheckLocks fails the test where a lock file in one of the folders names a registry: npm ci is to use whatever the
// machine is set up for.
func CheckLocks(tb testing.TB, folders ...string) {
	tb.Helper()
	for _, folder := range folders {
		lock, err := os.ReadFile(filepath.Join(folder, "package-lock.json"))
		if err != nil {
			tb.Fatal(err)
		}
		if bytes.Contains(lock, []byte(`"resolved"`)) {
			tb.Errorf("%s/package-lock.json holds \"resolved\" addresses: write it with npm install "+
				"--omit-lockfile-registry-resolved", folder)
		}
	}
}

// Environ is this process's environment without what would steer a client or the program elsewhere.
func Environ() []string {
	var kept []string
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(strings.ToUpper(kv), "=")
		if !steers(name) {
			kept = append(kept, kv)
		}
	}
	return kept
}

// steers tells whether a variable says where a client or the program is to go, or who asks.
func steers(name string) bool {
	for _, prefix := range []string{"OPENAI_", "ANTHROPIC_", "CLAUDE", "CODEX_", "COPILOT_", "EPITOME_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return strings.HasSuffix(name, "_PROXY")
}
