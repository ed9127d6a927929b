package rewrite_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"epitome/event"
	"epitome/rewrite"
)

// greatest is a source of numbers with which a pen writes all texts in the simplest form.
type greatest struct{}

func (greatest) Uint64() uint64 { return math.MaxUint64 }

// In this session a person counts five things that were read again: lookups whose earlier result was not sent whole any
// more, and a read of an artifact. Each request comes to a new process, and once more.
func TestReadAgainIsWhatAPersonCounts(t *testing.T) {
	const session = `900 offload grep {"pattern":"main"}|300 - Read {"path":"a.go"}|` +
		`100 again grep {"pattern":"main"}|100 - grep {"pattern":"main"}|300 - bash {"command":"make"}|` +
		`30 - Read {"path":"a.go","offset":9}|700 clear Read {"path":"b.go"}|30 - Read {"path":"c.go"}|` +
		`90 again Read {"path":"/kept/ARTIFACT"}|30 - bash {"command":"make"}|300 again Read {"path":"a.go"}|` +
		`30 - Read {"path":"./a.go"}|2 compact Read {"path":"d.go"}|20 again Read {"path":"b.go","offset":9}|` +
		`700 again Read {"path":"b.go"}|4000 againoffload Read {"path":"/kept/ARTIFACT"}`
	for name, api := range apis {
		limits, s := defaultLimits(), newStorage()
		limits.Groups, limits.KeepTail = 2, 1_000
		c := &talk{seed: 1, pen: pen{rand.New(greatest{})}, api: api, model: "gpt-5"}
		c.add(api.user(c.pen, "Mend it."))
		artifact, before := "", 0 // tokens of results
		for i, step := range strings.Split(session, "|") {
			made, lines, want := call{}, 0, "" // want is a step of the ladder, or again
			_, _ = fmt.Sscan(step, &lines, &want, &made.tool, &made.arguments)
			made.arguments = strings.ReplaceAll(made.arguments, "ARTIFACT", artifact)
			made.id, made.result = fmt.Sprint("c", i), strings.Repeat(fmt.Sprintf("line %d of the file\n", i), lines)
			c.add(append(api.answer(answer{calls: []call{made}}), api.results(c.pen, []call{made})...)...)
			s.now = s.now.Add(10 * time.Minute) // the cache is cold, so results are cleared once they free enough
			p := start(s)
			p.window.Store(64_000)
			in := rewrite.Input{Dialect: dialects[name], Body: c.body(), Limits: &limits, Now: s.now}
			in.Compact = want == "compact"
			out := p.Shape(in)
			r := out.Report
			got := event.Step(&event.Exchange{Shaping: r.Shaping})
			if r.ReadAgain == 1 && r.ReadAgainTokens == r.TokensBefore.Results-before {
				got = "again" + got
			}
			twice := r.ReadAgain + p.Shape(in).Report.ReadAgain
			if got != strings.Trim(want, "-") || twice > 1 {
				t.Fatalf("%s, %q: %q, %d things with %d tokens", name, step, got, r.ReadAgain, r.ReadAgainTokens)
			}
			artifact, before = out.Changes()[0].Artifacts[0], r.TokensBefore.Results // the first step makes one
		}
	}
}

// With another system prompt, a request shares nothing with the provider's cache, in neither form.
func TestNothingIsHeldBehindAnotherPrompt(t *testing.T) {
	for name, api := range apis {
		limits := defaultLimits()
		s := newStorage()
		p := start(s)
		c := &talk{seed: 1, pen: pen{rand.New(greatest{})}, api: api, model: "gpt-5", system: "Be brief."}
		c.add(api.user(c.pen, "Mend it."))
		for i, isOther := range []bool{true, false, true} { // nothing comes before the first
			made := call{id: fmt.Sprint("c", i), tool: "bash", arguments: "{}", result: strings.Repeat("a line\n", 900)}
			c.add(append(api.answer(answer{calls: []call{made}}), api.results(c.pen, []call{made})...)...)
			if i == 2 {
				c.system = "Be thorough."
			}
			r := p.Shape(rewrite.Input{Dialect: dialects[name], Body: c.body(), Limits: &limits, Now: s.now}).Report
			if r.HeldBefore == 0 != isOther || r.HeldAfter == 0 != isOther {
				t.Errorf("%s, request %d: %d and %d tokens are held", name, i, r.HeldBefore, r.HeldAfter)
			}
		}
	}
}
