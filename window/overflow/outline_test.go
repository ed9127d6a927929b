package overflow

import (
	"strings"
	"testing"
)

func TestOutlineKnowsAnAnswer(t *testing.T) {
	f := func(body string, want bool) {
		t.Helper()
		c := findComplaint(Answer{Status: 200, Type: "application/json", Body: []byte(body)})
		if got := c.answer.isAnswer(); got != want {
			t.Errorf("it is an answer: %v, want %v: %s", got, want, body)
		}
		full := Sent{Tokens: 100, Window: 100, MaxOutput: 50}
		if v := judgeEmptyAnswer(body, full); want && v.Kind != NotOurs {
			t.Errorf("it is judged %v: %s", v.Kind, body)
		}
	}
	f(`{"id":"c","choices":[{"message":{"content":"a"},"finish_reason":"length"}],"usage":{"completion_tokens":3}}`, true)
	f(`{"type":"message","content":[{"type":"text","text":"a"}],"usage":{"output_tokens":3}}`, true)
	f(`{"object":"response","incomplete_details":null,"output":[],"usage":{"output_tokens":3}}`, true)
	f(`{"model":"m","done_reason":"length","eval_count":3}`, true)
	f(`{"type":"message","content":[ ],"usage":{"output_tokens":3}}`, false)
	f(`{"object":"response","incomplete_details":{"reason":"max_output_tokens"},"usage":{"output_tokens":3}}`, false)
	f(`{"choices":[{"finish_reason":"length"}],"usage":{"completion_tokens":0}}`, false)
	f(`{"choices":[]}`, false)
	f(`[{"usage":{"completion_tokens":3}}]`, false)
	f(`{`+strings.Repeat(`"a":1,`, mostMembers)+`"usage":{"completion_tokens":3}}`, false)
}

func TestManyMembersAreReadAllTheSame(t *testing.T) {
	body := `{` + strings.Repeat(`"a":1,`, mostMembers) + `"error":{"message":"the prompt is too long: 300 tokens"}}`
	c := findComplaint(Answer{Status: 200, Type: "application/json", Body: []byte(body)})
	if len(c.texts) != 1 {
		t.Errorf("the texts are %q, want one", c.texts)
	}
}
