package rewrite

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"epitome/prose"
	"epitome/rewrite/chat"
)

// workedOn is an agent in a style with work of all kinds behind it, and what is sent of it when it is compacted first.
func workedOn(t *testing.T, s prose.Style) (*agent, *narrator, Output) {
	t.Helper()
	a, n := styled(16_000, s)
	for k := range 3 {
		a.mixed(k, 300)
		a.answers(fmt.Sprintf("Part %d is done.", k), fmt.Sprintf("Now question_%d.", k))
	}
	out, _ := a.grow(t, 400)
	return a, n, out
}

func TestEachModeSaysItsPartsAndNoOthers(t *testing.T) {
	f := func(mode string, asked int, parts, has, hasNot string) {
		t.Helper()
		_, n, out := workedOn(t, prose.Style{Mode: mode})
		text := hasParts(t, out, strings.Fields(parts)...)
		if len(n.asked) != asked {
			t.Errorf("%s: a model was asked %d times", mode, len(n.asked))
		}
		for s := range strings.SplitSeq(has, "|") {
			if !strings.Contains(text, s) {
				t.Errorf("%s: %q is not in %s", mode, s, text)
			}
		}
		for s := range strings.SplitSeq(hasNot, "|") {
			if s != "" && strings.Contains(text, s) {
				t.Errorf("%s: %q is in %s", mode, s, text)
			}
		}
		if !strings.Contains(text, "Now question_2.") || !strings.Contains(text, "question_0") {
			t.Errorf("%s: the user's messages are not in %s", mode, text)
		}
	}
	const files, commands = "src/written_2.go|src/read_2.go", "make part_2\n(failed, exit code 1)\n"
	f(prose.ModeLLM, 1, "told the files calls", "Work number 1|"+files+"|"+commands, "")
	f(prose.ModeHybrid, 1, "told the files calls", "Work number 1|"+files+"|"+commands+"|which thing_2", "")
	f(prose.ModeIntent, 0, "the files calls your", files+"|"+commands+"|which thing_2", "Work number")
	f(prose.ModeAuto, 0, "the files calls your", files+"|"+commands, "Work number")
	f(prose.ModeWindow, 0, "the", "All of it is in ", "Work number|src/|part_|thing_")
	f(prose.ModeLossless, 0, "the turns",
		"calls Read 1, bash 1, lookup 1, write_file 1: |Each part of it is where its line says",
		"Work number|src/|make part_|thing_")
}

// Where the model gave nothing, all that was called stands in the summary, whatever the mode says.
func TestModelThatFailsLeavesAllCallsInTheSummary(t *testing.T) {
	a, n := styled(16_000, prose.Style{Mode: prose.ModeLLM})
	n.fail = errNarrator
	a.mixed(1, 300)
	out, _ := a.grow(t, 400)
	if text := hasParts(t, out, "files", "calls"); !strings.Contains(text, "which thing_1") {
		t.Errorf("not all calls are in %s", text)
	}
	a.waits = nil
	a.grow(t, 400)
	if why := n.notices[len(n.notices)-1].Why; why != "nobody waits for a summary" {
		t.Errorf("that no model was asked is told so: %q", why)
	}
}

// In mode window nothing new is said. What a model said before stays, and how far it goes.
func TestWindowKeepsEarlierProseAndAsksForNone(t *testing.T) {
	a, n, _ := workedOn(t, prose.Style{Mode: prose.ModeHybrid})
	q := n.asked[0]
	until, _ := chat.Read(q.Continue)
	a.style.Mode = prose.ModeWindow
	for round := range 3 {
		out, _ := a.grow(t, 400)
		text := hasParts(t, out, "told", "the")
		if partOf(text, "told")+"\n" != n.made[q.Key].Text {
			t.Fatalf("round %d: the earlier prose has become %q", round, partOf(text, "told"))
		}
		if says := fmt.Sprintf("; it has not seen messages from %d on ==", len(until.Items)); !strings.Contains(text, says) {
			t.Errorf("round %d: not told how far the prose goes: %q is not in %s", round, says, text)
		}
		a.restart()
	}
	if len(n.asked) != 1 {
		t.Errorf("a model was asked %d times", len(n.asked))
	}
	a.style.Mode = prose.ModeLossless // no prose at all
	if out, _ := a.grow(t, 400); strings.Contains(string(out.Body), "Work number") {
		t.Error("the prose stands in a lossless summary")
	}
}

// In mode lossless each turn has a line and an artifact of its own. When there are many, the older half becomes few,
// and no turn is kept again in each round.
func TestLosslessSummaryNamesEachTurnAndMergesOldOnes(t *testing.T) {
	a, _ := styled(16_000, prose.Style{Mode: prose.ModeLossless})
	rounds, merged, most := 0, 0, 0
	for turn := range 300 {
		a.work(1, 150+turn*173%600)
		a.answers(fmt.Sprintf("Turn %d is done.", turn), fmt.Sprintf("Now turn number_%d.", turn+1))
		out := a.shape(a.body())
		if !compacts(out) {
			continue
		}
		judged(t, a.bench, a.body(), out)
		hasParts(t, out, "the", "turns")
		lines, many := a.turnLines(t, out)
		if many > 0 {
			merged++
		}
		if most, rounds = max(most, lines), rounds+1; many > 7 {
			t.Errorf("round %d: %d lines are of many turns", rounds, many)
		}
		if rounds%2 == 0 {
			a.restart()
		}
	}
	// Of some 60 tokens each, a tenth of the window.
	if rounds < 15 || merged < 5 || merged == rounds || most < 15 || most > 28 {
		t.Errorf("%d rounds, in %d of them older turns were one; at most %d lines", rounds, merged, most)
	}
	kept := 0
	for _, s := range a.cupboard.Contents() {
		kept += len(s)
	}
	if whole := len(a.body()); kept > 10*whole {
		t.Errorf("%d bytes are kept of a conversation of %d", kept, whole)
	}
}

// A turn that is larger than all that are merged behind it has its own artifact still.
func TestLosslessSummaryLeavesAGiantTurnAlone(t *testing.T) {
	a, _ := styled(16_000, prose.Style{Mode: prose.ModeLossless})
	a.work(1, 12_000)
	for turn := range 120 {
		a.answers("Done.", fmt.Sprintf("Now turn number_%d.", turn+1))
		a.work(1, 60)
		if out := a.ask(t); compacts(out) {
			if lines, many := a.turnLines(t, out); many != 1 || lines < 10 || lines > 20 {
				t.Errorf("%d lines, %d of them of many turns", lines, many)
			}
			return
		}
	}
	t.Error("nothing was ever compacted")
}

// turnLines holds the lines of a lossless summary: they follow one another, each names an artifact with exactly its
// messages, and what is behind the last one is sent. many of them are of more than a turn, and none of the newest.
func (a *agent) turnLines(t *testing.T, out Output) (lines, many int) {
	t.Helper()
	row := regexp.MustCompile(`^messages (\d+)-(\d+)(, calls [^:]*)?: /data/artifacts/([a-z2-7]{26})\.txt$`)
	text, _ := summaryIn(t, out)
	end, last := 2, 0
	for k, l := range strings.Split(partOf(text, "turns"), "\n") {
		m := row.FindStringSubmatch(l)
		if m == nil || numbers(m[1])[0] != end {
			t.Fatalf("line %d is %q; before it come messages up to %d", k, l, end)
		}
		from := end
		end = numbers(m[2])[0] + 1
		if kept, err := a.cupboard.Get(sameAs(t, a.bench, m[4])); err != nil ||
			string(kept) != strings.Join(a.items[from:end], ",\n") {
			t.Fatalf("artifact %s is not messages %d-%d: %v", m[4], from, end-1, err)
		}
		if end-from > 4 {
			many, last = many+1, k
		}
		lines++
	}
	if many > 0 && lines-1-last < 13 { // half of as many lines as a window of 16k has room for
		t.Fatalf("of %d lines number %d is still of many turns", lines, last)
	}
	if sent := len(sentItems(t, out)) - 2; end+sent != len(a.items) {
		t.Fatalf("the lines end at message %d, and %d of %d are sent", end, sent, len(a.items))
	}
	return lines, many
}

func TestDetailSetsHowMuchASummarySays(t *testing.T) {
	f := func(detail string) (lists, room int, parts []string) {
		t.Helper()
		a, n := styled(16_000, prose.Style{Mode: prose.ModeLLM, Detail: detail})
		for k := range 4 {
			a.mixed(k, 300)
			for j := range 40 {
				a.does("write_file", fmt.Sprintf(`{"path":"src/a_path_of_some_length/written_%d_%d.go"}`, k, j), "ok")
			}
			if k < 3 {
				a.send(t)
			}
		}
		out, _ := a.grow(t, 400)
		text, parts := summaryIn(t, out)
		if q := n.asked[0]; q.Room > 0 && q.Detail == max(detail, prose.DetailMedium) ||
			detail != "" && q.Detail == detail {
			room = q.Room
		}
		for _, kind := range []string{"files", "calls"} {
			if slices.Contains(parts, kind) {
				lists += len(partOf(text, kind))
			}
		}
		if !strings.Contains(string(out.Body), "value_of_task_77") {
			t.Errorf("%s: the task is lost", detail)
		}
		return lists, room, parts
	}
	lists, room, _ := f(prose.DetailMedium)
	unset, same, _ := f("")
	high, twice, _ := f(prose.DetailHigh)
	low, half, _ := f(prose.DetailLow)
	none, quarter, parts := f(prose.DetailTruncate)
	if room <= 0 || same != room || twice != 2*room || half != room/2 || quarter != room/4 {
		t.Errorf("the prose may take %d tokens; %d unset, %d high, %d low, %d truncated", room, same, twice, half, quarter)
	}
	if lists <= 0 || unset != lists || high < lists*9/10 || high > lists*11/10 || low > lists*2/3 || low < lists/4 ||
		none != 0 {
		t.Errorf("lists are %d bytes; %d unset, %d high, %d low, %d truncated", lists, unset, high, low, none)
	}
	if !slices.Equal(parts, []string{"told"}) {
		t.Errorf("truncated there are the parts %q", parts)
	}
}
