package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"epitome/bench/policy"
	"epitome/bench/replay"
	"epitome/bench/through"
	"epitome/proxy"
	"epitome/rewrite/limits"
)

// chores is a conversation of so many rounds of calls and results, with something the user says now and again.
func chores(own string, rounds int) []byte {
	messages := []any{
		map[string]any{"role": "system", "content": "You are an agent."},
		map[string]any{"role": "user", "content": "Please rework the parts of " + own + " one by one."},
	}
	for n := range rounds {
		id := fmt.Sprintf("call_%d", n)
		var result strings.Builder
		for line := range 30 + 40*(n%5) {
			fmt.Fprintf(&result, "%d\t%s_%d_%d(in int) int { return in*%d }\n", line, own, n, line, line*n)
		}
		arguments := fmt.Sprintf(`{"path":"src/%s_%d.go","was":"%s_%d_3"}`, own, n, own, max(0, n-7))
		messages = append(messages,
			map[string]any{"role": "assistant", "content": nil, "tool_calls": []any{map[string]any{
				"id": id, "type": "function", "function": map[string]any{"name": "read_file", "arguments": arguments}}}},
			map[string]any{"role": "tool", "tool_call_id": id, "content": result.String()})
		if n%9 == 8 {
			messages = append(messages, map[string]any{"role": "assistant", "content": "Done so far."},
				map[string]any{"role": "user", "content": fmt.Sprintf("Go on with task %d of %s.", n, own)})
		}
	}
	body, err := json.Marshal(map[string]any{"model": theModel, "messages": messages})
	if err != nil {
		panic(err)
	}
	return body
}

// What is measured of the running program is what is measured in process: the same decisions with the same requests.
func TestReplayThroughTheRunningProgramIsTheReplayInProcess(t *testing.T) {
	const tokens = 16_000
	folder := t.TempDir()
	for i, own := range []string{"mill", "barn", "well"} {
		if err := os.WriteFile(filepath.Join(folder, own+".json"), chores(own, 20+15*i), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	through, limits, data := throughDaemon(t, tokens)
	secret, err := os.ReadFile(filepath.Join(data, "secret"))
	if err != nil {
		t.Fatal(err)
	}
	report, err := replay.Run(t.Context(), replay.Options{
		Paths: []string{folder}, Windows: []int{tokens}, Progress: t.Output(), Guests: []policy.Policy{through.Policy()},
		Policies: []policy.Policy{{Name: "in process", Open: func(tokens int) (policy.Shaping, error) {
			shelf := t.TempDir() // with the running program's names of artifacts
			if err := os.WriteFile(filepath.Join(shelf, "secret"), secret, 0o600); err != nil {
				return policy.Shaping{}, err
			}
			return replaying{conf: Config{Rewrite: limits}, exact: true, code: true, folder: shelf}.open(tokens)
		}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	within, beyond := report.Rows[len(report.Rows)-2], report.Rows[len(report.Rows)-1]
	if len(report.Faults) > 0 && !strings.Contains(report.Faults[0], "send everything") || within.Died > 0 {
		t.Errorf("%+v, faults %q", within, report.Faults)
	}
	beyond.Policy, beyond.CPUMS, within.CPUMS = within.Policy, nil, nil
	if figuresOf(t, beyond) != figuresOf(t, within) {
		t.Errorf("through the program\n%s\nin process\n%s", figuresOf(t, beyond), figuresOf(t, within))
	}
	decisions := 0
	for _, c := range report.Courses {
		in, out := c.Sent[0], c.Sent[1]
		out.Policy = in.Policy
		if fmt.Sprint(in) != fmt.Sprint(out) {
			t.Errorf("%s: through the program\n%v\nin process\n%v", c.Conversation, out, in)
		}
		decisions += in.Decided
	}
	if notes := through.Notes(); decisions < 5 || len(notes) > 0 {
		t.Errorf("%d decisions, notes %q", decisions, notes)
	}
}

func figuresOf(t *testing.T, row replay.Row) string {
	t.Helper()
	text, err := json.Marshal(row)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// throughDaemon starts the program with such a window, and gives the way through it, the limits that are in force, and its data folder.
func throughDaemon(t *testing.T, tokens int) (way *through.Proxy, limits limits.Limits, folder string) {
	t.Helper()
	folder = t.TempDir()
	r := served(&provider{t: t, Server: &httptest.Server{URL: "http://127.0.0.1:1"}}, folder, func(conf *Config) {
		conf.Window.Models = map[string]int{"*": tokens}
		conf.Offload.Address = "none"
		limits = conf.Rewrite
	})
	way, err := through.Open(through.Options{Proxy: r.url, Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	r.reloads(func(conf *Config) {
		conf.Upstreams = maps.Clone(conf.Upstreams)
		conf.Upstreams["up"] = proxy.UpstreamConfig{URL: way.Upstream() + "/v1"}
	})
	t.Cleanup(func() {
		if err := way.Close(); err != nil {
			t.Error(err)
		}
	})
	return way, limits, folder
}
