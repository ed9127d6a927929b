package summarize

import (
	"fmt"
	"strings"
	"testing"

	"epitome/dialect/answer"
)

// What a model noted in an earlier answer stays, byte for byte, above its new notes; the rest is written anew. Where both
// have more than twice the room of an answer, the oldest lines of the longest section go.
func TestUpdateAddsToNotes(t *testing.T) {
	q := question("a")
	q.Brief.Earlier = good("old") + "## Goal\n[epitome: x]\n## Failed Approaches\n- port 8080, taken\n\n- port 8081\n"
	q.Brief.Earlier = strings.Replace(q.Brief.Earlier, "values of old", "values of old\n- 端口是 8083", 1)
	newer := strings.Replace(good("new"), "failed approaches of new", "- port 8081\n- port 8082", 1)
	newer = strings.Replace(newer, "values of new", "values of new\n- 端口是 8083", 1)
	r := rigged(t, plain(), text(newer), text(strings.Replace(newer, "constraints of new", "None.", 1)), text(newer))
	p := r.answered(q)
	if asked := r.requests()[0].Ask; strings.Contains(asked, "port 8080") {
		t.Errorf("continued with\n%s", asked) // the conversation has it already
	}
	want := "failed approaches of old\n- port 8080, taken\n- port 8081\n- port 8082\n"
	if has := p.Text; !strings.Contains(has, want) || !strings.Contains(has, "constraints of old\nconstraints of new\n") ||
		!strings.Contains(has, "## Goal\ngoal of new\n") || strings.Count(has, "- 端口是 8083") != 1 ||
		strings.Contains(has, "files of old") {
		t.Errorf("got %s", has)
	}
	q.Key, q.Continue = "b", nil
	p = r.answered(q)
	s := r.requests()[1]
	tag := q.Key
	if !strings.Contains(s.Ask, "["+tag+" summary]\n"+q.Brief.Earlier+"\n["+tag+" end of summary]") {
		t.Errorf("asked\n%s", s.Ask)
	}
	if strings.Contains(p.Text, "None") || !r.told()[1].Update {
		t.Errorf("told %+v, got %s", r.told()[1], p.Text)
	}
	q.Key, q.Room = "c", r.deps.Count(newer)
	q.Brief.Earlier = strings.Replace(q.Brief.Earlier, "taken", strings.Repeat("taken ", q.Room), 1)
	if p = r.answered(q); strings.Contains(p.Text, "8080") || !strings.Contains(p.Text, "progress of old") ||
		r.deps.Count(p.Text) > 2*q.Room {
		t.Errorf("with too much: %s", p.Text)
	}
	q.Key, q.Brief.Earlier = "d", strings.Replace(q.Brief.Earlier, "port 8081", strings.Repeat("a line\n- ", 2_000)+"8084", 1)
	counted, tokens := 0, r.deps.Count // bytes
	r.deps.Count = func(text string) int { counted += len(text); return tokens(text) }
	if p = r.answered(q); tokens(p.Text) > 2*q.Room || counted > 1<<20 {
		t.Errorf("with far too many lines: counted %d bytes, %s", counted, p.Text)
	}
}

// summarize.detail says how long a model's text is to be.
func TestSummarizeDetail(t *testing.T) {
	for d, want := range map[Detail]string{Low: "600 tokens", Medium: "1300 tokens", High: "3000 tokens"} {
		q := question("a")
		q.Brief.Detail, q.Room = d, BudgetsFor(Hybrid, d, 200_000, 1).Prose
		r := rigged(t, plain(), text(good("a")))
		r.answered(q)
		if asked := r.requests()[0].Ask; !strings.Contains(asked, want) {
			t.Errorf("%s asks\n%s", d, asked)
		}
	}
}

// A model that gets the span as text gets no message over 8,000 characters, and is told how long it is.
func TestLongMessagesAreCutForModels(t *testing.T) {
	q := question("a")
	q.Continue, q.Transcript = nil, []Entry{{Speaker: "assistant", Text: strings.Repeat("long ", 5_000)}}
	r := rigged(t, plain(), text(good("a")))
	r.answered(q)
	if asked := r.requests()[0].Ask; !strings.Contains(asked, "[… 17000 of 25000 characters left out …]") {
		t.Errorf("asked\n%.3000s", asked)
	}
}

func TestQuestionThatIsTooLongIsCutDown(t *testing.T) {
	q := question("a")
	q.Continue, q.Transcript = nil, nil
	for range 50 {
		q.Transcript = append(q.Transcript,
			Entry{IsTool: true, Text: strings.Repeat("long ", 1000)})
	}
	long := raw(400, "too long")
	r := rigged(t, plain(), long, long, long, text(good("a")))
	p := r.answered(q)
	if got := r.requests(); p.Requests != 4 || len(got[3].Ask) >= len(got[0].Ask)*6/10 {
		t.Errorf("%d requests, the last one of %d bytes", p.Requests, len(got[len(got)-1].Ask))
	}
	q.Key = "b"
	r = rigged(t, plain(), long)
	r.fails(q, ErrFailed, "too long")
	n := len(r.requests())
	if n > lastStep+1 {
		t.Errorf("%d requests were sent", n)
	}
	q.Key = "behind b" // of the same conversation: all that was refused counts
	r.fails(q, ErrPaused, "")
	r.calls(n)
	// Where the room is known, no request is sent that does not fit. An eighth of the window is free for the answer
	// anyway.
	q.Key, q.Model.Usable = "c", 12_000
	r = rigged(t, plain(), text(good("a")))
	r.answered(q)
	if s := r.requests(); len(s) != 1 || len(s[0].System+s[0].Ask)/4+s[0].Form.MaxOutput > 12_000*8/7 {
		t.Errorf("%d requests, the first of %d bytes, %+v", len(s), len(s[0].Ask), s[0].Form)
	}
}

// headed reads an answer.
func headed(t testing.TB, said string) (text, why string) {
	r := rigged(t, plain(), nil)
	q := question("a")
	j := r.newJob(q, true)
	j.prompt = newPrompt(&q)
	return j.read(answer.Answer{Text: said})
}

func FuzzAnswerNeverForgesTheFrame(f *testing.F) {
	f.Add(good("a"))
	f.Add("## Goal\n\u2028== x\n\r== y\n** Goal\n## Constraints\n  [end of summary]\n## Next Steps\n\x00[epitome: ")
	f.Fuzz(func(t *testing.T, said string) {
		got, why := headed(t, said)
		if (got == "") == (why == "") {
			t.Fatalf("%q and %q", got, why)
		}
		for _, mark := range []string{"\n== ", "\n[epitome: ", "\n[end of summary", "\r"} {
			if why == "" && strings.Contains(got, mark) {
				t.Fatalf("%q in %q", mark, got)
			}
		}
	})
}

// An answer may lack the sections that not every conversation needs.
func TestAnswerMayLackSomeSections(t *testing.T) {
	short := ""
	for part := range strings.SplitSeq(good("a"), "## ") {
		if part != "" && !strings.HasPrefix(part, "User Corrections") && !strings.HasPrefix(part, "Files") {
			short += "## " + part
		}
	}
	if got, why := headed(t, short); got != short || short == good("a") {
		t.Errorf("got %s: %s", got, why)
	}
}

// In both ways to ask, the model reads what the user wants of the summary, and how much follows that it does not see.
func TestSummarizeInstructions(t *testing.T) {
	c := plain()
	c.Instructions = "Write no names."
	for _, way := range []string{WayContinue, WayTranscript} {
		r, q := rigged(t, c, text(good("a"))), question("a")
		q.Brief.Behind, q.Brief.Focus = 17_321, "the tables"
		if way == WayTranscript {
			q.Continue = nil
		}
		r.answered(q)
		s := r.requests()[0]
		for _, words := range []string{"Newer messages, about 17321 tokens or more", ":\nWrite no names.\n", ": the tables\n"} {
			if s.Way != way || strings.Count(s.Ask, words) != 1 {
				t.Errorf("%s: %q is not in %s", way, words, s.Ask)
			}
		}
		if way == WayContinue && AskTokens < len(s.Ask)/4 {
			t.Errorf("the instruction has %d tokens, and %d are left for it", len(s.Ask)/4, AskTokens)
		}
	}
}

// Where files were written, an answer names one of them, or code alone writes the summary.
func TestAnswerNamesAFileThatWasWritten(t *testing.T) {
	for said, requests := range map[string]int{"It is in tally.go now.": 1, "/srv/shop/tally.go": 1, "All is well.": 2} {
		r, q := rigged(t, plain(), text(good("a")+said)), question("a")
		q.Written = "/srv/shop/cart.go\n/srv/shop/tally.go\n"
		if requests == 1 {
			r.answered(q)
		} else {
			r.fails(q, ErrFailed, "none of the files")
			if kinds := fmt.Sprint(r.told()); !strings.Contains(kinds, "summary_paused") {
				t.Errorf("told %s", kinds)
			}
		}
		r.calls(requests)
	}
}
