package rewrite

import (
	"fmt"
	"strings"
	"testing"

	"epitome/rewrite/chat"
)

// A request that nobody could count in a second says so, and no model is told an estimate.
func TestAnEstimateIsToldAsOne(t *testing.T) {
	f := func(size int, want bool) {
		t.Helper()
		w := newBench(128_000)
		log := strings.Repeat("worker 17 is well and goes on with the next part of all its work\n", size/65)
		body := fmt.Sprintf(`{"model":"gpt-5","messages":[{"role":"user","content":"Go on."},{"role":"assistant","content":null,`+
			`"tool_calls":[{"id":"t","type":"function","function":{"name":"bash","arguments":"{\"command\":\"cat log\"}"}}]},`+
			`{"role":"tool","tool_call_id":"t","content":%q}]}`, log)
		out := w.Shape(Input{Dialect: chat.Dialect{}, Body: []byte(body), Upstream: "up", Limits: &w.limits})
		if out.Report.Err != nil || out.Report.Estimated != want || len(out.Report.Changes) != 1 {
			t.Errorf("%d bytes: %+v", size, out.Report)
		}
		tokens, told := fmt.Sprintf("%d bytes", len(log)), "has %d tokens"
		if got := strings.Contains(string(out.Body), tokens); got != want {
			t.Errorf("%d bytes: the model is told %q, not %q: %.2000s", size, tokens, told, out.Body)
		}
	}
	f(900_000, false)
	f(1_200_000, true)
}

// Each value costs its own, however short it is: who writes too many gets the body passed on.
func TestBodiesOfVeryManyValuesGoOnAsTheyCame(t *testing.T) {
	f := func(values int, want bool) {
		t.Helper()
		w := newBench(128_000)
		body := `{"model":"gpt-5","messages":[{"role":"user","content":[` + strings.Repeat("0,", values-8) + `0]}]}`
		out := w.shape(body)
		if passed := out.Report.Items == 0; passed != want || out.Changed || out.Report.Err != nil {
			t.Errorf("%d values: %+v", values, out.Report)
		}
	}
	f(mostValues, false)
	f(mostValues+10, true)
}

// many is a conversation with n results of so many bytes each, and what the model says before each.
func many(n, size int, said string) string {
	var b strings.Builder
	b.WriteString(`{"model":"gpt-5","messages":[{"role":"user","content":"Go on."}`)
	for i := range n {
		line := fmt.Sprintf("part %d is well and goes on with its work\\n", i)
		fmt.Fprintf(&b, `,{"role":"assistant","content":"%s","tool_calls":[{"id":"t%d","type":"function","function":{"name":"bash",`+
			`"arguments":"{\"command\":\"make part%d\"}"}}]},{"role":"tool","tool_call_id":"t%d","content":"%s"}`,
			said, i, i, i, strings.Repeat(line, size/len(line)))
	}
	return b.String() + `]}`
}

// What one request costs is bounded: of many large results that come at once the newest are looked at, and what is
// left is cleared or compacted.
func TestOfManyLargeResultsTheNewestAreLookedAt(t *testing.T) {
	w := newBench(128_000)
	body := many(24, 1<<20, "")
	out := w.shape(body)
	offloaded := 0
	for _, c := range out.Report.Changes {
		if c.Rung == ActionOffload {
			offloaded++
		}
	}
	if out.Report.Err != nil || offloaded > 8 || out.Report.After.Total() > out.Report.Usable {
		t.Errorf("%d results are offloaded, %d tokens are sent: %v", offloaded, out.Report.After.Total(), out.Report.Err)
	}
}

// What a request counts depends on its body alone: a process that has seen its beginning, and has counted much else,
// says the same as one that has just begun.
func TestCountsDependOnTheBodyAlone(t *testing.T) {
	rounds := func(n int) string {
		var b strings.Builder
		b.WriteString(`{"model":"gpt-5","messages":[{"role":"user","content":"Go on."}`)
		for i := range n {
			word := fmt.Sprintf("qzjxkvbpyg%dfwmucldrhsnioate", i)
			fmt.Fprintf(&b, `,{"role":"assistant","content":null,"tool_calls":[{"id":"t%d","type":"function","function":{"name":"bash",`+
				`"arguments":"{\"command\":\"make part%d\"}"}}]},{"role":"tool","tool_call_id":"t%d","content":"%s"}`,
				i, i, i, strings.Repeat(word, 400_000/len(word)))
		}
		return b.String() + `]}`
	}
	old := newBench(128_000)
	estimated := false
	for _, n := range []int{1, 2, 3, 6, 7, 10, 4, 12} {
		known, fresh := old.shape(rounds(n)).Report, newBench(128_000).shape(rounds(n)).Report
		if known.Err != nil || known.Before != fresh.Before || known.Estimated != fresh.Estimated {
			t.Errorf("%d rounds: %+v (%v) where the beginning was seen, %+v (%v) at first sight: %v", n, known.Before,
				known.Estimated, fresh.Before, fresh.Estimated, known.Err)
		}
		estimated = estimated || known.Estimated
	}
	if !estimated {
		t.Error("nothing is estimated: the test shows nothing")
	}
}

// A large message that the client takes back leaves nothing behind: what came in its place is counted.
func TestEstimateGoesWithItsMessage(t *testing.T) {
	begun := `{"model":"gpt-5","messages":[{"role":"user","content":"` + strings.Repeat("Do the work. ", 300) +
		`"},{"role":"assistant","content":"Done."},{"role":"user","content":"`
	b := newBench(128_000)
	pasted := b.shape(begun + strings.Repeat("some words of it ", 120_000) + `"}]}`).Report
	small := b.shape(begun + `small"},{"role":"assistant","content":"So it is."},{"role":"user","content":"Good."}]}`).Report
	if pasted.Err != nil || !pasted.Estimated {
		t.Errorf("nothing is estimated: the test shows nothing: %+v", pasted)
	}
	if small.Err != nil || small.Estimated {
		t.Errorf("what was counted is told as an estimate: %+v", small)
	}
}
