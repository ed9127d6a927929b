package looks

import "testing"

func TestALevelIsOneOfALogsMessage(t *testing.T) {
	for line, want := range map[string]bool{
		"2026-11-20T10:02:00Z ERROR stale rate":       true,
		"INFO:root: took an order":                    true,
		"[error] 12#12: gone":                         true,
		"ts=1 level=warn msg=slow":                    true,
		"Nov 20 10:02 host WARNING: slow":             true,
		"An error: the shop failed":                   false,
		"errors are told in the book of errors":       false,
		"return errors.New(\"ERROR\")":                false,
		"a line that says nothing of INFO until here": false,
		"ERROR": false,
		"":      false,
	} {
		if got := HasLevel(line); got != want {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
	}
}
