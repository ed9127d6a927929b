package rewrite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"
	"pgregory.net/rapid"

	"epitome/rewrite/conversation"
	"epitome/rewrite/plan"
	"epitome/rewrite/span"
	"epitome/scripted/messages/rules"
	"epitome/scripted/messages/thought"
)

// Models that bind what they think, and one that does not.
const (
	binding  = "claude-opus-5-5"
	unbound  = "claude-opus-5"
	unlisted = "claude-new" // binds, but no table has it
)

// modelOf is what the server does for a model, whose window is never full.
func modelOf(name string) rules.Model {
	m := rules.ModelOf(name)
	if name == unlisted {
		m = rules.ModelOf(binding)
	}
	m.Window = 1 << 40
	return m
}

// thinker is Messages with a server whose models sign what they think, and refuse it elsewhere.
type thinker struct {
	messagesTongue
	answers *int // so far, of all conversations
}

// hear judges a body as the server does. Behind a sound one, what is thought next is bound to here.
func hear(body []byte) (here thought.Bond, refused *rules.Refusal) {
	q, refused := rules.Read(http.Header{"Anthropic-Version": {"2023-06-01"}}, body, false, modelOf)
	if refused != nil {
		return here, refused
	}
	w, refused := thought.Check(q, func(string) bool { return false })
	return w.Here, refused
}

// group adds an answer to what was sent last: it thinks at its beginning and between its calls, or not at all.
func (k thinker) group(c *talk) {
	here, refused := hear(c.sent)
	if refused != nil {
		panic("BUG: an answer to what was refused: " + refused.Message)
	}
	from := len(c.items)
	k.messagesTongue.group(c)
	for k.refusal([]byte(c.body())) != nil { // it has a blank text
		c.items = c.items[:from:from]
		k.messagesTongue.group(c)
	}
	for i := from; i < len(c.items); i++ {
		c.items[i] = k.sign(c, c.items[i], here)
	}
}

// sign gives an answer thoughts that are signed, in the place of those that are not: at its beginning, and maybe
// between what it says and calls.
func (k thinker) sign(c *talk, item string, here thought.Bond) string {
	var m struct{ Role, Content json.RawMessage }
	var blocks, all []json.RawMessage
	if json.Unmarshal([]byte(item), &m) != nil || string(m.Role) != `"assistant"` ||
		json.Unmarshal(m.Content, &blocks) != nil {
		return item
	}
	blocks = slices.DeleteFunc(blocks, func(b json.RawMessage) bool { return bytes.Contains(b, []byte(`{"type":"thinking"`)) })
	before := make([]int, len(blocks)) // thoughts before each block
	n, apart := 0, ""
	for i := range blocks {
		if before[i] = []int{2, 1, 0, 0, 0}[c.IntN(5)]; i == 0 {
			before[i] = []int{0, 1, 1, 1, 2}[c.IntN(5)]
		}
		n += before[i]
	}
	*k.answers++
	s := thought.Signer{Model: c.model, Answer: fmt.Sprint(*k.answers), Of: n, Here: here}
	for i, raw := range blocks {
		for range before[i] {
			all = append(all, think(c, &s))
		}
		if n > 0 && n == before[0] && i == 0 && c.IntN(6) == 0 { // the server makes one message of two
			apart = `{"role":"assistant","content":[` + string(bytes.Join(asBytes(all), []byte(","))) + "]}," + c.space()
			all = nil
		}
		b, refused := rules.ReadBlock(raw, "", "assistant")
		if refused != nil {
			panic("BUG: " + refused.Message)
		}
		s.Here.Pass("assistant", b.Canon)
		all = append(all, raw)
	}
	return apart + `{"role":"assistant","content":[` + string(bytes.Join(asBytes(all), []byte(","+c.space()))) + `]}`
}

// think is a part of what is thought: shown, hidden, or sealed as a whole.
func think(c *talk, s *thought.Signer) json.RawMessage {
	shown := c.words(c.IntN(2) * c.IntN(30))
	if c.IntN(5) == 0 {
		return json.RawMessage(`{"type":"redacted_thinking","data":"` + s.Sign("", 5) + `"}`)
	}
	return json.RawMessage(`{"type":"thinking","thinking":` + c.string(shown) + `,"signature":"` + s.Sign(shown, 5) + `"}`)
}

func asBytes(list []json.RawMessage) (all [][]byte) {
	for _, raw := range list {
		all = append(all, raw)
	}
	return all
}

// unthinking is a body without anything that was thought.
func unthinking(t teller, d conversation.Dialect, body []byte) []byte {
	r, err := d.Read(body, nil)
	if err != nil {
		return body
	}
	var edits []span.Edit
	var alone []conversation.Removal
	for i := range r.Items {
		switch it := &r.Items[i]; {
		case it.SaysNothing():
			alone = append(alone, conversation.Removal{First: i, N: 1})
		default:
			edits = append(edits, conversation.WithoutThinking(r, it)...)
		}
	}
	removed, err := conversation.Remove(r, alone)
	if err != nil {
		t.Fatalf("%v", err)
	}
	bare, err := span.Splice(body, append(edits, removed...))
	if err != nil {
		t.Fatalf("%v", err)
	}
	return bare
}

// trouble is what may happen to what is recorded.
type trouble int

const (
	none    trouble = iota
	losing          // some of it may be lost
	failing         // and writes may fail
)

// minds is a play before a server that binds what its models think, but for some.
type minds struct {
	*play
	trouble
	binds  bool // all speak to models that bind, or may
	nets   int  // requests that were sent once more, without any thinking
	passed int  // refusals that the client got
	taken  int  // thoughts that were taken out
	lost   bool // facts were, or a model is not known to bind

	refusal string // the last one
}

// say asks for the next answer, and holds that the server takes what is sent, at the second try if need be.
func (p *minds) say(r *speaker) {
	p.Helper()
	out := p.ask(r)
	p.deliver(r, out)
}

// deliver sends what was shaped.
func (p *minds) deliver(r *speaker, out Output) {
	p.Helper()
	p.taken += out.Report.Thoughts
	_, refused := hear(out.Body)
	if refused == nil {
		r.sent = out.Body
		return
	}
	if !strings.Contains(refused.Message, "bound to a different conversation") {
		p.Fatalf("%.20000s\nis sent, and refused: %v", out.Body, refused)
	}
	p.refusal = refused.Message
	if !out.Report.Unsure && !out.Changed {
		p.passed++
		p.heal(r)
		return
	}
	p.nets++
	second := p.Shape(Input{Dialect: r.tongue, Body: []byte(r.body()), Scope: r.scope, Upstream: "up", Limits: &p.limits,
		Now: p.clock, Rescue: &plan.Rescue{Unthinking: true}})
	p.judge(r, r.body(), second)
	if _, again := hear(second.Body); again != nil || second.Settle == nil && second.Report.Err == nil {
		p.Fatalf("%s\nis refused: %v, and then\n%s: %v", out.Body, refused, second.Body, again)
	}
	if second.Settle != nil {
		second.Settle()
	}
	r.last, r.sent = map[string]spoken{}, second.Body
}

// heal does what clients do that get the refusal: they ask again without any thinking.
func (p *minds) heal(r *speaker) {
	for i, item := range r.items {
		bare := unthinking(p, r.tongue, []byte(`{"messages":[`+item+`]}`))
		r.items[i] = strings.TrimSuffix(strings.TrimPrefix(string(bare), `{"messages":[`), "]}")
	}
	r.last = map[string]spoken{}
	out := p.ask(r)
	if _, refused := hear(out.Body); refused != nil {
		p.Fatalf("a client that leaves out all thinking is refused: %v", refused)
	}
	r.sent = out.Body
}

// turn is something that happens.
func (p *minds) turn() {
	if p.lost && p.trouble != none { // what is lost is not repeated
		for _, r := range p.parts {
			r.last = map[string]spoken{}
		}
	}
	r := p.parts[rapid.IntRange(0, len(p.parts)-1).Draw(p.T, "who")]
	grow := func() {
		r.rescued, r.reminder = false, ""
		r.tongue.group(r.talk)
		if r.IntN(5) == 0 {
			r.add("assistant", r.string(r.words(30)))
			r.user()
		}
		if r.IntN(6) == 0 {
			r.reminder = `{"role":"system","clear_at":"next_user_message","content":` + r.string("It is "+r.words(2)) + `}`
		}
	}
	switch rapid.SampledFrom([]string{"grow", "grow", "grow", "grow", "grow", "grow", "again", "restart", "limits",
		"window", "ratio", "fork", "at once", "model", "pause", "vanish", "rescue", "whole", "lose"}).Draw(p.T, "what") {
	case "grow":
		grow()
		p.say(r)
	case "again":
		p.again(r, "change of limits")
		p.say(r)
	case "restart":
		p.again(r, "restart")
		p.say(r)
	case "limits":
	case "window":
		p.window = p.drawWindow()
	case "ratio":
		p.ratio = rapid.Float64Range(.3, 4).Draw(p.T, "ratio")
	case "fork":
		n := 1 + int(p.seed()%uint64(len(r.items)))
		for n < len(r.items) && !saysIn(r.items[n], "assistant") { // all calls are answered
			n++
		}
		f := &speaker{talk: r.fork(n, p.seed()), scope: r.scope, last: map[string]spoken{}, rescued: true}
		if !saysIn(f.items[n-1], "system") && f.IntN(2) == 0 {
			f.user()
		}
		p.parts = append(p.parts, f)
		p.say(f)
	case "at once":
		grow()
		p.atOnce(r)
		p.say(r)
	case "pause":
		p.clock = p.clock.Add(6 * time.Minute)
		grow()
		p.say(r)
	case "model":
		if models := []string{binding, "claude-sonnet-5-5", unbound, unlisted}; p.binds {
			r.model = rapid.SampledFrom(models).Draw(p.T, "model")
		}
		p.lost = p.lost || r.model == unlisted
		p.say(r)
	case "vanish":
		if !p.lost { // what takes the place of a lost fact may name what is gone
			p.vanish()
		}
	case "rescue":
		grow()
		p.say(r)
		if out := p.rescue(r); out.Settle != nil {
			p.deliver(r, out)
			// What was left out of the newest message is repeated only where the reminder behind it is.
			p.lost = p.lost || out.Report.Stage == plan.StageUsers
		}
	case "whole":
		grow()
		p.say(r)
		if out := p.whole(r); out.Settle != nil {
			p.deliver(r, out)
		}
	case "lose":
		p.lose()
	}
}

// whole has the structure of what was sent refused, once more.
func (p *minds) whole(r *speaker) Output {
	out := p.Shape(Input{Dialect: r.tongue, Body: []byte(r.body()), Scope: r.scope, Upstream: "up", Limits: &p.limits,
		Now: p.clock, Rescue: &plan.Rescue{Whole: true}})
	p.judge(r, r.body(), out)
	if out.Settle != nil {
		out.Settle()
	}
	r.last = map[string]spoken{}
	return out
}

// saysIn reports whether a message is of that role.
func saysIn(item, role string) bool { return gjson.Get(item, "role").Str == role }

// lose loses some of what was recorded.
func (p *minds) lose() {
	if p.trouble == none {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(p.notes.facts)) {
		if p.parts[0].IntN(3) == 0 && strings.Contains("dfl", key[:1]) {
			delete(p.notes.facts, key)
		}
	}
	p.restart()
	p.lost = true
	if p.forgetful = p.trouble == failing; p.forgetful {
		p.notes.luck, p.cupboard.Luck = p.drawLuck("ledger"), p.drawLuck("shelf")
	}
	for _, r := range p.parts {
		r.last = map[string]spoken{}
	}
}

// newMinds begins a play, in which facts are lost or not.
func newMinds(t *rapid.T, what trouble, model string) *minds {
	answers := 0
	p := &minds{play: newPlayIn(thinker{answers: &answers}, t, what == none, false),
		trouble: what, binds: model != unbound, lost: model == unlisted}
	for _, r := range p.parts {
		r.model = model
		p.say(r)
	}
	return p
}

// Where models bind what they think, the server takes all that is sent; where facts were lost, or a model is not known
// to bind, at the second try. Where they do not bind it, no thought is ever taken out.
func TestBoundThinkingIsNeverSentBehindAnotherPrefix(t *testing.T) {
	f := func(name, model string, what trouble) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			taken, nets, passed := 0, 0, 0
			rapid.Check(t, func(t *rapid.T) {
				p := newMinds(t, what, model)
				for range rapid.IntRange(1, 30).Draw(t, "steps") {
					p.turn()
					if (p.nets > 0 || p.passed > 0) && !p.lost || p.passed > 0 && what == none {
						t.Fatalf("the server has refused what was sent, though all is recorded: %s", p.refusal)
					}
				}
				taken, nets, passed = taken+p.taken, nets+p.nets, passed+p.passed
			})
			t.Logf("%d thoughts were taken out, %d requests sent again without any, %d refusals passed on", taken, nets, passed)
			if (taken == 0) != (model == unbound) {
				t.Errorf("%d thoughts were taken out", taken)
			}
		})
	}
	f("all recorded", binding, none)
	f("some lost", binding, losing)
	f("on failing disks", binding, failing)
	f("learned", unlisted, none)
	f("not bound", unbound, losing)
}
