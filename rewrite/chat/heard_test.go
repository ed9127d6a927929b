package chat

import (
	"testing"

	"epitome/event"
	"epitome/rewrite/rewritetest"
	"epitome/rewrite/spent"
)

func TestOnlyPathsOfConversationsAreServed(t *testing.T) {
	f := func(path string, want bool) {
		t.Helper()
		if got := (Wire{}).Serves([]byte(path)); got != want {
			t.Errorf("%s: got %v", path, got)
		}
	}
	f(Dialect{}.Path(), true)
	f("/v1/chat/completions", true)
	f("/openai/deployments/x/chat/completions", true)
	f("/v1/chat/completions/1", false)
	f("/v1/completions", false)
	f("/v1/messages", false)
}

func TestEventsOfAStreamTellHowItGoes(t *testing.T) {
	f := func(kind, data, want string) {
		t.Helper()
		rewritetest.CheckEvent(t, Wire{}, [2]string{kind, data}, want)
	}
	f("", "", "frame")
	f("", `{"choices":[{"delta":{"role":"assistant","content":""}}]}`, "frame")
	f("", `{"choices":[],"usage":{"prompt_tokens":1}}`, "frame")
	f("", `{"choices":[{"delta":{"content":"a"}}]}`, "begins")
	f("", `{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}`, "begins")
	f("", "[DONE]", "begins")
	f("", `{"choices":[{"delta":{},"finish_reason":"stop"}]}`, "fails")
	f("", `{"error":{"message":"too long"}}`, "fails")
	f("Error", `{"message":"too long"}`, "fails")
	f("response.failed", "{}", "fails")
	f("ping", `{"choices":[]}`, "begins")
	f("", `{"choices":[{"delta":{"content":null,"tool_calls":[]}},{"delta":{"content":"a"}}]}`, "begins")
	f("", `{"choices":[{"delta":{"role":"assistant"}}],"error":null}`, "frame")
	f("", `{"choices":[{"delta":{"role":"assistant"}}],"error":"too long"}`, "fails")
	f("", `{"choices":[],"usage":null}`, "begins")
}

func TestUsageIsTheLastThatIsSaid(t *testing.T) {
	f := func(heard string, want int) {
		t.Helper()
		if _, got := (Wire{}).Usage([]byte(heard), spent.Nothing()); got != want {
			t.Errorf("%s: got %d, want %d", heard, got, want)
		}
	}
	f("", 0)
	f(`{"usage":null}`, 0)
	f(`{"usage":{"prompt_tokens": 12,"completion_tokens":3}}`, 12)
	f(`"prompt_tokens":12} "prompt_tokens":34}`, 34)
	// What came from a cache is within it, wherever that is told.
	f(`{"usage":{"prompt_tokens":1000,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":900}}}`, 1000)
	f(`{"usage":{"prompt_tokens_details":{"cached_tokens":900},"cached_tokens":900,"prompt_tokens":1000}}`, 1000)
	f(`{"usage":{"prompt_tokens":1000,"prompt_cache_hit_tokens":900,"prompt_cache_miss_tokens":100}}`, 1000)
	f(`"prompt_tokens":"x"`, 0)
}

func TestOnlyAHigherCapIsLowered(t *testing.T) {
	f := func(body, want string, ok bool) {
		t.Helper()
		if got, capped := (Wire{}).CapOutput([]byte(body), 100); string(got) != want || capped != ok {
			t.Errorf("%s: got %s, %v", body, got, capped)
		}
	}
	f(`{"max_tokens": 400, "n":1}`, `{"max_tokens": 100, "n":1}`, true)
	f(`{"max_completion_tokens":400,"max_tokens":101}`, `{"max_completion_tokens":100,"max_tokens":100}`, true)
	f(`{"max_tokens":100}`, `{"max_tokens":100}`, false)
	f(`{"max_tokens":"400"}`, `{"max_tokens":"400"}`, false)
	f(`{"n":1}`, `{"n":1}`, false)
	f(`{"max_tokens":400`, `{"max_tokens":400`, false)
}

func TestUsageIsReadWhereverAProviderSaysIt(t *testing.T) {
	told := event.Usage{Source: event.UsageProvider, Input: 1000, Output: 30}
	f := func(usage string, change func(u *event.Usage)) {
		t.Helper()
		want := told
		change(&want)
		for _, heard := range []string{
			`{"id":"a","choices":[{"message":{"content":"\"usage\":{\"prompt_tokens\":5}"}}],"usage":` + usage + `}`,
			`n":null}]}` + "\n\n" + `data: {"choices":[],"usage":` + usage + `}` + "\n\ndata: [DONE]\n\n",
			`data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}` + "\n\n" +
				`data: {"x_groq":{"usage" : ` + usage + `}}` + "\n\n",
		} {
			if u, _ := (Wire{}).Usage([]byte(heard), spent.Nothing()); u != want {
				t.Errorf("%s: %+v, want %+v", heard, u, want)
			}
		}
	}
	unknown := func(u *event.Usage) { u.CacheUnknown = true }
	cached := func(u *event.Usage) { u.Read = 900 }
	f(`{"prompt_tokens":1000,"completion_tokens":30,"total_tokens":1030}`, unknown)
	f(`{"prompt_tokens":1000,"completion_tokens":30,"prompt_tokens_details":null}`, unknown)
	f(`{"prompt_tokens":1000,"completion_tokens":30,"prompt_tokens_details":{"cached_tokens":0}}`, func(*event.Usage) {})
	f(`{"prompt_tokens":1000,"completion_tokens":30,"prompt_tokens_details":{"cached_tokens":900,"audio_tokens":0}}`, cached)
	f(`{"cached_tokens":900,"prompt_tokens":1000,"completion_tokens":30}`, cached)
	f(`{"prompt_tokens_details":{"cached_tokens":1000},"prompt_cache_hit_tokens":900,"prompt_cache_miss_tokens":100,`+
		`"prompt_tokens":1000,"completion_tokens":30}`, cached)
	f(`{"prompt_tokens":1000,"prompt_tokens_details":{"cached_tokens":900,"cache_write_tokens":50},"completion_tokens":30,`+
		`"completion_tokens_details":{"reasoning_tokens":20},"total_tokens":1030}`,
		func(u *event.Usage) { u.Read, u.Write5m, u.Reasoning = 900, 50, 20 })
	f(`{"prompt_tokens":1000,"completion_tokens":10,"total_tokens":1030}`, unknown) // what was thought is in the total alone
	f(`{"prompt_tokens":1000,"completion_tokens":30,"prompt_tokens_details":{"cached_tokens":1001}}`,
		func(u *event.Usage) { u.Read, u.Odd = 1001, true })
	f(`{"prompt_tokens":1000,"completion_tokens":30,"cost":0.00123,"cost_details":{"upstream_inference_cost":0.01}}`,
		func(u *event.Usage) { u.CacheUnknown, u.Charged = true, 1_230_000 })
	f(`{"prompt_tokens":1000,"completion_tokens":30,"cost":0.001,"is_byok":true,"cost_details":{"upstream_inference_cost":0.01}}`,
		func(u *event.Usage) { u.CacheUnknown, u.Charged = true, 11_000_000 })
	f(`{"prompt_tokens":1000,"completion_tokens":30,"cost":0,"is_byok":true,"cost_details":{"upstream_inference_cost":0.01}}`,
		func(u *event.Usage) { u.CacheUnknown, u.Charged = true, 10_000_000 })
	none := func(u *event.Usage) { *u = event.Usage{} }
	f(`{"prompt_tokens":1000}`, none)
	f(`{"prompt_tokens":-1000,"completion_tokens":30}`, none)
	f(`{"prompt_tokens":"1000","completion_tokens":30}`, none)
}

func FuzzUsageIsARecordOrNone(f *testing.F) {
	f.Add([]byte(`{"usage":{"prompt_tokens":10,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":11},"cost":1e-5}}`))
	f.Add([]byte(`"usage" : {"usage":{"prompt_tokens":1e9,"total_tokens":5}}}`))
	f.Fuzz(func(t *testing.T, heard []byte) { rewritetest.CheckUsage(t, heard, Wire{}) })
}
