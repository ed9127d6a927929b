//go:build e2e

// Package sdk_test runs the official OpenAI and Anthropic SDKs and the OpenAI Agents SDK, unchanged, through the real
// program: answers, streaming, tools, the SDK's own retry and a provider's error.
//
// It holds that an SDK prints the same, and that the provider sees the same bytes, with epitome in between as without
// it; and that a session which outgrows the window goes on to its end. It needs what npm and Go's modules have, and is
// built with the tag e2e alone.
package e2e_test

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"epitome/e2e/sdktest"
)

// program is how an SDK's scenarios are started.
type program struct {
	dir  string // where it runs
	argv []string
}

func TestSDKs(t *testing.T) {
	binary := sdktest.Build(t)
	t.Run("go", func(t *testing.T) {
		client := sdktest.InstallGo(t, goSource)
		t.Run("openai", func(t *testing.T) {
			everydayThrough(t, program{argv: []string{client}}, binary, newProvider(t), newProvider(t))
		})
		t.Run("anthropic", func(t *testing.T) { messagesThrough(t, program{argv: []string{client, "messages"}}, binary) })
		t.Run("responses", func(t *testing.T) { responsesThrough(t, program{argv: []string{client, "responses"}}, binary) })
	})
	t.Run("node", func(t *testing.T) {
		dir := sdktest.InstallNode(t, nodeSource)
		t.Run("openai", func(t *testing.T) {
			everydayThrough(t, program{dir: dir, argv: []string{"node", "main.mjs"}}, binary, newProvider(t), newProvider(t))
		})
		t.Run("anthropic", func(t *testing.T) {
			messagesThrough(t, program{dir: dir, argv: []string{"node", "messages.mjs"}}, binary)
		})
		t.Run("responses", func(t *testing.T) {
			responsesThrough(t, program{dir: dir, argv: []string{"node", "responses.mjs"}}, binary, "agents")
		})
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
