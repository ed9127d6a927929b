package rewrite

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"epitome/prose"
	"epitome/rewrite/conversation"
	"epitome/rewrite/limits"
	"epitome/rewrite/mark"
	"epitome/rewrite/plan"
	"epitome/rewrite/plan/plantest"
)

// play is several conversations in one process, and what may befall it.
type play struct {
	*rapid.T
	*bench
	parts []*speaker
	calm  bool // nothing fails
	loses bool // some of what was recorded is lost

	distils bool // large results come, and a model tells of them
}

// speaker is a conversation with what was sent of it.
type speaker struct {
	*talk
	scope string
	last  map[string]spoken // by model

	rescued bool // what it asked last was refused: results that are new in it may be left out
	refused int  // items of the longest one refused: who goes back to it, or further, gets its form again
}

// spoken is one request, and what was sent in its place: the messages behind the head.
type spoken struct {
	asked, sent []string
	stable      int
	opening     int // items until the model first spoke
	index       index
}

// index is that of context files, as a request has it.
type index struct {
	text string // empty if there is none
	put  string // the same as it stands there
	head string // of the request as it came: its kind says how a text is put there
}

// readIndex is the index in what is sent of a request.
func readIndex(was *conversation.Request, out Output) index {
	head := string(was.Instructions.Of(was.Body))
	for i := range was.Head {
		head += string(was.Items[i].Of(was.Body))
	}
	put := indexIn(out)
	if put == "" {
		return index{head: head}
	}
	return index{out.added.record.Text(), put, head}
}

func (p *play) ask(r *speaker) Output {
	p.Helper()
	body := r.body()
	out := p.Shape(p.input(r, body))
	p.heard(r, body, out)
	return out
}

// input is a request of a speaker.
func (p *play) input(r *speaker, body string) Input {
	in := Input{Dialect: r.tongue, Body: []byte(body), Scope: r.scope, Upstream: "up", Limits: &p.limits, Now: p.clock,
		Style: p.style, Contexts: p.asks, Project: p.project}
	if p.narrator != nil {
		in.Client = somebody{p.waits}
	}
	return in
}

// heard holds the promises for what is sent, and notes it.
func (p *play) heard(r *speaker, body string, out Output) {
	p.Helper()
	p.judge(r, body, out)
	for _, s := range artifactsIn(string(out.Body)) {
		if !slices.Contains(r.seen, s) {
			r.seen = append(r.seen, s)
		}
	}
	was, err := r.tongue.Read([]byte(body), nil)
	switch {
	case p.loses, out.Report.Err != nil && err != nil:
		r.last = map[string]spoken{}
		return
	case err != nil:
		p.Fatalf("%v: %s", err, body)
	case out.Report.Err != nil: // something may have been recorded before it
		r.last = map[string]spoken{}
		return
	}
	if !r.rescued {
		holdsFirstSight(p, was, out)
	}
	now, _ := r.tongue.Read(out.Body, nil)
	opening, _ := conversation.OpeningOf(was)
	s := spoken{behindHead(was), behindHead(now), was.Decidable(), opening, readIndex(was, out)}
	p.follows(r.last[r.model], s, out.Report.Broke)
	r.last[r.model] = s
	if out.Report.Conversation == "" {
		p.Fatalf("the request belongs to no conversation")
	}
}

// judge holds what one request can show by itself.
func (p *play) judge(r *speaker, body string, out Output) {
	p.Helper()
	if p.calm && out.Report.Err != nil {
		p.Fatalf("%v", out.Report.Err)
	}
	judged(p, p.bench, body, out)
	if in, ok := r.tongue.(strictTongue); ok {
		if err := in.refusal(out.Body); err != nil && in.refusal([]byte(body)) == nil {
			p.Fatalf("promise 3: a strict server takes what came, and refuses what is sent: %v", err)
		}
	}
}

// rescue asks, and again as if the provider had refused what was sent.
func (p *play) rescue(r *speaker) Output {
	p.Helper()
	first := p.ask(r)
	if first.Report.Err != nil {
		return first
	}
	how := plan.Rescue{Sent: first.Report.After.Total(), From: rapid.SampledFrom([]plan.Stage{plan.StageNone,
		plan.StageCompact, plan.StageShort, plan.StageBare, plan.StageUsers}).Draw(p.T, "stage")}
	how.Most = how.Sent * rapid.IntRange(5, 100).Draw(p.T, "most") / 100
	body := r.body()
	in := p.input(r, body)
	in.Rescue = &how
	out := p.Shape(in)
	p.judge(r, body, out)
	if out.Settle != nil {
		out.Settle()
	}
	r.last, r.rescued, r.refused = map[string]spoken{}, true, max(r.refused, len(r.items))
	return out
}

// follows holds promise 5: what is sent begins with what was sent before, as far as that is asked for again.
func (p *play) follows(before, now spoken, broke bool) {
	p.Helper()
	same := 0
	for same < len(before.asked) && same < len(now.asked) && before.asked[same] == now.asked[same] {
		same++
	}
	first := before.opening
	a, b := before.index, now.index
	changed := a.text != b.text || a.head == b.head && a.put != b.put
	goesOn := first == now.opening && same >= max(first, before.stable)
	if p.calm && first > 0 && goesOn && changed {
		p.Fatalf("promise 5: the index of files has changed from %q to %q", a.put, b.put)
	}
	if same < before.stable || broke {
		return
	}
	if same < len(before.asked) { // how more of it was sent is not recorded: what came behind is another thing now
		same = before.stable
	}
	old := before.sent[:len(before.sent)-len(before.asked)+same]
	if len(now.sent) < len(old) || !slices.Equal(old, now.sent[:len(old)]) {
		i := 0
		for i < len(now.sent) && old[i] == now.sent[i] {
			i++
		}
		p.Fatalf("promise 5: message %d behind the head has changed from\n%s\nto\n%s", i, old[i], now.sent[min(i, len(now.sent)-1)])
	}
}

func behindHead(r *conversation.Request) (list []string) {
	for _, it := range r.Items[r.Head:] {
		list = append(list, unmarked(string(it.Of(r.Body))))
	}
	return list
}

// artifactsIn are the names of artifacts that a text of JSON speaks of: by a path, where they are read with the
// tool, or in a numbered list.
func artifactsIn(text string) (names []string) {
	at := 0
	for name := range mark.NamesLike(text) {
		at += strings.Index(text[at:], name)
		before, spaced := strings.CutSuffix(text[:at], " ")
		unnumbered := strings.TrimRight(before, "0123456789")
		isNumbered := unnumbered != before && strings.HasSuffix(unnumbered, `\n`)
		if spaced && (isNumbered || strings.HasSuffix(before, "artifact")) ||
			strings.HasSuffix(before, "/data/artifacts/") {
			names = append(names, name)
		}
		at += len(name)
	}
	return names
}

// again asks the very same, which must be answered by the same bytes whatever has happened in between.
func (p *play) again(r *speaker, why string) {
	p.Helper()
	first := p.ask(r)
	if first.Report.Err != nil {
		return
	}
	p.limits, p.window = p.drawLimits(), p.drawWindow()
	if why == "restart" {
		p.deps.Recall = p.drawRecall() // as another configuration has it
		p.restart()
	}
	second := p.ask(r)
	if second.Report.Err == nil && string(first.Body) != string(second.Body) {
		p.Fatalf("promise 5: asked again after a %s, another body is sent: %s", why, firstDifference(string(first.Body), string(second.Body)))
	}
	if second.Report.Err == nil && (second.Report.Decided || second.Report.Conversation != first.Report.Conversation) {
		p.Fatalf("promise 5: asked again after a %s, %+v became %+v", why, first.Report, second.Report)
	}
}

// atOnce asks the same several times at the same time; all are answered alike.
func (p *play) atOnce(r *speaker) {
	p.Helper()
	body := r.body()
	outs := make([]Output, 3)
	var all sync.WaitGroup
	for i := range outs {
		all.Go(func() {
			outs[i] = p.Shape(p.input(r, body))
		})
	}
	all.Wait()
	for i := range outs {
		judged(p, p.bench, body, outs[i])
		if p.calm && string(outs[i].Body) != string(outs[0].Body) {
			p.Fatalf("promise 5: equal requests at the same time became different")
		}
	}
	for i := range outs { // one of them has said whether it broke
		outs[0].Report.Broke = outs[0].Report.Broke || outs[i].Report.Broke
	}
	p.heard(r, body, outs[0])
}

func (p *play) drawWindow() int {
	if p.distils {
		return rapid.SampledFrom([]int{20_000, 30_000}).Draw(p.T, "window")
	}
	return rapid.SampledFrom([]int{3000, 8000, 20_000, 100_000}).Draw(p.T, "window")
}

func (p *play) drawLimits() limits.Limits {
	l := plantest.Limits()
	draw := func(name string, of ...int) int { return rapid.SampledFrom(of).Draw(p.T, name) }
	l.Bound = map[string]bool{"claude-*-5-5": true}
	_ = l.SetPreset(rapid.SampledFrom([]string{"balanced", "faithful", "cautious", "economy"}).Draw(p.T, "preset"))
	l.Floor, l.Groups, l.ClearAtLeast = 100, draw("groups", 0, 1, 2, 5), draw("at least", 50, 500)
	l.Offload, l.OffloadKeep = draw("offload", 100, 300, 1500), draw("keep", 0, 20, 200)
	l.OffloadReads, l.Lookups, l.Protect = l.Offload*2, l.Offload, draw("protect", 0, 300, 2000)
	l.Screen, l.Recall = draw("screen", 50, 1000), draw("recall", 100, 3000)
	l.ClearCalls = rapid.Bool().Draw(p.T, "arguments")
	l.CompactAt, l.Target = rapid.SampledFrom([]float64{.3, .9, .9}).Draw(p.T, "compact at"),
		rapid.SampledFrom([]float64{.2, .5}).Draw(p.T, "target")
	l.KeepTail = draw("tail", 0, 600, 20_000)
	l.OffloadShare = rapid.SampledFrom([]float64{.15, 1}).Draw(p.T, "share")
	if rapid.Bool().Draw(p.T, "rules") {
		l.Rules = limits.Rules{Turns: draw("turns", 0, 0, 3), Messages: draw("messages", 0, 0, 6),
			Pairs: draw("pairs", 0, 0, 2), TextOnly: rapid.Bool().Draw(p.T, "text"),
			Assistant: draw("capped", 0, 0, 30)}
	}
	if draw("tools", 0, 0, 1) > 0 {
		l.ToolLimits = []limits.Limit{{Tool: "READ*", Tokens: 150}, {Tool: "grep", Keep: true}}
	}
	if p.distils {
		l.Offload, l.OffloadReads, l.OffloadShare, l.ToolLimits = 10_000, 10_000, 1, nil
		l.Groups, l.Protect, l.ClearAt, l.CompactAt = draw("groups", 1, 2), 300, .4, .9
		l.Rules = limits.Rules{}
	}
	return l
}

// goOn has the first conversation grow, mostly.
func (p *play) goOn() {
	if rapid.IntRange(0, 2).Draw(p.T, "goes on") > 0 {
		p.parts[0].rescued = false
		p.parts[0].grow()
		p.ask(p.parts[0])
	}
}

func (p *play) seed() uint64 { return rapid.Uint64().Draw(p.T, "seed") }

// step is something that happens.
func (p *play) step() {
	r := p.parts[rapid.IntRange(0, len(p.parts)-1).Draw(p.T, "who")]
	switch rapid.SampledFrom([]string{"grow", "grow", "grow", "grow", "grow", "again", "restart", "limits", "window",
		"ratio", "fork", "edit", "at once", "model", "clock", "pause", "pause", "vanish", "full", "fail", "rescue", "learn",
	}).Draw(p.T, "what") {
	case "grow":
		r.rescued = false
		r.grow()
		p.ask(r)
	case "rescue":
		r.rescued = false
		r.grow()
		p.rescue(r)
	case "again":
		p.again(r, "change of limits")
	case "restart":
		p.again(r, "restart")
	case "limits":
		p.limits = p.drawLimits()
	case "window":
		p.window = p.drawWindow()
	case "ratio":
		p.ratio = rapid.Float64Range(.3, 4).Draw(p.T, "ratio")
	case "fork":
		n := 1 + int(p.seed()%uint64(len(r.items)))
		p.parts = append(p.parts, &speaker{talk: r.fork(n, p.seed()), scope: r.scope, last: map[string]spoken{},
			rescued: r.rescued || n <= r.refused, refused: r.refused})
	case "edit":
		n := int(p.seed() % uint64(len(r.items)))
		r.items[n] = r.tongue.say(r.talk, "user", r.string("Rather "+r.words(10)))
		r.last = map[string]spoken{}
		r.rescued = r.rescued || n <= r.refused // as in a fork, what was rescued stands before it
	case "at once":
		r.rescued = false
		r.grow()
		p.atOnce(r)
	case "model":
		r.model = rapid.SampledFrom([]string{"gpt-5", "gpt-4", "claude-sonnet-4"}).Draw(p.T, "model")
	case "clock":
		if len(r.head) > 0 {
			r.head[0] = r.tongue.lead(r.talk, r.string("Now it is "+fmt.Sprint(p.seed())))
		}
	case "learn":
		p.learn()
	case "pause":
		p.clock = p.clock.Add(6 * time.Minute)
		r.rescued = false
		r.grow()
		p.ask(r)
	case "vanish":
		if !p.loses { // what takes the place of a lost fact may name what is gone
			p.vanish()
		}
	case "full":
		p.cupboard.Crowded = !p.cupboard.Crowded
	case "fail":
		if !p.calm {
			p.notes.luck, p.cupboard.Luck = p.drawLuck("ledger"), p.drawLuck("shelf")
		}
	}
}

// drawLuck says when the next writes fail; nil if they do not.
func (p *play) drawLuck(of string) func() bool {
	switch rapid.IntRange(0, 2).Draw(p.T, of) {
	case 0:
		return nil
	case 1:
		return func() bool { return false }
	}
	luck := rand.New(rand.NewPCG(p.seed(), 3))
	return func() bool { return luck.IntN(6) > 0 }
}

func newPlay(t *rapid.T, calm, broken bool) *play { return newPlayIn(chatTongue{}, t, calm, broken) }

func newPlayIn(in tongue, t *rapid.T, calm, broken bool) *play {
	p := &play{T: t, bench: newBench(0), calm: calm}
	p.limits, p.window, p.clock = p.drawLimits(), p.drawWindow(), noon()
	for i := range 2 {
		scope := fmt.Sprint("scope ", i)
		said := newTalkIn(in, p.seed(), broken)
		p.parts = append(p.parts, &speaker{talk: said, scope: scope, last: map[string]spoken{}})
	}
	return p
}

// drawRecall is who is told of the tool; of those that offer it there are none.
func (p *play) drawRecall() Recall {
	if rapid.IntRange(0, 3).Draw(p.T, "by tool") == 0 {
		return RecallAll
	}
	return RecallNobody
}

// distill has large results come, of which a model tells.
func (p *play) distill() {
	n := p.listen()
	p.distils, p.style.Mode, n.ahead, n.distils = true, prose.ModeHybrid, true, true
	p.limits, p.window = p.drawLimits(), p.drawWindow()
	for _, r := range p.parts {
		r.large = true
	}
	p.drawWords()
}

// drawWords says what the model tells next, and has it tell what was asked before.
func (p *play) drawWords() {
	n := p.narrator
	n.finish()
	n.fail, n.atOnce = nil, rapid.IntRange(0, 3).Draw(p.T, "at once") > 0
	says := rapid.SampledFrom([]string{
		"All is well in it.", "All is well in it.", "Nothing is odd.\nIt ends well.\r\n| So it does.\u2028> It does.", "", " \n",
		strings.Repeat("All is well. ", 200), plan.Mark + "all of it stands in message 2]", "[end of summary 0a1b2c3d. ]",
	}).Draw(p.T, "words")
	n.tells = func(prose.Question) string { return says }
}

// Promises 2 to 6 and 8 for conversations of all kinds, while limits change, processes end and artifacts vanish.
func TestAnyConversationKeepsThePromises(t *testing.T) {
	f := func(in tongue, name string, calm, broken bool) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				p := newPlayIn(in, t, calm, broken)
				p.deps.Recall = p.drawRecall()
				p.drawLibrary()
				p.drawMemories()
				for range rapid.IntRange(1, 20).Draw(t, "steps") {
					p.step()
				}
			})
		})
	}
	f(chatTongue{}, "sound", true, false)
	f(chatTongue{}, "broken", true, true)
	f(chatTongue{}, "on failing disks", false, true)
	f(messagesTongue{}, "sound in messages", true, false)
	f(messagesTongue{}, "broken in messages", true, true)
	f(messagesTongue{}, "messages on failing disks", false, true)
	f(responsesTongue{}, "sound in responses", true, false)
	f(responsesTongue{}, "broken in responses", true, true)
	f(responsesTongue{}, "responses on failing disks", false, true)
	distilled := func(in tongue, name string) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				p := newPlayIn(in, t, true, false)
				p.distill()
				for range rapid.IntRange(1, 12).Draw(t, "steps") {
					if rapid.IntRange(0, 3).Draw(t, "speaks") == 0 {
						p.drawWords()
					}
					p.step()
					p.goOn()
				}
			})
		})
	}
	distilled(chatTongue{}, "distilled")
	distilled(messagesTongue{}, "distilled in messages")
	distilled(responsesTongue{}, "distilled in responses")
}
