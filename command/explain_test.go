package command

import (
	"testing"

	"epitome/rewrite"
	"epitome/tokenize"
)

func TestExplainSaysHowTokensAreCounted(t *testing.T) {
	f := func(own, learned float64, answers int, want string) {
		t.Helper()
		m := tokenize.Model{Vocabulary: tokenize.O200k, Ratio: own}
		if got := vocabularyOf(m, rewrite.Report{Ratio: learned, Answers: answers}); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	f(1, 1, 0, "as o200k_base")
	f(1.1, 1.1, 0, "as o200k_base × 1.10")
	f(1.1, 2.4, 7, "as o200k_base × 2.40, learned from 7 answers")
}
