package policy

import (
	"strings"
	"testing"

	"epitome/rewrite/chat"
)

const asked = `{"model":"MODEL","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"TEXT"},
{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"read","arguments":"{}"}}]},
{"role":"tool","tool_call_id":"1","content":"TEXT"}],"tools":[{"type":"function","function":{"name":"read"}}]}`

// tokens are those of a request, and of its messages one by one.
func tokens(t *testing.T, u Unit, model, text string) (fixed int, each []int) {
	t.Helper()
	r, err := chat.Dialect{}.Read([]byte(strings.NewReplacer("MODEL", model, "TEXT", text).Replace(asked)), nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := u.Meter(r.Model)
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Items {
		each = append(each, m.ReadItem(r, i).Tokens)
	}
	return m.Fixed(r), each
}

func TestCharactersAreTheSameForAllModels(t *testing.T) {
	text := strings.Repeat("word ", 72) // 360 characters
	for _, model := range []string{"gpt-5", "claude-opus-4-6"} {
		if _, each := tokens(t, Unit{}, model, text); each[1] != 101+MessageTokens || each[3] != each[1] {
			t.Errorf("%s: %v", model, each)
		}
	}
}

func TestServedTokensAreThoseOfTheModel(t *testing.T) {
	text := strings.Repeat("word ", 1000) // a token each
	served := Served()
	f := func(model string, ratio float64) {
		t.Helper()
		fixed, each := tokens(t, served, model, text)
		if got := float64(each[1]) / 1005; got < ratio-0.01 || got > ratio+0.01 {
			t.Errorf("%s: %v, want %g for a token", model, each, ratio)
		}
		if each[3] <= each[1] || fixed < 10 {
			t.Errorf("%s: %v, and %d beside them", model, each, fixed)
		}
		m, err := served.Meter(model)
		if err != nil {
			t.Fatal(err)
		}
		if m.Message(text) != each[1] || m.Result(text) != each[3] {
			t.Errorf("%s: a text makes messages of %d and %d tokens, and they have %v", model, m.Message(text),
				m.Result(text), each)
		}
	}
	f("gpt-5", 1)
	f("claude-opus-4-6", 1.18)
	f("claude-opus-5", 1.53)
}
