package daemon

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"epitome/config"
	"epitome/internal/fakeapi"
	"epitome/internal/unit"
	"epitome/summarize"
)

const chattedWindow = 64_000 // tokens

// chatter is an agent whose model says much, an epitome before it, and the provider.
func chatter(t *testing.T, changes ...func(*config.Config)) (*agent, *program, *chatProvider) {
	t.Helper()
	c := chatting(t, chattedWindow)
	p := run(t, t.TempDir(), c.URL+"/v1", append([]func(*config.Config){summarized}, changes...)...)
	return c.worker(p), p, c
}

// worker is an agent that talks to the provider through an epitome.
func (c *chatProvider) worker(p *program) *agent {
	c.agent = working(p, "chat", "gpt-5")
	c.agent.lines = 10 // there is little to clear
	c.agent.tells = strings.Repeat("I looked at this part of the shop and found that it is as it should be. ", 30)
	return c.agent
}

// summarized has the conversation's own model write summaries when they are needed. Nothing is cleared before that.
func summarized(c *config.Config) {
	c.Rewrite.Protect, c.Rewrite.Rent = 13_000, 2
	c.Window.Models = map[string]unit.Tokens{"*": chattedWindow}
	c.Summarize.Mode, c.Summarize.Prepare = summarize.Hybrid, "off"
}

// wantContinued fails unless a question begins as what the provider had been sent before, which its cache has.
func wantContinued(t *testing.T, question, before string) {
	t.Helper()
	cut := strings.LastIndex(question, `,{"role":"user","content":"This is not the user but the program`)
	if cut < 0 || !strings.HasPrefix(before, question[:cut]) || !strings.Contains(question[cut:],
		`"tool_choice":"none"`) {
		t.Errorf("the question does not begin as what was sent before: %.300s", question[max(cut, 0):])
	}
}

// Promise 4: whatever becomes of a question, the agent's request is answered, with a summary by code. That stands, the
// log says why, and the next compaction asks anew, unless two requests or a wait were in vain.
func TestNoSummaryCostsTheAgentNothing(t *testing.T) {
	t.Parallel()
	status := func(code int, body string) manner {
		return func(w http.ResponseWriter, _ *http.Request, _ int) {
			w.WriteHeader(code)
			_, _ = w.Write([]byte(body))
		}
	}
	half := func(w http.ResponseWriter, _ *http.Request, n int) {
		w.Header().Set("Content-Length", "100000")
		_, _ = fmt.Fprintf(w, `{"choices":[{"message":{"role":"assistant","content":%s}}]}`, quoted(nthSummary(n)))
	}
	for name, c := range map[string]struct {
		answer   manner // nil: none, ever
		requests int    // that it takes
		why      string
	}{
		"500":            {status(500, `{"error":{"message":"oh"}}`), 2, "the upstream answered with status 500"},
		"401":            {status(401, `{"error":{"message":"no"}}`), 1, "the upstream answered with status 401"},
		"half an answer": {half, 2, "the upstream could not be reached or broke off"},
		"silence":        {nil, 1, "the summary is not ready yet"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wait := time.Minute
			if c.answer == nil {
				wait = 200 * time.Millisecond
				c.answer = func(_ http.ResponseWriter, r *http.Request, _ int) { <-r.Context().Done() }
			}
			a, p, provider := chatter(t, func(conf *config.Config) { conf.Summarize.Wait = wait })
			provider.will(c.answer)
			provider.untilCompacted()
			sent := provider.last()
			if !strings.Contains(sent, " stands for them]") || strings.Contains(sent, markOf(1)) {
				t.Errorf("what is sent is no summary by code: %.2000s", sent)
			}
			provider.wantQuestions(c.requests)
			p.wantLog(`"msg":"compaction_completed".*"reason":"threshold","mode":"intent".*"why":".*` + c.why)
			provider.will(summing)
			wait = fakeapi.Patience
			p.reload(func(conf *config.Config) { conf.Summarize.Wait = wait })
			if a.turn(); !extends(provider.last(), sent) {
				t.Error("the next request does not extend it")
			}
			provider.untilCompacted()
			if name != "401" {
				provider.wantQuestions(c.requests)
				p.wantLog(`"msg":"summary_paused".*"reason":"the model is not asked`)
				return
			}
			provider.wantQuestions(c.requests + 1)
			if !strings.Contains(provider.last(), markOf(c.requests+1)) {
				t.Error("the next compaction has no summary of a model's")
			}
		})
	}
}

// Promise 5: round by round a model's words stand for what is old: asked for with what its provider has cached, updated
// by the next question, and repeated byte for byte, also by an epitome that was started anew.
func TestRoundsOfSummariesOutliveTheProcess(t *testing.T) {
	t.Parallel()
	a, p, c := chatter(t)
	a.items = append(a.items, `{"role":"assistant","content":"Yes?"}`, `{"role":"user","content":"KEEP: part 7 is odd."}`)
	for round := 1; round <= 3; round++ {
		before := c.untilCompacted()
		c.wantQuestions(round)
		sent, question := c.last(), c.questions()[round-1]
		wantContinued(t, question, before)
		if !strings.Contains(sent, markOf(round)) || c.count(sent) > chattedWindow*2/3 ||
			!strings.Contains(sent, `oldest first ==\nKEEP: part 7 is odd.\n`) {
			t.Fatalf("round %d: %.3000s", round, sent)
		}
		if updates := strings.Contains(question,
			"An earlier summary stands near the beginning"); updates != (round > 1) ||
			updates && (!strings.Contains(question, markOf(round-1)) || strings.Contains(sent, markOf(round-1))) {
			t.Errorf("round %d is no update of the one before", round)
		}
		p.wantLog(`"msg":"compaction_completed".*"reason":"threshold","mode":"hybrid"`)
		asked := a.sent
		if round%2 == 1 {
			p.stop()
			p = run(t, p.started.Data, c.URL+"/v1", summarized)
			a.url = p.url
		}
		if p.chat(asked, "Authorization: Bearer sk-client"); c.last() != sent {
			t.Errorf("round %d: sent again, it is another", round)
		}
		if a.turn(); !extends(c.last(), sent) {
			t.Errorf("round %d: the next request does not extend it", round)
		}
		c.wantQuestions(round)
	}
}
