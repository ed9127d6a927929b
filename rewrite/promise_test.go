package rewrite

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"epitome/rewrite/conversation"
	"epitome/rewrite/decision"
	"epitome/rewrite/plan"
	"epitome/rewrite/plan/plantest"
	"epitome/rewrite/rewritetest"
	"epitome/rewrite/shorten"
	"epitome/rewrite/span"
	"epitome/tokenize"
)

// judged holds the promises that one request can show by itself. Flawed bodies pass, as long as they are not made
// worse.
func judged(t teller, b *bench, body string, out Output) {
	t.Helper()
	if out.Report.Err != nil && out.Report.Action != ActionBypass {
		t.Fatalf("%v, and yet the action is %s", out.Report.Err, out.Report.Action)
	}
	holdsReasons(t, out)
	out = withoutAddition(t, b, out)
	if string(out.Body) == body {
		if out.Report.Before != out.Report.After || out.Report.Repeated > 0 || len(out.Report.Changes) > 0 {
			t.Fatalf("nothing was changed, but the report says so: %+v", out.Report)
		}
		return
	}
	if out.Report.Action == ActionNone {
		t.Fatalf("the body was changed, but the action is none: %+v", out.Report)
	}
	j := judge{teller: t, out: out, bench: b}
	var err error
	if j.was, err = out.dialect.Read([]byte(body), nil); err != nil {
		t.Fatalf("a body that cannot be read was changed: %v", err)
	}
	j.nothingIsLost()
	if j.now, err = out.dialect.Read(out.Body, nil); err != nil {
		t.Fatalf("promise 3: %v", err)
	}
	if err := conversation.Worse(j.was, j.now); err != nil || !json.Valid(out.Body) {
		t.Fatalf("%s\n%s\npromise 3: %v", body, out.Body, err)
	}
	model := b.deps.Models.Of(j.was.Model)
	if b.ratio > 0 && !model.Exact {
		model.Ratio = b.ratio
	}
	counter, err := b.deps.Counters.For(model.Vocabulary)
	if err != nil {
		t.Fatalf("%v", err)
	}
	j.scale = conversation.Scale{Model: model, Counter: counter, Memo: b.memo}
	j.spans(body)
	j.sizes()
}

// unmarked is a body without the mark for a cache that moves with each request: no link covers it, so what was taken
// out may have had it.
func unmarked(body string) string {
	return strings.ReplaceAll(strings.ReplaceAll(body, movingMark, ""), breakpoint, "")
}

// breakpoint is a mark for the provider's cache in Responses.
const breakpoint = `,"prompt_cache_breakpoint":{"mode":"explicit"}`

// anyValue is a text or a number as it is written in JSON.
var anyValue = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*`)

// nothingIsLost holds promise 6: all that an item says which is not sent whole stands in what is sent, or in an
// artifact that its form names. Where the store has failed, what was thought may be kept nowhere.
func (j *judge) nothingIsLost() {
	j.Helper()
	read := func(all map[string]bool, body []byte) map[string]bool {
		for _, v := range anyValue.FindAll(body, -1) {
			all[string(span.TextOf(v))] = true
		}
		return all
	}
	sent := read(map[string]bool{}, j.out.Body)
	for i, f := range j.out.forms {
		if f == nil || f.IsWhole() || f.Gone {
			continue
		}
		kept := map[string]bool{}
		for _, name := range f.Artifacts() {
			content, err := j.get(name)
			if err != nil && !(j.out.Report.Err != nil && j.bench.forgetful) {
				j.Fatalf("promise 6: %v", err)
			}
			read(kept, content)[string(content)] = true
		}
		was := j.was.BytesOf(i, max(1, f.Fold))
		if j.out.Report.Err != nil && j.bench.forgetful {
			was = j.withoutThoughts(i, max(1, f.Fold))
		}
		for v := range read(map[string]bool{}, []byte(unmarked(string(was)))) {
			isBegun := func(text string) bool { return strings.HasPrefix(text, v) } // a summary stands behind it
			if !sent[v] && !kept[v] && !slices.ContainsFunc(slices.Collect(maps.Keys(sent)), isBegun) {
				j.Fatalf("promise 6: of message %d this is neither sent nor kept: %.300q", i, v)
			}
		}
	}
}

// withoutThoughts is what n items say, from item i behind the head on, without what was thought.
func (j *judge) withoutThoughts(i, n int) (said []byte) {
	for k := range n {
		it := &j.was.Items[j.was.Head+i+k]
		if it.SaysNothing() {
			continue
		}
		var edits []span.Edit
		for _, e := range conversation.WithoutThinking(j.was, it) {
			edits = append(edits, span.Edit{Span: span.Span{Start: e.Start - it.Start, End: e.End - it.Start}})
		}
		bare, err := span.Splice(slices.Clone(it.Of(j.was.Body)), edits)
		if err != nil {
			j.Fatalf("%v", err)
		}
		said = append(append(said, bare...), ',')
	}
	return said
}

// mayGo holds that no messages but those of user, assistant and tools are left out, and of the system those that a
// later one says again with other numbers.
func (j *judge) mayGo(from, to int) {
	j.Helper()
	for i := from; i < to; i++ {
		it := &j.was.Items[i]
		if it.Role != conversation.Unknown && it.Role != conversation.System {
			continue
		}
		note := j.noteOf(it)
		again := func(later conversation.Item) bool {
			return later.Role == conversation.System && j.noteOf(&later) == note
		}
		said := it.Role == conversation.System && anyNumber.MatchString(string(it.Of(j.was.Body))) &&
			slices.ContainsFunc(j.was.Items[i+1:], again)
		if !said {
			j.Fatalf("a message is left out whose role is %s: %s", it.Role, it.Of(j.was.Body))
		}
	}
}

// anyNumber is one, with its points and commas.
var anyNumber = regexp.MustCompile(`[0-9][0-9.,_]*`)

// noteOf is what an item says, whatever its numbers are.
func (j *judge) noteOf(it *conversation.Item) string {
	return anyNumber.ReplaceAllString(strings.Join(textsOf(j.was, it), "\x00"), "0")
}

// spans holds promises 2 and 8: what is no text of an item is as it was, and no text says what is not so.
func (j *judge) spans(body string) {
	j.Helper()
	first, last := j.was.Items[0], j.was.Items[len(j.was.Items)-1]
	one, end := j.now.Items[0], j.now.Items[len(j.now.Items)-1]
	sent := string(j.out.Body)
	if body[:first.Place().Start] != sent[:one.Place().Start] || body[last.Place().End:] != sent[end.Place().End:] {
		j.Fatalf("promise 2: what stands around the messages has changed")
	}
	at := 0
	for i := 0; i < len(j.was.Items); i++ {
		was := &j.was.Items[i]
		f := (*decision.Form)(nil)
		if i >= j.was.Head && j.out.forms != nil {
			f = j.out.forms[i-j.was.Head]
		}
		if f != nil && f.Fold > 0 {
			j.mayGo(i, i+f.Fold)
		}
		if f != nil && f.Fold > 0 && f.With == "" {
			i += f.Fold - 1
			continue
		}
		if at >= len(j.now.Items) {
			j.Fatalf("promise 2: message %d is missing", i)
		}
		now := &j.now.Items[at]
		at++
		if f != nil && f.Fold > 0 {
			if f.Rung == decision.RungCompact {
				j.recap(textsOf(j.now, now)[0], i, i+f.Fold)
			}
			i += f.Fold - 1
			continue
		}
		if string(was.Of(j.was.Body)) == string(now.Of(j.now.Body)) {
			continue
		}
		if was.Role == conversation.User {
			j.appended(i, at-1)
			continue
		}
		if was.Role != conversation.Tool && was.Role != conversation.Assistant {
			j.Fatalf("promise 2: message %d is the %s's", i, was.Role)
		}
		if a, b := skeleton(j.was, was, f != nil && f.Said != ""), skeleton(j.now, now, false); a != b {
			j.Fatalf("promise 2: message %d has changed outside of its texts: %s", i, firstDifference(a, b))
		}
		j.texts(i, at-1)
		j.calls(was, now)
	}
	if at != len(j.now.Items) {
		j.Fatalf("promise 2: messages have come in")
	}
}

// skeleton is an item without its texts, and without what was thought in it if that is not sent.
func skeleton(r *conversation.Request, it *conversation.Item, thoughtless bool) string {
	var edits []span.Edit
	if thoughtless {
		for _, e := range conversation.WithoutThinking(r, it) {
			edits = append(edits, span.Edit{Span: span.Span{Start: e.Start - it.Start, End: e.End - it.Start}})
		}
	}
	cut := func(s span.Span) {
		if !s.Empty() {
			edits = append(edits, span.Edit{Span: span.Span{Start: s.Start - it.Start, End: s.End - it.Start},
				With: []byte("…")})
		}
	}
	if len(it.Calls) > 0 && it.Content.Start < it.Calls[0].Start && it.Calls[0].End < it.Content.End {
		for _, s := range r.TextSpans(it) { // the calls stand among them
			cut(s)
		}
	} else {
		cut(it.Content)
	}
	for _, c := range it.Calls {
		cut(c.Arguments)
	}
	b, err := span.Splice(it.Of(r.Body), edits)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// textsOf are the texts of an item's content. What is no text stands there as it is written, behind a NUL.
func textsOf(r *conversation.Request, it *conversation.Item) (list []string) {
	parts, _ := r.Parts(it)
	for _, p := range parts {
		raw := p.Value.Of(r.Body)
		if p.Kind == conversation.TextPart && raw[0] == '"' {
			list = append(list, string(span.TextOf(raw)))
			continue
		}
		list = append(list, "\x00"+string(raw))
	}
	return list
}

// isOther reports whether one of textsOf is that of a part which is no text.
func isOther(text string) bool { return strings.HasPrefix(text, "\x00") }

// isOnlyFirst reports whether one of several texts stands for all of them.
func isOnlyFirst(was, now []string) bool {
	said := func(s string) bool { return s != "" }
	return len(now) > 1 && slices.ContainsFunc(was[1:], said) && !slices.ContainsFunc(now[1:], said)
}

// texts compares the content of two items, if it can be taken apart. Else nothingIsLost alone holds what it was.
func (j *judge) texts(i, at int) {
	j.Helper()
	if !j.isLegible(i) {
		return
	}
	was, now := textsOf(j.was, &j.was.Items[i]), textsOf(j.now, &j.now.Items[at])
	if isOnlyFirst(was, now) {
		now = now[:1]
	}
	if len(was) != len(now) || len(was) == 1 && isOther(was[0]) && !isOther(now[0]) { // all of it in one text
		if len(now) != 1 || !strings.HasPrefix(now[0], plan.Mark) {
			j.Fatalf("promise 8: message %d has become %q", i, now)
		}
		was = []string{j.inLines(i, was, now[0])}
	}
	for k := range now {
		if now[k] != was[k] {
			if inner, err := span.Unquote([]byte(now[k])); err == nil { // it stands there as JSON
				now[k] = inner
			}
			j.text(was[k], now[k], i, at)
		}
	}
}

func (j *judge) calls(was, now *conversation.Item) {
	j.Helper()
	for k := range now.Calls {
		old, short := span.TextOf(was.Calls[k].Arguments.Of(j.was.Body)),
			span.TextOf(now.Calls[k].Arguments.Of(j.now.Body))
		if string(old) != string(short) && json.Valid(old) && !json.Valid(short) {
			j.Fatalf("promise 3: arguments are %s", short)
		}
	}
}

// text holds promise 8 for one text.
func (j *judge) text(was, now string, item, at int) {
	j.Helper()
	if strings.HasPrefix(now, plan.Mark+"JSON preview of ") {
		if !json.Valid([]byte(was)) && !strings.Contains(was, "\n") {
			j.Fatalf("promise 8: no JSON, but a preview of it: %.200q", was)
		}
		return
	}
	screen, _ := shorten.FinalScreen(was)
	if plantest.IsExcerpt(now) {
		if !plantest.OfScreen(now) {
			screen = was
		}
		plantest.HoldExcerpt(j, now, screen)
		size := regexp.MustCompile(`^\[epitome: .* \((\d+) tokens\)\. `).FindStringSubmatch(now)
		if size == nil {
			j.Fatalf("promise 8: the size is not told: %.300q", now)
		}
		j.counted(size[0], was, numbers(size[1])[0])
		return
	}
	own := map[string]bool{}
	for _, l := range append(strings.Split(was, "\n"), strings.Split(screen, "\n")...) {
		own[l] = true
	}
	start := 0
	for l := range strings.Lines(now) {
		bare := strings.TrimSuffix(l, "\n")
		switch {
		case strings.HasPrefix(l, plan.Mark):
			if !strings.HasSuffix(bare, "]") {
				j.Fatalf("promise 8: the line does not end: %q", l)
			}
			j.notice(bare, notice{was, screen, now[:start], now[start+len(l):], item, at})
		case strings.HasPrefix(l, "| ") && j.wrote(l[2:]): // a model's, and told as such
			if !strings.Contains(now[:start], ". Below, behind |, a model wrote of it in its own words: ") {
				j.Fatalf("promise 8: nobody says whose %q is", l)
			}
		case !own[bare] && !own[strings.TrimPrefix(bare, "> ")]:
			j.Fatalf("promise 8: %q is no line of %.300q", bare, was)
		}
		start += len(l)
	}
}

// notice is a line that epitome wrote, with what is around it.
type notice struct {
	was, screen  string
	before, then string
	item, at     int // of what came, and of what is sent
}

// notice holds what a line says against the facts.
func (j *judge) notice(l string, n notice) {
	j.Helper()
	cleared := regexp.MustCompile(`^\[epitome: .*, (\d+) lines?, (\d+) bytes, cleared: `)
	if m := cleared.FindStringSubmatch(l); m != nil {
		j.counts(l, numbers(m[1], m[2]), []int{shorten.CountLines(n.was), len(n.was)})
	}
}

func (j *judge) counts(l string, says, are []int) {
	j.Helper()
	for i := range says {
		if says[i] != are[i] {
			j.Fatalf("promise 8: %q should say %v", l, are)
		}
	}
}

// counted holds that a text is so many tokens as a line says, for one model or another. What came as no UTF-8 was
// counted as it came.
func (j *judge) counted(l, text string, tokens int) {
	j.Helper()
	if strings.ContainsRune(text, '\uFFFD') {
		return
	}
	for _, v := range []tokenize.Vocabulary{tokenize.O200k, tokenize.Cl100k} {
		if c, err := j.bench.deps.Counters.For(v); err == nil && c.CountString(text) == tokens {
			return
		}
	}
	j.Fatalf("promise 8: %q is not of so many tokens: %.300q", l, text)
}

func numbers(list ...string) (all []int) {
	for _, s := range list {
		n, _ := strconv.Atoi(s)
		all = append(all, n)
	}
	return all
}

// sizes holds promise 4, and the report against a count of what is really sent.
func (j *judge) sizes() {
	j.Helper()
	if conversation.Dead(j.was) > 0 { // what was passed over is so when less of it is left
		j.now.Upkeep.Live = false
	}
	was, now := rewritetest.Count(j.was, j.scale), rewritetest.Count(j.now, j.scale)
	mute := slices.ContainsFunc(j.out.forms, func(f *decision.Form) bool { return f != nil && f.Said != "" })
	none := mute || conversation.Dead(j.was) > 0 // what nobody shows counts for nothing here, nor what is passed over
	if saved := was.Total() - now.Total(); saved < 0 || saved == 0 && !none {
		j.Fatalf("promise 4: %d tokens became %d", was.Total(), now.Total())
	}
	r := &j.out.Report
	if r.Before != was.Times(j.scale.Model.Ratio) {
		j.Fatalf("%+v tokens are reported for what came, not %+v", r.Before, was.Times(j.scale.Model.Ratio))
	}
	now = now.Times(j.scale.Model.Ratio)
	near := func(a, b int) bool { return a-b <= 2+was.Total()/50 && b-a <= 2+was.Total()/50 }
	said, says := r.After.Assistant+r.After.User+r.After.Summary, now.Assistant+now.User
	if !near(r.After.Results, now.Results) || !near(said, says) || !near(r.After.Images, now.Images) {
		j.Fatalf("%+v tokens are reported for what is sent, not %+v", r.After, now)
	}
	if r.After.User > r.Before.User {
		j.Fatalf("the user said %d tokens, and %d are reported", r.Before.User, r.After.User)
	}
}

// firstDifference shows where two texts part.
func firstDifference(a, b string) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	from := max(0, i-40)
	return strconv.Itoa(i) + ": " + strconv.Quote(a[from:min(len(a), i+80)]) + " and " +
		strconv.Quote(b[from:min(len(b), i+80)])
}

// shelf is all that transcripts hold, and where the last text stands in it that was found: the next one mostly stands
// behind it.
type shelf struct {
	all string
	at  int
}

// has reports whether a text stands anywhere in the transcripts.
func (s *shelf) has(text string) bool {
	if n := strings.Index(s.all[s.at:], text); n >= 0 {
		s.at += n
		return true
	}
	n := strings.Index(s.all[:min(len(s.all), s.at+len(text))], text)
	if n >= 0 {
		s.at = n
	}
	return n >= 0
}
