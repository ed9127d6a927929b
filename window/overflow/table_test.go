package overflow

import (
	"regexp"
	"testing"
)

// Each row stands for a sentence that it recognises: a row whose words were changed so that they miss it fails here.
func TestEachRowKnowsItsSentence(t *testing.T) {
	f := func(r row) {
		t.Helper()
		var w wording
		if w.read(r.said); !regexp.MustCompile(r.words).MatchString(w.text) {
			t.Errorf("%s does not know %q, which is read as %q", r.words, r.said, w.text)
		}
	}
	for _, r := range table {
		f(r)
	}
}

func TestEachMeaningHasItsRows(t *testing.T) {
	seen := map[meaning]bool{}
	for i, r := range table {
		if i > 0 && seen[r.means] && table[i-1].means != r.means {
			t.Errorf("the rows of %s stand apart from those before", r.words)
		}
		seen[r.means] = true
	}
	for m := range spent + 1 {
		if !seen[m] {
			t.Errorf("meaning %d has no words, and would be found in every answer", m)
		}
	}
}
