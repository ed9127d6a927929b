package plan

import (
	"slices"
	"testing"

	"epitome/rewrite/history"
)

// The lines of a page stand in a stub as they stand there, with the white space before them.
func TestLinesOfAPageAreWhole(t *testing.T) {
	text := "- Page URL: https://erp.example/new\n  - generic:\n    - dialog \"Pick a source\":\n"
	want := []string{"- Page URL: https://erp.example/new", "    - dialog \"Pick a source\":"}
	if got := pageOf(&history.Result{}, text); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
