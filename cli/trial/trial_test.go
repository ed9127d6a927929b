package trial

import (
	"strings"
	"testing"

	"epitome/config"
	"epitome/config/configtest"
	"epitome/event"
	"epitome/internal/fakeapi/scriptedtest"
	"epitome/rewrite"
	"epitome/tokenize"
)

func TestExplainSaysHowTokensAreCounted(t *testing.T) {
	f := func(own, learned float64, answers int, want string) {
		t.Helper()
		m := tokenize.Model{Vocabulary: tokenize.O200k, Ratio: own}
		if got := vocabularyOf(m, rewrite.Report{Answers: answers, Shaping: event.Shaping{Ratio: learned}}); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	f(1, 0, 0, "as o200k_base")
	f(1.1, 0, 0, "as o200k_base × 1.10")
	f(1.1, 2.4, 7, "as o200k_base × 2.40, learned from 7 answers")
}

// What the rows say was taken out is what the request is less, whatever was done to a message before: offloaded,
// cleared and then part of a summary, in this request or in earlier ones.
func TestRowsOfExplainAddUpToItsTotals(t *testing.T) {
	f := func(body []byte, window string, turns bool, rungs string) {
		t.Helper()
		// of this model tokens are counted as they are, so nothing is rounded
		body = []byte(strings.Replace(string(body), `"model":"m"`, `"model":"gpt-4o"`, 1))
		conf := config.Defaults(configtest.Text())
		conf.Data, conf.Upstream = t.TempDir(), "openai"
		trial, err := New(conf, body, Given{Window: window})
		if err != nil {
			t.Fatal(err)
		}
		defer trial.Close()
		if err = trial.begin(conf.Data); err != nil {
			t.Fatal(err)
		}
		r := trial.report(turns)
		less, seen := 0, map[string]bool{}
		for _, c := range r.Changes {
			less += c.Before - c.After
			seen[c.Rung] = true
		}
		if want := r.TokensBefore - r.TokensAfter + r.Added; less != want || want == 0 {
			t.Errorf("window %s, turns %v: the rows take out %d tokens, of the request %d are: %+v", window, turns, less, want, r.Changes)
		}
		for rung := range strings.FieldsSeq(rungs) {
			if !seen[rung] {
				t.Errorf("window %s, turns %v: no row has the rung %s: %+v", window, turns, rung, r.Changes)
			}
		}
	}
	for _, turns := range []bool{false, true} {
		f(scriptedtest.Conversation(24), "1000k", turns, "offload")
		f(scriptedtest.Conversation(24), "32k", turns, "clear")
		f(scriptedtest.Conversation(24), "4k", turns, "compact")
		f(scriptedtest.MessagesConversation(24), "4k", turns, "compact")
	}
}
