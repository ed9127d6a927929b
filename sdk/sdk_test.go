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
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
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
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.argv[0], p.argv[1:]...)
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
		if !strings.HasPrefix(name, "OPENAI_") && !strings.HasPrefix(name, "EPITOME_") && !strings.HasSuffix(name, "_PROXY") {
			kept = append(kept, kv)
		}
	}
	return kept
}

func installGo(t *testing.T) program {
	source := filepath.Join("testdata", "go")
	if out, err := command(t, source, "go", "mod", "download"); err != nil {
		cannotInstall(t, "Go", err, out)
	}
	binary := filepath.Join(t.TempDir(), "sdkgo")
	if out, err := command(t, source, "go", "build", "-o", binary, "."); err != nil {
		t.Fatalf("cannot build sdk/testdata/go: %v\n%s", err, out)
	}
	return program{argv: []string{binary}}
}

func installNode(t *testing.T) program {
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			skipAloud(t, "the Node SDK cannot run: %v", err)
		}
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "node"))); err != nil {
		t.Fatal(err)
	}
	if out, err := command(t, dir, "npm", "ci", "--prefer-offline", "--no-audit", "--no-fund"); err != nil {
		cannotInstall(t, "Node", err, out)
	}
	return program{dir: dir, argv: []string{"node", "main.mjs"}}
}

// command runs a build or an install; a registry that cannot be reached must not hold the tests for longer than two minutes.
func command(t *testing.T, dir, name string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
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
	skipAloud(t, "the %s SDK cannot be installed: %v\n%s", sdk, err, out)
}

// skipAloud says on standard error too why a promise goes unchecked: without -v, go test shows no skip.
func skipAloud(t *testing.T, format string, args ...any) {
	t.Helper()
	reason := fmt.Sprintf(format, args...)
	fmt.Fprintf(os.Stderr, "SKIPPED %s: %s\n", t.Name(), reason)
	t.Skip(reason)
}

// startEpitome builds and starts the program in front of upstream and returns its base URL.
func startEpitome(t *testing.T, upstream string) string {
	dir := t.TempDir()
	binary := filepath.Join(dir, "epitome")
	if out, err := command(t, "..", "go", "build", "-o", binary, "."); err != nil {
		t.Fatalf("cannot build epitome: %v\n%s", err, out)
	}
	address := freeAddress(t)
	cmd := exec.CommandContext(t.Context(), binary, "serve",
		"--listen", address, "--upstream", upstream, "--mode", "off", "--data", filepath.Join(dir, "data"))
	cmd.Dir, cmd.WaitDelay = dir, time.Second
	home := filepath.Join(dir, "home") // not there: no configuration of the user's is read
	cmd.Env = append(environ(), "HOME="+home, "XDG_CONFIG_HOME="+home)
	var log bytes.Buffer
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
			t.Logf("epitome's log:\n%s", &log)
		}
	})
	if err := waitReady("http://"+address+"/-/ready", ended); err != nil {
		t.Fatal(err)
	}
	return "http://" + address + "/v1"
}

// waitReady asks url until it answers 200; it gives up after ten seconds or when the process ends.
func waitReady(url string, ended chan error) error {
	client := http.Client{Timeout: time.Second}
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		if resp, err := client.Get(url); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case err := <-ended:
			ended <- err
			return fmt.Errorf("epitome ended before it was ready: %v", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
	return errors.New("epitome was not ready within ten seconds")
}

// freeAddress is a loopback address nobody listens on.
func freeAddress(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
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
