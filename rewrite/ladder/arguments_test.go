package ladder

import (
	"encoding/json"
	"strings"
	"testing"

	"epitome/rewrite/plan"
	"epitome/rewrite/plan/plantest"
	"epitome/rewrite/span"
)

// writing is a step that writes a file.
func writing(path, content string) plantest.Step {
	return plantest.Step{Tool: "Write", Output: "written",
		Input: string(span.AppendQuoted([]byte(`{"file_path":"`+path+`","content":`), content)) + `,"mode":420}`}
}

// argumentsOf are those of step k as they are sent.
func argumentsOf(t *testing.T, p *plan.Plan, k int) string {
	t.Helper()
	i := p.Hist.Results[k].Item - 1
	if f := p.Forms[i]; f != nil {
		return f.Patches[0].Text
	}
	return string(span.TextOf(p.Req.Items[p.Req.Head+i].Calls[0].Arguments.Of(p.Req.Body)))
}

// cleared is the plan of an agent in a full window, which has done the steps and then some more.
func cleared(t *testing.T, steps ...plantest.Step) *plan.Plan {
	t.Helper()
	desk := plantest.NewDesk(t)
	desk.Limits.Protect, desk.Limits.Groups, desk.Limits.ClearAt, desk.Limits.ClearAtLeast = 0, 1, .01, 0
	desk.Limits.ClearCalls, desk.Window = true, 5_000
	steps = append(steps, plantest.Command("make long", lines("long", 300)))
	for range 12 {
		steps = append(steps, plantest.Command("true", "ok"))
	}
	p := desk.Plan(t, plantest.Body(steps...))
	clearOld(p, p.Total())
	return p
}

func TestArgumentsAreClearedOnceWhatTheyWroteIsReadOrWrittenAgain(t *testing.T) {
	f := func(want bool, steps ...plantest.Step) {
		t.Helper()
		p := cleared(t, steps...)
		got := argumentsOf(t, p, 0)
		if strings.Contains(got, plan.ArgumentMark) != want {
			t.Errorf("cleared: %v, want %v: %.300s", !want, want, got)
		}
	}
	w := writing("src/a.txt", lines("part", 100))
	f(false, w)
	f(true, w, plantest.Reading("src/a.txt", "more"))
	f(true, w, writing("src/a.txt", "less"))
	f(false, w, plantest.Reading("src/b.txt", "more"))
	part := plantest.Reading("src/a.txt", "more")
	part.Input = `{"path":"src/a.txt","offset":10,"limit":5}`
	f(false, w, part)
	edit := `{"file_path":"src/a.txt","old_string":"part 7","new_string":"part seven"}`
	f(false, w, plantest.Step{Tool: "Edit", Input: edit, Output: "done"})
	f(false, plantest.Command("make", lines("part", 100)), plantest.Reading("src/a.txt", "more"))
	f(false, writing("src/a.txt", lines("part", 20)), plantest.Reading("src/a.txt", "more")) // that frees little
	f(false, writing("src/a.txt", strings.Repeat("one long line ", 500)), plantest.Reading("src/a.txt", "more"))
}

// A model imitates its own calls: what is left of one begins and ends with what it wrote, and the gap is told.
func TestAClearedArgumentKeepsItsEndsAndItsKeys(t *testing.T) {
	text := lines("part", 100)
	p := cleared(t, writing("src/a.txt", text), plantest.Reading("src/a.txt", "more"))
	got := argumentsOf(t, p, 0)
	var said struct {
		Path    string `json:"file_path"`
		Content string
		Mode    int
	}
	if err := json.Unmarshal([]byte(got), &said); err != nil || said.Path != "src/a.txt" || said.Mode != 420 {
		t.Fatalf("%v: %s", err, got)
	}
	head, rest, ok := strings.Cut(said.Content, plan.ArgumentMark)
	gap, tail, closed := strings.Cut(rest, "]\n")
	if !ok || !closed || head == "" || tail == "" || !strings.HasPrefix(text, head) || !strings.HasSuffix(text, tail) ||
		!strings.HasSuffix(head, "\n") || !strings.HasPrefix(tail, "part ") {
		t.Fatalf("%q", said.Content)
	}
	if !strings.HasPrefix(gap, "lines 6-95 of 100, ") || !strings.Contains(gap, " bytes. ") {
		t.Errorf("the gap is told as %q", gap)
	}
}

func TestAShortArgumentIsWholeLinesAroundATrueGap(t *testing.T) {
	f := func(text string, want bool) {
		t.Helper()
		got, ok := shortArgument(text, "Read it in x")
		if ok != want {
			t.Fatalf("%.100q: %v", text, ok)
		}
		if !ok {
			return
		}
		head, rest, _ := strings.Cut(got, plan.ArgumentMark)
		_, tail, _ := strings.Cut(rest, "]\n")
		if !strings.HasPrefix(text, head) || !strings.HasSuffix(text, tail) || head == "" || tail == "" ||
			len(head)+len(tail) > 2*keptArgument {
			t.Errorf("%q of %q", got, text)
		}
	}
	f(lines("part", 30), true)
	f(strings.TrimSuffix(lines("part", 30), "\n"), true)
	f("\n"+strings.Repeat("x", 900)+"\n}", true)
	f(strings.Repeat("x", 900), false)
	f(strings.Repeat("x", 900)+"\nend\n", false)
	f("begin\n"+strings.Repeat("x", 900), false)
	f("", false)
}
