package summarize

import (
	"strings"
	"testing"
)

func TestUpdateKeepsWhatWasKnown(t *testing.T) {
	q := question("a")
	q.Earlier = "## Goal\nfrom long ago\n[epitome: x]"
	r := rigged(t, plain(), text(good("a")))
	r.answered(q)
	asked := r.requests()[0].Ask
	if !strings.Contains(asked, "earlier summary that still holds") || strings.Contains(asked, "long ago") {
		t.Errorf("continued with\n%s", asked) // the conversation has it already
	}
	q.Key, q.Continue = "b", nil
	r.answered(q)
	s := r.requests()[1]
	tag := q.Key
	if !strings.Contains(s.Ask, "["+tag+" summary]\n"+q.Earlier+"\n["+tag+" end of summary]") ||
		!strings.Contains(s.Ask, "earlier summary that still holds") {
		t.Errorf("asked\n%s", s.Ask)
	}
	if e := r.told(); !e[1].Update {
		t.Errorf("told %+v", e)
	}
}

func TestQuestionThatIsTooLongIsCutDown(t *testing.T) {
	q := question("a")
	q.Continue, q.Transcript = nil, nil
	for i := range 50 {
		q.Transcript = append(q.Transcript,
			Entry{Group: i, IsTool: true, Text: strings.Repeat("long ", 1000)})
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
	if n := len(r.requests()); n > lastStep+1 {
		t.Errorf("%d requests were sent", n)
	}
	// Where the room is known, no request is sent that does not fit. An eighth of the window is free for the answer
	// anyway.
	q.Key, q.Usable = "c", 12_000
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
	j.prompt = newPrompt(&q, 100_000)
	return j.read(Answer{Text: said})
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
