package plan

import (
	"testing"

	"epitome/rewrite/messages"
)

// The user's first words may stand before a result in one message: the call stays with both.
func TestOpeningEndsWithItsMessage(t *testing.T) {
	f := func(body string, want int) {
		t.Helper()
		r, err := messages.Dialect{}.Read([]byte(body), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := OpeningOf(&Plan{Req: r, End: len(r.Items) - r.Head}); got != want {
			t.Errorf("%s opens with %d items, want %d", body, got, want)
		}
	}
	const (
		call   = `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"bash","input":{"command":"make"}}]}`
		result = `{"type":"tool_result","tool_use_id":"a","content":"done"}`
		stop   = `{"type":"text","text":"stop"}`
		last   = `{"role":"assistant","content":"So."}`
	)
	f(`{"messages":[{"role":"user","content":"go"},`+call+`,{"role":"user","content":[`+result+`]},`+last+`]}`, 1)
	f(`{"messages":[`+call+`,{"role":"user","content":[`+stop+`,`+result+`]},`+last+`]}`, 3)
	f(`{"messages":[`+call+`,{"role":"user","content":[`+result+`,`+stop+`]},`+last+`]}`, 3)
}
