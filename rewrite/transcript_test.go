package rewrite

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"epitome/rewrite/mark"
)

// transcriptsIn are the transcripts that the summary in what is sent names at its end.
func transcriptsIn(t *testing.T, b *bench, out Output) (list []string) {
	t.Helper()
	text, _ := summaryIn(t, out)
	_, end, _ := strings.Cut(text, "\n[end of summary ")
	for name := range mark.NamesLike(end) {
		content, err := b.cupboard.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, string(content))
	}
	return list
}

// Whoever searches a transcript line by line gets the line of an old result, and not all of the conversation.
func TestOldResultsAreFoundLineByLine(t *testing.T) {
	a := newAgent(16_000, `{"role":"system","content":"You are an agent."}`, userSays(theTask))
	var out Output
	for round := range 4 {
		out = a.until(t, 1+round%2, 500)
	}
	all := transcriptsIn(t, a.bench, out)
	if len(all) == 0 {
		t.Fatal("no transcripts")
	}
	var found []string
	for _, content := range all {
		for l := range strings.Lines(content) {
			if len(l) >= 1_000 {
				t.Errorf("a line has %d bytes: %.100q", len(l), l)
			}
			if strings.Contains(l, "value_42 ") {
				found = append(found, l)
			}
		}
	}
	if want := []string{"part_1 line 11: value_42 is well and so is all else\n"}; !slices.Equal(found, want) {
		t.Errorf("found are %q, not %q", found, want)
	}
	heading := regexp.MustCompile(`(?m)^\[[a-z2-7]{8}: message 3: tool result of bash ` + "`make part_1`" + `\]\npart_1 line 0: value_31 is well and so is all else\npart_1 line 1: `)
	if !heading.MatchString(all[0]) {
		t.Errorf("the first transcript begins with %.600s", all[0])
	}
}

// A transcript that was lost is made again as it was, also by a process that knows nothing.
func TestLostTranscriptsAreMadeAgain(t *testing.T) {
	a := newAgent(16_000, userSays(theTask))
	a.work(1, 300)
	a.items = append(a.items, `{"role":"system","content":"Mind the gap."}`) // it is sent, and stands in the transcript
	out := a.until(t, 1, 500)
	before := transcriptsIn(t, a.bench, out)
	a.cupboard.Clear()
	a.notes.due = true
	a.restart()
	again := a.ask(t)
	if len(before) == 0 || !strings.Contains(before[0], ": system]\nMind the gap.\n") {
		t.Fatalf("the transcript is %.300q", before)
	}
	if after := transcriptsIn(t, a.bench, again); string(again.Body) != string(out.Body) ||
		!slices.Equal(before, after) {
		t.Errorf("%.300q has become %.300q", before, after)
	}
}
