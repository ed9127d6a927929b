// Package browser_test drives a real browser, Chromium, over the pages of the real program: logging in, every page in
// every look, and what a conversation may hold that wants to be more than text.
//
// It holds that a page shows what the API says and what truly was sent, that it can be used by keyboard and read by
// a screen reader, and that neither another site nor any content makes a browser do anything. It assumes Chromium and
// npm; where they are not to be had, the tests are skipped with the reason.
package browser_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"epitome/house/missing"
	"epitome/sdk/sdktest"
)

var only = flag.String("only", "", "play only the checks whose name matches this regular expression")

var source = filepath.Join("testdata", "node")

// TestLockNamesNoRegistry lets npm ci use whatever registry the machine is set up for.
func TestLockNamesNoRegistry(t *testing.T) {
	sdktest.CheckLocks(t, source)
}

// rig is what all checks share: a browser to be started, its driver, and the program.
type rig struct{ chromium, driver, program string }

func newRig(t *testing.T) rig {
	t.Helper()
	if testing.Short() {
		t.Skip("builds the program and drives a browser; run without -short")
	}
	return rig{findChromium(t), sdktest.InstallNode(t, source), sdktest.Build(t)}
}

// findChromium returns the browser's program: Chromium, or what is made of it.
func findChromium(t *testing.T) string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	missing.Skip(t, "there is no Chromium in PATH")
	return ""
}

// looks are the ways in which every page is looked at, as options of the driver.
var looks = map[string]any{
	"light":  map[string]any{"colorScheme": "light"},
	"dark":   map[string]any{"colorScheme": "dark"},
	"narrow": map[string]any{"viewport": map[string]int{"width": 400, "height": 800}},
	"forced": map[string]any{"forcedColors": "active"},
}

// facts are what a check is told, besides what the rig knows.
type facts map[string]any

// driving is how long the checks of one module may take.
const driving = 15 * time.Minute

// play has the browser play the checks of a module, each as a test of its own.
func (r rig) play(t *testing.T, module string, told facts) {
	t.Helper()
	told["chromium"], told["program"], told["looks"], told["own"] = r.chromium, r.program, looks, told["base"]
	told["only"] = *only
	text, err := json.Marshal(told)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "stage.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	var said, complaints bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "node", "drive.mjs", path, module)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = r.driver, &said, &complaints, time.Minute
	cmd.Env = append(sdktest.Environ(), "HOME="+t.TempDir())
	stop := time.AfterFunc(driving, func() { _ = cmd.Process.Kill() })
	defer stop.Stop()
	err = cmd.Run()
	for lines := bufio.NewScanner(&said); lines.Scan(); {
		t.Run(tell(t, lines.Bytes()))
	}
	if err != nil {
		t.Errorf("the driver has failed: %v\n%s", err, complaints.Bytes())
	}
}

// tell is a test of what a line says of a check.
func tell(t *testing.T, line []byte) (name string, test func(t *testing.T)) {
	t.Helper()
	var check struct {
		Name         string
		Wrong, Notes []string
		MS           int
	}
	if err := json.Unmarshal(line, &check); err != nil {
		t.Fatalf("the driver says %q: %v", line, err)
	}
	return check.Name, func(t *testing.T) {
		t.Logf("%d ms\n%s", check.MS, strings.Join(check.Notes, "\n"))
		for _, w := range check.Wrong {
			t.Error(w)
		}
	}
}

// TestBrowser has a browser go through everything. All parts share what is built and installed.
func TestBrowser(t *testing.T) {
	r := newRig(t)
	t.Run("login", r.testLogin)
	t.Run("pages", r.testPages)
	t.Run("content", r.testContent)
	t.Run("speed", r.testSpeed)
	t.Run("pictures", r.testPictures)
}

// testLogin has browsers log in, with and without the right to.
func (r rig) testLogin(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		if !strings.HasPrefix(req.URL.Path, "/v1/models") {
			t.Errorf("a browser that logs in has reached the upstream: %s %s", req.Method, req.URL)
		}
	}))
	t.Cleanup(upstream.Close)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<!doctype html><title>another</title><link rel=icon href=data:,><body>"))
	}))
	t.Cleanup(other.Close)
	data := filepath.Join(t.TempDir(), "data")
	base := sdktest.Serve(t, r.program, "--upstream", upstream.URL, "--data", data)
	r.play(t, "login.mjs", facts{"base": base, "data": data, "other": other.URL})
}
