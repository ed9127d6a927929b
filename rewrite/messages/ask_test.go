package messages

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"epitome/prose"
	"epitome/rewrite/conversation"
	"epitome/rewrite/reply"
	"epitome/rewrite/rewritetest"
	"epitome/rewrite/span"
	"epitome/sse"
)

const asked = "Sum it\nup"

// What is put behind a conversation, as a block and as a message of its own.
const (
	instructed = `{"type":"text","text":"Sum it\nup"}`
	toldAlone  = `{"role":"user","content":"Sum it\nup"}`
)

// continues holds one body to what becomes of it.
func continues(t *testing.T, form prose.Form) func(body, want string) {
	return func(body, want string) {
		t.Helper()
		got, err := Dialect{}.Continue([]byte(body), asked, form)
		if err != nil || string(got) != want {
			t.Errorf("%s\n got %s (%v)\nwant %s", body, got, err, want)
		}
	}
}

func TestInstructionStandsBehindAllThatWasSaid(t *testing.T) {
	f := continues(t, prose.Form{MaxOutput: 900})
	f(`{"messages":[]}`, `{"messages":[`+toldAlone+`],"max_tokens":900}`)
	f(` { "messages" : [ {"role":"user","content":"h\u0069"} ] } `,
		` { "messages" : [ {"role":"user","content":[{"type":"text","text":"h\u0069"},`+instructed+`]} ],"max_tokens":900 } `)
	// Results stay first, and what the user said behind them stays before it.
	f(`{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"r"} ]}],"max_tokens":1}`,
		`{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"r"} ,`+instructed+`]}],"max_tokens":900}`)
	f(`{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"1"},{"type":"text","text":"go"}]}],"max_tokens":1}`,
		`{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"1"},{"type":"text","text":"go"},`+instructed+`]}],"max_tokens":900}`)
	// An empty text is none.
	f(`{"messages":[{"role":"user","content":[]}],"max_tokens":1}`,
		`{"messages":[{"role":"user","content":[`+instructed+`]}],"max_tokens":900}`)
	f(`{"messages":[{"role":"user","content":" \n"}],"max_tokens":1}`,
		`{"messages":[{"role":"user","content":"Sum it\nup"}],"max_tokens":900}`)
	// Behind the model's words it is a message of its own.
	f(`{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}],"max_tokens":1}`,
		`{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},`+toldAlone+`],"max_tokens":900}`)
	// What the system says last stays last: nothing of the user's may stand behind it.
	f(`{"messages":[{"role":"user","content":"a"},{"role":"system","content":"s"}],"max_tokens":1}`,
		`{"messages":[{"role":"user","content":[{"type":"text","text":"a"},`+instructed+`]},{"role":"system","content":"s"}],"max_tokens":900}`)
}

func TestSettingsThatTheCacheHangsOnStay(t *testing.T) {
	f := continues(t, prose.Form{MaxOutput: 900})
	const m = `"messages":[{"role":"assistant","content":"b"}]`
	const said = `"messages":[{"role":"assistant","content":"b"},` + toldAlone + `]`
	f(`{"model":"m","system":"s","tools":[{"name":"x"}],"tool_choice":{"type":"auto"},"thinking":{"type":"adaptive"},`+
		`"output_config":{"effort":"high"},"context_management":{"edits":[]},"metadata":{"user_id":"u"},`+m+`,"max_tokens":5,"temperature":0.70}`,
		`{"model":"m","system":"s","tools":[{"name":"x"}],"tool_choice":{"type":"auto"},"thinking":{"type":"adaptive"},`+
			`"output_config":{"effort":"high"},"context_management":{"edits":[]},"metadata":{"user_id":"u"},`+said+`,"max_tokens":900,"temperature":0.70}`)
	// What would make the answer another one goes.
	f(`{"stream":true,"max_tokens":5,"stop_sequences":["x"],`+m+`,"output_format":{},"thread":{},"fallbacks":[],"diagnostics":{}}`,
		`{"max_tokens":900,`+said+`}`)
	f(`{"max_tokens":5,"output_config":{"format":{"type":"json_schema"}, "effort":"low"},`+m+`}`,
		`{"max_tokens":900,"output_config":{"effort":"low"},`+said+`}`)
	// The model is left what it thinks with, and the cap stays within what the client knows to be allowed.
	f(`{"thinking":{"type":"enabled","budget_tokens":2000},"max_tokens":32000,`+m+`}`,
		`{"thinking":{"type":"enabled","budget_tokens":2000},"max_tokens":2900,`+said+`}`)
	f(`{"thinking":{"type":"enabled","budget_tokens":31999},"max_tokens":32000,`+m+`}`,
		`{"thinking":{"type":"enabled","budget_tokens":31999},"max_tokens":32000,`+said+`}`)
	continues(t, prose.Form{MaxOutput: 900, Stream: true})(`{"stream":false,"max_tokens":5,`+m+`}`,
		`{"stream":true,"max_tokens":900,`+said+`}`)
}

func TestEndOfTheConversationIsMarkedAsItsHeadIs(t *testing.T) {
	f := continues(t, prose.Form{MaxOutput: 9})
	const hour = `"cache_control":{"type":"ephemeral","ttl":"1h"}`
	const mark = `"cache_control":{"type":"ephemeral"}`
	const system = `"max_tokens":9,"system":[{"type":"text","text":"s",` + hour + `}],`
	f(`{`+system+`"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"r"}]}]}`,
		`{`+system+`"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"r",`+hour+`},`+instructed+`]}]}`)
	f(`{`+system+`"messages":[{"role":"user","content":"r"}]}`,
		`{`+system+`"messages":[{"role":"user","content":[{"type":"text","text":"r",`+hour+`},`+instructed+`]}]}`)
	f(`{"max_tokens":9,"tools":[{"name":"x",`+mark+`}],"messages":[{"role":"user","content":[{"type":"text","text":"r","cache_control":null}]}]}`,
		`{"max_tokens":9,"tools":[{"name":"x",`+mark+`}],"messages":[{"role":"user","content":[{"type":"text","text":"r",`+mark+`},`+instructed+`]}]}`)
	// One that is there stays where it is, and there is never a fifth.
	f(`{`+system+`"messages":[{"role":"assistant","content":[{"type":"text","text":"a",`+mark+`}]},{"role":"user","content":[{"type":"text","text":"r"}]}]}`,
		`{`+system+`"messages":[{"role":"assistant","content":[{"type":"text","text":"a",`+mark+`}]},{"role":"user","content":[{"type":"text","text":"r"},`+instructed+`]}]}`)
	const tool = `{"name":"x",` + mark + `}`
	const four = `"max_tokens":9,"tools":[` + tool + `,` + tool + `,` + tool + `,` + tool + `],`
	f(`{`+four+`"messages":[{"role":"user","content":[{"type":"text","text":"r"}]}]}`,
		`{`+four+`"messages":[{"role":"user","content":[{"type":"text","text":"r"},`+instructed+`]}]}`)
	// No client that marks nothing, or has it done, gets one.
	f(`{"max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":"r"}]}]}`,
		`{"max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":"r"},`+instructed+`]}]}`)
	f(`{`+system+mark+`,"messages":[{"role":"user","content":[{"type":"text","text":"r"}]}]}`,
		`{`+system+mark+`,"messages":[{"role":"user","content":[{"type":"text","text":"r"},`+instructed+`]}]}`)
	// A key of that name in a tool's schema is no mark.
	f(`{"max_tokens":9,"tools":[{"name":"x","input_schema":{`+mark+`}}],"messages":[{"role":"user","content":[{"type":"text","text":"r"}]}]}`,
		`{"max_tokens":9,"tools":[{"name":"x","input_schema":{`+mark+`}}],"messages":[{"role":"user","content":[{"type":"text","text":"r"},`+instructed+`]}]}`)
}

func TestWhatCannotBeContinuedIsAnError(t *testing.T) {
	f := func(body string, want error) {
		t.Helper()
		got, err := Dialect{}.Continue([]byte(body), asked, prose.Form{MaxOutput: 1})
		if err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("%.60q is continued as %.100q (%v)", body, got, err)
		}
	}
	f(``, span.ErrNoJSON)
	f(`null`, nil)
	f(`{"model":"m"}`, errNoMessages)
	f(`{"messages":{}}`, errNoMessages)
	f(`{"messages":[1]}`, nil)
	f(`{"messages":[],"messages":[]}`, nil)
	f(`{"messages":[{"role":"user","content":"a"}]`, span.ErrNoJSON)
	f(`{"messages":[{"role":"strange","content":"a"}]}`, errOdd)
	f(`{"messages":[{"role":"system","content":"a"}]}`, errOdd)
	f(`{"messages":[{"role":"user","content":{"a":1}}]}`, errOdd)
	f(`{"messages":[{"role":"user"}]}`, errOdd)
	f(`{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"x","input":{}}]}]}`, errOpen)
	f(`{"messages":[{"role":"assistant","content":[{"type":"server_tool_use","id":"1","name":"x","input":{}}]}]}`, errOpen)
	f(`{"tool_choice":{"type":"any"},"messages":[{"role":"user","content":"a"}]}`, errForced)
	f(`{"tool_choice":{"type":"tool","name":"x"},"messages":[{"role":"user","content":"a"}]}`, errForced)
	f(strings.Repeat("[", 20_000), nil)
}

// realBodies gives f each request of the dialect that clients were seen to send.
func realBodies(t *testing.T, f func(name string, body []byte)) {
	t.Helper()
	rewritetest.ClientBodies(t, func(name string, _ []byte) bool {
		return !strings.HasSuffix(name, "-headers.json") &&
			(strings.Contains(name, "anthropic") || strings.Contains(name, "claude"))
	}, f)
}

func TestRealConversationsAreContinued(t *testing.T) {
	realBodies(t, func(name string, body []byte) {
		was, err := Dialect{}.Read(body, nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out, err := Dialect{}.Continue(body, asked, prose.Form{MaxOutput: 900})
		if errors.Is(err, errOpen) {
			return
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		is, err := Dialect{}.Read(out, nil)
		if err != nil || is.Stream || conversation.Worse(was, is) != nil {
			t.Fatalf("%s: %v, flaws %v", name, err, is.Flaws())
		}
		// What stands before the messages is cached, and so is what was said up to the last message.
		if !bytes.Equal(was.Instructions.Of(body), is.Instructions.Of(out)) ||
			!bytes.Equal(was.Tools.Of(body), is.Tools.Of(out)) {
			t.Errorf("%s: what stands before the messages changes", name)
		}
		for i := range was.Items[:len(was.Items)-1] {
			if before, after := was.Items[i].Of(body), is.Items[i].Of(out); !bytes.Equal(before, after) {
				t.Errorf("%s: item %d, %.100s becomes %.100s", name, i, before, after)
			}
		}
	})
}

func TestPromptIsARequestOfItsOwn(t *testing.T) {
	f := func(form prose.Form, want string) {
		t.Helper()
		got := string((Dialect{}).Prompt(`m"1`, "s\n", "u", form))
		if r, err := read(got); got != want || err != nil || len(r.Flaws()) > 0 {
			t.Errorf("got %s, want %s (%v)", got, want, err)
		}
	}
	const begin = `{"model":"m\"1","max_tokens":7,"system":"s\n","messages":[{"role":"user","content":"u"}]`
	f(prose.Form{MaxOutput: 7}, begin+`}`)
	f(prose.Form{MaxOutput: 7, Stream: true}, begin+`,"stream":true}`)
}

func TestFormIsAdaptedToWhatIsComplainedOf(t *testing.T) {
	f := func(form prose.Form, refusal string, want prose.Form, ok bool) {
		t.Helper()
		if got, did := (Dialect{}).Adapt(form, []byte(refusal)); got != want || did != ok {
			t.Errorf("%q: %+v %v, want %+v %v", refusal, got, did, want, ok)
		}
	}
	const capped = `max_tokens: 10000 > 4096, which is the maximum allowed number of output tokens for claude-3`
	f(prose.Form{MaxOutput: 8000}, capped, prose.Form{MaxOutput: 4096}, true)
	f(prose.Form{MaxOutput: 4096}, capped, prose.Form{MaxOutput: 4096}, false)
	f(prose.Form{}, `Streaming is required for operations that may take longer than 10 minutes`, prose.Form{Stream: true}, true)
	f(prose.Form{Stream: true}, `stream must be set to true`, prose.Form{Stream: true}, false)
	f(prose.Form{}, `upstream error: bad roles`, prose.Form{}, false)
	f(prose.Form{}, ``, prose.Form{}, false)
}

func TestOnlyAHigherCapIsLowered(t *testing.T) {
	f := func(tokens int, body, want string) {
		t.Helper()
		ok := want != ""
		if !ok {
			want = body
		}
		if got, capped := (Wire{}).CapOutput([]byte(body), tokens); string(got) != want || capped != ok {
			t.Errorf("%s: got %s, %v", body, got, capped)
		}
	}
	f(100, `{"max_tokens": 400, "n":1}`, `{"max_tokens": 100, "n":1}`)
	f(100, `{"max_tokens":100}`, "")
	f(100, `{"max_tokens":"400"}`, "")
	f(100, `{"n":1}`, "")
	f(100, `{"max_tokens":400`, "")
	f(0, `{"max_tokens":400}`, "")
	// What the model thinks with stays where it fits, as all that is cached hangs on it.
	f(3_000, `{"max_tokens":9000,"thinking":{"type":"enabled","budget_tokens":2000}}`,
		`{"max_tokens":3000,"thinking":{"type":"enabled","budget_tokens":2000}}`)
	f(3_000, `{"max_tokens":9000,"thinking":{"type":"adaptive"}}`, `{"max_tokens":3000,"thinking":{"type":"adaptive"}}`)
	// Else it goes down with the cap, and the room for the answer stays.
	f(3_000, `{"thinking":{"budget_tokens":8000,"type":"enabled"},"max_tokens":9000}`,
		`{"thinking":{"budget_tokens":2000,"type":"enabled"},"max_tokens":3000}`)
	f(3_000, `{"max_tokens":32000,"thinking":{"type":"enabled","budget_tokens":31999}}`,
		`{"max_tokens":3000,"thinking":{"type":"enabled","budget_tokens":2999}}`)
	// No model thinks with less than there must be.
	f(3_000, `{"max_tokens":9000,"thinking":{"type":"enabled","budget_tokens":4000}}`,
		`{"max_tokens":3000,"thinking":{"type":"enabled","budget_tokens":1024}}`)
	f(1_024, `{"max_tokens":9000,"thinking":{"type":"enabled","budget_tokens":4000}}`, "")
	f(1_025, `{"max_tokens":9000,"thinking":{"type":"enabled","budget_tokens":4000}}`,
		`{"max_tokens":1025,"thinking":{"type":"enabled","budget_tokens":1024}}`)
	// Between calls it may think with more than the cap.
	f(3_000, `{"max_tokens":4000,"thinking":{"type":"enabled","budget_tokens":9000}}`,
		`{"max_tokens":3000,"thinking":{"type":"enabled","budget_tokens":9000}}`)
}

func TestAnswersAreRead(t *testing.T) {
	f := func(kind, body string, want prose.Answer) {
		t.Helper()
		got, err := Dialect{}.ReadAnswer(kind, iotest.OneByteReader(strings.NewReader(body)))
		if string(got.Error) != string(want.Error) || err != nil {
			t.Errorf("%.80q: error %q, %v; want %q", body, got.Error, err, want.Error)
		}
		got.Error, want.Error = nil, nil
		if got.Text != want.Text || got.Refused != want.Refused || got.Cut != want.Cut || got.Called != want.Called ||
			got.Input != want.Input || got.Cached != want.Cached || got.Written != want.Written ||
			got.Output != want.Output {
			t.Errorf("%.80q: %+v, want %+v", body, got, want)
		}
	}
	const doc, stream = "application/json", "text/event-stream; charset=utf-8"
	f(doc, `{"type":"message","content":[{"type":"thinking","thinking":"no","signature":"x"},{"type":"text","text":"a\n"},{"type":"text","text":"b"}],
		"stop_reason":"end_turn","usage":{"input_tokens":1,"cache_read_input_tokens":8,"cache_creation_input_tokens":2,"output_tokens":3}}`,
		prose.Answer{Text: "a\nb", Input: 11, Cached: 8, Written: 2, Output: 3})
	f(doc, `{"content":[{"type":"text","text":"a"}],"stop_reason":"max_tokens"}`, prose.Answer{Text: "a", Cut: true})
	f(doc, `{"content":[{"type":"text","text":"a"}],"stop_reason":"model_context_window_exceeded"}`, prose.Answer{Text: "a", Cut: true})
	f(doc, `{"content":[],"stop_reason":"refusal"}`, prose.Answer{Refused: true})
	f(doc, `{"content":[{"type":"text","text":"I look"},{"type":"tool_use","id":"1","name":"x","input":{"text":"no"}}],"stop_reason":"tool_use"}`,
		prose.Answer{Text: "I look", Called: true})
	f(doc, `{"content":[{"type":"server_tool_use","id":"1"}],"stop_reason":"pause_turn"}`, prose.Answer{Called: true})
	f(doc, `{"type":"error","error":{"message":"too long"}}`, prose.Answer{Error: []byte(`{"type":"error","error":{"message":"too long"}}`)})
	f(doc, `{"detail":"too long"}`, prose.Answer{Error: []byte(`{"detail":"too long"}`)})

	const start = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"content\":[],\"usage\":{\"input_tokens\":1,\"cache_read_input_tokens\":8,\"output_tokens\":1}}}\n\n"
	const delta = "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":5}}\n\n"
	const end = delta + "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
	text := func(s string) string {
		return "event: content_block_delta\r\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"text_delta\",\"text\":\"" + s + "\"}}\r\n\r\n"
	}
	thought := strings.ReplaceAll(strings.ReplaceAll(text("no"), "text_delta", "thinking_delta"), `"text":`, `"thinking":`)
	const opened = "data: {\"type\":\"content_block_start\",\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\ndata: {\"type\":\"ping\"}\n\n"
	f(stream, start+thought+opened+text("a\\n")+text("b")+end+text("later"),
		prose.Answer{Text: "a\nb", Input: 9, Cached: 8, Output: 5})
	f(doc, start+text("a")+end, prose.Answer{Text: "a", Input: 9, Cached: 8, Output: 5}) // the type is wrong
	f(stream, `{"content":[{"type":"text","text":"a"}]}`, prose.Answer{Text: "a"})       // here, too
	f(stream, text("a")+delta, prose.Answer{Text: "a", Output: 5})                       // no message_stop
	f(stream, text("a")+strings.Replace(end, "end_turn", "refusal", 1), prose.Answer{Text: "a", Refused: true, Output: 5})
	f(stream, "data: {\"type\":\"content_block_start\",\"content_block\":{\"type\":\"tool_use\"}}\n\n"+end, prose.Answer{Called: true, Output: 5})
	f(stream, start+"event: error\ndata: {\"type\":\"error\",\"error\":{\"message\":\"too long\"}}\n\n"+end,
		prose.Answer{Error: []byte(`{"type":"error","error":{"message":"too long"}}`), Input: 9, Cached: 8, Output: 1})
	f(stream, "data: {\"error\":{\"message\":\"too long\"}}\n\n", prose.Answer{Error: []byte(`{"error":{"message":"too long"}}`)})
}

func TestAnswersThatBreakOffAreErrors(t *testing.T) {
	f := func(kind, body string, want error) {
		t.Helper()
		if a, err := (Dialect{}).ReadAnswer(kind, strings.NewReader(body)); err == nil ||
			want != nil && !errors.Is(err, want) {
			t.Errorf("%.60q is read as %.100v (%v); want %v", body, a, err, want)
		}
	}
	const stream = "text/event-stream"
	piece := func(text string) string {
		return "data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"" + text + "\"}}\n\n"
	}
	f("", "", io.ErrUnexpectedEOF)
	f(stream, "", io.ErrUnexpectedEOF)
	f(stream, piece("a"), io.ErrUnexpectedEOF)
	f(stream, piece("a")+"data: {\"type\":\"content_block_stop\"}\n\n", io.ErrUnexpectedEOF)
	f(stream, piece("a")+"data: {\"type", reply.ErrNoJSON)
	f(stream, piece("a")+"data: [DONE]\n\n", io.ErrUnexpectedEOF)
	f("", `{"content":[{"type":"text","text":"a`, reply.ErrNoJSON)
	f("", "<html>", reply.ErrNoJSON)
	f("", `{"content":[`+strings.Repeat(" ", reply.MostDocument), sse.ErrLongDocument)
	f(stream, "data: "+strings.Repeat("x", mostEvent), sse.ErrTooLong)
	f(stream, strings.Repeat(piece(strings.Repeat("x", 100_000)), 11), reply.ErrLongText)
}

func FuzzContinuationKeepsAllElse(f *testing.F) {
	f.Add([]byte(`{"model":"m","messages":[{"role":"user","content":"x"}],"stream":true,"tools":[{"cache_control":{"type":"ephemeral"}}],"a":1}`), true)
	f.Add([]byte(` {"n":1, "max_tokens":3,"messages":[ ], "stop_sequences":"x","thread":1 } `), false)
	f.Add([]byte(`{"system":[{"type":"text","cache_control":{}}],"messages":[{"role":"user","content":[{"type":"tool_result","content":[]}]},{"role":"system"}]}`), true)
	f.Fuzz(func(t *testing.T, body []byte, stream bool) {
		out, err := Dialect{}.Continue(body, asked, prose.Form{MaxOutput: 900, Stream: stream})
		if err != nil {
			return
		}
		was, errWas := Dialect{}.Read(body, nil)
		is, errIs := Dialect{}.Read(out, nil)
		if errWas != nil {
			return // what nobody reads is not asked about
		}
		if errIs != nil || is.MaxOutput > max(900, was.MaxOutput) || is.Stream != stream {
			t.Fatalf("%q becomes %q: %v", body, out, errIs)
		}
		if conversation.Worse(was, is) != nil {
			t.Fatalf("%q becomes %q: %v", body, out, is.Flaws())
		}
		var before, after map[string]json.RawMessage
		if json.Unmarshal(body, &before) != nil || json.Unmarshal(out, &after) != nil {
			t.Fatalf("%q becomes %q", body, out)
		}
		ours := []string{"messages", "max_tokens", "stream", "output_config"}
		for key, v := range before {
			got, there := after[key]
			goes := slices.Contains(dropped[:], key)
			if !slices.Contains(ours, key) && (goes == there || there && !bytes.Equal(v, got)) {
				t.Fatalf("%q: %s becomes %s", key, v, got)
			}
		}
		if !bytes.Contains(after["messages"], []byte(`Sum it\nup`)) {
			t.Fatalf("the instruction is not in %s", out)
		}
	})
}

func FuzzReadAnswerNeverBreaks(f *testing.F) {
	f.Add("text/event-stream", []byte("event: x\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"a\"}}\n\ndata: {\"type\":\"message_stop\"}\n\n"))
	f.Add("", []byte(`{"content":[{"type":"text","text":"a"}],"usage":{"input_tokens":1}}`))
	f.Fuzz(func(t *testing.T, kind string, body []byte) {
		a, err := Dialect{}.ReadAnswer(kind, bytes.NewReader(body))
		if err != nil && (a.Text != "" || a.Error != nil) {
			t.Fatalf("an error, %v, with %+v", err, a)
		}
		if len(a.Text) > 3*len(body) || a.Input < 0 || a.Output < 0 || a.Cached > a.Input {
			t.Fatalf("%+v of %d bytes", a, len(body))
		}
	})
}
