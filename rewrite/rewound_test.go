package rewrite

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"epitome/bench/cputime"
	"epitome/rewrite/chat"
	"epitome/rewrite/conversation"
	"epitome/rewrite/decision"
	"epitome/rewrite/messages"
	"epitome/rewrite/plan"
	"epitome/rewrite/responses"
)

// A client may go back to what it asked when it was refused, or behind it: the original can be made again whatever was
// left out at its end.
func TestWhoGoesBackBehindARescueLosesNothing(t *testing.T) {
	f := func(most int, from plan.Stage) {
		t.Helper()
		a := newRefused(4, 900)
		a.items = append(a.items, userSays("Go on."))
		a.ask(t)
		a.rescue(t, plan.Rescue{Most: most, From: from})
		for n := len(a.items); n > 2; n-- {
			a.items = a.items[:n]
			body := a.body()
			out := a.shape(body)
			judged(t, a.bench, body, out)
			if out.Report.Err != nil {
				t.Errorf("most %d, %d items: %v", most, n, out.Report.Err)
			}
		}
	}
	for _, most := range []int{200, 330, 1_000, 2_000} {
		for _, from := range []plan.Stage{plan.StageNone, plan.StageCompact, plan.StageBare, plan.StageUsers} {
			f(most, from)
		}
	}
}

// What stands behind what is remembered of a conversation may be another thing in the next request: there nothing is
// dead any more, and as much may be decided on as before.
func TestWhatStoodBehindIsForgotten(t *testing.T) {
	w := newBench(100_000)
	begun := `{"model":"gpt-5","store":false,"input":[{"role":"user","content":"` + strings.Repeat("Do the work. ", 300) + `"},` +
		`{"type":"function_call","call_id":"c","name":"bash","arguments":"{}"},` +
		`{"type":"function_call_output","call_id":"c","output":"` + strings.Repeat("all is well. ", 300) + `"}`
	ask := func(w *bench, rest string) Report {
		t.Helper()
		out := w.Shape(Input{Dialect: responses.Dialect{}, Body: []byte(begun + rest), Upstream: "up", Limits: &w.limits})
		if out.Report.Err != nil {
			t.Fatal(out.Report.Err)
		}
		return out.Report
	}
	for _, rest := range []string{`,{"type":"compaction","encrypted_content":"x"}]}`, `]}`,
		`,{"role":"assistant","content":"So: "}]}`, `,{"role":"user","content":"Go on."}]}`} {
		ask(w, `,{"type":"compaction","encrypted_content":"x"}]}`)
		got, want := ask(w, rest), ask(newBench(100_000), rest)
		if got.Before != want.Before {
			t.Errorf("%s: %+v, by a process that knows nothing %+v", rest, got.Before, want.Before)
		}
	}
}

// Where the oldest messages are left out, no result goes whose call stays.
func TestALateResultStaysWithItsCall(t *testing.T) {
	w := newBench(100_000)
	w.limits.Rules.Messages = 4
	list := []string{`{"type":"function_call","call_id":"a","name":"x","arguments":"{}"}`, `{"role":"user","content":"Wait."}`,
		`{"type":"function_call_output","call_id":"a","output":"late"}`}
	folded := false
	for k := range 20 {
		list = append(list, fmt.Sprintf(`{"type":"function_call","call_id":"c%d","name":"bash","arguments":"{}"}`, k),
			fmt.Sprintf(`{"type":"function_call_output","call_id":"c%d","output":%q}`, k, strings.Repeat("all is well\n", 200)))
		body := `{"model":"gpt-5","store":false,"input":[` + strings.Join(list, ",") + `]}`
		out := w.Shape(Input{Dialect: responses.Dialect{}, Body: []byte(body), Upstream: "up", Limits: &w.limits})
		judged(t, w, body, out)
		folded = folded || slices.ContainsFunc(out.forms, func(f *decision.Form) bool { return f != nil && f.Oldest })
		if out.Report.Err != nil || !strings.Contains(string(out.Body), `"late"`) {
			t.Fatalf("%v: %.900s", out.Report.Err, out.Body)
		}
	}
	if !folded {
		t.Error("nothing was left out")
	}
}

// Likewise where something that nobody knows stands between the results of one answer: a result behind it that is too
// short to be left out by itself keeps its call.
func TestAResultBehindAnUnknownItemStaysWithItsCall(t *testing.T) {
	long := strings.Repeat("all is well\n", 200)
	call := func(id string) string {
		return fmt.Sprintf(`{"type":"function_call","call_id":%q,"name":"bash","arguments":"{}"}`, id)
	}
	answer := func(id, text string) string {
		return fmt.Sprintf(`{"type":"function_call_output","call_id":%q,"output":%q}`, id, text)
	}
	w := newBench(100_000)
	w.limits.Rules.Messages = 5
	list := []string{`{"role":"user","content":"Look."}`}
	folded := 0
	for k := range 30 {
		a, b, c := fmt.Sprintf("a%d", k), fmt.Sprintf("b%d", k), fmt.Sprintf("c%d", k)
		list = append(list, call(a), call(b), call(c), answer(a, long), `{"type":"hologram","of":"b"}`, answer(c, "ok"))
		for n := range k % 3 {
			d := fmt.Sprintf("%s-%d", a, n)
			list = append(list, call(d), answer(d, long))
		}
		body := `{"model":"gpt-5","store":false,"input":[` + strings.Join(list, ",") + `]}`
		out := w.Shape(Input{Dialect: responses.Dialect{}, Body: []byte(body), Upstream: "up", Limits: &w.limits})
		judged(t, w, body, out)
		if out.Report.Err != nil {
			t.Fatalf("round %d: %v", k, out.Report.Err)
		}
		for _, f := range out.forms {
			if f != nil && f.Oldest {
				folded = max(folded, k+1)
			}
		}
	}
	if folded < 30 {
		t.Errorf("from round %d on nothing is left out", folded)
	}
}

// Many parts of a run that are too short to be left out by themselves are found at once, not each after all those
// before it were left out anew: with the rule a request takes twice as long as without, and took a hundred times as
// long.
func TestManyShortPartsTakeNoMoreTime(t *testing.T) {
	const rounds, tries, most = 400, 3, 12
	list := []string{`{"role":"user","content":"Look."}`}
	for k := range rounds {
		for n, text := range []string{strings.Repeat("all is well\n", 100), "ok"} {
			list = append(list,
				fmt.Sprintf(`{"type":"function_call","call_id":"c%d-%d","name":"bash","arguments":"{}"}`, k, n),
				fmt.Sprintf(`{"type":"function_call_output","call_id":"c%d-%d","output":%q}`, k, n, text),
				`{"role":"developer","content":"Be brief."}`)
		}
	}
	body := `{"model":"gpt-5","store":false,"input":[` + strings.Join(list, ",") + `]}`
	shape := func(messages int, fastest *time.Duration) (out Output) {
		w := newBench(10_000_000)
		w.limits.Rules.Messages = messages
		asked := Input{Dialect: responses.Dialect{}, Body: []byte(body), Upstream: "up", Limits: &w.limits}
		*fastest = min(*fastest, cputime.Of(func() { out = w.Shape(asked) }))
		return out
	}
	without, with := time.Hour, time.Hour
	for range tries {
		shape(0, &without)
		out := shape(20, &with)
		if !slices.ContainsFunc(out.forms, func(f *decision.Form) bool { return f != nil && f.Oldest }) {
			t.Fatal("nothing is left out")
		}
	}
	if with > most*without {
		t.Errorf("with the rule it takes %s, without %s", with, without)
	}
}

// What was sent of a beginning is sent again, also where only a longer request's decision told it, and where what came
// behind it, in which the model may say more, has gone on otherwise. A reminder behind that may be taken back.
func TestABeginningStaysWhereItsEndGoesOnOtherwise(t *testing.T) {
	begun := `{"model":"gpt-5","store":false,"input":[{"role":"user","content":"` + strings.Repeat("Do the work. ", 300) + `"},` +
		`{"type":"function_call","call_id":"c","name":"bash","arguments":"{}"},` +
		`{"type":"function_call_output","call_id":"c","output":"` + strings.Repeat("all is well. ", 3_000) + `"},`
	const says, more = `{"role":"assistant","content":"So: "}`, `,{"role":"user","content":"Go on."}]}`
	f := func(other string, asked ...string) {
		t.Helper()
		w := newBench(100_000)
		w.limits.Offload, w.limits.OffloadKeep = 300, 50
		ask := func(rest string) []byte {
			t.Helper()
			in := Input{Dialect: responses.Dialect{}, Body: []byte(begun + rest), Upstream: "up", Limits: &w.limits}
			out := w.Shape(in)
			if out.Report.Err != nil {
				t.Fatal(out.Report.Err)
			}
			return out.Body
		}
		var first []byte
		for _, rest := range asked {
			if body := ask(rest); first == nil {
				first = body
			}
			w.restart()
		}
		if len(first) > len(begun)/2 {
			t.Fatalf("%d of %d bytes are sent: the result is not shortened", len(first), len(begun))
		}
		w.limits.Offload = 100_000
		if got, shared := ask(other), bytes.Index(first, []byte(says)); !bytes.HasPrefix(got, first[:shared]) {
			t.Errorf("what was sent as %.300s is sent as %.300s", first, got)
		}
	}
	f(`{"role":"assistant","content":"So it is well."}`+more, says+more, says+`]}`)
	f(says+`,{"role":"assistant","content":"It is well."}`+more, says+`,{"role":"system","content":"It is noon."}]}`)
}

// In other dialects the client puts the first words into the model's mouth, and sends the answer back as one with them.
func TestABeginningStaysWhereAnAnswerWasBegunByTheClient(t *testing.T) {
	f := func(in conversation.Dialect, call, result string) {
		t.Helper()
		w := newBench(100_000)
		w.limits.Offload, w.limits.OffloadKeep = 300, 50
		begun := `{"model":"gpt-5","messages":[{"role":"user","content":"` + strings.Repeat("Do the work. ", 300) + `"},` +
			call + `,` + fmt.Sprintf(result, strings.Repeat("all is well. ", 3_000)) + `,{"role":"assistant","content":"So`
		ask := func(rest string) []byte {
			t.Helper()
			out := w.Shape(Input{Dialect: in, Body: []byte(begun + rest), Upstream: "up", Limits: &w.limits})
			if out.Report.Err != nil {
				t.Fatal(out.Report.Err)
			}
			return out.Body
		}
		first := ask(`"}]}`)
		if len(first) > len(begun)/2 {
			t.Fatalf("%d of %d bytes are sent: the result is not shortened", len(first), len(begun))
		}
		w.limits.Offload = 100_000
		w.restart()
		got := ask(` it is well."},{"role":"user","content":"Go on."}]}`)
		if !bytes.HasPrefix(got, bytes.TrimSuffix(first, []byte(`"}]}`))) {
			t.Errorf("what was sent as %.300s is sent as %.300s", first, got)
		}
	}
	f(chat.Dialect{}, `{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function",`+
		`"function":{"name":"bash","arguments":"{}"}}]}`, `{"role":"tool","tool_call_id":"c","content":"%s"}`)
	f(messages.Dialect{}, `{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"bash","input":{}}]}`,
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"%s"}]}`)
}
