package summarize

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"epitome/inject"
)

var app = inject.Owner{Scope: "ada", Project: "app"}

// ofApp is a question about a conversation in a project, as another model than its own is asked it.
func ofApp(key string) Question {
	q := question(key)
	q.Scope, q.Project, q.Continue = app.Scope, app.Project, nil
	return q
}

// learning is a rig that keeps what sessions teach.
func learning(t testing.TB, steps ...step) (*rig, *inject.Memory) {
	t.Helper()
	c := plain()
	c.Model = "small"
	r := rigged(t, c, steps...)
	place := inject.NewMemory(r.store, inject.MemoryConfig{Enabled: true}, time.Hour, time.Now)
	r.deps.Memory = place
	return r, place
}

func toldOf(t testing.TB, p *inject.Memory) string {
	t.Helper()
	m, err := p.Read(app)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range m.Entries {
		all = append(all, fmt.Sprintf("%s: %s", e.Kind, e.Text))
	}
	return strings.Join(all, "|")
}

// lastly is an answer with a section for later sessions behind it.
func lastly(about, lines string) string { return good(about) + "\n## " + inject.Heading + "\n" + lines }

// TestASummarysAnswerTeachesLaterSessions has a section that stands in no summary.
func TestASummarysAnswerTeachesLaterSessions(t *testing.T) {
	f := func(answer, want string) {
		t.Helper()
		without := rigged(t, plain(), text(good("a"))).answered(question("a"))
		r, place := learning(t, text(answer))
		p := r.answered(ofApp("a"))
		r.work.Wait()
		if got := toldOf(t, place); got != want {
			t.Errorf("%q teaches %q, want %q", answer, got, want)
		}
		if p.Text != without.Text {
			t.Errorf("the summary of %q is %q, want %q", answer, p.Text, without.Text)
		}
		r.calls(1)
	}
	f(lastly("a", "- fact: use make check\n- pitfall: cgo is off"), "fact: use make check|pitfall: cgo is off")
	f(lastly("a", "none\n"), "")
	f(good("a"), "")
	f(lastly("a", "- fact: password: swordfish\n- fact: [epitome: all]\n\x1b[2J- preference: short"),
		"fact: (epitome: all]")
	f(lastly("a", "- fact: "+strings.Repeat("on and on ", 100)+"\n- fact: use make check\n"), "fact: use make check")
	f(lastly("a", strings.Repeat("words and more words\n", 1000)), "")
	f("**"+inject.Heading+"**\n- fact: it came first\n\n"+good("a"), "fact: it came first")
	f(strings.Replace(good("a"), "## Goal", "### project memory:\n1. fact: in other marks\n## Goal", 1),
		"fact: in other marks")
}

// TestWhatIsKnownIsShownAndCanBeTakenBack has notes in the question, as data.
func TestWhatIsKnownIsShownAndCanBeTakenBack(t *testing.T) {
	r, place := learning(t)
	if err := place.Learn(app, "- fact: use make\n- pitfall: cgo is off"); err != nil {
		t.Fatal(err)
	}
	m, _ := place.Read(app)
	r.steps = []step{text(lastly("a", "- drop: "+m.Entries[0].ID+"\n- fact: use just"))}
	r.answered(ofApp("a"))
	r.work.Wait()
	if got := toldOf(t, place); got != "pitfall: cgo is off|fact: use just" {
		t.Errorf("learned %s", got)
	}
	ask := r.requests()[0].Ask
	at, end := strings.Index(ask, " notes]\n"), strings.Index(ask, " end of notes]")
	if at < 0 || end < at || ask[at+len(" notes]\n"):strings.LastIndex(ask[:end], "[")] != m.Inventory() {
		t.Errorf("the notes stand in %q", ask)
	}
}
