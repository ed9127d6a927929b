package chat

import (
	"fmt"
	"strings"
	"testing"

	"epitome/dialect/answer"
	"epitome/event"
)

func TestEventsOfAStream(t *testing.T) {
	f := func(kind, data string, want answer.Step) {
		t.Helper()
		if got := answer.StepOf(Dialect{}, answer.Event{Type: kind, Data: []byte(data)}); got != want {
			t.Errorf("%s %s: step %v, want %v", kind, data, got, want)
		}
	}
	f("", "", answer.FrameStep)
	f("", `{"choices":[{"delta":{"content":null,"tool_calls":[]}},{"delta":{"content":"a"}}]}`, answer.SaidStep)
	f("", "[DONE]", answer.SaidStep)
	f("", `{"choices":[{"delta":{},"finish_reason":"stop"}]}`, answer.EndStep)
	f("", `{"choices":[{"delta":{"role":"assistant"}}],"error":"too long"}`, answer.ErrorStep)
}

func TestUsage(t *testing.T) {
	f := func(usage string, input int, want event.Usage) {
		t.Helper()
		for _, heard := range []string{
			`{"id":"a","choices":[{"message":{"content":"\"usage\":{\"prompt_tokens\":5}"}}],"usage":` + usage + `}`,
			`n":null}]}` + "\n\n" + `data: {"choices":[],"usage":` + usage + `}` + "\n\ndata: [DONE]\n\n",
			`data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}` + "\n\n" +
				`data: {"x_groq":{"usage" : ` + usage + `}}` + "\n\n" + `data: {"choices":[],"usage":null}` + "\n\n",
		} {
			if u, n := (Dialect{}).Usage([]byte(heard)); u != want || n != input {
				t.Errorf("%s: %d and %+v, want %d and %+v", heard, n, u, input, want)
			}
		}
	}
	f(`{"prompt_tokens":1000,"completion_tokens":30,"prompt_tokens_details":null}`, 1000,
		event.Usage{Source: event.UsageProvider, Input: 1000, Output: 30, CacheUnknown: true})
	for _, cached := range []string{
		`"prompt_tokens_details":{"cached_tokens":900,"audio_tokens":0}`, `"cached_tokens":900`,
		`"prompt_tokens_details":{"cached_tokens":1000},"prompt_cache_hit_tokens":900,"prompt_cache_miss_tokens":100`,
	} {
		f(`{"prompt_tokens":1000,"completion_tokens":30,`+cached+`}`, 1000,
			event.Usage{Source: event.UsageProvider, Input: 1000, Output: 30, Read: 900})
	}
	f(`{"prompt_tokens":1000,"prompt_tokens_details":{"cached_tokens":900,"cache_write_tokens":50},`+
		`"completion_tokens":10,`+
		`"completion_tokens_details":{"reasoning_tokens":20},"total_tokens":1030,"cost":0.001,"is_byok":true,`+
		`"cost_details":{"upstream_inference_cost":0.01}}`, 1000, event.Usage{
		Source: event.UsageProvider, Input: 1000, Output: 30, Reasoning: 20, Read: 900, Write5m: 50,
		Charged: 11_000_000})
	f(`{"prompt_tokens":1000}`, 1000, event.Usage{})
	f(`{"prompt_tokens":1e15,"completion_tokens":-5,"cost":1e12}`, 0, event.Usage{}) // none of it can be true
	f(`{"prompt_tokens":1000,"completion_tokens":30,"prompt_tokens_details":{"cached_tokens":-9}}`, 1000,
		event.Usage{Source: event.UsageProvider, Input: 1000, Output: 30, CacheUnknown: true})
}

func TestOnlyAHigherCapIsLowered(t *testing.T) {
	f := func(body, want string, ok bool) {
		t.Helper()
		if got, capped := answer.CapOutput([]byte(body), 100); string(got) != want || capped != ok {
			t.Errorf("%s: got %s, %v", body, got, capped)
		}
	}
	f(`{"max_completion_tokens": 400,"max_tokens":101}`, `{"max_completion_tokens": 100,"max_tokens":100}`, true)
	f(`{"max_tokens":100}`, `{"max_tokens":100}`, false)
}

func TestContinue(t *testing.T) {
	f := func(form answer.Form, body, want string) {
		t.Helper()
		form.MaxOutput = 900
		got, err := Dialect{}.Continue([]byte(body), "Sum it\nup", form)
		want = strings.ReplaceAll(want, "Q", `{"role":"user","content":"Sum it\nup"}`)
		if string(got) != want || (err == nil) != (want != "") {
			t.Errorf("%s\n got %s (%v)\nwant %s", body, got, err, want)
		}
	}
	usual := answer.Form{}
	f(usual, `{"n":2,"messages":[1],"temperature":0.70,"response_format":{"type":"json_object"}}`,
		`{"messages":[1,Q],"temperature":0.70,"max_tokens":900}`)
	f(usual, `{"tools":[{"x":1}],"messages":[1],"stream":true}`,
		`{"tools":[{"x":1}],"messages":[1,Q],"tool_choice":"none","max_tokens":900}`)
	f(answer.Form{OtherCap: true}, `{"max_tokens":4,"messages":[1]}`,
		`{"messages":[1,Q],"max_completion_tokens":900}`)
	f(answer.Form{Stream: true}, `{"stream":false,"messages":[1]}`,
		`{"messages":[1,Q],"stream":true,"max_tokens":900}`)
	for _, body := range []string{``, `[]`, `{"model":"m"}`, `{"messages":{}}`, `{"messages":[01]}`} {
		f(usual, body, "")
	}
}

func TestAnswersAreRead(t *testing.T) {
	f := func(body string, want answer.Answer) {
		t.Helper()
		got, err := answer.Read(Dialect{}, []byte(body))
		if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) || err != nil {
			t.Errorf("%.80q: %+v, %v; want %+v", body, got, err, want)
		}
	}
	failed := func(doc string) answer.Answer { return answer.Answer{Error: []byte(doc)} }
	f(`{"choices":[{"index":0,"message":{"content":"a\nb","reasoning":"no"},"finish_reason":"stop"}],
		"usage":{"prompt_tokens":9,"completion_tokens":2,`+
		`"prompt_tokens_details":{"cached_tokens":8,"cache_write_tokens":1}}}`,
		answer.Answer{Text: "a\nb", Input: 9, Cached: 8, Written: 1, Output: 2})
	f(`{"choices":[{"message":{"content":[{"type":"text","text":"a"},{"type":"thinking","text":"no"},{"text":"b"}]},`+
		`"finish_reason":"length"}]}`,
		answer.Answer{Text: "ab", Cut: true})
	f(`{"choices":[{"message":{"content":null,"tool_calls":[{"id":"1"}]}}]}`, answer.Answer{Called: true})
	f(`{"choices":[{"message":{"content":"","refusal":"I cannot"}}]}`, answer.Answer{Refused: true})
	f(`{"error":{"message":"too long"}}`, failed(`{"error":{"message":"too long"}}`))

	const end = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
	f(": hi\n\ndata: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\r\n\r\n"+
		"data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"no\"}}]}\n\n"+
		"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n"+
		"data:{\"choices\":\ndata: [{\"delta\":{\"content\":\"b\"}}]}\n\n"+end,
		answer.Answer{Text: "ab"})
	f("data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"length\"}]}\n\n"+
		"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"prompt_cache_hit_tokens\":2,\"completion_tokens\":1}}",
		answer.Answer{Text: "a", Cut: true, Input: 3, Cached: 2, Output: 1}) // no [DONE], no empty line at its end
	f("data: {\"error\":{\"message\":\"too long\"}}\n\n", failed(`{"error":{"message":"too long"}}`))
}
