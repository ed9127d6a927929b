package abridge

import (
	"epitome/event"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"epitome/rewrite/decision"
	"epitome/rewrite/plan"
	"epitome/rewrite/plan/plantest"
	"epitome/rewrite/shorten"
	"epitome/rewrite/span"
)

func TestATextOverItsLimitBecomesAnExcerpt(t *testing.T) {
	f := func(step plantest.Step, limit, keep int) (head, tail int) {
		t.Helper()
		p := planned(t, step)
		c := shortening(t, p, 0, limit, keep)
		text, why, ok := c.Shorten()
		if !ok || why.Code != event.CodeOverLimit {
			t.Fatalf("%v, %+v", ok, why)
		}
		plantest.HoldExcerpt(t, text, step.Output)
		holdArtifact(t, c, text)
		marks := plantest.Marks().FindAllStringIndex(text, -1)
		head, tail = p.Count(text[:marks[0][0]]), p.Count(text[marks[0][1]:])
		if n := head + tail; n > keep || n < keep-60 {
			t.Errorf("%d tokens are kept, and were to be %d", n, keep)
		}
		return head, tail
	}
	long := lines("part", 1, 400)
	if head, tail := f(plantest.Reading("a.txt", long), 2_000, 600); head < 250 || tail < 250 {
		t.Errorf("of a file %d tokens of the head and %d of the tail are kept", head, tail)
	}
	if head, tail := f(plantest.Command("make", long), 2_000, 600); head > 130 || tail < 450 {
		t.Errorf("of a log %d tokens of the head and %d of the tail are kept", head, tail)
	}
	f(plantest.Reading("a.txt", strings.TrimSuffix(long, "\n")), 2_000, 600) // the last line has no end
}

func TestTheLimitItselfIsNotOver(t *testing.T) {
	p := planned(t, plantest.Reading("a.txt", lines("part", 1, 100)))
	n := shortening(t, p, 0, 0, 0).Tokens
	for _, limit := range []int{n, n + 1} {
		if text, _, ok := shortening(t, p, 0, limit, 100).Shorten(); ok {
			t.Errorf("a text of %d tokens is cut at a limit of %d: %q", n, limit, text)
		}
	}
	if _, _, ok := shortening(t, p, 0, n-1, 100).Shorten(); !ok {
		t.Errorf("a text of %d tokens is not cut at a limit of %d", n, n-1)
	}
}

func TestWhatDoesNotSaveEnoughIsNotDone(t *testing.T) {
	p := planned(t, plantest.Reading("a.txt", lines("part", 1, 30)))
	n := shortening(t, p, 0, 0, 0).Tokens
	for keep := 0; keep <= n; keep += 5 { // the text of the mark takes some 60 tokens
		c := shortening(t, p, 0, 10, keep)
		text, _, ok := c.Shorten()
		if ok {
			holdArtifact(t, c, text)
			plantest.HoldExcerpt(t, text, c.Text)
		}
		if want := keep < n-140; want && !ok || ok && keep > n-90 {
			t.Errorf("%d of %d tokens kept: %v", keep, n, ok)
		}
	}
	p = planned(t, plantest.Reading("a.txt", "one line without an end, "+strings.Repeat("and on ", 500)))
	c := shortening(t, p, 0, 100, 50)
	text, _, ok := c.Shorten()
	if !ok || !strings.HasPrefix(text, plan.Mark+"line 1 of 1 left out: it has 3525 bytes. ") {
		t.Errorf("a single line that fits no limit is %q", text)
	}
	plantest.HoldExcerpt(t, text, c.Text)
}

func TestNobodyLooksUpWhatHasNoAddress(t *testing.T) {
	step := plantest.Reading("a.txt", lines("part", 1, 400))
	kept := func(mute bool) int {
		p := planned(t, step)
		p.Shelf = &plantest.Cupboard{Mute: mute}
		text, _, ok := shortening(t, p, 0, 2_000, 600).Shorten()
		if !ok || strings.Contains(text, "you cannot read from here") != mute {
			t.Fatalf("%v: %.500q", ok, text)
		}
		return p.Count(plantest.HoldExcerpt(t, text, step.Output))
	}
	if with, without := kept(false), kept(true); without < 2*with-40 || without > 2*with+40 {
		t.Errorf("%d tokens are kept, and %d where nobody can read on", with, without)
	}
}

func TestARecalledArtifactIsNeitherOutlinedNorReferredTo(t *testing.T) {
	object := `{"all":[` + strings.Repeat(`{"name":"a","value":1},`+"\n", 400) + `{}]}`
	p := planned(t, plantest.Reading("a.json", object))
	c := shortening(t, p, 0, 1_000, 300)
	if text, _, ok := c.Shorten(); !ok || !strings.HasPrefix(text, plan.Mark+"preview of a JSON value of ") {
		t.Errorf("%.300q", text)
	}
	name := strings.Repeat("a", plantest.NameLength)
	c = shortening(t, p, 0, 1_000, 300)
	c.Recalled = name
	text, _, ok := c.Shorten()
	if !ok || !strings.Contains(text, ", or read some of its lines]") {
		t.Errorf("%.300q", text)
	}
	plantest.HoldExcerpt(t, text, object)

	twice := lines("part", 1, 60)
	p = planned(t, plantest.Command("make", twice), plantest.Command("cat log", twice))
	c = shortening(t, p, 1, 10_000, 1_000)
	c.Recalled = name
	if text, _, ok := c.Shorten(); ok {
		t.Errorf("what was asked for is sent as %.300q", text)
	}
}

func TestTerminalOutputIsBroughtToItsFinalScreen(t *testing.T) {
	var b strings.Builder
	for i := range 1_000 {
		b.WriteString("\rdownloading part " + strings.Repeat("#", i%60))
	}
	b.WriteString("\r\x1b[Kdone with all of it\nand \x1b[31mwell\x1b[0m\n")
	const screen = "done with all of it\nand well\n"
	f := func(limit, keep int) (*Shortening, string, plan.Why) {
		t.Helper()
		c := shortening(t, planned(t, plantest.Command("curl", b.String())), 0, limit, keep)
		text, why, ok := c.Shorten()
		if !ok {
			t.Fatal(why)
		}
		holdArtifact(t, c, text)
		return c, text, why
	}
	c, text, why := f(1_000, 300)
	tokens := plan.ScreenStub(screen, c.Size(), plan.WhereOfContent(c.Plan, c.Result, c.Name,
		plan.Content{Lines: shorten.CountLines(c.Text), Tokens: c.Tokens}))
	if text != tokens || why.Code != event.CodeScreen || !strings.HasPrefix(text, screen+plan.Mark) {
		t.Errorf("%s: %.300q, want %q", why.Words, text, tokens)
	}

	// A screen that is over the limit itself is cut, and the mark says of what the lines are.
	b.WriteString(lines("part", 1, 200))
	_, text, _ = f(1_000, 300)
	plantest.HoldExcerpt(t, text, screen+lines("part", 1, 200))
	if !strings.Contains(text, " left out of the final screen") { // no word above says that
		t.Errorf("%.300q", text)
	}

	// A short text is left as it came, and so is one that was asked for.
	c = shortening(t, planned(t, plantest.Command("ls", "\x1b[31mred\x1b[0m\n"+lines("part", 1, 40))), 0, 5_000, 100)
	if text, _, ok := c.Shorten(); ok {
		t.Errorf("%q", text)
	}
	c = shortening(t, planned(t, plantest.Command("cat", b.String())), 0, 100_000, 300)
	c.Recalled = strings.Repeat("a", plantest.NameLength)
	if text, _, ok := c.Shorten(); ok {
		t.Errorf("%.300q", text)
	}
}

func TestLinesThatStandEarlierBecomeAReference(t *testing.T) {
	notes := lines("note", 1, 40)
	f := func(want int, steps ...plantest.Step) {
		t.Helper()
		p := planned(t, steps...)
		c := shortening(t, p, len(steps)-1, 100_000, 1_000)
		text, why, ok := c.Shorten()
		if ok != (want > 0) {
			t.Fatalf("%v, %q: %.300q", ok, why.Words, text)
		}
		if !ok {
			return
		}
		holdArtifact(t, c, text)
		if got := holdReferences(t, c, text); got != want {
			t.Errorf("%d references, want %d: %.500q", got, want, text)
		}
	}
	again := func(text string) plantest.Step { return plantest.Command("cat again", text) }
	first := plantest.Command("cat notes", notes)
	f(1, first, again(notes))
	f(1, first, again("the notes:\n"+notes+"that is all\n"))
	f(2, first, again(lines("note", 1, 18)+"something else\n"+lines("note", 20, 40)))
	f(1, first, again(strings.TrimSuffix(notes, "\n")))
	f(1, first, plantest.Command("cat more", lines("other", 1, 40)), again(lines("other", 5, 40)+"end\n"))
	f(0, first, again(lines("new", 1, 40)+lines("note", 1, 15))) // it would free less than 200 tokens
	f(0, first, again(lines("new", 1, 900)+notes))               // nor a twentieth
	f(0, first, again(lines("note", 1, 3)))                      // too little
	f(0, first, again(lines("other", 1, 40)))
	f(0, again(notes)) // the lines stand only in the result itself
}

// What failed is shown where it came, also if all around it stands earlier.
func TestNoReferenceStandsForALineThatFailed(t *testing.T) {
	built := func(failing string) string {
		return lines("gcc -c a.c", 1, 60) + "a.c:3:13: warning: unused variable 'n' [-Wunused-variable]\n    3 |         int n;\n" +
			"      |             ^\n" + lines("gcc -c b.c", 1, 20) + failing + lines("gcc -c c.c", 1, 60) + "[exit code 2]"
	}
	missing := "round.c:14:10: fatal error: fenv_compat.h: No such file or directory\n   14 | #include \"fenv_compat.h\"\n" +
		"      |          ^~~~\ncompilation terminated.\nmake: *** [Makefile:22: round.o] Error 1\n"
	p := planned(t, plantest.Command("make", built("carry.c:8:2: error: no member 'minor'\n"+missing)),
		plantest.Command("make 2>&1 | tail", built(missing)))
	c := shortening(t, p, 1, 100_000, 1_000)
	text, _, ok := c.Shorten()
	if !ok || holdReferences(t, c, text) != 2 {
		t.Fatalf("%v, %q", ok, text)
	}
	for _, l := range []string{"\nround.c:14:10: fatal error: fenv_compat.h: No such file or directory\n",
		"\nmake: *** [Makefile:22: round.o] Error 1\n"} {
		if !strings.Contains(text, l) {
			t.Errorf("%q is not in %q", l, text)
		}
	}
	// In a file that is read again nothing has failed.
	read := plantest.Reading("a.log", built(missing))
	p = planned(t, read, read)
	c = shortening(t, p, 1, 100_000, 1_000)
	if text, _, ok = c.Shorten(); !ok || holdReferences(t, c, text) != 1 {
		t.Errorf("%v, %q", ok, text)
	}
}

// A result that was shortened, cleared or left out shows its lines no more.
func TestNoReferenceLeadsToWhatIsNotSentWhole(t *testing.T) {
	notes := lines("note", 1, 40)
	steps := []plantest.Step{plantest.Command("cat notes", notes), plantest.Command("ls", "a\nb\n"),
		plantest.Command("cat again", notes)}
	f := func(what string, change func(p *plan.Plan, first *decision.Form)) {
		t.Helper()
		p := planned(t, steps...)
		res := &p.Hist.Results[0]
		change(p, plan.StubOf(p, res, "old"))
		if text, _, ok := shortening(t, p, 2, 100_000, 1_000).Shorten(); ok {
			t.Errorf("%s: %.300q", what, text)
		}
	}
	f("cleared before", func(p *plan.Plan, form *decision.Form) { p.Forms[p.Hist.Results[0].Item] = form })
	f("cleared after its lines were read", func(p *plan.Plan, form *decision.Form) {
		p.LearnLines(2)
		p.Set(p.Hist.Results[0].Item, form, plan.Why{Words: "old"})
	})
	f("what stands behind is read already", func(p *plan.Plan, _ *decision.Form) { p.LearnLines(3) })
	f("switched off", func(p *plan.Plan, _ *decision.Form) { p.Limits.Conf.Repeats = false })
	p := planned(t, steps...)
	p.LearnLines(2)
	p.Set(p.Hist.Results[0].Item, plan.StubOf(p, &p.Hist.Results[0], "old"), plan.Why{Words: "old"})
	p.SendWhole()
	c := shortening(t, p, 2, 100_000, 1_000)
	if text, _, ok := c.Shorten(); !ok || holdReferences(t, c, text) != 1 {
		t.Errorf("sent whole again, it is not referred to: %.300q", text)
	}
}

// Whatever the text, and whatever came before it: what is said of it is true, it is found again, and it is worth it.
func TestNothingIsForged(t *testing.T) {
	desk := plantest.NewDesk(t)
	word := rapid.SampledFrom([]string{"all is well here", "error: it failed", "数据 and écrit", "x", "", "\t\tindented",
		"7: a line that counts", "8: a line that counts", "{\"a\": 1}", "progress 10%\rprogress 99%", "\x1b[1mbold\x1b[0m",
		"up\x1b[1A\x1b[2Kover", plan.Mark + "lines 1-9 of 9 left out: 9 lines, 9 tokens of x. y]"})
	rapid.Check(t, func(rt *rapid.T) {
		var texts []string
		for range rapid.IntRange(1, 5).Draw(rt, "results") {
			texts = append(texts, drawText(rt, word, texts))
		}
		var steps []plantest.Step
		for _, text := range texts {
			steps = append(steps, plantest.Command("make", text))
		}
		desk.Limits.Screen = rapid.SampledFrom([]int{50, 1_000}).Draw(rt, "screen")
		p := desk.Plan(rt, plantest.Body(steps...))
		for k := range p.Hist.Results {
			limit := rapid.SampledFrom([]int{60, 300, 100_000}).Draw(rt, "limit")
			c := shortening(rt, p, k, limit, rapid.IntRange(0, limit/2).Draw(rt, "keep"))
			text, why, ok := c.Shorten()
			if !ok {
				continue
			}
			holdArtifact(rt, c, text)
			shown, _ := shorten.FinalScreen(c.Text)
			switch {
			case why.Code == event.CodeRepeats:
				holdReferences(rt, c, text)
			case why.Code == event.CodeScreen:
				if !strings.HasPrefix(text, shown) {
					rt.Fatalf("%q is no screen of %q", text, c.Text)
				}
			case !strings.HasPrefix(text, plan.Mark+"preview"):
				if !strings.Contains(text, " left out of the final screen") { // no word above says that
					shown = c.Text
				}
				plantest.HoldExcerpt(rt, text, shown)
			}
			res := c.Result
			form := &decision.Form{Rung: decision.RungOffload, Now: p.Hist.Sizes[res.Item] - 1, Refers: c.Refers}
			p.Set(res.Item, form, why)
		}
	})
}

// drawText draws a text of lines, some of which stand in earlier ones.
func drawText(t *rapid.T, word *rapid.Generator[string], earlier []string) string {
	var b strings.Builder
	for range rapid.IntRange(1, 6).Draw(t, "blocks") {
		if len(earlier) > 0 && rapid.Bool().Draw(t, "again") {
			from := rapid.SampledFrom(earlier).Draw(t, "from")
			b.WriteString(from[rapid.IntRange(0, len(from)).Draw(t, "at"):])
		}
		name := word.Draw(t, "word")
		for i := range rapid.IntRange(0, 30).Draw(t, "lines") {
			b.WriteString(name + strings.Repeat(" again", i%3) + "\n")
		}
	}
	if rapid.Bool().Draw(t, "open") {
		b.WriteString("and no end")
	}
	return strings.ToValidUTF8(b.String(), "?")
}

func TestJSONInOneLineIsLaidOutBesideIt(t *testing.T) {
	object := `{"all": [` + strings.Repeat(`{"name": "a", "value": 1}, `, 400) + `{}]}`
	p := planned(t, plantest.Reading("a.json", object))
	c := shortening(t, p, 0, 1_000, 300)
	text, _, ok := c.Shorten()
	if !ok || c.Readable == "" || !strings.Contains(text, plan.AddressOf(p, c.Readable)) ||
		!strings.Contains(text, plan.AddressOf(p, c.Name)) {
		t.Fatalf("%+v: %.500q", c, text)
	}
	f := &decision.Form{Patches: []decision.Patch{{Place: c.Place, Index: c.Index, Text: text, Artifact: c.Name,
		Readable: c.Readable, Spelling: c.Spelling}}}
	p.Set(c.Result.Item, f, plan.Why{Words: "test"})
	kept := map[string]string{}
	for _, a := range p.Sheet.Artifacts {
		kept[a.Name] = string(a.Content)
	}
	if kept[c.Name] != object || kept[c.Readable] != string(span.Layout([]byte(object))) {
		t.Errorf("%d artifacts are kept: %.300q", len(kept), kept)
	}
	stub := plan.StubOf(p, c.Result, "test")
	if q := stub.Patches[0]; q.Readable != c.Readable || !strings.Contains(q.Text, plan.AddressOf(p, c.Readable)) {
		t.Errorf("%+v", q)
	}
	lined := `{"all": [` + strings.Repeat(`{"name": "a", "value": 1},`+"\n", 400) + `{}]}`
	p = planned(t, plantest.Reading("a.json", lined))
	c = shortening(t, p, 0, 1_000, 300)
	if text, _, ok := c.Shorten(); !ok || c.Readable != "" {
		t.Errorf("%q has lines enough: %.300q", c.Readable, text)
	}
}

func TestAnErrorInOneLineOfJSONIsOutlined(t *testing.T) {
	object := `{"level":"error","msg":"cannot charge: connection refused","items":[` +
		strings.Repeat(`{"name":"a","value":1},`, 400) + `{}]}`
	p := planned(t, plantest.Command("curl -s http://shop/charge", object))
	text, _, ok := shortening(t, p, 0, 1_000, 300).Shorten()
	if !ok || !strings.Contains(text, `"msg": "cannot charge: connection refused"`) ||
		!strings.HasPrefix(text, plan.Mark+"preview of a JSON value of ") {
		t.Errorf("%.600q", text)
	}
}

func TestOnlyNumbersOfTheFileAreForReadingIt(t *testing.T) {
	f := func(command string, want bool) {
		t.Helper()
		var b strings.Builder
		for i := range 600 {
			fmt.Fprintf(&b, "%6d\tfunc step%d() int { return %d }\n", i+1, i, i)
		}
		text, _, ok := shortening(t, planned(t, plantest.Command(command, b.String())), 0, 1_000, 300).Shorten()
		if got := strings.Contains(text, "from src/a.go, by their numbers"); !ok || got != want {
			t.Errorf("%s: %.400s", command, text)
		}
	}
	f("cat -n src/a.go", true)
	f("nl -ba src/a.go | sed -n '1,600p'", true)
	f("tail -600 src/a.go | cat -n", false)
	f("sed -n '500,1099p' src/a.go | cat -n", false)
	f("tac src/a.go | cat -n", false)
	f("nl src/a.go", false)
}

// logLines are the lines of a service's log, with an error and a panic in their middle.
func logLines() string {
	var b strings.Builder
	for i := range 300 {
		switch i {
		case 120:
			b.WriteString("2026-11-20T10:02:00Z ERROR stale rate KWD=3.25139 source=source_2\n")
		case 140:
			b.WriteString("panic: index out of range [3] with length 3\ngoroutine 7 [running]:\nmain.close(0xc000)\n\t/srv/close.go:88\n")
		default:
			fmt.Fprintf(&b, "2026-11-20T10:%02d:%02dZ INFO  rate EUR=%d age=%ds\n", i/60, i%60, i*731%997, i%211)
		}
	}
	return b.String()
}

// withNumbers are the lines of a text as tools number them that read files.
func withNumbers(text string) string {
	var b strings.Builder
	n := 0
	for l := range strings.Lines(text) {
		n++
		fmt.Fprintf(&b, "%6d\t%s", n, l)
	}
	return b.String()
}

func TestALogThatIsReadAsAFileShowsWhatWentWrong(t *testing.T) {
	f := func(step plantest.Step, want bool) {
		t.Helper()
		c := shortening(t, planned(t, step), 0, 1_000, 500)
		text, _, ok := c.Shorten()
		got := strings.Contains(text, "ERROR stale rate") && strings.Contains(text, "panic: index")
		if !ok || got != want {
			t.Errorf("%s: %v, want %v: %.3000s", step.Input, got, want, text)
		}
		plantest.HoldExcerpt(t, text, step.Output)
	}
	for _, command := range []string{"cat /var/log/shop.log", "tail -n 400 app.log", "head -300 app.log",
		"sed -n 1,400p /tmp/out.txt", "cat out", "journalctl -u shop"} {
		f(plantest.Command(command, logLines()), true)
	}
	f(plantest.Command("nl -ba app.log", withNumbers(logLines())), true)
	f(plantest.Reading("app.log", withNumbers(logLines())), true)
	f(plantest.Reading("app.log.1", logLines()), true)
	f(plantest.Step{Tool: "BashOutput", Input: `{"bash_id":"b1"}`, Output: logLines()}, true)
	prose := strings.Repeat("The shop pays money back, and errors are told in its book of errors.\n", 120)
	f(plantest.Reading("notes.txt", prose+"ERROR stale rate, and panic: index\n"+prose), false)
}

// What source and prose say of errors is no failure: they have their outlines.
func TestSourceThatSpeaksOfErrorsHasItsOutline(t *testing.T) {
	var code, page strings.Builder
	for i := range 120 {
		fmt.Fprintf(&code, "// Rate%d panics on an error.\nfunc Rate%d() error {\n\tlog.Print(\"2026-11-20 10:02:00 ERROR no rate\")\n"+
			"\treturn errors.New(\"ERROR: failed\")\n}\n\n", i, i)
		fmt.Fprintf(&page, "## Error %d\n\n2026-11-20 10:02:00 ERROR stale rate\n10:02:01 FATAL it failed\n\n", i)
	}
	files := map[string]string{"src/rate.go": code.String(), "src/rate.py": code.String(), "docs/errors.md": page.String()}
	for file, text := range files {
		for _, text := range []string{text, withNumbers(text)} {
			for _, step := range []plantest.Step{plantest.Reading(file, text), plantest.Command("cat "+file, text)} {
				shown, _, ok := shortening(t, planned(t, step), 0, 1_000, 500).Shorten()
				if !ok || !strings.Contains(shown, plan.Mark+"outline of ") {
					t.Errorf("%s: %.1000s", step.Input, shown)
				}
			}
		}
	}
}

// Numbers before the lines of a file do not hide that it is JSON: the item that differs is shown.
func TestJSONWithNumberedLinesHasItsPreview(t *testing.T) {
	var b strings.Builder
	b.WriteString("[\n")
	for i := range 120 {
		source := map[bool]string{true: "manual", false: "ecb"}[i == 61]
		fmt.Fprintf(&b, " {\n  \"day\": %d,\n  \"source\": %q\n },\n", i%28, source)
	}
	bare := b.String() + " {\n  \"day\": 1,\n  \"source\": \"ecb\"\n }\n]\n"
	f := func(text, has string) {
		t.Helper()
		shown, _, ok := shortening(t, planned(t, plantest.Reading("rates.json", text)), 0, 1_000, 300).Shorten()
		for _, want := range []string{plan.Mark + "preview of a JSON value of ", `.[61] in line 246 (source): {"day": 5, "source": "manual"}`, has} {
			if !ok || !strings.Contains(shown, want) {
				t.Errorf("%q is not in %.2000s", want, shown)
			}
		}
	}
	f(bare, "Query it in /data/")
	f(withNumbers(bare), "Query rates.json with jq, or read the lines that you need from it, by their numbers. As it was then, it is in /data/")
	f(withNumbers(bare)+"\n<system-reminder>\nThis is a file.\n</system-reminder>\n", "This is a file.")
}

func TestNamesOfAGapAreToldOnceAndWhole(t *testing.T) {
	f := func(names, text, want string) {
		t.Helper()
		if got := unseen(names, text); got != want {
			t.Errorf("%q beside %q: %q", names, text, got)
		}
	}
	f("src/legacy. /tmp/evil.txt evil.txt", "", "src/legacy /tmp/evil.txt")
	f("a.go a.go. b.go", "in b.go", "a.go")
	f("evil.txt /tmp/devil.txt", "", "evil.txt /tmp/devil.txt")
	f(". ...", "", "")
}
