package rewrite

import (
	"fmt"
	"strings"
	"testing"

	"epitome/rewrite/plan"
	"epitome/rewrite/span"
)

// offering is the body with these tools, and no others.
func offering(body, tools string) string {
	if i := strings.LastIndex(body, `"tools":[]`); i >= 0 {
		return body[:i] + `"tools":[` + tools + body[i+len(`"tools":[`):]
	}
	return strings.Replace(body, "{", `{"tools":[`+tools+`],`, 1)
}

// Whoever can read artifacts with epitome's tool is told of it from the first stub on, and of no place that it may not
// reach; whoever cannot is told the place.
func TestStubsNameTheToolToWhomHasIt(t *testing.T) {
	f := func(in tongue, recall Recall, tools, said string, want bool) {
		t.Helper()
		b := newBench(16_000)
		b.dialect = in
		b.Shaper.deps.Recall = recall
		c := newTalkIn(in, 3, false)
		c.head = []string{in.lead(c, string(span.AppendQuoted(nil, "You are an agent. "+said)))}
		var out Output
		for range 14 {
			out = b.shape(offering(c.body(), tools))
			if out.Report.Err != nil {
				t.Fatal(out.Report.Err)
			}
			c.grow()
		}
		byTool, byPath := strings.Contains(string(out.Body), plan.Tool), strings.Contains(string(out.Body), "/data/artifacts/")
		if byTool != want || byPath == want {
			t.Errorf("%T, %d, %s%s: the tool is named: %t, a path: %t", in, recall, tools, said, byTool, byPath)
		}
	}
	const hears = "Tools that you may ask for:\nmcp__epitome__recall\nmcp__epitome__search"
	declared := func(form, name string) string { return fmt.Sprintf(form, name) }
	for in, form := range map[tongue]string{
		chatTongue{}:      `{"type":"function","function":{"name":%q}}`,
		messagesTongue{}:  `{"name":%q,"input_schema":{"type":"object"}}`,
		responsesTongue{}: `{"type":"function","name":%q}`,
	} {
		f(in, RecallOfferedTo, declared(form, "mcp__epitome__recall"), "", true)
		f(in, RecallOfferedTo, declared(form, "epitome_recall"), "", true)
		f(in, RecallOfferedTo, declared(form, "bash"), hears, true)
		f(in, RecallOfferedTo, declared(form, "bash"), "", false)
		f(in, RecallOfferedTo, declared(form, "mcp__memory__recall"), "", false)
		f(in, RecallAll, declared(form, "bash"), "", true)
		f(in, RecallNobody, declared(form, "mcp__epitome__recall"), hears, false)
	}
	f(chatTongue{}, RecallOfferedTo, "", `Why does "the page" say mcp__epitome__recall? See /home/u/epitome/recall.go.`, false)
	f(messagesTongue{}, RecallOfferedTo, `{"type":"mcp_toolset","mcp_server_name":"epitome"}`, "", true)
	f(responsesTongue{}, RecallOfferedTo, `{"type":"mcp","server_label":"epitome"}`, "", true)
	f(responsesTongue{}, RecallOfferedTo, "", "Deferred tool namespaces:\n- mcp__epitome: epitome moves results", true)
	f(responsesTongue{}, RecallOfferedTo, `{"type":"namespace","name":"mcp__epitome","description":"Artifacts.","tools":`+
		`[{"type":"function","name":"recall"},{"type":"function","name":"search"}]}`, "", true)
}

// What a tool's result says of the tool tells nothing of what the model has.
func TestTheToolIsNotHeardOfInTheMiddle(t *testing.T) {
	b := newBench(16_000)
	b.Shaper.deps.Recall = RecallOfferedTo
	c := newTalk(3, false)
	c.head = nil
	c.grow()
	c.add("user", c.string("The docs name mcp__epitome__recall."))
	var out Output
	for range 14 {
		c.grow()
		out = b.shape(c.body())
	}
	if body := string(out.Body); strings.Contains(body, plan.Tool) || !strings.Contains(body, "/data/artifacts/") {
		t.Error("a stub names the tool to a model that has none")
	}
}
