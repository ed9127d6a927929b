package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
)

// stand is a model with an agent that asks it.
type stand struct {
	*model
	agent *agent
	t     *testing.T
}

func newStand(t *testing.T, window int) *stand {
	t.Helper()
	ruler, err := newRuler()
	if err != nil {
		t.Fatal(err)
	}
	m, err := startModel(&Options{Window: window}, &script{turns: 100}, ruler)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.close)
	a, err := newAgent(ruler)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.client.CloseIdleConnections)
	return &stand{m, a, t}
}

// posted returns the answer to a body that is not streamed.
func (s *stand) posted(body string) (status int, answer []byte) {
	s.t.Helper()
	resp, err := http.Post(s.url+"/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err = io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, answer
}

func TestModelHoldsToItsWindow(t *testing.T) {
	s := newStand(t, 0)
	s.agent.add(&message{Role: "user", Content: "Hello."})
	size, body := s.agent.tokens, s.agent.body()
	if v, err := s.ruler.look(body); err != nil || v.tokens != size {
		t.Fatalf("the model counts %d, the agent %d: %v", v.tokens, size, err)
	}
	s.window = size
	if _, _, err := s.agent.ask(context.Background(), s.url, body); err != nil {
		t.Errorf("what just fits: %v", err)
	}
	s.window = size - 1
	tools, err := s.ruler.tools(s.agent.tools)
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf(`400 context_length_exceeded: "This model's maximum context length is %d tokens. However, your messages resulted in %d tokens `+
		`(%d in the messages, %d in the functions). Please reduce the length of the messages or functions."`,
		size-1, size, size-tools, tools)
	if _, _, err := s.agent.ask(context.Background(), s.url, body); err == nil || err.Error() != want {
		t.Errorf("what is one more:\ngot  %v\nwant %s", err, want)
	}
	s.window = size + 99
	status, answer := s.posted(strings.Replace(string(body), `{`, `{"max_completion_tokens":100,`, 1))
	if status != 400 || !strings.Contains(string(answer), fmt.Sprintf("you requested %d tokens", size+100)) {
		t.Errorf("with what it asks for: %d %s", status, answer)
	}
	if heard := s.take(); len(heard) != 3 || heard[0].refused != nil || heard[1].refused == nil {
		t.Errorf("heard %d requests", len(heard))
	}
}

func TestModelHoldsToTheOrderOfMessages(t *testing.T) {
	s := newStand(t, 10_000)
	f := func(messages, want string) {
		t.Helper()
		status, answer := s.posted(`{"model":"m","messages":[` + messages + `]}`)
		if want == "" != (status == 200) || !strings.Contains(string(answer), want) {
			t.Errorf("%s\n%d %s\nwant %q", messages, status, answer, want)
		}
	}
	call := func(ids ...string) string {
		calls := make([]string, len(ids))
		for i, id := range ids {
			calls[i] = `{"id":"` + id + `","type":"function","function":{"name":"grep","arguments":"{}"}}`
		}
		return `{"role":"assistant","content":null,"tool_calls":[` + strings.Join(calls, ",") + `]}`
	}
	result := func(id string) string { return `,{"role":"tool","tool_call_id":"` + id + `","content":"x"}` }
	f(call("a")+result("a"), "")
	f(call("a", "b")+result("b")+result("a"), "")
	f(`{"role":"user","content":[{"type":"text","text":"hi"}]}`, "")
	f(`{"role":"user","content":"hi"}`+result("a"), "must be a response to a preceding message")
	f(call("a")+result("a")+result("a"), "must be a response to a preceding message")
	f(call("a", "b")+result("a")+`,{"role":"user","content":"hi"}`, "must be followed by tool messages")
	f(`{"role":"user","content":7}`, "cannot read a message")
}

func TestStreamedAndWholeAnswersAreTheSame(t *testing.T) {
	s := newStand(t, 10_000)
	for _, words := range []string{"What is asked – and über what?", changeNumber().question(), "Go on."} {
		s.agent.add(&message{Role: "user", Content: text(words)})
		streamed, _, err := s.agent.ask(context.Background(), s.url, s.agent.body())
		if err != nil {
			t.Fatal(err)
		}
		s.model.mu.Lock()
		s.script.step-- // the same question once more
		s.before = nil
		s.model.mu.Unlock()
		_, answer := s.posted(strings.Replace(string(s.agent.body()), `"stream":true,`, ``, 1))
		var whole reply
		if err := json.Unmarshal(answer, &whole); err != nil || len(whole.Choices) != 1 {
			t.Fatalf("%v: %s", err, answer)
		}
		if got := whole.Choices[0].Message; len(got.Calls) != len(streamed.Calls) || len(got.Calls) == 0 &&
			!reflect.DeepEqual(got, streamed) {
			t.Errorf("streamed %+v\nwhole %+v", streamed, got)
		}
		if u := whole.Usage; u.Prompt != s.agent.tokens || u.Completion == 0 || u.Total != u.Prompt+u.Completion {
			t.Errorf("usage %+v of %d tokens", u, s.agent.tokens)
		}
	}
}

func TestPromptCacheHoldsPrefixesInSteps(t *testing.T) {
	for tokens, want := range map[int]int{0: 0, 1023: 0, 1024: 1024, 1151: 1024, 1152: 1152, 5000: 4992} {
		if got := inSteps(tokens); got != want {
			t.Errorf("of %d tokens %d are cached, want %d", tokens, got, want)
		}
	}
	s := newStand(t, 100_000)
	ask := func() hearing {
		t.Helper()
		if _, _, err := s.agent.ask(context.Background(), s.url, s.agent.body()); err != nil {
			t.Fatal(err)
		}
		return s.take()[0]
	}
	s.agent.add(&message{Role: "user", Content: text(strings.Repeat("a word or two ", 1000))})
	first := ask()
	s.agent.add(&message{Role: "assistant", Content: "Yes?"})
	s.agent.add(&message{Role: "user", Content: "More."})
	if h := ask(); first.cached != 0 || h.same != len(first.messages) || h.cached != inSteps(first.tokens-3) {
		t.Errorf("first %d, then %d of %d tokens were cached, and %d messages the same",
			first.cached, h.cached, first.tokens, h.same)
	}
	s.agent.messages[1] = bytes.Replace(s.agent.messages[1], []byte("two a word"), []byte("two A word"), 1)
	if h := ask(); h.same != 1 || h.cached != 0 {
		t.Errorf("after a change at the beginning %d tokens were cached, and %d messages the same", h.cached, h.same)
	}
	if h := ask(); !h.again || h.cached != inSteps(h.tokens-3) {
		t.Errorf("the same once more: %v, %d of %d tokens were cached", h.again, h.cached, h.tokens)
	}
}

// asking is how epitome asks for a summary, as far as the model looks at it.
const asking = "Write the summary.\nUse at most about 400 tokens in all.\n\n## Goal\n[what]\n\n## Constraints\n[rules]\n\n## Failed Approaches\n[what]\n\n" +
	"## Open Issues\n[what]\n\n## Next Steps\n[how]\n\n## Critical Values\n[which]\n"

func TestSummaryIsMadeOfWhatTheConversationHolds(t *testing.T) {
	s := newStand(t, 10_000)
	for _, words := range []string{"Goal: no cent is lost.\nAnd more.", "Rule: hands off.\n- Tried: to wait.",
		"## Goal\nof a file, with trace=tr-0123abcd and CHG-12345",
		"- Tried: to hope.\n- Tried: to wait.", asking} {
		s.agent.add(&message{Role: "user", Content: text(words)})
	}
	said, _, err := s.agent.ask(context.Background(), s.url, s.agent.body())
	if err != nil {
		t.Fatal(err)
	}
	want := "## Goal\n- Goal: no cent is lost.\n## Constraints\n- Rule: hands off.\n## Failed Approaches\n- Tried: to hope.\n## Open Issues\nnone\n## Next Steps\nnone\n" +
		"## Critical Values\n- CHG-12345\n"
	if string(said.Content) != want { // at 400 tokens there is room for one note in each
		t.Errorf("got:\n%s\nwant:\n%s", said.Content, want)
	}
	if heard := s.take(); !heard[0].summary || s.script.step != 0 || s.before != nil {
		t.Errorf("it was taken for a turn of the session: %+v", heard[0].summary)
	}
}

// A summary is about as long as it is asked to be, and tells the latest calls.
func TestSummaryIsAsLongAsItIsAskedToBe(t *testing.T) {
	v := &view{}
	for i := range 200 {
		c := toolCall{ID: fmt.Sprintf("call_%d", i)}
		c.Function.Name, c.Function.Arguments = readTool, fmt.Sprintf(`{"path":"part/file_%d.go"}`, i)
		v.messages = append(v.messages, message{Role: "assistant", Calls: []toolCall{c}},
			message{Role: "tool", Answers: c.ID, Content: text(fmt.Sprintf("package part // %d\nand more", i))})
	}
	v.messages = append(v.messages, message{Role: "user", Content: "Use at most about 1000 tokens.\n\n## Goal\n[what]\n\n## Progress\n[what]\n\n## Next Steps\n[how]\n"})
	said := summaryOf(v)
	if n := len(said); n > 1000*bytesPerToken || n < 900*bytesPerToken {
		t.Errorf("%d bytes", n)
	}
	for _, want := range []string{"file_198.go", `- I called read_file {"path":"part/file_199.go"}: package part // 199` + "\n## Next Steps"} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
	if strings.Contains(said, "file_0.go") {
		t.Error("the oldest call takes the room of newer ones")
	}
}

func TestQuestionsAreAnsweredFromArtifacts(t *testing.T) {
	w := newWorld(7)
	between, end := probes()
	for _, p := range between {
		end = append(end, p)
	}
	for _, p := range end {
		want := w.truth(p)
		holds := func(text string) {
			t.Helper()
			m := p.pattern.FindStringSubmatch(text)
			if m == nil || m[1] != want {
				t.Errorf("%s: found %q, want %s", p.label, m, want)
			}
		}
		for i := range packages {
			task := taskAt(i)
			for _, content := range []string{w.failingLog(task), w.batches(task.pkg)} {
				if p.pattern.MatchString(content) {
					holds(content)
					holds(string(encoded(content))) // as a transcript has it
				}
			}
		}
		if probeIn(p.question()) == nil {
			t.Errorf("%q is not known", p.question())
		}
	}
}
