package rewrite_test

import (
	"fmt"
	"strings"
	"testing"

	"epitome/rewrite"
	"epitome/rewrite/ladder"
)

// grown returns a conversation of so many turns, each with the user's words, a call, its result and an answer. Each text
// has the number of its turn; that of the call is its ID. The user wants a line kept. The name is of the tool in the
// turns that are listed.
func grown(api string, turns int, tool string, listed ...int) *talk {
	c := newTalk(api, 1, "scope", false)
	c.system, c.messages = "", nil
	for turn := range turns {
		id, name := fmt.Sprintf("call_%d_", turn), "run"
		for _, n := range listed {
			if n == turn {
				name = tool
			}
		}
		p := newPen(1, 1)
		words := fmt.Sprintf("words %d. %s", turn, strings.Repeat("Go on. ", 60))
		if turn == 1 {
			words += "\nkeep: the rule"
		}
		c.add(object{"role": "user", "content": words})
		made := call{id: id, tool: name, arguments: fmt.Sprintf(`{"n":%d}`, turn), result: fmt.Sprintf("result %d.\n%s", turn,
			strings.Repeat("Another line of it.\n", 120))}
		c.add(c.api.answer(answer{text: fmt.Sprintf("before %d.", turn), calls: []call{made}})...)
		c.add(c.api.results(p, []call{made})...)
		c.add(c.api.answer(answer{text: fmt.Sprintf("answer %d.", turn)})...)
	}
	c.add(object{"role": "user", "content": "the newest words"})
	return c
}

// shapeTalk shapes a conversation as if it came for the first time, and holds that its server takes it.
func shapeTalk(t *testing.T, c *talk, window int, set func(l *ladder.Limits)) rewrite.Output {
	t.Helper()
	limits := defaultLimits()
	set(&limits)
	p := start(newStorage())
	p.window.Store(int64(window))
	for name, a := range apis {
		if a != c.api {
			continue
		}
		out := p.Shape(rewrite.Input{Dialect: dialects[name], Body: c.body(), Limits: &limits})
		if err := c.api.refusal(out.Body, c.body()); err != nil || out.Report.Err != nil {
			t.Fatalf("refused: %v, %v", err, out.Report.Err)
		}
		return out
	}
	panic("no such API")
}

// keep = true: behind a compaction the calls and results of such tools stand whole, where they fit.
func TestKeptToolsStandBehindACompaction(t *testing.T) {
	for api := range apis {
		t.Run(api, func(t *testing.T) {
			t.Parallel()
			c := grown(api, 30, "skill", 2, 3, 9)
			out := shapeTalk(t, c, 16_000, func(l *ladder.Limits) {
				l.KeepTail = 1_000
				l.ToolLimits = []ladder.Limit{{Tool: "skill", Keep: true}}
			})
			body := string(out.Body)
			if out.Report.Compacted == 0 {
				t.Fatalf("not compacted: %+v", out.Report.Code)
			}
			whole := quoted(strings.Repeat("Another line of it.\n", 120))
			for _, turn := range []int{2, 3, 9} {
				result := fmt.Sprintf(`result %d.\n`, turn) + strings.Trim(whole, `"`)
				if !strings.Contains(body, result) || strings.Count(body, fmt.Sprintf("call_%d_\"", turn)) < 2 {
					t.Errorf("the call or the result of turn %d is not sent", turn)
				}
			}
			if strings.Contains(body, `call_4_"`) {
				t.Error("a call of another tool stands before the summary's end")
			}
		})
	}
}

// Each filter, named by its key, leaves out just what it says, and neither the first message nor a line to keep.
func TestFiltersAreExact(t *testing.T) {
	for key, test := range map[string]struct {
		set  func(l *ladder.Limits)
		want func(turn int) (words, calls bool) // what is sent of an earlier turn
	}{
		"text_only": {func(l *ladder.Limits) { l.TextOnly = true },
			func(int) (bool, bool) { return true, false }},
		"newest_turns": {func(l *ladder.Limits) { l.Turns = 3 },
			func(turn int) (bool, bool) { return turn == 0 || turn > 5, turn > 5 }},
		"newest_messages":              {func(l *ladder.Limits) { l.Messages = 12 }, nil},
		"newest_messages,newest_turns": {func(l *ladder.Limits) { l.Messages, l.Turns = 8, 3 }, nil},
	} {
		for api := range apis {
			t.Run(key+" "+api, func(t *testing.T) {
				t.Parallel()
				c := grown(api, 8, "", 0)
				out := shapeTalk(t, c, 100_000, test.set)
				body := string(out.Body)
				if !strings.Contains(body, `\nkeep: the rule`) || !strings.Contains(body, "words 0.") ||
					!strings.Contains(body, "the newest words") {
					t.Errorf("a line to keep, the first message or the newest words are not sent: %.900s", body)
				}
				for turn := range 8 {
					if test.want == nil {
						break
					}
					hasWords := strings.Contains(body, fmt.Sprintf("words %d.", turn))
					hasCalls := strings.Contains(body, fmt.Sprintf("call_%d_", turn)) ||
						strings.Contains(body, fmt.Sprintf("result %d.", turn))
					if words, calls := test.want(turn); words != hasWords || calls != hasCalls {
						t.Errorf("turn %d: words %v, calls %v", turn, hasWords, hasCalls)
					}
				}
				sent, _ := parse(c.api, out.Body)
				limits := ladder.Limits{}
				if test.set(&limits); limits.Messages > 0 && len(sent.messages) > limits.Messages {
					t.Errorf("%d messages are sent", len(sent.messages))
				}
			})
		}
	}
}

// exclude_names: messages of Chat Completions with a listed name are not sent, and no result of their calls.
func TestExcludeNamesLeavesOutResultsToo(t *testing.T) {
	c := grown("chat", 4, "skill", 1)
	for i, m := range c.messages {
		if strings.Contains(m, `"skill"`) {
			c.messages[i] = `{"name":"critic",` + m[1:]
		}
	}
	out := shapeTalk(t, c, 100_000, func(l *ladder.Limits) { l.Excluded = []string{"critic", "nobody"} })
	body := string(out.Body)
	if strings.Contains(body, "critic") || strings.Contains(body, "call_1_") || strings.Contains(body, "result 1.") ||
		!strings.Contains(body, "answer 1.") || strings.Count(body, "call_2_") != 2 {
		t.Errorf("%s", body)
	}
	c.messages = append(c.messages, `{"role":"user","name":"nobody","content":"ok"}`, `{"role":"user","content":"Go on."}`)
	small := shapeTalk(t, c, 100_000, func(l *ladder.Limits) { l.Excluded = []string{"nobody"} })
	if before, after := small.Report.TokensBefore.Total(), small.Report.TokensAfter.Total(); after >= before ||
		strings.Contains(string(small.Body), "nobody") {
		t.Errorf("%d tokens became %d: %s", before, after, small.Body)
	}
}
