package promisetest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path"
	"sync"
	"time"

	"pgregory.net/rapid"
)

// play is some conversations, and what may befall them.
type play struct {
	*rapid.T
	player
	talks  []*talk
	window int
	limits Limits
}

// PlayRandom plays random conversations while processes restart, limits and windows change, conversations fork, models
// change, artifacts vanish and writes fail.
func PlayRandom(t *rapid.T, start Start, api string) {
	t.Helper()
	kind := rapid.SampledFrom([]string{"sound", "sound", "broken", "failing"}).Draw(t, "kind")
	p := newPlay(t, start)
	p.judge.loose, p.judge.broken = kind == "failing", kind == "broken"
	for i := range 2 {
		c := newTalk(api, p.seed(), kind == "broken")
		c.scope = fmt.Sprint("scope ", i)
		p.talks = append(p.talks, c)
	}
	for range rapid.IntRange(1, 40).Draw(t, "steps") {
		p.step(p.talks[p.draw("who", len(p.talks))])
	}
	p.core.Close()
}

func newPlay(t *rapid.T, start Start) *play {
	t.Helper()
	storage := NewStorage()
	p := &play{T: t, player: player{TB: t, judge: newJudge(t, storage), core: start(t, storage), start: start}}
	p.limits, p.window = drawLimits(t), drawWindow(t)
	return p
}

func (p *play) seed() uint64 { return rapid.Uint64().Draw(p.T, "seed") }

// draw returns a number below n.
func (p *play) draw(name string, n int) int { return rapid.IntRange(0, n-1).Draw(p.T, name) }

// step is something that happens to a conversation, or to all of them.
func (p *play) step(c *talk) {
	p.T.Helper()
	storage := p.judge.storage
	switch rapid.SampledFrom([]string{"grow", "grow", "grow", "grow", "grow", "grow", "grow", "grow", "again", "restart",
		"limits", "fork", "at once", "model", "clock", "pause", "lose", "fail", "refuse"}).Draw(p.T, "what") {
	case "again":
		p.ask(p.request(c))
		p.limits, p.window = drawLimits(p.T), drawWindow(p.T)
		p.ask(p.request(c))
	case "restart":
		p.ask(p.request(c))
		p.limits, p.window = drawLimits(p.T), drawWindow(p.T)
		p.restart()
		p.ask(p.request(c))
	case "limits":
		p.limits, p.window = drawLimits(p.T), drawWindow(p.T)
	case "fork":
		if n := len(c.ends); n > 0 {
			c = c.fork(p.draw("back to", n), p.seed())
			p.talks = append(p.talks, c)
			p.ask(p.request(c))
		}
	case "at once":
		c.grow()
		p.atOnce(p.request(c))
	case "model":
		if binds, _ := path.Match("claude-*-5-?", c.model); !binds {
			c.model += "-1"
		}
	case "clock":
		c.system = number.ReplaceAllString(c.system, fmt.Sprint(p.draw("time", 24)))
	case "lose":
		if !p.judge.loose {
			storage.Shelf.lose()
			storage.now = storage.now.Add(time.Hour) // a process looks for them now and then
		}
	case "fail":
		if p.judge.loose {
			luck, most := rand.New(rand.NewPCG(p.seed(), 3)), p.draw("failures", 6)
			storage.fail(func() bool { return luck.IntN(6) >= most })
		}
	case "refuse":
		c.grow()
		r := p.request(c)
		p.ask(r)
		if size := p.judge.size; size > 200 {
			r.Refused = size * (1 + p.draw("tenths", 9)) / 10
			p.ask(r)
			r.Refused = 0
			p.ask(r)
		}
	case "pause":
		storage.now = storage.now.Add(6 * time.Minute)
		fallthrough
	default:
		c.grow()
		p.ask(p.request(c))
	}
}

func (p *play) request(c *talk) Request {
	p.judge.storage.now = p.judge.storage.now.Add(time.Second)
	return Request{API: c.api, Body: dialects[c.api].body(&c.conversation), Scope: c.scope, Upstream: "up",
		Window: p.window, Limits: p.limits, Now: p.judge.storage.now}
}

// atOnce asks the same three times at the same time.
func (p *play) atOnce(r Request) {
	p.T.Helper()
	var sent [3]Sent
	var all sync.WaitGroup
	for i := range sent {
		all.Go(func() { sent[i] = p.core.Shape(r) })
	}
	all.Wait()
	for _, s := range sent[1:] { // one of them says that it breaks
		sent[0].Breaks = sent[0].Breaks || s.Breaks
		if !p.judge.loose && !bytes.Equal(s.Body, sent[0].Body) {
			p.T.Fatalf("promise 5: equal requests at the same time became different")
		}
	}
	p.taken(r, sent[0])
}

func drawWindow(t *rapid.T) int {
	return rapid.SampledFrom([]int{3000, 8000, 20_000, 100_000}).Draw(t, "window")
}

func drawLimits(t *rapid.T) Limits {
	draw := func(name string, of ...int) int { return rapid.SampledFrom(of).Draw(t, name) }
	offload := draw("offload", 100, 300, 1500)
	return Limits{
		OffloadTokens: offload, OffloadReads: offload * 2, OffloadKeep: draw("keep", 20, 200),
		ClearAt: rapid.SampledFrom([]float64{.3, .8}).Draw(t, "clear at"), CompactAt: .9,
		CompactTo:  rapid.SampledFrom([]float64{.2, .5}).Draw(t, "compact to"),
		KeepTokens: draw("tail", 0, 600, 20_000), ProtectTokens: draw("protect", 0, 300, 2000),
		ProtectGroups: draw("groups", 0, 1, 2, 5),
	}
}

// PlayApart plays a conversation beside another one that begins alike, and holds promise 7: it is sent as if it were
// alone. The other one is in another scope, begins with another system prompt, or is a fork, as apart says.
func PlayApart(t *rapid.T, start Start, api, apart string) {
	t.Helper()
	p, alone := newPlay(t, start), newPlay(t, start)
	seed := p.seed()
	c, other := newTalk(api, seed, false), newTalk(api, seed, false) // equal, and they grow alike
	if mustLearn(c.model) {                                          // what is learned is of all conversations
		c.model, other.model = "claude-opus-5-5", "claude-opus-5-5"
	}
	switch apart { // a fork begins below
	case "scope":
		other.scope = "another"
	case "system":
		c.system, other.system = "Answer in German.", "Answer in French."
	}
	limits, window := drawLimits(t), drawWindow(t)
	for turn := range rapid.IntRange(2, 16).Draw(t, "turns") {
		if turn > 0 && rapid.Bool().Draw(t, "beside") {
			if apart == "fork" {
				other = c.fork(p.draw("back to", len(c.ends)), p.seed())
				p.ask(p.request(other))
			}
			other.grow()
			p.ask(p.request(other))
		}
		c.grow()
		beside, own := p.request(c), alone.request(c)
		for _, r := range []*Request{&beside, &own} {
			r.Limits, r.Window, r.Now = limits, window, beside.Now
		}
		if a, b := p.ask(beside), alone.ask(own); !bytes.Equal(a.Body, b.Body) {
			t.Fatalf("promise 7: beside a conversation apart by its %s, other bytes are sent than alone: %s", apart,
				difference(string(a.Body), string(b.Body)))
		}
	}
	p.core.Close()
	alone.core.Close()
}
