package rewrite

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"epitome/rewrite/plan"
)

// Promise 6: what a rescue left out is made again to the byte, at once and in later requests, whatever else stood in
// the messages that it was in.
func TestWhatARescueLeavesOutIsMadeAgain(t *testing.T) {
	for seed := range uint64(100) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { rescued(t, messagesTongue{}, seed) })
		t.Run(fmt.Sprint("responses ", seed), func(t *testing.T) { rescued(t, responsesTongue{}, seed) })
	}
}

// rescued plays a conversation that is refused, goes on, and is refused again.
func rescued(t *testing.T, in strictTongue, seed uint64) {
	c := newTalkIn(in, seed, seed%4 == 0)
	b := newBench([]int{3_000, 1_000_000}[c.IntN(2)])
	b.dialect, b.limits.Floor = in, 0
	ask := func(how *plan.Rescue) {
		body := c.body()
		out := b.Shape(Input{Dialect: b.dialect, Body: []byte(body), Upstream: "up", Limits: &b.limits, Rescue: how})
		judged(t, b, body, out)
		if out.Settle != nil {
			out.Settle()
		}
		if err := in.refusal(out.Body); err != nil && in.refusal([]byte(body)) == nil {
			t.Fatalf("a strict server refuses what is sent: %v", err)
		}
	}
	for range 3 {
		for range 1 + c.IntN(3) {
			c.grow()
		}
		ask(nil)
		from := []plan.Stage{plan.StageCompact, plan.StageShorter, plan.StageBare, plan.StageUsers}[c.IntN(4)]
		ask(&plan.Rescue{Most: 100 + c.IntN(3_000), From: from})
		if c.IntN(2) == 0 {
			b.restart()
		}
		if c.IntN(3) == 0 {
			c.reminder = ""
		}
		if seed%4 == 0 && c.IntN(3) == 0 {
			c.tongue.oddity(c)
		}
		ask(nil)
	}
}

// What was left out ended with a message of the system, behind which only the model may speak. When the user speaks
// there, what was sent cannot be gone on from.
func TestUsersSpeakWhereOnlyTheModelMay(t *testing.T) {
	for _, restart := range []bool{false, true} {
		c := newCoder(1_000_000, userBlocks(textBlock(theTask)))
		for range 4 {
			c.work(1, 900)
			c.items = append(c.items, `{"role":"system","content":"Mind the gap."}`)
		}
		c.work(1, 900)
		c.ask(t)
		if out := c.rescue(t, plan.Rescue{Most: 1_000, From: plan.StageBare}); out.Report.Stage != plan.StageBare {
			t.Fatalf("stage %s", out.Report.Stage)
		}
		before := slices.Clone(c.items)
		c.items = append(before[:len(before):len(before)], userBlocks(textBlock("Stop.")))
		for n, said := range []string{"I stop.", "I have stopped.", ""} {
			stays := len(c.items)
			if restart {
				c.restart()
			}
			c.items = append(c.items, `{"role":"system","content":"It is noon."}`)
			out := c.ask(t)
			if strings.Contains(string(out.Body), "epitome: summary") {
				t.Errorf("it goes on behind a message of the system: %s", out.Body)
			}
			if anew := n < 2; out.Report.Broke != anew { // an answer is needed behind which it can be recorded
				t.Errorf("in request %d that what was sent has changed is %v", n, out.Report.Broke)
			}
			c.items = append(c.items[:stays], `{"role":"assistant","content":"`+said+`"}`, userBlocks(textBlock("Well.")))
		}
		c.items = append(before[:len(before):len(before)], `{"role":"assistant","content":"I mind it."}`)
		if out := c.ask(t); !strings.Contains(string(out.Body), "epitome: summary") {
			t.Errorf("the model spoke, and what was sent is not gone on from: %s", out.Report.Reason)
		}
	}
}
