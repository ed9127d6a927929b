package rewrite_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tidwall/gjson"

	"epitome/dialect/conversation"
	"epitome/rewrite"
	"epitome/rewrite/ladder"
	"epitome/rewrite/ledger"
	"epitome/summarize"
	"epitome/tokenize"
)

// agent matches the name of an agent in its prompt.
var agent = regexp.MustCompile(`Agent \d+`)

// answerer is a Summarizer whose model answers each question at once, and says which agent it was told to be.
type answerer struct {
	questions int
	answers   map[string]string
	longest   int    // tokens of the model that the longest question may have
	leave     func() // the client leaves meanwhile; nil: it waits
}

func (a *answerer) Look(key string) (summarize.Prose, bool, error) {
	text, found := a.answers[key]
	return summarize.Prose{Text: text}, found, nil
}

func (a *answerer) Ask(ctx context.Context, q summarize.Question) (p summarize.Prose, err error) {
	if a.leave != nil {
		a.leave()
		return p, ctx.Err()
	}
	a.Prepare(q)
	p.Text = a.answers[q.Key]
	return p, nil
}

func (a *answerer) Prepare(q summarize.Question) {
	if a.answers[q.Key] == "" {
		a.questions++
		a.longest = max(a.longest, sizeOf(q))
		a.answers[q.Key] = fmt.Sprintf("## Goal\nAnswer %d. %s", a.questions, agent.Find(q.Continue))
	}
}

// sizeOf returns how many tokens of the model a question may have: those of the conversation that it continues, or of a
// transcript, whichever is more.
func sizeOf(q summarize.Question) int {
	scale, tokens := conversation.Scale{Model: tokenize.ModelOf(q.Model.Name), Memo: memo(), Ratio: 1}, 0
	if r, err := conversation.Read(q.Model.Dialect, q.Continue, nil); err == nil {
		tokens = r.Count(scale).Total()
		for i := range r.Items {
			tokens += r.Items[i].Size.Total()
		}
	}
	return int(float64(max(tokens, q.Model.Usable)) * scale.Model.Ratio)
}

func (*answerer) Prepares(string) bool { return true }

// idleShelf is a shelf that takes everything and keeps nothing, in no time.
type idleShelf struct{ shelf }

func (idleShelf) Put(string, []byte, bool) error { return nil }
func (idleShelf) Touch(string) bool              { return true }

// asking returns a process over s that asks the model of a.
func asking(s *storage, a *answerer) process {
	p := process{window: &atomic.Int64{}}
	p.Shaper = rewrite.NewShaper(rewrite.Deps{
		Ledger: ledger.New(s, keep), Shelf: idleShelf{shelf{s}}, Memo: memo(), Summarizer: a,
		Window: func(_, _ string, _ int) (int, int) { return int(p.window.Load()), int(p.window.Load()) * 7 / 8 },
	})
	return p
}

// inputOf returns the next request of a conversation, whose client waits for it.
func inputOf(name string, c *talk, limits *ladder.Limits) rewrite.Input {
	return rewrite.Input{Dialect: dialects[name], Body: c.body(), Scope: c.scope, Upstream: "up", Limits: limits,
		Client: context.Background(), Credential: func() any { return nil }}
}

// providersSummary begins a conversation behind a summary that the provider has made.
var providersSummary = map[string]string{
	"messages":  `{"role":"assistant","content":[{"type":"compaction","content":"They fixed the shop."}]}`,
	"responses": `{"type":"compaction","id":"cmp_1","encrypted_content":"gAAAA"}`,
}

// Behind a summary of the provider nothing old changes, and no model is asked: the provider will make the next summary.
// Large results are shortened as they come, and a refused request is rescued.
func TestProviderThatCompactsGoesOn(t *testing.T) {
	for name, summary := range providersSummary {
		t.Run(name, func(t *testing.T) {
			model, limits := &answerer{answers: map[string]string{}}, defaultLimits()
			p := asking(newStorage(), model)
			p.window.Store(20_000)
			c := newTalk(name, 3, "scope", false)
			c.messages = append(c.messages, summary)
			c.user()
			sums, last := map[string]int{}, rewrite.Output{}
			for range 40 {
				c.answer(answer{text: "So."}, 2)
				last = p.Shape(inputOf(name, c, &limits))
				r := &last.Report
				sums["offloaded"] += r.Offloaded
				sums["changed"] += r.Cleared + r.Compacted
				if r.Err != nil {
					t.Fatal(r.Err)
				}
			}
			size := last.Report.TokensAfter.Total()
			if sums["offloaded"] == 0 || sums["changed"]+model.questions > 0 || size < 20_000 {
				t.Errorf("%v, %d questions, at last %d tokens: %s", sums, model.questions, size, last.Report.Code)
			}
			in := inputOf(name, c, &limits)
			in.Rescue = &rewrite.Rescue{Most: 20_000, From: ladder.StageClear}
			if r := p.Shape(in).Report; r.TokensAfter.Total() > 20_000 || r.Err != nil {
				t.Errorf("a rescue leaves %d tokens: %v", r.TokensAfter.Total(), r.Err)
			}
		})
	}
}

// A model is asked for a summary where the conversation will go on with it: often if the conversation only grows, also
// after a restart, and hardly ever where the agent changes an earlier message each turn.
func TestChangedMessagesAreNotPaidFor(t *testing.T) {
	const turns = 100
	changes := map[string]func(c *talk, turn int) (undo func()){
		"none": func(*talk, int) func() { return func() {} },
		"one word, for one turn": func(c *talk, turn int) func() {
			before := slices.Clone(c.messages)
			c.change(c.IntN(len(c.messages)-2), turn)
			return func() { c.messages = before }
		},
		"one word, for good": func(c *talk, turn int) func() {
			c.change(c.IntN(2)*c.IntN(len(c.messages)-2), turn) // mostly the first message: it may show the time
			return func() {}
		},
		"the time, where nothing stands before it": func(c *talk, turn int) func() {
			c.system = ""
			c.change(0, turn)
			return func() {}
		},
	}
	for name := range apis {
		for kind, change := range changes {
			t.Run(name+" "+kind, func(t *testing.T) {
				t.Parallel()
				limits, s, model := defaultLimits(), newStorage(), &answerer{answers: map[string]string{}}
				p := asking(s, model)
				p.window.Store(6_000)
				limits.Floor = 100
				c := newTalk(name, 1, "scope", false)
				c.system = strings.Repeat("You are an agent. ", 20)
				compactions, alone, late := 0, 0, 0
				for turn := range turns {
					c.step(fmt.Sprintf("Step %d. %s", turn, c.words(40)), 60)
					undo := change(c, turn)
					if turn == turns/2 {
						p, late = asking(s, model), model.questions
						p.window.Store(6_000)
					}
					out := p.Shape(inputOf(name, c, &limits))
					if out.Report.Err != nil {
						t.Fatal(out.Report.Err)
					}
					if out.Report.Compacted > 0 {
						compactions++
					}
					if out.Report.Compaction.Why != "" {
						alone++
					}
					undo()
				}
				switch most := turns / 10; {
				case compactions == 0:
					t.Error("nothing is compacted")
				case kind == "none" && (alone > 0 || model.questions == late || late == 0):
					t.Errorf("%d of %d compactions are code's alone; %d questions before a restart, %d in all", alone,
						compactions, late, model.questions)
				case kind != "none" && model.questions > most:
					t.Errorf("%d questions for %d compactions, want at most %d", model.questions, compactions, most)
				}
			})
		}
	}
}

// A question continues the conversation as it was sent before, which may be more than what the request leaves of it: it
// fits the window all the same.
func TestQuestionsFitTheWindow(t *testing.T) {
	const window, usable = 20_000, 17_500
	for name := range apis {
		limits, model := defaultLimits(), &answerer{answers: map[string]string{}}
		for seed := range uint64(4) {
			p := asking(newStorage(), model)
			p.window.Store(window)
			c := newTalk(name, seed, "scope", false)
			for turn := range 30 {
				c.step(c.words(20), 400+c.IntN(1_000))
				if turn < 10 {
					continue // an agent that did without epitome so far
				}
				if out := p.Shape(inputOf(name, c, &limits)); out.Report.Err != nil {
					t.Fatal(out.Report.Err)
				}
			}
		}
		if model.questions == 0 || model.longest > usable {
			t.Errorf("%s: the longest of %d questions has %d tokens", name, model.questions, model.longest)
		}
	}
}

// step adds an answer with a call, and its result of n words.
func (c *talk) step(said string, n int) {
	made := c.call()
	made.result = c.words(n)
	c.add(c.api.answer(answer{text: said, calls: []call{made}})...)
	c.add(c.api.results(c.pen, []call{made})...)
}

// change puts a word into message i, at a random place if it has several texts.
func (c *talk) change(i, turn int) {
	c.messages[i] = changeable.ReplaceAllString(c.messages[i], fmt.Sprintf(`"$1":$2"(%d) `, turn))
}

// changeable matches the beginning of the texts of a message.
var changeable = regexp.MustCompile(`"(text|content|output)":(\s*)"`)

// A summary with a focus is made for it: an answer that was made without one, or for another, is not found.
func TestFocusIsPartOfTheQuestion(t *testing.T) {
	model, limits := &answerer{answers: map[string]string{}}, defaultLimits()
	c := newTalk("chat", 1, "scope", false)
	for range 12 {
		c.answer(answer{text: c.words(40)}, 1)
		c.user()
	}
	for i, focus := range []string{"", "the tables", "the tables", "the names", ""} {
		p := asking(newStorage(), model)
		p.window.Store(60_000)
		in := inputOf("chat", c, &limits)
		in.Compact, in.Focus = true, focus
		out := p.Shape(in)
		if want := []int{1, 2, 2, 3, 3}[i]; model.questions != want || out.Report.Err != nil {
			t.Errorf("%d questions up to focus %q, want %d: %v", model.questions, focus, want, out.Report.Err)
		}
	}
}

// A note counts the messages that it stands for, and no message that stays beside it; a filter keeps what the user
// wants kept.
func TestNotesCountWhatIsLeftOut(t *testing.T) {
	messages := []string{`{"role":"user","content":"Begin."}`}
	for i := range 20 {
		user := fmt.Sprintf("Next is step %d. %s", i, strings.Repeat("Go on. ", 30))
		if i == 2 {
			user = "keep: no names\\n" + user
		}
		messages = append(messages, `{"role":"assistant","content":"`+strings.Repeat("Well. ", 60)+`"}`,
			`{"role":"user","content":"`+user+`"}`)
		if i == 5 {
			messages = append(messages, `{"role":"critic","content":"Mind the gap."}`,
				`{"role":"system","content":"Be brief."}`)
		}
	}
	body := []byte(`{"model":"m","messages":[` + strings.Join(messages, ",") + `]}`)
	for name, set := range map[string]func(*ladder.Limits, *rewrite.Input){
		"compact":      func(_ *ladder.Limits, in *rewrite.Input) { in.Compact = true },
		"newest_turns": func(l *ladder.Limits, _ *rewrite.Input) { l.Turns = 4 },
		"rescue": func(_ *ladder.Limits, in *rewrite.Input) {
			in.Rescue = &rewrite.Rescue{Most: 1_000, From: ladder.StageBare}
		},
	} {
		limits := defaultLimits()
		limits.KeepTail, limits.Floor = 500, 100
		in := rewrite.Input{Dialect: dialects["chat"], Body: body, Limits: &limits}
		set(&limits, &in)
		p := start(newStorage())
		p.window.Store(64_000)
		out := p.Shape(in)
		sent := gjson.GetBytes(out.Body, "messages").Array()
		var counted int
		_, note, _ := strings.Cut(string(out.Body), "[epitome: ")
		fmt.Sscan(note, &counted)
		left := len(messages) - len(sent)
		isMessage := strings.HasPrefix(sent[1].Get("content").Str, "[epitome: ") // else a part of the first one
		if isMessage {
			left++
		}
		if out.Report.Err != nil || counted != left || counted < 10 || !strings.Contains(note, `\nkeep: no names\n`) &&
			!strings.Contains(note, `\nkeep: no names"`) || !strings.Contains(string(out.Body), "Mind the gap.") {
			t.Errorf("%s: %d of %d messages are left out, and the note says %.600s", name, left, len(messages), note)
		}
	}
}
