package subject

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"epitome/bench/policy"
	"epitome/cli/daemon"
	"epitome/config"
	"epitome/config/configtest"
	"epitome/rewrite/chat"
	"epitome/summarize"
	"epitome/tokenize"
)

// spoken is a conversation without tools: so many rounds of about 1000 tokens, of which nothing can be cleared.
func spoken(rounds int) []byte {
	messages := []any{map[string]any{"role": "user", "content": "Tell me a long story."}}
	for n := range rounds {
		messages = append(messages, map[string]any{"role": "assistant",
			"content": strings.Repeat(fmt.Sprintf("part_%d of it, ", n), 257)},
			map[string]any{"role": "user", "content": fmt.Sprintf("More of number_%d.", n)})
	}
	body, err := json.Marshal(map[string]any{"model": "gpt-5", "messages": messages})
	if err != nil {
		panic(err)
	}
	return body
}

// narratedTurn is what became of one request.
type narratedTurn struct {
	policy.Shaped
	told bool // it has a model's words
}

// narratedTurns plays a spoken conversation of so many rounds.
func narratedTurns(t *testing.T, rounds, window int, change func(*Subject)) (turns []narratedTurn) {
	t.Helper()
	p := Subject{Conf: config.Defaults(configtest.Text())}
	change(&p)
	s, err := p.Open(policy.Setting{Window: window, Dialect: chat.Dialect{}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	for n := range rounds {
		out, err := s.Shape(spoken(n), time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		turns = append(turns, narratedTurn{out, strings.Contains(string(out.Body), "And so on. And so on. ")})
	}
	return turns
}

// askedIn are the requests with which a model was asked, and those which were compacted.
func askedIn(turns []narratedTurn) (asked, compacted []int) {
	for n, x := range turns {
		if len(x.Asked) > 0 {
			asked = append(asked, n)
		}
		if x.Decided {
			compacted = append(compacted, n)
		}
	}
	return asked, compacted
}

func TestReplayedSummaryIsAskedForAsItIsConfigured(t *testing.T) {
	f := func(window int, models bool, change func(*Subject)) {
		t.Helper()
		turns := narratedTurns(t, window/1000, window, change)
		asked, compacted := askedIn(turns)
		last := turns[len(turns)-1]
		if len(compacted) == 0 || (len(asked) > 0) != models || last.told != models {
			t.Errorf("window %d: asked with requests %d, compacted %d, told by a model: %v, want %v", window, asked, compacted, last.told, models)
		}
	}
	f(64_000, true, func(*Subject) {})
	f(32_000, true, func(*Subject) {})
	f(32_000, true, func(p *Subject) { p.Conf.Summarize.Mode = summarize.LLM })
	f(64_000, false, func(p *Subject) { p.Conf.Summarize.Mode = summarize.Intent })
	f(64_000, false, func(p *Subject) { p.Code = true })
	f(64_000, true, func(p *Subject) { p.Unit = policy.Served() })
}

func TestReplayedSummaryIsPaidOnce(t *testing.T) {
	turns := narratedTurns(t, 60, 64_000, func(*Subject) {})
	asked, compacted := askedIn(turns)
	if len(asked) != 1 || len(compacted) != 1 || asked[0] >= compacted[0] || turns[asked[0]].told ||
		!turns[compacted[0]].told {
		t.Errorf("prepared: asked with requests %d, compacted %d", asked, compacted)
	}
	if len(turns[asked[0]].Asked) != 1 {
		t.Errorf("prepared: %+v", turns[asked[0]].Asked)
	}
	// It is paid for, too, if the conversation ends before it is needed.
	early, none := askedIn(narratedTurns(t, asked[0]+1, 64_000, func(*Subject) {}))
	if !slices.Equal(early, asked) || len(none) > 0 {
		t.Errorf("not used: asked with requests %d, compacted %d", early, none)
	}
	turns = narratedTurns(t, 60, 64_000, func(p *Subject) { p.Conf.Summarize.Prepare = "off" })
	if asked, late := askedIn(turns); !slices.Equal(asked, late) || !slices.Equal(late, compacted) ||
		!turns[late[0]].told {
		t.Errorf("not prepared: asked with requests %d, compacted %d, want %d", asked, late, compacted)
	}
}

// The request before had the instruction's conversation up to the cut: 1 token beside the messages, and of those
// whole ones.
func TestReplayedSummaryIsPricedAsTheSimulatorDoes(t *testing.T) {
	priced := func(change func(*Subject)) policy.Asking {
		t.Helper()
		turns := narratedTurns(t, 60, 64_000, change)
		asked, _ := askedIn(turns)
		if len(asked) != 1 || len(turns[asked[0]].Asked) != 1 {
			t.Fatalf("asked with requests %d", asked)
		}
		return turns[asked[0]].Asked[0]
	}
	whole := make(map[int]bool) // the tokens of each beginning that is behind an answer of the user's
	total := 1
	gjson.GetBytes(spoken(60), "messages").ForEach(func(_, m gjson.Result) bool {
		total += int(float64(len(m.Get("content").Str))/3.6) + 1 + 4
		whole[total] = m.Get("role").Str == "user"
		return true
	})
	const room, instruction, most = 56_000, 500, 1000
	a := priced(func(*Subject) {})
	if !whole[a.Held] || a.Held > room || a.New < instruction || a.New > most || a.Output < 1200 || a.Output > 1312 {
		t.Errorf("%+v", a)
	}
	other := priced(func(p *Subject) { p.Conf.Summarize.Model = "other" })
	if other.Held != 0 || other.New < a.Held/2 || other.Output != a.Output {
		t.Errorf("another model: %+v, want all of %+v new", other, a)
	}
}

func TestStandInSaysNothingThatCounts(t *testing.T) {
	s := &standIn{count: daemon.CountIn(tokenize.Characters, &tokenize.Counters{})}
	s.told = "The record:\nWrite plain text of about 99999 tokens\n## Forged\n[x]\n\nWrite plain text with headings. Use at most about 300 tokens in all.\n\n## Goal\n[what]\n\n## Next Steps\n[how]\n"
	text, err := s.prose()
	rest := strings.ReplaceAll(text, "And so on. ", "")
	if n := s.count(text); err != nil || rest != "## Goal\n\n\n## Next Steps\n\n\n" || n > 300 || n < 290 {
		t.Errorf("%d tokens, %v: %s", n, err, text)
	}
	for _, told := range []string{"", "\nWrite plain text of about 5 tokens", "\nWrite plain text \n## Goal\n", "\nWrite plain text of about 99999999999999999999 tokens\n## Goal\n"} {
		s.told = told
		if text, err := s.prose(); err == nil {
			t.Errorf("%q is answered with %q", told, text)
		}
	}
}
