package messages

import (
	"testing"

	"epitome/dialect/answer"
)

const (
	instruction = `{"type":"text","text":"Sum it\nup"}`
	alone       = `{"role":"user","content":[` + instruction + `]}`
)

func TestContinue(t *testing.T) {
	const mark = `"cache_control":{"type":"ephemeral","ttl":"1h"}`
	const last = `{"type":"text","text":"Sum it\nup",` + mark + `}`
	const system = `{"max_tokens":9,"system":[{"type":"text","text":"s",` + mark + `}],"messages":[`
	for _, c := range []struct{ body, want string }{
		{` { "messages" : [ {"role":"user","content":"h\u0069"} ] } `,
			`{ "messages" : [ {"role":"user","content":"h\u0069"},` + alone + ` ] ,"max_tokens":9}`},
		{bodyOf(task, said(call), user(result)), bodyOf(task, said(call), user(result), alone)},
		{bodyOf(task, said(call), user(result, text("go"))), bodyOf(task, said(call), user(result, text("go")), alone)},
		{bodyOf(task, aside), bodyOf(task, alone, aside)}, // the system's last message stays last
		// What the cache depends on stays, and what would make the answer another one goes.
		{`{"tools":[{"name":"x"}],"tool_choice":{"type":"auto"},"output_config":{"effort":"high"},"messages":[` + task +
			`,` + done + `],"max_tokens":5}`,
			`{"tools":[{"name":"x"}],"tool_choice":{"type":"auto"},"output_config":{"effort":"high"},"messages":[` +
				task + `,` + done + `,` + alone + `],"max_tokens":9}`},
		{`{"stream":true,"max_tokens":5,"stop_sequences":["x"],"output_config":{"format":{}, "effort":"low"},` +
			`"messages":[` + task + `],"thread":{}}`,
			`{"max_tokens":9,"output_config":{ "effort":"low"},"messages":[` + task + `,` + alone + `]}`},
		{`{"thinking":{"type":"enabled","budget_tokens":2000},"max_tokens":32000,"messages":[` + task + `]}`,
			`{"thinking":{"type":"enabled","budget_tokens":2000},"max_tokens":2009,"messages":[` + task + `,` + alone +
				`]}`},
		{`{"thinking":{"type":"enabled","budget_tokens":31999},"max_tokens":32000,"messages":[` + task + `]}`,
			`{"thinking":{"type":"enabled","budget_tokens":31999},"max_tokens":32000,"messages":[` + task + `,` +
				alone + `]}`},
		// The instruction is marked as the system prompt is, unless a message is marked.
		{system + task + `]}`, system + task + "," + user(last) + `]}`},
		// Errors.
		{`{"messages":{}}`, ""},
		{bodyOf(), bodyOf(alone)}, // a PromptForm
		{`{"tool_choice":{"type":"any"},"messages":[` + task + `]}`, ""},
	} {
		got, err := Dialect{}.Continue([]byte(c.body), "Sum it\nup", answer.Form{MaxOutput: 9})
		if string(got) != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%s\n got %s (%v)\nwant %s", c.body, got, err, c.want)
		}
	}
}

func TestCapOutput(t *testing.T) {
	thinking := func(most, budget string) string {
		return `{"max_tokens":` + most + `,"thinking":{"type":"enabled","budget_tokens":` + budget + `}}`
	}
	for _, c := range []struct {
		tokens     int
		body, want string
	}{
		{100, `{"max_tokens": 400, "n":1}`, `{"max_tokens": 100, "n":1}`},
		{100, `{"max_tokens":100}`, ""},
		// The budget stays where it fits. Else it goes down with the cap, and the room for the answer stays.
		{3_000, thinking("9000", "2000"), thinking("3000", "2000")},
		{3_000, thinking("9000", "8000"), thinking("3000", "2000")},
		{3_000, thinking("32000", "31999"), thinking("3000", "2999")},
		{3_000, thinking("4000", "9000"), thinking("3000", "9000")}, // between calls it may be above the cap
	} {
		got, ok := answer.CapOutput([]byte(c.body), c.tokens)
		if ok != (c.want != "") || ok && string(got) != c.want {
			t.Errorf("%s: got %s, %v", c.body, got, ok)
		}
	}
}
