package rewrite

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"epitome/bench/cputime"
	"epitome/rewrite/decision"
	"epitome/rewrite/limits"
	"epitome/rewrite/messages"
	"epitome/rewrite/plan"
)

// Before a message of the system that Messages wants behind the user's, the last message stays, and all before it goes.
func TestOfARunOnlyItsLastMessageStaysWhereTheOrderWantsIt(t *testing.T) {
	w := newBench(100_000)
	w.dialect, w.limits.Rules.Messages = messages.Dialect{}, 6
	long := strings.Repeat("all is well ", 100)
	list := []string{message("user", `"Go."`)}
	for k := range 8 {
		list = append(list, message("assistant", fmt.Sprintf(`"First %d %s"`, k, long)),
			message("user", fmt.Sprintf(`"Second %d %s"`, k, long)), message("assistant", fmt.Sprintf(`"Third %d %s"`, k, long)),
			message("user", fmt.Sprintf(`"Fourth %d"`, k)), message("system", fmt.Sprintf(`"Rule %d"`, k)))
	}
	list = append(list, message("assistant", `"So it is."`), message("user", `"And now?"`))
	body := `{"model":"nobody","max_tokens":1000,"messages":[` + strings.Join(list, ",") + `]}`
	out := w.Shape(Input{Dialect: w.dialect, Body: []byte(body), Upstream: "up", Limits: &w.limits})
	judged(t, w, body, out)
	if out.Report.Err != nil {
		t.Fatal(out.Report.Err)
	}
	sent := string(out.Body)
	for k := range 6 {
		for _, said := range []string{"First", "Second", "Third"} {
			if said := fmt.Sprint(said, " ", k); strings.Contains(sent, said) {
				t.Errorf("%q is sent", said)
			}
		}
		if k > 0 && (!strings.Contains(sent, fmt.Sprint("Fourth ", k)) || !strings.Contains(sent, fmt.Sprint("Rule ", k))) {
			t.Errorf("what must stay of run %d is not sent", k)
		}
	}
	if again := w.shape(body); string(again.Body) != sent {
		t.Errorf("it is sent otherwise: %s", firstDifference(sent, string(again.Body)))
	}
}

// heavy are long conversations of which a part of the work once grew with the square of their length.
var heavy = []struct {
	name, dialect string
	rules         limits.Rules
	rescue        *plan.Rescue
	least         int // forms in which items are sent
	items         func(n int, s *script) string
}{
	{"calls as text", "responses", limits.Rules{TextOnly: true}, nil, 600, func(n int, s *script) string {
		return repeated(n/2, func(i int) string { return s.round(i, fmt.Sprint("make ", i), said40(i)) })
	}},
	{"runs between rules", "chat", limits.Rules{Messages: 20}, nil, 200, func(n int, s *script) string {
		return repeated(n/5, func(i int) string {
			return s.round(i, "make", said40(i)) + s.say("user", said40(i+1)) + "," + s.say("assistant", said40(i+2)) + "," +
				s.say("system", `"Go on."`) + ","
		})
	}},
	{"runs that fall with the one before", "responses", limits.Rules{Messages: 20}, nil, 1, func(n int, s *script) string {
		return s.call(0, "make") + "," + s.say("system", `"Go on."`) + "," + repeated(n/8, func(i int) string {
			return s.result(i, said40(i)) + "," + s.call(i+1, "make") + "," + s.say("user", `"And on."`) + "," +
				s.say("system", `"Go on."`) + ","
		}) + s.result(n/8, `"ok"`) + "," + repeated(n/4, func(i int) string {
			return s.say("user", said40(i)) + "," + s.say("assistant", said40(i+1)) + ","
		})
	}},
	{"thoughts that go", "messages", limits.Rules{}, &plan.Rescue{Unthinking: true}, 900, thoughts},
	{"thoughts", "messages", limits.Rules{}, nil, 0, func(n int, s *script) string { return thoughts(5*n, s) }},
}

// repeated is what part says of each of n numbers.
func repeated(n int, part func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(part(i))
	}
	return b.String()
}

// said40 is a text of about 250 tokens, another one for each number.
func said40(n int) string {
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, "part%x ", n*7919+i*104_729)
	}
	return `"` + b.String() + `"`
}

// thoughts are n messages in which the model does nothing but think.
func thoughts(n int, _ *script) string {
	return repeated(n, func(i int) string {
		return message("assistant", fmt.Sprintf(`[{"type":"thinking","thinking":"part %d of it","signature":"c2ln"}]`, i)) + ","
	})
}

// Four times the conversation takes four times the work, whatever rules the user has switched on.
func TestLongConversationsAreLinear(t *testing.T) {
	const items = 1_500
	for _, h := range heavy {
		t.Run(h.name, func(t *testing.T) {
			s := scripts[h.dialect]
			shape := func(body string) time.Duration {
				b := newBench(4_000_000)
				b.dialect, b.limits.Rules = s.dialect, h.rules
				in := Input{Dialect: s.dialect, Body: []byte(body), Upstream: "up", Limits: &b.limits, Rescue: h.rescue}
				runtime.GC()
				var out Output
				cost := cputime.Of(func() { out = b.Shape(in) })
				isWhole := func(f *decision.Form) bool { return f == nil }
				if n := len(slices.DeleteFunc(out.forms, isWhole)); n < h.least {
					t.Fatalf("%d items have a form: the test shows nothing: %v, %s", n, out.Report.Err, out.Report.Reason)
				}
				return cost
			}
			head := s.say("user", `"Go on."`) + ","
			tail := s.say("user", `"So?"`) + ","
			small := s.body(head + h.items(items, s) + tail)
			large := s.body(head + h.items(4*items, s) + tail)
			shape(small)
			isLinear(t, func() time.Duration { return shape(small) }, func() time.Duration { return shape(large) })
		})
	}
}

// isLinear holds that the second work, which has four times as much to do as the first, takes no more than eight times
// as long: linear work takes four times as long, and quadratic work sixteen times.
func isLinear(t *testing.T, once, fourTimes func() time.Duration) {
	t.Helper()
	const rounds, most = 5, 8.0
	var few, many []time.Duration
	for range rounds {
		few, many = append(few, once()), append(many, fourTimes())
	}
	slices.Sort(few)
	slices.Sort(many)
	ratio := float64(many[rounds/2]) / float64(few[rounds/2])
	t.Logf("%.1f", ratio)
	if ratio > most {
		t.Errorf("four times the work takes %.1f times as long: %v and %v", ratio, few, many)
	}
}

// A message may hold thousands of results; where one of them stands is told without looking at all.
func TestPartsOfOneMessageAreFoundAtOnce(t *testing.T) {
	find := func(n int) func() time.Duration {
		results := repeated(n, func(i int) string {
			return fmt.Sprintf(`,{"type":"tool_result","tool_use_id":"c%d","content":"ok"}`, i)
		})
		body := `{"messages":[{"role":"user","content":[` + strings.TrimPrefix(results, ",") + `]}]}`
		r, err := messages.Dialect{}.Read([]byte(body), nil)
		if err != nil || len(r.Items) != n {
			t.Fatal(len(r.Items), err)
		}
		return func() time.Duration {
			return cputime.Of(func() {
				for range 200 {
					for i := range n {
						if len(r.BytesOf(i, 1)) == 0 {
							t.Fatal("an item is nowhere")
						}
					}
				}
			})
		}
	}
	isLinear(t, find(1_000), find(4_000))
}
