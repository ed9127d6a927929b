// Package sdk_test runs the official OpenAI and Anthropic SDKs and the OpenAI Agents SDK, unchanged, through the real
// program: answers, streaming, tools, the SDK's own retry and a provider's error.
//
// It holds that an SDK prints the same, and that the provider sees the same bytes, with epitome in between as without
// it; and that a session which outgrows the window goes on to its end. It needs what npm and Go's modules have, and is
// played where EPITOME_NO_SKIP is set: .ci/run sets it.
package sdk_test

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"epitome/internal/need"
	"epitome/sdk/sdktest"
)

// program is how an SDK's scenarios are started.
type program struct {
	dir  string // where it runs
	argv []string
}

func TestSDKs(t *testing.T) {
	need.Unasked(t, "installs SDKs from their registries")
	binary := sdktest.Build(t)
	provider := newProvider(t)
	proxy := sdktest.Serve(t, binary, "--upstream", provider.URL, "--mode", "off") + "/v1"
	t.Run("go", func(t *testing.T) {
		client := sdktest.InstallGo(t, goSource)
		t.Run("openai", func(t *testing.T) { sameThrough(t, program{argv: []string{client}}, provider, proxy) })
		t.Run("anthropic", func(t *testing.T) { messagesThrough(t, program{argv: []string{client, "messages"}}, binary) })
		t.Run("responses", func(t *testing.T) { responsesThrough(t, program{argv: []string{client, "responses"}}, binary) })
	})
	t.Run("node", func(t *testing.T) {
		dir := sdktest.InstallNode(t, nodeSource)
		t.Run("openai", func(t *testing.T) {
			sameThrough(t, program{dir: dir, argv: []string{"node", "main.mjs"}}, provider, proxy)
		})
		t.Run("anthropic", func(t *testing.T) {
			messagesThrough(t, program{dir: dir, argv: []string{"node", "messages.mjs"}}, binary)
		})
		t.Run("responses", func(t *testing.T) {
			responsesThrough(t, program{dir: dir, argv: []string{"node", "responses.mjs"}}, binary, "agents")
		})
		t.Run("recall", func(t *testing.T) { readCleared(t, binary, dir) })
	})
}

// TestLockNamesNoRegistry lets npm ci use whatever registry the machine is set up for.
func TestLockNamesNoRegistry(t *testing.T) {
	sdktest.CheckLocks(t, nodeSource, pricesSource)
}

var (
	goSource   = filepath.Join("testdata", "go")
	nodeSource = filepath.Join("testdata", "node")
)

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

// run runs p's scenarios against the provider at base, and returns what p printed.
func run(t *testing.T, p program, base string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), p.argv[0], p.argv[1:]...)
	cmd.Dir, cmd.WaitDelay = p.dir, time.Minute
	cmd.Env = append(sdktest.Environ(), "OPENAI_BASE_URL="+base, "OPENAI_API_KEY=sk-test",
		"ANTHROPIC_BASE_URL="+base, "ANTHROPIC_API_KEY=sk-ant-test")
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s with %s: %v\n%s%s", p.argv[0], base, err, &out, &complaint)
	}
	return out.String()
}
