package chat

import "testing"

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
		got := "frame"
		switch d := (Wire{}); {
		case d.Fails([]byte(kind), []byte(data)):
			got = "fails"
		case d.Begins([]byte(kind), []byte(data)):
			got = "begins"
		}
		if got != want {
			t.Errorf("%s %s: got %s, want %s", kind, data, got, want)
		}
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
}

func TestUsageIsTheLastThatIsSaid(t *testing.T) {
	f := func(heard string, want int) {
		t.Helper()
		if got := (Wire{}).Usage([]byte(heard)); got != want {
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
