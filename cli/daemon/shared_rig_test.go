package daemon

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"epitome/config"
	"epitome/rewrite"
	"epitome/rewrite/conversation"
)

// replica is one of several epitomes that share facts and artifacts, without its wire.
type replica struct {
	*Daemon
}

// alone is a replica that shares nothing but its folder of artifacts, which others may have as theirs.
func alone(t testing.TB, folder string, change func(*config.Config)) *replica {
	return started(t, folder, change)
}

// sharing is a replica over the server at the URL.
func sharing(t testing.TB, url, folder string, change func(*config.Config)) *replica {
	return started(t, t.TempDir(), func(c *config.Config) {
		c.Store.URL, c.Offload.Folder = patient(url), folder
		if change != nil {
			change(c)
		}
	})
}

// patient is the URL of a server with the timeouts of a busy machine.
func patient(url string) string { return url + "?read_timeout=3s&write_timeout=3s&dial_timeout=3s" }

func started(t testing.TB, data string, change func(*config.Config)) *replica {
	t.Helper()
	r := &replica{startedIn(t, data, io.Discard, func(c *config.Config) {
		c.Window.Default, c.Summarize.Mode = 32_000, "intent"
		if change != nil {
			change(c)
		}
	})}
	t.Cleanup(r.giveBack)
	return r
}

// sends is what a request is sent as.
func (r *replica) sends(d conversation.Dialect, body []byte, now time.Time) rewrite.Output {
	return r.live.Shape(rewrite.Input{Dialect: d, Body: body, Upstream: "openai", Limits: &r.started.Rewrite,
		SummaryMode: r.started.Summarize.Mode, Now: now})
}

// talk is a made-up session of an agent that reads and runs things, as one dialect spells it.
type talk struct {
	dialect conversation.Dialect
	dice    *rand.Rand
	items   []any
	calls   int
}

// spokenAs is the dialect of that name.
func spokenAs(name string) conversation.Dialect {
	for _, d := range dialects() {
		if d.Name() == name {
			return d
		}
	}
	panic(name)
}

func newTalk(key string, seed uint64) *talk {
	k := &talk{dialect: spokenAs(key), dice: rand.New(rand.NewPCG(seed, 7))}
	k.user(fmt.Sprintf("Task %d: find out why the build of module %d fails, and mend it.", seed, k.dice.IntN(1000)))
	return k
}

func (k *talk) user(text string) {
	k.items = append(k.items, map[string]any{"role": "user", "content": text})
}

// goOn adds an answer with calls, their results, and now and then what the user says.
func (k *talk) goOn() {
	for range 1 + k.dice.IntN(2) {
		k.calls++
		id, argument := fmt.Sprintf("call_%d", k.calls), fmt.Sprintf(`{"command":"cat src/file%d.go"}`, k.dice.IntN(40))
		k.call(id, "bash", argument, k.output())
	}
	if k.dice.IntN(3) == 0 {
		k.say(fmt.Sprintf("I have looked at step %d and go on.", k.calls))
		k.user(fmt.Sprintf("Good. Now step %d.", k.calls))
	}
}

// output is a result: mostly short, now and then long.
func (k *talk) output() string {
	lines := 5 + k.dice.IntN(60)
	if k.dice.IntN(6) == 0 {
		lines = 600 + k.dice.IntN(900)
	}
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "%d: value %x of %s\n", i, k.dice.Uint32(), []string{"alpha", "beta", "gamma"}[k.dice.IntN(3)])
	}
	return b.String()
}

func (k *talk) say(text string) {
	k.items = append(k.items, map[string]any{"role": "assistant", "content": text})
}

func (k *talk) call(id, tool, argument, result string) {
	type m = map[string]any
	switch k.dialect.Name() {
	case "messages":
		k.items = append(k.items,
			m{"role": "assistant", "content": []any{m{"type": "tool_use", "id": id, "name": tool,
				"input": json.RawMessage(argument)}}},
			m{"role": "user", "content": []any{m{"type": "tool_result", "tool_use_id": id, "content": result}}})
	case "responses":
		k.items = append(k.items, m{"type": "function_call", "call_id": id, "name": tool, "arguments": argument},
			m{"type": "function_call_output", "call_id": id, "output": result})
	default:
		k.items = append(k.items,
			m{"role": "assistant", "content": nil, "tool_calls": []any{m{"id": id, "type": "function",
				"function": m{"name": tool, "arguments": argument}}}},
			m{"role": "tool", "tool_call_id": id, "content": result})
	}
}

func (k *talk) body() []byte {
	body := map[string]any{"model": "some-model", "max_tokens": 1000}
	switch k.dialect.Name() {
	case "messages":
		body["messages"] = k.items
	case "responses":
		body["input"] = k.items
		delete(body, "max_tokens")
	default:
		body["messages"] = k.items
	}
	text, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	return text
}
