package subject

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"epitome/bench/policy"
	"epitome/bench/price"
	"epitome/bench/replay"
	"epitome/bench/replay/figures"
	"epitome/bench/through"
	"epitome/config"
	"epitome/config/configtest"
	"epitome/daemon"
	"epitome/proxy/route"
	"epitome/rewrite/limits"
	"epitome/unit"
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
	body, err := json.Marshal(map[string]any{"model": "gpt-5", "messages": messages})
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
		Paths: []string{folder}, Windows: []int{tokens}, Progress: t.Output(),
		Guests: []policy.Policy{through.Policy()},
		Policies: []policy.Policy{{Name: "in process", Open: func(s policy.Setting) (policy.Shaping, error) {
			shelf := t.TempDir() // with the running program's names of artifacts
			if err := os.WriteFile(filepath.Join(shelf, "secret"), secret, 0o600); err != nil {
				return policy.Shaping{}, err
			}
			it := Subject{Conf: config.Config{Rewrite: limits}, Unit: price.Served(), Code: true, folder: shelf}
			return it.Open(s)
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

func figuresOf(t *testing.T, row figures.Row) string {
	t.Helper()
	text, err := json.Marshal(row)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// throughDaemon starts the program with such a window, and gives the way through it, the limits that are in force,
// and its data folder.
func throughDaemon(t *testing.T, tokens int) (way *through.Proxy, limits limits.Limits, folder string) {
	t.Helper()
	conf := config.Defaults(configtest.Text())
	conf.Listen, conf.Data, conf.Upstream = "127.0.0.1:0", t.TempDir(), "up"
	conf.Upstreams["up"] = route.UpstreamConfig{URL: "http://127.0.0.1:1/v1"} // until the way's own end is known
	conf.Window.Models, conf.Window.Probe = map[string]unit.Tokens{"*": unit.Tokens(tokens)}, false
	conf.Rewrite.Protect, conf.Rewrite.Rent, conf.Rewrite.Names, conf.Offload.Address = 10_000, 2, 400, "none"
	var now atomic.Pointer[config.Config]
	now.Store(&conf)
	signals, over := make(chan os.Signal, 2), make(chan error, 1)
	lines := make(chan string, 100)
	d := daemon.New(slog.New(slog.NewTextHandler(teller(lines), nil)), signals,
		func() (config.Config, error) { return *now.Load(), nil })
	if err := d.Start(false); err != nil {
		t.Fatal(err)
	}
	go func() { over <- d.Serve() }()
	way, err := through.Open(through.Options{Proxy: "http://" + d.Address(), Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		signals <- os.Interrupt
		if err := errors.Join(way.Close(), <-over); err != nil {
			t.Error(err)
		}
	})
	next := conf
	next.Upstreams = map[string]route.UpstreamConfig{"up": {URL: way.Upstream() + "/v1"}}
	now.Store(&next)
	signals <- syscall.SIGHUP
	for line := range lines {
		if strings.Contains(line, "msg=reloaded") {
			break
		}
	}
	return way, conf.Rewrite, conf.Data
}

// teller sends each line of a log to whoever reads, as long as there is room.
type teller chan string

// Write takes a line.
func (l teller) Write(line []byte) (int, error) {
	select {
	case l <- string(line):
	default:
	}
	return len(line), nil
}
