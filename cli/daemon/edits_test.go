package daemon

import (
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"

	"epitome/event"
	"epitome/proxy"
	"epitome/rewrite"
)

// What the event of a request calls its decision leads to its edits, in each dialect: what they say was sent is in what
// is sent, and what they name lies on the shelf as it came. In mode observe it leads to what would have been done.
func TestDecisionsOfEventsLeadToEdits(t *testing.T) {
	k := startedIn(t, t.TempDir(), io.Discard)
	defer k.giveBack()
	conf := k.started
	result := strings.Repeat("the refund of an order was checked against the books and found as it should be\\n", 900)
	bodies := map[string]string{
		"chat": `{"model":"m","messages":[{"role":"user","content":"Mend it."},{"role":"assistant","content":null,"tool_calls":` +
			`[{"id":"a","type":"function","function":{"name":"bash","arguments":"{\"command\":\"make\"}"}}]},` +
			`{"role":"tool","tool_call_id":"a","content":"` + result + `"}]}`,
		"messages": `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Mend it."},{"role":"assistant","content":` +
			`[{"type":"tool_use","id":"a","name":"bash","input":{"command":"make"}}]},{"role":"user","content":` +
			`[{"type":"tool_result","tool_use_id":"a","content":"` + result + `"}]}]}`,
		"responses": `{"model":"m","input":[{"role":"user","content":"Mend it."},{"type":"function_call","call_id":"a","name":"bash",` +
			`"arguments":"{\"command\":\"make\"}"},{"type":"function_call_output","call_id":"a","output":"` + result + `"}]}`,
	}
	came := strings.ReplaceAll(result, `\n`, "\n")
	f := func(d proxy.Dialect, shape func(rewrite.Input) rewrite.Output, kept bool) {
		t.Helper()
		out := shape(rewrite.Input{Dialect: d, Body: []byte(bodies[d.Name()]), Upstream: "up", Limits: &conf.Rewrite,
			SummaryMode: conf.Summarize.Mode})
		edits, err := k.edits(out.Report.Decision)
		if err != nil || edits.Missing != "" || len(edits.List) != 1 {
			t.Fatalf("%s: %+v, %v; %+v", d.Name(), edits, err, out.Report)
		}
		e := edits.List[0]
		quoted, _ := json.Marshal(e.Text)
		if !e.New || e.Item != 2 || e.Code != event.CodeOverLimit || e.Reason != e.Code.Sentence() ||
			!strings.Contains(string(out.Body), strings.Trim(string(quoted), `"`)) {
			t.Errorf("%s: the edit is %+v of %.900s", d.Name(), e, out.Body)
		}
		content, err := os.ReadFile(k.storage.shelf.Address(e.Artifact))
		if kept && string(content) != came { // nothing is kept where nothing is sent
			t.Errorf("%s: the artifact has %.200q (%v)", d.Name(), content, err)
		}
	}
	for _, d := range dialects() {
		f(d, k.observer.Shape, false)
		f(d, k.live.Shape, true)
	}
	for key, missing := range map[string]bool{"": false, "no key": true} {
		if edits, err := k.edits(key); err != nil || len(edits.List) > 0 || (edits.Missing != "") != missing {
			t.Errorf("%q leads to %+v, %v", key, edits, err)
		}
	}
}
