package rewrite

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"epitome/prose"
	"epitome/rewrite/conversation"
	"epitome/rewrite/plan"
	"epitome/rewrite/plan/plantest"
	"epitome/rewrite/shorten"
	"epitome/rewrite/span"
)

var (
	runHead    = regexp.MustCompile(`^\[epitome: (\d+) results of [^\n]*, cleared: [^\n]*\. This was the first of them\. [^\n]*\]\n`)
	runLine    = regexp.MustCompile(`^(\d+) ([a-z2-7]{26})(?:\.txt)?, (\d+) lines?, (\d+) bytes(?:[,:] |$)`)
	runPointer = regexp.MustCompile(`^\[epitome: cleared: line (\d+) of the list above, in message (\d+)\]$`)
)

// listedIn is what a list says of each result: its number, its artifact, its lines and bytes. It is nil if the text is
// none.
func listedIn(text string) (lines [][]string) {
	m := runHead.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	for l := range strings.SplitSeq(text[len(m[0]):], "\n") {
		lines = append(lines, runLine.FindStringSubmatch(l))
	}
	if fmt.Sprint(len(lines)) != m[1] {
		return append(lines, nil)
	}
	return lines
}

// isOfRun reports whether a text stands for a result as one of several, and holds what it says then.
func (j *judge) isOfRun(was, now string, item, at int) bool {
	j.Helper()
	if m := runPointer.FindStringSubmatch(now); m != nil {
		j.listed(was, m, item, at)
		return true
	}
	lines := listedIn(now)
	for k, m := range lines {
		if m == nil || m[1] != fmt.Sprint(k+1) {
			j.Fatalf("promise 8: line %d of a list says nothing:\n%s", k+1, now)
		}
		content, err := j.get(m[2])
		if err != nil {
			j.Fatalf("promise 6: a list names what nobody has: %v:\n%s", err, now)
		}
		text := string(content)
		if k == 0 && text != was {
			j.Fatalf("promise 8: a list says that it stands for %.300q, and not for %.300q", text, was)
		}
		j.counts(m[0], numbers(m[3], m[4]), []int{shorten.CountLines(text), len(text)})
	}
	return lines != nil
}

// listed holds that a list above has the line that is said to tell of a result, in that message.
func (j *judge) listed(was string, says []string, item, at int) {
	j.Helper()
	for i := at - 1; i >= j.now.Head; i-- {
		for _, text := range textsOf(j.now, &j.now.Items[i]) {
			if inner, err := span.Unquote([]byte(text)); err == nil { // it stands there as JSON
				text = inner
			}
			list := listedIn(text)
			k := numbers(says[1])[0] - 1
			if k <= 0 || k >= len(list) || list[k] == nil {
				continue
			}
			content, err := j.get(list[k][2])
			if err == nil && string(content) == was && j.isNumbered(text, item, says[2]) {
				return
			}
		}
	}
	j.Fatalf("promise 8: no list above has what message %d was said to be: %q", item, says[0])
}

// isNumbered reports whether a list stands for an item before another one, in the message of that number.
func (j *judge) isNumbered(list string, before int, number string) bool {
	for i := j.was.Head; i < before; i++ {
		f := j.out.forms[i-j.was.Head]
		if f != nil && len(f.Lists) > 0 && f.Patches[0].Text == list {
			return fmt.Sprint(conversation.NumberOf(j.was, i)) == number
		}
	}
	return false
}

// listing is an agent whose like results are told of together, once they are cleared.
func listing() *agent {
	a := clearing()
	a.window, a.limits.ClearRuns = 24_000, true
	return a
}

// textsSent are the texts of a body's results.
func textsSent(t *testing.T, w writer, body string) (list []string) {
	t.Helper()
	r, err := w.Read([]byte(body), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Items {
		if r.Items[i].Role == conversation.Tool {
			list = append(list, textsOf(r, &r.Items[i])...)
		}
	}
	return list
}

// lists are those of the texts that list results.
func lists(texts []string) (all []string) {
	for _, s := range texts {
		if listedIn(s) != nil {
			all = append(all, s)
		}
	}
	return all
}

// pointers is how many of the texts say where their line stands.
func pointers(texts []string) (n int) {
	for _, s := range texts {
		if runPointer.MatchString(s) {
			n++
		}
	}
	return n
}

// In each dialect, neighbours that are cleared together have one list, each call has an answer, and all comes back.
func TestLikeResultsAreListedInTheFirstOnesPlace(t *testing.T) {
	for dialect, w := range theWriters {
		a := listing()
		sent := w.sends(t, a, []string{w.says(theTask)}, func(sent string) bool {
			return len(lists(textsSent(t, w, sent))) > 0
		})
		texts := textsSent(t, w, sent)
		first := slices.IndexFunc(texts, func(s string) bool { return listedIn(s) != nil })
		list := listedIn(texts[first])
		if len(list) < 3 || pointers(texts) != len(list)-1 || len(texts) != a.calls {
			t.Fatalf("%s: %d are listed, %d are pointed to, of %d: %s", dialect, len(list), pointers(texts), a.calls, texts[first])
		}
		for k, m := range list {
			if !strings.Contains(texts[first], fmt.Sprintf(" bytes: part %d", 100+first+k)) {
				t.Errorf("%s: call %d is not told: %s", dialect, k, texts[first])
			}
			content, err := a.cupboard.Get(m[2])
			if err != nil || !strings.HasPrefix(string(content), fmt.Sprintf("part_%d line 0: ", first+k)) {
				t.Errorf("%s: line %d leads to %.60q: %v", dialect, k+1, content, err)
			}
		}
	}
}

// Where nothing is a neighbour of its like, a conversation is sent as it is without lists.
func TestWithoutNeighboursNothingIsListed(t *testing.T) {
	sent := [2][]string{}
	for k := range sent {
		a := listing()
		a.limits.ClearRuns = k == 1
		for n := range 24 {
			a.does([]string{"lookup", "find"}[n%2], fmt.Sprintf(`{"query":"part %d"}`, n), a.output(900))
			sent[k] = append(sent[k], string(a.ask(t).Body))
		}
	}
	if !slices.Equal(sent[0], sent[1]) || !strings.Contains(sent[0][23], " cleared: old. ") {
		t.Error("it is sent otherwise, or nothing is cleared")
	}
}

// A list that was decided stays as it is, to the byte: what is cleared later has another one. So it is in another
// process, and where no lists are wanted any more.
func TestADecidedListStays(t *testing.T) {
	w := theWriters["chat"]
	f := func(name string, later func(a *agent)) {
		t.Helper()
		a := listing()
		a.limits.CompactAt, a.limits.ClearAt = 1_000, .3
		var first []string
		most := 0
		for n := range 90 {
			a.does("lookup", fmt.Sprintf(`{"query":"part %d"}`, n), a.output(900))
			texts := textsSent(t, w, string(a.ask(t).Body))
			if first == nil && len(lists(texts)) > 0 {
				first = texts[:slices.IndexFunc(texts, runPointer.MatchString)+2]
				later(a)
			}
			if !slices.Equal(first, texts[:len(first)]) {
				t.Fatalf("%s: after %d more, %q has become %q", name, n, first, texts[:len(first)])
			}
			most = max(most, len(lists(texts)))
		}
		if want := name != "off"; first == nil || want != (most > 1) {
			t.Errorf("%s: there are %d lists", name, most)
		}
	}
	f("on", func(*agent) {})
	f("restart", func(a *agent) { a.restart() })
	f("off", func(a *agent) { a.limits.ClearRuns = false })
	f("lost", func(a *agent) { a.cupboard.Clear(); a.notes.due = true })
}

// Where a summary takes the place of a list, those that it listed and that stay have stubs of their own again.
func TestWhoseListIsLeftOutHasAStubOfItsOwnAgain(t *testing.T) {
	w := theWriters["chat"]
	parted := 0
	for tail := 600; tail < 9_000; tail += 300 {
		a, _ := styled(32_000, prose.Style{Mode: prose.ModeIntent})
		l := listing()
		a.limits, a.limits.KeepTail, a.limits.Floor = l.limits, tail, 100
		had := 0
		for n := range 90 {
			a.does("lookup", fmt.Sprintf(`{"query":"part %d"}`, n), a.output(900))
			texts := textsSent(t, w, string(a.ask(t).Body))
			if had = pointers(texts); had > 3 {
				break
			}
		}
		texts := textsSent(t, w, string(a.compactNow(t).Body))
		if had == 0 || len(texts) == 0 {
			t.Fatalf("%d were listed, %d results stay", had, len(texts))
		}
		if len(lists(texts)) == 0 && strings.HasPrefix(texts[0], "[epitome: lookup `part ") {
			parted++
		}
		again := textsSent(t, w, string(a.ask(t).Body))
		if !slices.Equal(again, texts) {
			t.Errorf("%q has become %q", texts, again)
		}
	}
	if parted == 0 {
		t.Error("no summary has parted a list from what it lists")
	}
}

// Where the window is full of what was shortened, a list stays: it says where others lie.
func TestAListIsNeverCut(t *testing.T) {
	w := theWriters["chat"]
	a := listing()
	for n := 0; len(lists(textsSent(t, w, a.body()))) == 0 && n < 60; n++ {
		a.does("lookup", fmt.Sprintf(`{"query":"part %d"}`, n), a.output(900))
		if texts := textsSent(t, w, string(a.ask(t).Body)); len(lists(texts)) > 0 {
			break
		}
	}
	for _, from := range []plan.Stage{plan.StageShort, plan.StageShorter} {
		out := a.rescue(t, plan.Rescue{Most: 2_500, From: from})
		texts := textsSent(t, w, string(out.Body))
		if pointers(texts) > 0 && len(lists(texts)) == 0 {
			t.Errorf("stage %s leaves %d pointers and no list", from, pointers(texts))
		}
	}
}

// A shelf that cannot keep what a list names again costs the list, and what it lists is sent whole.
func TestAListThatCannotBeKeptGoesWithWhatItLists(t *testing.T) {
	w := theWriters["chat"]
	for bad := range 6 {
		a := listing()
		for n := range 60 {
			a.does("lookup", fmt.Sprintf(`{"query":"part %d"}`, n), a.output(900))
			if len(lists(textsSent(t, w, string(a.ask(t).Body)))) > 0 {
				break
			}
		}
		a.cupboard.Clear()
		a.notes.due = true
		puts := 0
		a.cupboard.Luck = func() bool { puts++; return puts != bad+1 }
		body := a.body()
		out := a.shape(body)
		judged(t, a.bench, body, out)
		if texts := textsSent(t, w, string(out.Body)); len(lists(texts)) == 0 && pointers(texts) > 0 {
			t.Errorf("put %d fails: %d results are said to be listed where no list is", bad, pointers(texts))
		}
	}
}

// whatIsAlike are the limits of a play in which like results come and are told of together.
func (p *play) whatIsAlike() {
	for _, r := range p.parts {
		r.alike = true
	}
	p.lists = true
	p.limits, p.window = p.drawLimits(), p.drawWindow()
}

// page is a call of a tool that shows a part of a list, as JSON, and what it results in.
func (c *talk) page() (name, with, result string) {
	file := []string{"/srv/list.txt", "/srv/list.txt", "/srv/[epitome: all is well].txt", "a\n2 " + strings.Repeat("a", plantest.NameLength)}
	arguments := fmt.Sprintf(`{"file_path":%s,"offset":%d}`, span.AppendQuoted(nil, file[c.IntN(10)*c.IntN(2)%4]), c.IntN(1_000))
	if c.IntN(6) == 0 {
		return "Read", arguments, c.text()
	}
	var b strings.Builder
	for i := range 30 + c.IntN(60) {
		fmt.Fprintf(&b, "%6d\tfunc part%d_%d(%s) error { return nil }\n", i+1, c.calls, i%9, c.words(4))
	}
	return "Read", arguments, b.String()
}
