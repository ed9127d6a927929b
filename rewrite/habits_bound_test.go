package rewrite

import (
	"maps"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// elsewhere asks what is new in a process that remembers nothing, with a copy of what is recorded, and then here: the
// same is sent.
func (p *play) elsewhere(r *speaker) {
	p.Helper()
	fails := p.notes.luck != nil || p.cupboard.Luck != nil
	if first := p.ask(r); first.Report.Err != nil || p.narrator != nil || fails {
		return
	}
	r.rescued = false
	r.grow()
	other := &bench{notes: newNotes(), cupboard: p.cupboard, limits: p.limits, window: p.window, ratio: p.ratio,
		memo: p.memo, library: p.library, memories: p.memories}
	other.notes.facts = maps.Clone(p.notes.facts)
	other.restart()
	other.deps.Recall = p.deps.Recall
	there := other.Shape(p.input(r, r.body()))
	here := p.ask(r)
	if here.Report.Err != nil || there.Report.Err != nil {
		return
	}
	if string(here.Body) != string(there.Body) || here.Report.Conversation != there.Report.Conversation {
		p.Fatalf("promise 5: elsewhere, %+v, here %+v: %s", there.Report, here.Report,
			firstDifference(string(there.Body), string(here.Body)))
	}
}

// habit is something that clients do who know that what was thought holds only behind what it was thought behind.
func (p *minds) habit(r *speaker) {
	p.Helper()
	what := rapid.SampledFrom([]string{"respell", "marks", "unthink", "rewind", "remind", "clear", "clear", "sum up",
		"truncate", "swap", "interject", "system", "tools"}).Draw(p.T, "habit")
	before, head, tools, rescued := r.items, r.head, r.tools, r.rescued
	changed := len(before) // the first item that is
	r.items, r.reminder = slices.Clone(before), ""
	switch what {
	case "respell":
		p.respelled = true
		for i := r.IntN(len(r.items)); i < len(r.items); i++ {
			// A summary behind a text is one with it, and one of its own behind a list of that text: a new beginning.
			if !saysIn(r.items[i], "user") || strings.Contains(r.items[i], `"tool_result"`) {
				r.items[i] = r.respelled(r.items[i])
			}
		}
	case "marks":
		p.respelled = true
		r.remark()
	case "unthink": // of older turns
		p.respelled = true
		last := len(r.items) - 1
		for last > 0 && !saysIn(r.items[last], "assistant") {
			last--
		}
		for i := range r.IntN(last + 1) {
			now := r.unthought(r.items[i])
			if len(entriesOf(now)) < len(entriesOf(r.items[i])) { // a message is gone: what comes behind is new
				break
			}
			p.dropped += len(r.items[i]) - len(now)
			r.items[i] = now
		}
	case "interject":
		r.user()
	case "system":
		changed, r.head = 0, []string{r.tongue.lead(r.talk, r.string("You are another agent. "+r.words(9)))}
	case "tools":
		changed, r.tools = 0, !r.tools
	default:
		if !p.change(r, what) {
			return
		}
		changed = 0
		for changed < len(r.items) && changed < len(before) && r.items[changed] == before[changed] {
			changed++
		}
	}
	for i := changed; i < len(r.items); i++ {
		p.respelled = p.respelled || changed == 0
		now := r.unthought(r.items[i])
		p.dropped += len(r.items[i]) - len(now)
		r.items[i] = now
	}
	if in, ok := r.tongue.(strictTongue); ok && in.refusal([]byte(r.body())) != nil { // no client would
		r.items, r.head, r.tools, r.rescued = before, head, tools, rescued
		return
	}
	r.last = map[string]spoken{}
	p.say(r)
}
