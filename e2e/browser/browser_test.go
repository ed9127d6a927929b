//go:build e2e

// Package browser_test drives a real browser, Chromium, over the pages of the real program: logging in, every page in
// every look, and what a conversation may hold that wants to be more than text.
//
// It holds that a page shows what the API says and what truly was sent, that it can be used by keyboard and read by
// a screen reader, and that neither another site nor any content makes a browser do anything. It needs Chromium and
// npm, and is built with the tag e2e alone.
package browser_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"epitome/e2e/sdktest"
	"epitome/internal/needtest"
)

var source = filepath.Join("testdata", "node")

// TestLockNamesNoRegistry lets npm ci use whatever registry the machine is set up for.
func TestLockNamesNoRegistry(t *testing.T) {
	sdktest.CheckLocks(t, source)
}

// rig is what all checks share: a browser, driven by a program that plays checks one after another, and epitome's.
type rig struct {
	program    string
	driver     *exec.Cmd
	played     io.WriteCloser // takes what to play
	said       *json.Decoder  // what the driver says of it
	complaints *bytes.Buffer  // of a driver that has ended
}

func newRig(t *testing.T) rig {
	t.Helper()
	r := rig{driver: exec.CommandContext(t.Context(), "node", "drive.mjs", findChromium(t)), complaints: new(bytes.Buffer)}
	r.driver.Dir = sdktest.InstallNode(t, source)
	r.program = sdktest.Build(t)
	r.driver.Stderr, r.driver.WaitDelay = r.complaints, time.Minute
	r.driver.Env = append(sdktest.Environ(), "HOME="+t.TempDir())
	said, err := r.driver.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if r.played, err = r.driver.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := r.driver.Start(); err != nil {
		t.Fatal(err)
	}
	r.said = json.NewDecoder(said)
	t.Cleanup(func() {
		_ = r.played.Close()
		stop := time.AfterFunc(time.Minute, func() { _ = r.driver.Process.Kill() })
		defer stop.Stop()
		_, _ = io.Copy(io.Discard, said)
		_ = r.driver.Wait()
	})
	return r
}

// findChromium returns the browser's program: Chromium, or what is made of it.
func findChromium(t *testing.T) string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	needtest.Skip(t, "there is no Chromium in PATH")
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
	told["program"], told["looks"], told["own"] = r.program, looks, told["base"]
	told["module"] = module
	text, err := json.Marshal(told)
	if err != nil {
		t.Fatal(err)
	}
	stop := time.AfterFunc(driving, func() { _ = r.driver.Process.Kill() })
	defer stop.Stop()
	_, err = r.played.Write(append(text, '\n'))
	for err == nil {
		var check checked
		if err = r.said.Decode(&check); err == nil && check.Ended {
			return
		}
		if err == nil {
			t.Run(check.Name, check.tell)
		}
	}
	_ = r.driver.Process.Kill()
	t.Fatalf("the driver has failed: %v, %v\n%s", err, r.driver.Wait(), r.complaints)
}

// checked is what the driver says of a check, or that all of a module were played.
type checked struct {
	Name         string
	Wrong, Notes []string
	MS           int
	Ended        bool
}

// tell is the test of what was found.
func (c checked) tell(t *testing.T) {
	t.Logf("%d ms\n%s", c.MS, strings.Join(c.Notes, "\n"))
	for _, w := range c.Wrong {
		t.Error(w)
	}
}

// TestBrowser has a browser go through everything. All parts share what is built and installed.
func TestBrowser(t *testing.T) {
	r := newRig(t)
	t.Run("login", r.testLogin)
	t.Run("pages", r.testPages)
	t.Run("content", r.testContent)
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
