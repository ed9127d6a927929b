// Package plantest lays out plans for the tests of the rooms that write on them. The program does not use it.
package plantest

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"pgregory.net/rapid"

	"epitome/rewrite/chat"
	"epitome/rewrite/conversation"
	"epitome/rewrite/decision"
	"epitome/rewrite/history"
	"epitome/rewrite/limits"
	"epitome/rewrite/plan"
	"epitome/rewrite/rewritetest"
	"epitome/rewrite/span"
	"epitome/unit"
)

// Limits returns the numbers of preset balanced, with the others about as the program has them.
func Limits() limits.Limits {
	l := limits.Limits{
		Floor: 16 << 10, OffloadShare: .15, Screen: 1000, Recall: 30_000, ClearAt: .8,
		ClearAtLeast: 20_000, Groups: 12, CachedPrice: .1, CacheLife: unit.Duration(5 * time.Minute), CompactAt: .9,
		PrepareAt: .8, Thrash: 10, Target: .5, KeepTail: 20_000,
	}
	if err := l.SetPreset("balanced"); err != nil {
		panic(err)
	}
	return l
}

// Step is a call of a tool, and what came of it.
type Step struct {
	Tool   string
	Input  string // the arguments, as JSON
	Output string
	Parts  []string // the output in parts, in place of Output
}

// Command is a step in a shell.
func Command(line, output string) Step {
	return Step{Tool: "bash", Input: `{"command":` + quote(line) + `}`, Output: output}
}

// Reading is a step that reads a file.
func Reading(path, output string) Step {
	return Step{Tool: "read_file", Input: `{"path":` + quote(path) + `}`, Output: output}
}

// Entries is a text of nine lines and some 180 tokens, by its number.
func Entries(n int) string {
	var b strings.Builder
	for i := range 9 {
		fmt.Fprintf(&b, "\tentry_%d of listing_%d: value_%d is well and so is all else\n", i, n, 31*n+i)
	}
	return b.String()
}

// Body returns a request in which an agent has done the steps, one after another.
func Body(steps ...Step) string {
	messages := []string{`{"role":"user","content":"Make all parts."}`}
	for i, s := range steps {
		id := strconv.Itoa(i + 1)
		messages = append(messages,
			`{"role":"assistant","content":null,"tool_calls":[{"id":"call_`+id+`","type":"function","function":{"name":`+
				quote(s.Tool)+`,"arguments":`+quote(s.Input)+`}}]}`,
			`{"role":"tool","tool_call_id":"call_`+id+`","content":`+s.content()+`}`)
	}
	return `{"model":"gpt-5","messages":[` + strings.Join(messages, ",") + `]}`
}

// content is the output of a step as JSON.
func (s Step) content() string {
	if s.Parts == nil {
		return quote(s.Output)
	}
	var parts []string
	for _, text := range s.Parts {
		parts = append(parts, `{"type":"text","text":`+quote(text)+`}`)
	}
	return "[" + strings.Join(parts, ",") + "]"
}

func quote(text string) string { return string(span.AppendQuoted(nil, text)) }

// Desk is where plans are laid out. Its numbers may be changed between two of them.
type Desk struct {
	Limits limits.Limits
	Window int // tokens, all of which may be filled
	Scale  conversation.Scale
}

// NewDesk returns one with a window that nothing fills. It loads a vocabulary, which takes time.
func NewDesk(tb rapid.TB) *Desk {
	tb.Helper()
	scale := rewritetest.Scale(tb, "gpt-5")
	scale.Ratio = 1
	return &Desk{Limits: Limits(), Window: 1_000_000, Scale: scale}
}

// Plan lays out the plan for a request, with an empty shelf. Nothing was decided before.
func (d *Desk) Plan(tb rapid.TB, body string) *plan.Plan {
	tb.Helper()
	return d.PlanWith(tb, body, history.New())
}

// PlanWith lays it out with what is known of the conversation, and adds what is new to that.
func (d *Desk) PlanWith(tb rapid.TB, body string, h *history.History) *plan.Plan {
	tb.Helper()
	req, err := chat.Dialect{}.Read([]byte(body), nil)
	if err != nil {
		tb.Fatal(err)
	}
	h.Extend(req, d.Scale)
	fixed, _ := req.CountFixed(d.Scale)
	p := &plan.Plan{
		Limits: d.Limits.EffectiveAt(d.Window, d.Window, d.Scale.Ratio), Scale: d.Scale,
		Route: decision.Route{Upstream: "up", Model: req.Model, Dialect: chat.Dialect{}.Key()},
		Req:   req, Hist: h, Shelf: NewCupboard(), Base: &decision.Decision{}, End: req.Decidable(),
		Size:  fixed.Plus(h.Size),
		Sheet: plan.Sheet{Named: map[string]bool{}, NewForms: map[int]bool{}},
		Ask:   &plan.Asker{},
	}
	p.Forms = plan.BaseForms(p)
	return p
}
