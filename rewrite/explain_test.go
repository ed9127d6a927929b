package rewrite

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"epitome/event"
	"epitome/rewrite/chat"
	"epitome/rewrite/conversation"
	"epitome/rewrite/plan"
	"epitome/rewrite/plan/plantest"
	"epitome/rewrite/rewritetest"
	"epitome/tokenize"
)

func TestStandingTellsWhatIsNotSentWhole(t *testing.T) {
	b := newBench(200_000)
	long := strings.Repeat("a line of the log that says little\n", 4_000)
	request := func(results int) string {
		list := []string{`{"role":"system","content":"s"}`, `{"role":"user","content":"u"}`}
		for i := range results {
			list = append(list,
				fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":[{"id":"c%d","type":"function","function":{"name":"query","arguments":"{\"table\":\"t%d\"}"}}]}`, i, i),
				fmt.Sprintf(`{"role":"tool","tool_call_id":"c%d","content":"%d%s"}`, i, i, strings.ReplaceAll(long, "\n", `\n`)))
		}
		return rewritetest.ChatBody(list...)
	}
	f := func(body string, want ...plan.Change) {
		t.Helper()
		r, err := chat.Read([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		got := b.shape(body).StandingChanges(r)
		for i := range got {
			if got[i].After >= got[i].Before || got[i].Came != got[i].Before ||
				len(got[i].Artifact) != plantest.NameLength || got[i].Code != event.CodeOverLimit {
				t.Errorf("%+v", got[i])
			}
			got[i].Came, got[i].Before, got[i].After, got[i].Artifact, got[i].Code = 0, 0, 0, "", ""
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
	}
	f(request(0))
	f(request(1), plan.Change{Item: 3, Rung: "offload", Tool: "query", Argument: "table:t0", Why: "over its limit", Cause: event.CauseLarge})
	f(request(2),
		plan.Change{Item: 3, Rung: "offload", Tool: "query", Argument: "table:t0"}, // decided before
		plan.Change{Item: 5, Rung: "offload", Tool: "query", Argument: "table:t1", Why: "over its limit", Cause: event.CauseLarge})
	call := `{"id":"c","type":"function","function":{"name":"query","arguments":"{\"table\":\"t%d\"}"}}`
	result := `{"role":"tool","tool_call_id":"c","content":"%d` + strings.ReplaceAll(long, "\n", `\n`) + `"}`
	shared := rewritetest.ChatBody(`{"role":"user","content":"two calls with one id"}`,
		fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":[`+call+`,`+call+`]}`, 0, 1),
		fmt.Sprintf(result, 2), fmt.Sprintf(result, 3))
	for k, why := range []string{"over its limit", ""} { // the second time both were decided before
		cause := [...]event.Cause{event.CauseLarge, event.NoCause}[k]
		f(shared,
			plan.Change{Item: 2, Rung: "offload", Tool: "query", Argument: "table:t0", Why: why, Cause: cause},
			plan.Change{Item: 3, Rung: "offload", Tool: "query", Argument: "table:t1", Why: why, Cause: cause})
	}
}

// What is reported must be what the rewritten request counts, also of results of parallel calls, which cost as they are
// escaped.
func TestReportedTokensAreThoseOfTheRewrittenRequest(t *testing.T) {
	f := func(model, line string, results int) {
		t.Helper()
		b := newBench(32_000)
		list := []string{`{"role":"user","content":"u"}`}
		for turn := range 6 {
			var calls, answers []string
			for k := range results {
				id := fmt.Sprintf("c%d_%d", turn, k)
				calls = append(calls, `{"id":"`+id+`","type":"function","function":{"name":"run","arguments":"{}"}}`)
				answers = append(answers, `{"role":"tool","tool_call_id":"`+id+`","content":"`+strings.Repeat(id+line+`\n`, 600)+`"}`)
			}
			list = append(list, `{"role":"assistant","content":null,"tool_calls":[`+strings.Join(calls, ",")+`]}`)
			list = append(list, answers...)
		}
		body := strings.Replace(rewritetest.ChatBody(list...), `"model":"m"`, `"model":"`+model+`"`, 1)
		report := Report{}
		var sent []byte
		for _, turn := range turns(t, []byte(body)) {
			s := b.shape(turn)
			report, sent = s.Report, s.Body
		}
		r, err := chat.Read(sent)
		if err != nil {
			t.Fatal(err)
		}
		m := tokenize.NewModels().Of(model)
		counter, err := (&tokenize.Counters{}).For(m.Vocabulary)
		if err != nil {
			t.Fatal(err)
		}
		scale := conversation.Scale{Model: m, Counter: counter, Memo: tokenize.NewMemo(100)}
		want := rewritetest.Count(r, scale).Times(m.Ratio)
		if off := report.After.Total() - want.Total(); off < -len(r.Items) || off > len(r.Items) ||
			report.Action == ActionNone {
			t.Errorf("%s: reported %+v (%s), counted %+v", model, report.After, report.Action, want)
		}
	}
	f("gpt-4o", " ╭──────────────╮ │ état │", 1)
	f("gpt-4o", " ╭──────────────╮ │ état │", 3)
	f("gpt-4o", " plain words", 3)
	f("m", " ╭──────────────╮ │ état │", 3)
}
