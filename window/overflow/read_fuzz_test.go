package overflow

import (
	"strings"
	"testing"
)

// sound checks what must hold of any verdict.
func sound(t *testing.T, v Verdict, s Sent) {
	t.Helper()
	switch {
	case v.Kind < NotOurs || v.Kind > Malformed || v.Why == "" || len(v.Why) > 120:
		t.Errorf("%+v", v)
	case v.Window != 0 && (v.Window < LeastWindow || v.Window > MostWindow || s.Window > 0 && v.Window >= s.Window ||
		v.Kind != Input && v.Kind != Output):
		t.Errorf("the window cannot be: %+v", v)
	case (v.Kind == Output) != (v.Output > 0) || v.Requested < 0:
		t.Errorf("the sizes cannot be: %+v", v)
	case v.Kind == Malformed && !s.Rewritten:
		t.Errorf("nothing was rewritten: %+v", v)
	}
}

func FuzzRead(f *testing.F) {
	for _, a := range wrapped("The prompt has 150000 tokens + 4000 max_tokens > 131072, [1, 6000] 1,024.5k -3 (2013) 超过 <= n_ctx ~") {
		f.Add(a.Status, a.Type, string(a.Body), 100_000, 4_096, 200_000)
	}
	for _, in := range inventedOthers {
		f.Add(in.status, "", in.body, 0, -1, 0)
	}
	f.Fuzz(func(t *testing.T, status int, kind, body string, tokens, output, window int) {
		s := Sent{Tokens: max(tokens, 0) % (1 << 30), MaxOutput: output % (1 << 30), Window: max(window, 0) % (1 << 30),
			Rewritten: output%2 == 0}
		a := Answer{Status: status, Type: kind, Body: []byte(body)}
		v := Read(a, s)
		sound(t, v, s)
		if again := Read(a, s); again != v {
			t.Errorf("%+v, and then %+v", v, again)
		}
		if string(a.Body) != body {
			t.Error("the answer is changed")
		}
	})
}

func BenchmarkRead(b *testing.B) {
	body := []byte(`{"error":{"message":"The context length is 128000 tokens, but your messages have 173172 tokens. Reduce their length.","code":"too_long"}}`)
	b.ReportAllocs()
	for b.Loop() {
		Read(Answer{Status: 400, Body: body}, Sent{})
	}
}

// BenchmarkReadAnswer is what every small answer costs on its way to the client.
func BenchmarkReadAnswer(b *testing.B) {
	body := []byte(`{"id":"1","object":"chat.completion","choices":[{"message":{"role":"assistant","content":"` + strings.Repeat("words ", 140) +
		`"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1000,"completion_tokens":150,"total_tokens":1150}}`)
	b.ReportAllocs()
	for b.Loop() {
		Read(Answer{Status: 200, Type: "application/json", Body: body}, Sent{Tokens: 1000, Window: 128_000})
	}
}
