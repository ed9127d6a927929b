package rewrite

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"epitome/rewrite/plan/plantest"
)

// hearsay is what a judge says.
type hearsay struct{ said string }

func (*hearsay) Helper() {}

func (v *hearsay) Fatalf(format string, args ...any) {
	v.said = fmt.Sprintf(format, args...)
	panic(v)
}

// verdict is what the judge says of a request; empty if nothing.
func verdict(b *bench, body string, out Output) (said string) {
	v := &hearsay{}
	defer func() {
		if r := recover(); r != nil && r != any(v) {
			panic(r)
		}
		said = v.said
	}()
	judged(v, b, body, out)
	return ""
}

// No link covers what was thought, so what a client without its thinking was sent is sent to one with it. The judges
// hold all but the thinking to the byte, and see it if anything else is not where the summary says.
func TestJudgesMissAllButWhatWasThought(t *testing.T) {
	a := newMuse(8_000, binding, false)
	a.limits.CompactAt = .3
	a.ask(t)
	for sums := false; !sums; {
		if a.call(40, ""); a.calls > 40 {
			t.Fatal("nothing is compacted")
		}
		before := maps.Clone(a.notes.facts)
		out := a.shape(a.body())
		if sums = strings.Contains(string(out.Body), "[epitome: summary"); sums {
			a.notes.facts = before
			a.cupboard.Clear()
			a.restart()
			a.shape(string(unthinking(t, a.dialect, []byte(a.body()))))
			continue
		}
		a.take(t, out)
	}
	a.restart()
	a.notes.fail, a.forgetful = errors.New("no disk"), true
	for key := range a.notes.facts {
		if strings.HasPrefix(key, "c") { // it is to be written again
			delete(a.notes.facts, key)
		}
	}
	body := a.body()
	out := a.shape(body)
	if out.Report.Err == nil || !strings.Contains(string(out.Body), "[epitome: summary") {
		t.Fatalf("%+v", out.Report)
	}
	if said := verdict(a.bench, body, out); said != "" {
		t.Errorf("what was thought alone is missing: %s", said)
	}
	misplace(t, a.cupboard, out)
	if said := verdict(a.bench, body, out); !strings.Contains(said, "is not where the summary says") {
		t.Errorf("a command is missing, and the judge says %q", said)
	}
}

// misplace has the transcripts of what is sent name an artifact in which a command is another one. What was taken out
// still lies where the forms say.
func misplace(t *testing.T, c *plantest.Cupboard, out Output) {
	t.Helper()
	for _, f := range out.forms {
		if f == nil || f.Text == "" {
			continue
		}
		kept, err := c.Get(f.Kept)
		text, other := c.Get(f.Text)
		if err := errors.Join(err, other); err != nil {
			t.Fatal(err)
		}
		wrong := strings.ReplaceAll(string(kept), `"part 1"`, `"part 0"`)
		name := c.Name("", []byte(wrong))
		line := strings.Replace(string(text), f.Kept, name, 1)
		err = errors.Join(c.Put(name, []byte(wrong), true), c.Put(f.Text, []byte(line), true))
		if err != nil || wrong == string(kept) || line == string(text) {
			t.Fatalf("nothing is misplaced: %v", err)
		}
		return
	}
}
