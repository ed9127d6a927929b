package baselines

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"epitome/bench/benchtest"
)

// listing is a text of so many lines with names in them.
func listing(lines int) string {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "the value_%d stands in lib/part_%d.go and is well\n", 1000-i, i)
	}
	return b.String()
}

func TestAdversariesLeaveNamesOrLinesOfAResult(t *testing.T) {
	f := func(left func(string) string, text string, want ...string) {
		t.Helper()
		if got := left(text); got != strings.Join(want, "\n") {
			t.Errorf("%q is left, want %q", got, want)
		}
	}
	const text = "second_name is long here\nfirst_name and second_name\nnothing\nsecond_name"
	f(sortedNames, text, "first_name", "second_name")
	f(namedLines, text, "first_name and second_name", "second_name")
	f(sortedNames, "nothing")
	f(namedLines, "nothing")
}

func TestAdversariesActOnWhatIsLargeAndWhatIsOld(t *testing.T) {
	thread := newThread(setting(1_000_000), boil(1_000_000, sortedNames))
	messages := working(1, 20)
	messages = append(messages, benchtest.Calls("a", "list", `{}`), benchtest.Answers("a", listing(100)))
	contents, s := sent(t, thread, messages...)
	if got := contents[5]; s.Decided || strings.Contains(got, "well") || !strings.Contains(got, "value_1000") {
		t.Errorf("of a large result is left %.100q", got)
	}
	for i := range maskKeeps + maskBatch {
		id := fmt.Sprint("b", i)
		messages = append(messages, benchtest.Calls(id, "list", `{}`), benchtest.Answers(id, listing(5)))
		if contents, s = sent(t, thread, messages...); s.Decided != (i == maskKeeps+maskBatch-3) {
			t.Errorf("result %d: decided %v", i, s.Decided)
		}
	}
	whole := slices.DeleteFunc(contents, func(text string) bool { return !strings.Contains(text, "well") })
	if len(whole) != maskKeeps+2 {
		t.Errorf("%d results are whole", len(whole))
	}
}

func TestSoupHasTheNamesOfAllThatIsOld(t *testing.T) {
	thread := newThread(setting(900), soup())
	messages := working(1, 20)
	for i := range 5 {
		id := fmt.Sprint("b", i)
		messages = append(messages, benchtest.Calls(id, "list", fmt.Sprintf(`{"path":"odd/place_%d"}`, i)),
			benchtest.Answers(id, listing(15)))
		contents, s := sent(t, thread, messages...)
		if !s.Decided {
			continue
		}
		lines := strings.Split(contents[2], "\n")
		if len(s.Asked) > 0 || !slices.IsSorted(lines) || !slices.Contains(lines, "odd/place_0") ||
			!slices.Contains(lines, "value_1000") || strings.Contains(contents[2], "well") {
			t.Errorf("asked %v for %.300q", s.Asked, contents[2])
		}
		return
	}
	t.Error("no soup was made")
}
