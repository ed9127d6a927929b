package strict

import (
	"strings"
	"testing"
	"time"

	"epitome/internal/fakeapi/responses/rules"
)

func TestServersOfResponsesJudgeAndAccount(t *testing.T) {
	const (
		thought = `,{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAA"}`
		call    = `,{"type":"function_call","id":"fc_1","call_id":"1","name":"ls","arguments":"{}"}`
		output  = `,{"type":"function_call_output","call_id":"1","output":"r"}`
	)
	asks := func(more string) []byte {
		return []byte(`{"model":"gpt-5","store":false,"input":[{"role":"user","content":"` +
			strings.Repeat("abcd", 2000) + `"}` + more + `]}`)
	}
	f := func(now, want string) {
		t.Helper()
		s, err := NewResponses(asks(thought+call+output), rules.CountText, true)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Take(asks(now), time.Time{})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", now, err, want)
		}
	}
	f(thought+call+output, "")
	f("", "")
	f(call+output, "without its required 'reasoning' item")
	f(thought, "without its required following item")
	f(thought+call, "No tool output found for function call 1")
	f(output, "No tool call found for function call output")
	f(strings.Replace(thought, "gAAA", "gBBB", 1)+call+output, "could not be verified")

	s, err := NewResponses(asks(thought+call+output), rules.CountText, true)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Unix(1000, 0)
	if u, err := s.Take(asks(""), at); err != nil || u.New != 2004 || u.Total() != 2004 {
		t.Errorf("%+v, %v", u, err)
	}
	other := s.Clone()
	for k, later := range map[int]time.Duration{1920: 9 * time.Minute, 0: time.Hour} { // steps of 128 tokens
		s := other.Clone()
		if u, err := s.Take(asks(thought+call+output), at.Add(later)); err != nil || u.Read != k {
			t.Errorf("after %s: %+v, %v", later, u, err)
		}
	}
}
