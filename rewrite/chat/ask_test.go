package chat

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
	"epitome/rewrite/reply"
	"epitome/rewrite/rewritetest"
	"epitome/sse"
)

const asked = "Sum it\nup"

func TestConversationIsContinuedAndAllElseStays(t *testing.T) {
	f := func(form prose.Form, body, want string) {
		t.Helper()
		got, err := Dialect{}.Continue([]byte(body), asked, form)
		if err != nil || string(got) != want {
			t.Errorf("%s\n got %s (%v)\nwant %s", body, got, err, want)
		}
	}
	usual := prose.Form{MaxOutput: 900}
	const q = `{"role":"user","content":"Sum it\nup"}`
	f(usual, `{"messages":[]}`, `{"messages":[`+q+`],"max_tokens":900}`)
	f(usual, ` { "messages" : [ ] } `, ` { "messages" : [ `+q+`],"max_tokens":900 } `)
	f(usual, `{"model":"m","messages":[{"role":"user","content":"h\u0069"}],"temperature":0.70}`,
		`{"model":"m","messages":[{"role":"user","content":"h\u0069"},`+q+`],"temperature":0.70,"max_tokens":900}`)
	// What is taken out goes with its comma, wherever it stands.
	f(usual, `{"n":2,"messages":[1],"stop":["}"]}`, `{"messages":[1,`+q+`],"max_tokens":900}`)
	f(usual, `{ "stream" : true , "store":true,"messages":[1] , "a":-0, "stream_options":{"include_usage":true} , "logprobs":true,"top_logprobs":5 }`,
		`{ "messages":[1,`+q+`] , "a":-0,"max_tokens":900 }`)
	f(usual, `{"messages":[1],"response_format":{"type":"json_object"},"user":"u","parallel_tool_calls":true}`,
		`{"messages":[1,`+q+`],"user":"u","max_tokens":900}`)
	// Tools stay, and are not called. Without tools nothing is said of them.
	f(usual, `{"tools":[{"x":1}],"messages":[1]}`, `{"tools":[{"x":1}],"messages":[1,`+q+`],"tool_choice":"none","max_tokens":900}`)
	f(usual, `{"tool_choice":{"type":"function"},"tools":[{"x":1}],"messages":[1]}`, `{"tool_choice":"none","tools":[{"x":1}],"messages":[1,`+q+`],"max_tokens":900}`)
	f(usual, `{"tool_choice":"auto","tools":[],"messages":[1]}`, `{"tools":[],"messages":[1,`+q+`],"max_tokens":900}`)
	f(usual, `{"tools":null,"messages":[1],"tool_choice":"auto"}`, `{"tools":null,"messages":[1,`+q+`],"max_tokens":900}`)
	f(usual, `{"functions":[{"name":"f"}],"function_call":"auto","messages":[1]}`, `{"functions":[{"name":"f"}],"function_call":"none","messages":[1,`+q+`],"max_tokens":900}`)
	// The cap stands under the name that the request used.
	f(usual, `{"max_tokens" : 5 ,"messages":[1]}`, `{"max_tokens" : 900 ,"messages":[1,`+q+`]}`)
	f(usual, `{"messages":[1],"max_completion_tokens":5}`, `{"messages":[1,`+q+`],"max_completion_tokens":900}`)
	f(usual, `{"max_tokens":4,"messages":[1],"max_completion_tokens":5}`, `{"messages":[1,`+q+`],"max_completion_tokens":900}`)
	f(prose.Form{MaxOutput: 900, OtherCap: true}, `{"max_tokens":4,"messages":[1]}`,
		`{"messages":[1,`+q+`],"max_completion_tokens":900}`)
	f(prose.Form{MaxOutput: 900, OtherCap: true}, `{"max_completion_tokens":4,"messages":[1]}`,
		`{"messages":[1,`+q+`],"max_tokens":900}`)
	f(prose.Form{MaxOutput: 900, Stream: true}, `{"stream":false,"messages":[1]}`,
		`{"stream":true,"messages":[1,`+q+`],"max_tokens":900}`)
	f(prose.Form{MaxOutput: 900, Stream: true}, `{"messages":[1]}`,
		`{"messages":[1,`+q+`],"max_tokens":900,"stream":true}`)
}

func TestWhatCannotBeContinuedIsAnError(t *testing.T) {
	f := func(body string) {
		t.Helper()
		if got, err := (Dialect{}).Continue([]byte(body), asked, prose.Form{MaxOutput: 1}); err == nil {
			t.Errorf("%.60q is continued as %.100q", body, got)
		}
	}
	f(``)
	f(`null`)
	f(`[]`)
	f(`{"model":"m"}`)
	f(`{"messages":{}}`)
	f(`{"messages":[1],"messages":[2]}`)
	f(`{"messages":[1],"n":1,"n":2}`)
	f(`{"messages":[1],"to\u006fls":[]}`)
	f(`{"messages":[1]`)
	f(`{"messages":[01]}`)
	f(strings.Repeat("[", 20_000))
}

func TestRealConversationsAreContinued(t *testing.T) {
	rewritetest.Corpus(t, func(name string, body []byte) {
		out, err := Dialect{}.Continue(body, asked, prose.Form{MaxOutput: 900})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		was, is := mustRead(t, string(body)), mustRead(t, string(out))
		if !json.Valid(out) || len(is.Items) != len(was.Items)+1 || len(is.Flaws()) > 0 || is.MaxOutput != 900 ||
			is.Stream {
			t.Fatalf("%s: %d items become %d; flaws %v", name, len(was.Items), len(is.Items), is.Flaws())
		}
		from, to, last := was.Items[0].Start, was.Items[len(was.Items)-1].End, is.Items[len(is.Items)-2].End
		if !bytes.Equal(body[from:to], out[is.Items[0].Start:last]) {
			t.Errorf("%s: the messages are not what they were", name)
		}
	})
}

func TestPromptIsARequestOfItsOwn(t *testing.T) {
	f := func(form prose.Form, want string) {
		t.Helper()
		if got := string((Dialect{}).Prompt(`m"1`, "s\n", "u", form)); got != want || !json.Valid([]byte(got)) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	const begin = `{"model":"m\"1","messages":[{"role":"system","content":"s\n"},{"role":"user","content":"u"}],`
	f(prose.Form{MaxOutput: 7}, begin+`"max_tokens":7}`)
	f(prose.Form{MaxOutput: 7, OtherCap: true, Stream: true}, begin+`"max_completion_tokens":7,"stream":true}`)
}

func TestFormIsAdaptedToWhatIsComplainedOf(t *testing.T) {
	f := func(form prose.Form, refusal string, want prose.Form, ok bool) {
		t.Helper()
		if got, did := (Dialect{}).Adapt(form, []byte(refusal)); got != want || did != ok {
			t.Errorf("%q: %+v %v, want %+v %v", refusal, got, did, want, ok)
		}
	}
	const named = `Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.`
	f(prose.Form{MaxOutput: 1}, named, prose.Form{MaxOutput: 1, OtherCap: true}, true)
	f(prose.Form{OtherCap: true}, named, prose.Form{OtherCap: true}, false)
	f(prose.Form{}, `Stream must be set to true`, prose.Form{Stream: true}, true)
	f(prose.Form{Stream: true}, `stream must be set to true`, prose.Form{Stream: true}, false)
	f(prose.Form{}, `upstream error: bad roles`, prose.Form{}, false)
	f(prose.Form{}, ``, prose.Form{}, false)
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
	f(doc, `{"choices":[{"index":0,"message":{"role":"assistant","content":"a\nb","reasoning_content":"no","reasoning":"no"},"finish_reason":"stop"}],
		"usage":{"prompt_tokens":9,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":8,"cache_write_tokens":1}}}`,
		prose.Answer{Text: "a\nb", Input: 9, Cached: 8, Written: 1, Output: 2})
	f(doc, `{"choices":[{"message":{"content":[{"type":"text","text":"a"},{"type":"thinking","text":"no"},{"text":"b"}]},"finish_reason":"length"}]}`,
		prose.Answer{Text: "ab", Cut: true})
	f(doc, `{"choices":[{"message":{"content":null,"tool_calls":[{"id":"1"}]},"finish_reason":"tool_calls"}]}`,
		prose.Answer{Called: true})
	f(doc, `{"choices":[{"message":{"content":null,"function_call":{"name":"f"}}}]}`, prose.Answer{Called: true})
	f(doc, `{"choices":[{"message":{"content":"","refusal":"I cannot"}}]}`, prose.Answer{Refused: true})
	f(doc, `{"choices":[{"message":{"content":"half"},"finish_reason":"content_filter"}]}`,
		prose.Answer{Text: "half", Refused: true})
	f(doc, `{"choices":[{"index":1,"message":{"content":"other"}},{"index":0,"message":{"content":"this"}}]}`,
		prose.Answer{Text: "this"})
	f(doc, `{"choices":[{"message":{"content":"a"},"finish_reason":7}],"usage":"odd"}`, prose.Answer{Text: "a"})
	f(doc, `{"error":{"message":"too long"}}`, prose.Answer{Error: []byte(`{"error":{"message":"too long"}}`)})
	f(doc, `{"object":"error","message":"too long"}`,
		prose.Answer{Error: []byte(`{"object":"error","message":"too long"}`)})
	f(doc, `{"error":null,"choices":[{"message":{"content":"a"}}]}`, prose.Answer{Text: "a"})

	const end = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
	f(stream, ": hi\n\ndata: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\r\n\r\ndata: {\"choices\":[{\"delta\":{\"reasoning_content\":\"no\"}}]}\n\n"+
		"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"x\"}}]}\n\ndata:{\"choices\":\ndata: [{\"delta\":{\"content\":\"b\"}}]}\n\n"+end,
		prose.Answer{Text: "ab"})
	f(doc, "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n"+end,
		prose.Answer{Text: "a"}) // the type is wrong
	f(stream, `{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}`, prose.Answer{Text: "a"}) // here, too
	f(stream, "data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"length\"}]}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"prompt_cache_hit_tokens\":2,\"completion_tokens\":1}}",
		prose.Answer{Text: "a", Cut: true, Input: 3, Cached: 2, Output: 1}) // no [DONE], and no empty line at its end
	f(stream, "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0}]}}]}\n\n"+end, prose.Answer{Called: true})
	f(stream, "data: {\"error\":{\"message\":\"too long\"}}\n\n",
		prose.Answer{Error: []byte(`{"error":{"message":"too long"}}`)})
	f(stream, "event: error\ndata: {\"message\":\"too long\"}\n\n"+end,
		prose.Answer{Error: []byte(`{"message":"too long"}`)})
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
	f("", "", io.ErrUnexpectedEOF)
	f(stream, "", io.ErrUnexpectedEOF)
	f(stream, "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n", io.ErrUnexpectedEOF)
	f(stream, "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: {\"cho", nil)
	f("", `{"choices":[{"message":{"content":"a`, nil)
	f("", "<html>", nil)
	f("", `{"choices":[`+strings.Repeat(" ", reply.MostDocument), sse.ErrLongDocument)
	f(stream, "data: "+strings.Repeat("x", mostEvent), nil)
	piece := `data: {"choices":[{"delta":{"content":"` + strings.Repeat("x", 100_000) + "\"}}]}\n\n"
	f(stream, strings.Repeat(piece, 11), errLongAnswer)
}

func FuzzContinuationKeepsAllElse(f *testing.F) {
	f.Add([]byte(`{"model":"m","messages":[{"role":"user","content":"x"}],"stream":true,"tools":[{}],"a":1,"n":2}`), false, true)
	f.Add([]byte(` {"n":1, "max_tokens":3,"messages":[ ], "stop":"x","store":1 } `), true, false)
	f.Fuzz(func(t *testing.T, body []byte, other, stream bool) {
		form := prose.Form{MaxOutput: 900, OtherCap: other, Stream: stream}
		out, err := Dialect{}.Continue(body, asked, form)
		if err != nil {
			return
		}
		var before, after map[string]json.RawMessage
		if json.Unmarshal(body, &before) != nil {
			t.Fatalf("%q is continued", body)
		}
		if err := json.Unmarshal(out, &after); err != nil {
			t.Fatalf("%q becomes %q: %v", body, out, err)
		}
		var was, is []json.RawMessage
		_ = json.Unmarshal(before["messages"], &was)
		_ = json.Unmarshal(after["messages"], &is)
		if len(is) != len(was)+1 {
			t.Fatalf("%d messages become %d", len(was), len(is))
		}
		for i := range was {
			if !bytes.Equal(was[i], is[i]) {
				t.Fatalf("message %d becomes %s", i, is[i])
			}
		}
		ours := map[string]bool{"messages": true, "tool_choice": true, "function_call": true, usualCap: true,
			otherCap: true, "stream": true}
		for key, v := range before {
			got, there := after[key]
			if !ours[key] && (slices.Contains(dropped[:], key) == there || there && !bytes.Equal(v, got)) {
				t.Fatalf("%q: %s becomes %s", key, v, got)
			}
		}
		for key := range after {
			if _, there := before[key]; !there && !ours[key] {
				t.Fatalf("%q comes from nowhere", key)
			}
		}
		if string(after[usualCap])+string(after[otherCap]) != "900" || (string(after["stream"]) == "true") != stream {
			t.Fatalf("settings of %s", out)
		}
	})
}

func FuzzReadAnswerNeverBreaks(f *testing.F) {
	f.Add("text/event-stream", []byte("event: x\ndata: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"))
	f.Add("", []byte(`{"choices":[{"message":{"content":[{"text":"a"}]}}],"usage":{"prompt_tokens":1}}`))
	f.Fuzz(func(t *testing.T, kind string, body []byte) {
		a, err := Dialect{}.ReadAnswer(kind, bytes.NewReader(body))
		if err != nil && (a.Text != "" || a.Error != nil) {
			t.Fatalf("an error, %v, with %+v", err, a)
		}
		if len(a.Text) > 3*len(body) {
			t.Fatalf("%d bytes said of %d", len(a.Text), len(body))
		}
	})
}
