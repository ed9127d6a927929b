package rewrite

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"epitome/event"
	"epitome/rewrite/conversation"
	"epitome/rewrite/span"
)

// beginnings is in what form each beginning of a conversation was sent for which a request was recorded.
type beginnings map[span.Sum]*beginning

// beginning is what was sent of one, item by item, in any spelling; nil if nobody here knows.
type beginning struct{ sent []string }

// heardOf is a request as it came and as it was sent, item by item behind the head, in any spelling.
type heardOf struct {
	lane        string // who may share the form
	asked, sent []string
	stable      int
}

// keys name the beginnings of the request: key n of its first n items.
func (h *heardOf) keys() []span.Sum {
	keys := []span.Sum{sha256.Sum256([]byte(h.lane))}
	for i, item := range h.asked {
		sum := sha256.Sum256([]byte(item))
		keys = append(keys, sha256.Sum256(append(keys[i][:], sum[:]...)))
	}
	return keys
}

// hold holds promise 5 for the longest beginning that was recorded, whoever asked for it and whatever came in between:
// it is sent as it was, unless something new was decided. Then it notes the request's own.
func (b beginnings) hold(t teller, h *heardOf, broke bool) {
	t.Helper()
	keys := h.keys()
	for n := len(h.asked); n > 0 && !broke; n-- {
		was, known := b[keys[n]]
		if !known {
			continue
		}
		if was == nil {
			break
		}
		if len(h.sent) < len(was.sent) || !slices.Equal(was.sent, h.sent[:len(was.sent)]) {
			i := 0
			for i < len(h.sent) && i < len(was.sent) && h.sent[i] == was.sent[i] {
				i++
			}
			t.Fatalf("promise 5: of %d items, %d of which were asked for before, item %d was sent as\n%s\nand is sent as\n%s",
				len(h.asked), n, i, was.sent[min(i, len(was.sent)-1)], h.sent[min(i, len(h.sent)-1)])
		}
		break
	}
	for _, n := range []int{h.stable, len(h.asked)} {
		if at := len(h.sent) - len(h.asked) + n; at > 0 && b[keys[n]] == nil {
			if _, known := b[keys[n]]; !known {
				b[keys[n]] = &beginning{h.sent[:at:at]}
			}
		}
	}
}

// forget says that nobody knows any more how this request and its beginning up to the last stable item were sent.
func (b beginnings) forget(h *heardOf) {
	keys := h.keys()
	b[keys[h.stable]], b[keys[len(h.asked)]] = nil, nil
}

// itemsOf are the items behind the head, in any spelling.
func (p *play) itemsOf(r *conversation.Request) (list []string) {
	if p.plain == nil {
		p.plain = map[string]string{}
	}
	for i := r.Head; i < len(r.Items); i++ {
		it := &r.Items[i]
		raw := string(it.Of(r.Body)) + "\x00" + it.Role.String()
		text, known := p.plain[raw]
		if !known {
			text = plainItem(r, it)
			p.plain[raw] = text
		}
		list = append(list, text)
	}
	return list
}

// noteBeginning holds what is sent against what was sent of the same beginnings.
func (p *play) noteBeginning(r *speaker, was, now *conversation.Request, broke bool) {
	p.Helper()
	if p.begun == nil {
		p.begun = beginnings{}
	}
	p.begun.hold(p, p.heardOf(r, was, now), broke)
}

// forget says that another form may have been recorded of what is asked now.
func (p *play) forget(r *speaker) {
	p.Helper()
	was, err := r.tongue.Read([]byte(r.body()), nil)
	if err != nil {
		p.Fatalf("%v", err)
	}
	if p.begun != nil {
		p.begun.forget(p.heardOf(r, was, nil))
	}
}

func (p *play) heardOf(r *speaker, was, now *conversation.Request) *heardOf {
	h := &heardOf{lane: r.scope + "\x00" + r.model + "\x00" + string(was.Upkeep.Before.Of(was.Body)),
		asked: p.itemsOf(was), stable: was.Decidable()}
	if now != nil {
		h.sent = p.itemsOf(now)
	}
	return h
}

// habits are what clients do to what they have sent, and to what stands beside it.
var habits = []string{
	"respell", "marks", "unthink", "prefill", "prefill", "rewind", "remind", "tools", "system", "clear", "sum up",
	"truncate", "swap", "twin", "replay", "interject", "interject", "back and forth", "held", "repeat", "lose",
	"elsewhere", "elsewhere",
}

// withHabits are happenings, and n times as one of them a habit, if EPITOME_HABITS is set. By themselves plays have
// none: about one in three thousand finds what these judges cannot tell from a broken promise.
func withHabits(n int, happenings ...string) []string {
	if os.Getenv("EPITOME_HABITS") != "" {
		happenings = append(happenings, slices.Repeat([]string{"habit"}, n)...)
	}
	return happenings
}

// habit is something that clients do.
func (p *play) habit(r *speaker) {
	p.Helper()
	what := rapid.SampledFrom(habits).Draw(p.T, "habit")
	r.rescued = r.rescued && what != "interject"
	if isChange := p.change(r, what); isChange {
		p.ask(r)
		return
	}
	switch what {
	case "respell", "marks", "unthink":
		p.sameAgain(r, what)
	case "prefill":
		p.prefill(r)
	case "tools":
		r.tools = !r.tools
		p.ask(r)
	case "system":
		lead := r.tongue.lead(r.talk, r.string("You are another agent. "+r.words(r.IntN(40))))
		switch isMessage := strings.HasPrefix(lead, "{"); { // then the numbers of messages go by it
		case len(r.head) > 0 && (isMessage || r.IntN(3) > 0):
			r.head = []string{lead}
		case !isMessage:
			r.head = nil
		}
		p.ask(r)
	case "twin":
		p.twin(r)
	case "replay":
		p.replay(r)
	case "back and forth":
		p.backAndForth(r)
	case "held":
		p.held(r)
	case "lose":
		p.loseSome()
	case "elsewhere":
		p.elsewhere(r)
	}
}

// change has the client say something else than it said, and reports whether it has.
func (p *play) change(r *speaker, what string) bool {
	n := int(p.seed() % uint64(len(r.items)))
	from := n
	switch what {
	case "rewind":
		r.items = slices.Clone(r.items[:n+1])
		r.user()
		from = n + 1
	case "remind":
		said := r.tongue.say(r.talk, "user", r.string("<system-reminder>"+r.words(5)+"</system-reminder>"))
		r.items = slices.Insert(slices.Clone(r.items), n, said)
	case "clear":
		if from = r.clearOld(n); from < 0 {
			return false
		}
	case "sum up":
		tail := slices.Clone(r.items[n:])
		said := r.string("This session is continued from one that ran out of room. " + r.words(40))
		r.items = []string{r.tongue.say(r.talk, "user", said)}
		if r.IntN(2) == 0 {
			r.items = append(r.items, tail...)
		}
		from = 0
	case "truncate":
		to := n + int(p.seed()%uint64(len(r.items)-n))
		r.items = append(slices.Clone(r.items[:max(1, n)]), r.items[max(1, n, to):]...)
		p.respelled = p.respelled || r.tongue.Key() == "responses" // what no link covers may go with it
	case "swap":
		r.items, p.respelled = slices.Clone(r.items), true // when it is swapped back
		if from = r.swap(n); from < 0 {
			return false
		}
	case "interject":
		r.grow()
		r.reminder = ""
		r.user()
		return true
	case "repeat":
		r.items = append(slices.Clone(r.items), r.items[n])
		from = len(r.items)
	default:
		return false
	}
	r.rescued = r.rescued || from <= r.refused
	r.reminder = ""
	return true
}

// clearOld has the client itself clear the results up to item n, and returns the first that it did; -1 if there is
// none.
func (c *talk) clearOld(n int) (first int) {
	const cleared = `"[Old tool result content cleared]"`
	first = -1
	c.items = slices.Clone(c.items)
	for i := range n {
		all := entriesOf(c.items[i])
		for k, entry := range all {
			switch blocks, ok := elementsOf(valueOf(entry, "content")); {
			case valueOf(entry, "role") == `"tool"`:
				all[k] = withValue(entry, "content", cleared)
			case valueOf(entry, "type") == `"function_call_output"`:
				all[k] = withValue(entry, "output", cleared)
			case ok:
				for b, block := range blocks {
					if valueOf(block, "type") == `"tool_result"` {
						blocks[b] = withValue(block, "content", cleared)
					}
				}
				if now := "[" + strings.Join(blocks, ",") + "]"; strings.Contains(now, cleared) {
					all[k] = withValue(entry, "content", now)
				}
			}
		}
		if now := strings.Join(all, ","); now != c.items[i] && strings.Contains(now, cleared) {
			if c.items[i] = now; first < 0 {
				first = i
			}
		}
	}
	return first
}

// swap has two results that stand side by side change places, from item n on, and returns where; -1 if there are none.
func (c *talk) swap(n int) int {
	isResult := func(item string) bool {
		return valueOf(item, "role") == `"tool"` || strings.HasSuffix(valueOf(item, "type"), `_output"`)
	}
	for i := n; i < len(c.items); i++ {
		if i+1 < len(c.items) && isResult(c.items[i]) && isResult(c.items[i+1]) {
			c.items[i], c.items[i+1] = c.items[i+1], c.items[i]
			return i
		}
		blocks, ok := elementsOf(valueOf(c.items[i], "content"))
		if ok && len(blocks) > 1 && valueOf(blocks[1], "type") == `"tool_result"` {
			blocks[0], blocks[1] = blocks[1], blocks[0]
			c.items[i] = withValue(c.items[i], "content", "["+strings.Join(blocks, ",")+"]")
			return i
		}
	}
	return -1
}

// sameAgain asks, and then asks the same in another spelling: the same is sent, and nothing is decided.
func (p *play) sameAgain(r *speaker, how string) {
	p.Helper()
	first := p.ask(r)
	if first.Report.Err != nil {
		return
	}
	p.respelled = true
	r.items = slices.Clone(r.items)
	switch how {
	case "respell":
		for i := r.IntN(len(r.items)); i < len(r.items); i++ {
			r.items[i] = r.respelled(r.items[i])
		}
	case "marks":
		r.remark()
	case "unthink":
		for i := range r.IntN(len(r.items)) + 1 {
			if now := r.unthought(r.items[i]); now != "" {
				p.dropped += len(r.items[i]) - len(now)
				r.items[i] = now
			}
		}
	}
	if r.last = map[string]spoken{}; r.IntN(2) == 0 {
		p.limits, p.window = p.drawLimits(), p.drawWindow()
	}
	if r.IntN(2) == 0 {
		p.restart()
	}
	second := p.ask(r)
	a, b := plainBody(r.tongue, string(first.Body)), plainBody(r.tongue, string(second.Body))
	was, now := first.Report, second.Report
	if now.Err == nil && (a != b || now.Decided || now.Conversation != was.Conversation) {
		p.Fatalf("promise 5: asked again (%s), %+v became %+v: %s", how, was, now, firstDifference(a, b))
	}
}

// prefill begins the answer for the model, asks, and goes on in one of the ways in which clients do.
func (p *play) prefill(r *speaker) {
	p.Helper()
	begun := "So"
	if r.IntN(3) > 0 { // what stands before it is as new
		r.grow()
	}
	r.reminder = ""
	r.items = append(slices.Clone(r.items), r.tongue.say(r.talk, "assistant", r.string(begun)))
	last := len(r.items) - 1
	p.ask(r)
	if r.rescued = false; r.IntN(2) == 0 {
		p.limits, p.window = p.drawLimits(), p.drawWindow()
		p.restart()
	}
	switch r.IntN(4) {
	case 0: // both stay
		r.tongue.group(r.talk)
	case 1: // one text
		r.items[last] = r.tongue.say(r.talk, "assistant", r.string(begun+" it is. "+r.words(5)))
		r.user()
	case 2: // one text, and calls
		r.items = r.items[:last]
		r.tongue.group(r.talk)
		r.items[last] = r.beginWith(r.items[last], begun+" it is.")
	default: // as if it had not been asked
		r.items = r.items[:last]
		r.tongue.group(r.talk)
	}
	p.ask(r)
}

// saysIn reports whether an item is a message of the role.
func saysIn(item, role string) bool { return valueOf(entriesOf(item)[0], "role") == `"`+role+`"` }

// beginWith is an answer that begins with a text.
func (c *talk) beginWith(item, text string) string {
	all := entriesOf(item)
	first := all[0]
	blocks, ok := elementsOf(valueOf(first, "content"))
	switch {
	case c.tongue.Key() == "":
		all[0] = withValue(first, "content", c.string(text))
	case ok && valueOf(first, "role") == `"assistant"`:
		blocks = slices.Insert(blocks, 0, `{"type":"text","text":`+c.string(text)+`}`)
		all[0] = withValue(first, "content", "["+strings.Join(blocks, ",")+"]")
	}
	return strings.Join(all, ",")
}

// twin begins alike, before other instructions and with other tools, as another agent of the same client does.
func (p *play) twin(r *speaker) {
	p.Helper()
	n := 1 + int(p.seed()%uint64(len(r.items)))
	f := &speaker{talk: r.fork(n, p.seed()), scope: r.scope, last: map[string]spoken{}, refused: r.refused}
	f.tools = !r.tools
	lead := f.tongue.lead(f.talk, f.string("You look things up. "+f.words(5)))
	if len(f.head) > 0 || !strings.HasPrefix(lead, "{") { // the numbers of messages go by it
		f.head = []string{lead}
	}
	f.rescued = r.rescued || n <= r.refused
	p.parts = append(p.parts, f)
	p.ask(f)
	p.ask(r)
}

// replay asks how large the request would be sent: nothing is recorded, and the next one is as if nobody had asked.
func (p *play) replay(r *speaker) {
	p.Helper()
	if first := p.ask(r); first.Report.Err != nil { // what has vanished is there again
		return
	}
	r.rescued = false
	r.grow()
	before, shelf := maps.Clone(p.notes.facts), len(p.cupboard.Contents())
	in := p.input(r, r.body())
	in.Replay = true
	out := p.Shape(in)
	out.Report.Code, out.Report.Reason = event.CodeAgain, "the question has no reasons"
	p.judge(r, string(in.Body), out)
	if !maps.Equal(before, p.notes.facts) || shelf != len(p.cupboard.Contents()) {
		p.Fatalf("promise 5: a question for the size has recorded something")
	}
	p.ask(r)
}

// backAndForth asks another model the same, and then the first one again: what it was sent is not changed by that.
func (p *play) backAndForth(r *speaker) {
	p.Helper()
	model := r.model
	first := p.ask(r)
	r.model = rapid.SampledFrom([]string{"gpt-5", "gpt-4", "claude-sonnet-4"}).Draw(p.T, "model")
	p.ask(r)
	r.model = model
	second := p.ask(r)
	if first.Report.Err == nil && second.Report.Err == nil && string(first.Body) != string(second.Body) {
		p.Fatalf("promise 5: another model in between: %s", firstDifference(string(first.Body), string(second.Body)))
	}
}

// held goes on with what lies with the provider, of which the request has but what is new.
func (p *play) held(r *speaker) {
	p.Helper()
	if r.tongue.Key() != "responses" {
		return
	}
	f := &speaker{talk: r.fork(len(r.items), p.seed()), scope: r.scope, last: map[string]spoken{}}
	f.held = rapid.SampledFrom([]string{`"previous_response_id":"resp_%d",`, `"conversation":"conv_%[1]d",`,
		`"conversation":{"id":"conv_%[1]d"},`}).Draw(p.T, "held")
	how := f.held
	for i := range rapid.IntRange(1, 3).Draw(p.T, "rounds") {
		f.items = nil
		f.tongue.group(f.talk)
		if at := slices.IndexFunc(f.items, func(s string) bool { return strings.Contains(s, `_output"`) }); at > 0 {
			f.items = f.items[at:] // what was called lies there as well
		}
		f.held = fmt.Sprintf(how, i)
		first := p.ask(f)
		if p.restart(); f.IntN(2) == 0 {
			p.limits, p.window = p.drawLimits(), p.drawWindow()
		}
		again := p.ask(f)
		if again.Report.Err == nil && first.Report.Err == nil && string(again.Body) != string(first.Body) {
			p.Fatalf("promise 5: asked again, what is held goes as %s", firstDifference(string(first.Body), string(again.Body)))
		}
	}
}

// loseSome loses some of what was recorded: what was sent is not repeated from there on, and all else is kept.
func (p *play) loseSome() {
	for _, key := range slices.Sorted(maps.Keys(p.notes.facts)) {
		if p.parts[0].IntN(3) == 0 {
			delete(p.notes.facts, key)
		}
	}
	p.restart()
	p.calm, p.loses = false, true // a decision that stands may be one that cannot be read
}
