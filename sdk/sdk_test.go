// Package sdk_test runs the official OpenAI SDKs, unchanged, through the real
// program: chat, streaming, tools, the SDK's own retry and a provider's error.
//
// It holds that an SDK prints the same, and that the provider sees the same
// bytes, with epitome in between as without it. It assumes the SDKs can be
// installed; where they cannot, the test is skipped with the reason.
package sdk_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"epitome/house/missing"
)

// program is how an SDK's scenarios are started.
type program struct {
	dir  string // where it runs
	argv []string
}

func TestSDKs(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program and installs two SDKs; run without -short")
	}
	watchSources(t)
	provider := newProvider(t)
	proxy := startEpitome(t, provider.URL)
	t.Run("go", func(t *testing.T) { sameThrough(t, installGo(t), provider, proxy) })
	t.Run("node", func(t *testing.T) { sameThrough(t, installNode(t), provider, proxy) })
}

// TestLockNamesNoRegistry lets npm ci use whatever registry the machine is set up for.
func TestLockNamesNoRegistry(t *testing.T) {
	lock, err := os.ReadFile(filepath.Join("testdata", "node", "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(lock, []byte(`"resolved"`)) {
		t.Error(`package-lock.json holds "resolved" addresses: write it with npm install --omit-lockfile-registry-resolved`)
	}
}

// sameThrough runs p against the provider and then through the proxy, and compares both of p's sides.
func sameThrough(t *testing.T, p program, provider *provider, proxy string) {
	provider.take()
	direct := run(t, p, provider.URL)
	asked := provider.take()
	if n := strings.Count(direct, `"ok":`); n != 5 || len(asked) != 7 {
		t.Fatalf("without epitome %d scenarios passed with %d requests, want 5 with 7:\n%s", n, len(asked), direct)
	}
	if through := run(t, p, proxy); through != direct {
		t.Errorf("the SDK printed, through epitome:\n%s\nwithout:\n%s", through, direct)
	}
	seen := provider.take()
	if len(seen) != len(asked) {
		t.Fatalf("the provider saw %d requests through epitome, %d without", len(seen), len(asked))
	}
	for i := range asked {
		if !reflect.DeepEqual(seen[i], asked[i]) {
			t.Fatalf("request %d, through epitome:\n%+v\nwithout:\n%+v", i, seen[i], asked[i])
		}
	}
}

func run(t *testing.T, p program, base string) string {
	cmd := exec.CommandContext(t.Context(), p.argv[0], p.argv[1:]...)
	cmd.Dir, cmd.WaitDelay = p.dir, time.Second
	cmd.Env = append(environ(), "OPENAI_BASE_URL="+base, "OPENAI_API_KEY=sk-test")
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s with %s: %v\n%s%s", p.argv[0], base, err, &out, &complaint)
	}
	return out.String()
}

// environ is this process's environment without what would steer an SDK or the program elsewhere.
func environ() []string {
	var kept []string
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(strings.ToUpper(kv), "=")
		if !strings.HasPrefix(name, "OPENAI_") && !strings.HasPrefix(name, "EPITOME_") &&
			!strings.HasSuffix(name, "_PROXY") {
			kept = append(kept, kv)
		}
	}
	return kept
}

func installGo(t *testing.T) program {
	source := filepath.Join("testdata", "go")
	if out, err := install(t, source, "go", "mod", "download"); err != nil {
		cannotInstall(t, "Go", err, out)
	}
	binary := filepath.Join(t.TempDir(), "sdkgo")
	if out, err := command(t.Context(), source, "go", "build", "-o", binary, "."); err != nil {
		t.Fatalf("cannot build sdk/testdata/go: %v\n%s", err, out)
	}
	return program{argv: []string{binary}}
}

func installNode(t *testing.T) program {
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			missing.Skip(t, "the Node SDK cannot run: %v", err)
		}
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "node"))); err != nil {
		t.Fatal(err)
	}
	if out, err := install(t, dir, "npm", "ci", "--prefer-offline", "--no-audit", "--no-fund"); err != nil {
		cannotInstall(t, "Node", err, out)
	}
	return program{dir: dir, argv: []string{"node", "main.mjs"}}
}

// install fetches an SDK. A registry that cannot be reached must not hold the tests for longer than three minutes.
func install(t *testing.T, dir, name string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	out, err := command(ctx, dir, name, args...)
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return out, err
}

// command runs a program to its end. However long a build takes, go test's own limit alone ends it.
func command(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.WaitDelay = dir, time.Second
	return cmd.CombinedOutput()
}

// cannotInstall skips the test, unless the fault lies in the pinned versions here and not in the way to a registry.
func cannotInstall(t *testing.T, sdk string, err error, out []byte) {
	t.Helper()
	for _, ours := range []string{"EUSAGE", "EINTEGRITY", "EJSONPARSE", "checksum mismatch", "go.sum", "go.mod:"} {
		if bytes.Contains(out, []byte(ours)) {
			t.Fatalf("the %s SDK cannot be installed as it is pinned in sdk/testdata: %v\n%s", sdk, err, out)
		}
	}
	missing.Skip(t, "the %s SDK cannot be installed: %v\n%s", sdk, err, out)
}

// startEpitome builds and starts the program in front of upstream and returns its base URL.
func startEpitome(t *testing.T, upstream string) string {
	dir := t.TempDir()
	binary := filepath.Join(dir, "epitome")
	if out, err := command(t.Context(), "..", "go", "build", "-o", binary, "."); err != nil {
		t.Fatalf("cannot build epitome: %v\n%s", err, out)
	}
	cmd := exec.CommandContext(t.Context(), binary, "serve",
		"--listen", "127.0.0.1:0", "--upstream", upstream, "--mode", "off", "--data", filepath.Join(dir, "data"))
	cmd.Dir, cmd.WaitDelay = dir, time.Second
	home := filepath.Join(dir, "home") // not there: no configuration of the user's is read
	cmd.Env = append(environ(), "HOME="+home, "XDG_CONFIG_HOME="+home)
	var log logged
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-ended
		if t.Failed() {
			t.Logf("epitome's log:\n%s", log.text())
		}
	})
	base, err := waitReady(&log, ended)
	if err != nil {
		t.Fatal(err)
	}
	return base + "/v1"
}

// logged holds what a process prints.
type logged struct {
	mu   sync.Mutex
	said []byte // guarded by mu
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.said = append(l.said, p...)
	return len(p), nil
}

func (l *logged) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.said)
}

// listening is where the log says the program listens; it chooses the port itself.
var listening = regexp.MustCompile(`"msg":"listening","address":"(http://[^"]+)"`)

// waitReady returns the program's URL once it answers; it gives up after two minutes or when the process ends.
func waitReady(log *logged, ended chan error) (string, error) {
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
			return "", fmt.Errorf("epitome ended before it was ready: %v", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
	return "", errors.New("epitome is not ready after two minutes")
}

// watchSources reads the module's folders: go test's cache sees what a test
// opens but not what the go build it starts reads, and would keep a stale "ok".
func watchSources(t *testing.T) {
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && entry.Name() == ".git" {
			return filepath.SkipDir
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
