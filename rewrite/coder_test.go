package rewrite

import (
	"fmt"
	"strings"
	"testing"

	"epitome/rewrite/messages"
	"epitome/rewrite/plan"
	"epitome/rewrite/span"
)

// coder is an agent that speaks Messages.
type coder struct {
	*agent
	settings string // what stands before the messages, each with a comma behind it
	marked   bool   // the last block is marked for the provider's cache, as clients do
}

func newCoder(window int, opening ...string) *coder {
	c := &coder{agent: newAgent(window, opening...)}
	c.dialect, c.limits.Floor = messages.Dialect{}, 0
	return c
}

func (c *coder) body() string {
	list := strings.Join(c.items, ",\n")
	if at, ok := strings.CutSuffix(list, "}]}"); ok && c.marked {
		list = at + movingMark + "}]}"
	}
	return `{"model":"claude-opus-4-6",` + c.settings + `"messages":[` + list + `],"stream":true}`
}

// work adds an answer with so many calls, and the results, each of about so many tokens, with what stands behind them.
func (c *coder) work(calls, tokens int, behind ...string) {
	asked := []string{`{"type":"text","text":"So."}`}
	var results []string
	for range calls {
		c.calls++
		id := fmt.Sprint("toolu_", c.calls)
		asked = append(asked, fmt.Sprintf(`{"type":"tool_use","id":%q,"name":"Bash","input":{"command":"make part_%d"}}`, id, c.calls))
		results = append(results, fmt.Sprintf(`{"type":"tool_result","tool_use_id":%q,"content":%s}`, id,
			span.AppendQuoted(nil, c.output(tokens))))
	}
	c.items = append(c.items, `{"role":"assistant","content":[`+strings.Join(asked, ",")+`]}`,
		`{"role":"user","content":[`+strings.Join(append(results, behind...), ",")+`]}`)
}

// textBlock is a block with a text.
func textBlock(text string) string {
	return `{"type":"text","text":` + string(span.AppendQuoted(nil, text)) + `}`
}

// userBlocks is a message of the user's.
func userBlocks(blocks ...string) string {
	return `{"role":"user","content":[` + strings.Join(blocks, ",") + `]}`
}

func (c *coder) ask(t testing.TB) Output {
	t.Helper()
	out := c.shape(c.body())
	c.hold(t, out)
	return out
}

// hold holds the promises for what was asked last, and what a strict server checks.
func (c *coder) hold(t testing.TB, out Output) {
	t.Helper()
	if out.Report.Err != nil {
		t.Fatal(out.Report.Err)
	}
	judged(t, c.bench, c.body(), out)
	in := messagesTongue{}
	if was := in.refusal([]byte(c.body())); was == nil {
		if err := in.refusal(out.Body); err != nil {
			t.Fatalf("a strict server refuses %.3000s: %v", out.Body, err)
		}
	}
}

// rescue asks again, as if what was sent had been refused, and settles that.
func (c *coder) rescue(t testing.TB, r plan.Rescue) Output {
	t.Helper()
	out := c.Shape(Input{Dialect: c.dialect, Body: []byte(c.body()), Upstream: "up", Limits: &c.limits, Rescue: &r})
	c.hold(t, out)
	if out.Settle != nil {
		out.Settle()
	}
	return out
}
