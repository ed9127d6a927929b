package aside

import (
	"strconv"
	"strings"
	"testing"

	"epitome/rewrite/aside"
)

// piecesOf are events of a stream, each with some pieces of calls.
func piecesOf(calls ...string) (events []string) {
	for _, c := range calls {
		events = append(events, `{"choices":[{"index":0,"delta":{"tool_calls":[`+c+`]},"finish_reason":null}]}`)
	}
	return append(events, `{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`, "[DONE]")
}

// TestACallIsKnownHoweverItsNameComes: in two pieces, behind the arguments, again with each piece, or as far as it has
// come.
func TestACallIsKnownHoweverItsNameComes(t *testing.T) {
	f := func(calls ...string) {
		t.Helper()
		got, h := hears(false, piecesOf(calls...))
		want := `(round {"content":null,"role":"assistant","tool_calls":[{"function":{"arguments":"{\"a\":1}",` +
			`"name":"epitome_recall"},"id":"c1"}]})`
		if got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
		if r, ok := h.Round(); !ok || len(r.Calls) != 1 || r.Calls[0].ID != "c1" || r.Calls[0].Arguments != `{"a":1}` {
			t.Errorf("the round is %+v", r)
		}
	}
	f(`{"index":0,"id":"c1","function":{"name":"epitome_","arguments":""}}`, `{"index":0,"function":{"name":"recall"}}`,
		`{"index":0,"function":{"arguments":"{\"a\":1}"}}`)
	f(`{"index":0,"id":"c1","function":{"arguments":"{\"a\""}}`, `{"index":0,"function":{"arguments":":1}"}}`,
		`{"index":0,"function":{"name":"epitome_recall"}}`)
	f(`{"index":0,"function":{"arguments":"{\"a\""}}`, `{"index":0,"id":"c1","function":{"name":"epitome_recall","arguments":":1}"}}`)
	f(`{"index":0,"id":"c1"}`, `{"index":0,"function":{"name":"epitome_"}}`,
		`{"index":0,"function":{"name":"epitome_recall","arguments":"{\"a\":1}"}}`)
	f(`{"index":0,"id":"c1","function":{"name":"epitome_recall","arguments":"{\"a\""}}`,
		`{"index":0,"id":"c1","function":{"name":"epitome_recall","arguments":":1}"}}`)
}

// TestACallOfTheClientsWaitsForItsName: it gets all of it in one piece then, and what comes behind as it comes.
func TestACallOfTheClientsWaitsForItsName(t *testing.T) {
	f := func(want string, calls ...string) {
		t.Helper()
		got, h := hears(false, piecesOf(calls...))
		events := piecesOf(want)
		if want = "data: " + strings.Join(events[:len(events)-2], "\n\ndata: "); !strings.HasPrefix(got, want) {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
		if strings.Count(got, "(end)") != 2 || strings.Contains(got, aside.Tool) {
			t.Errorf("got\n%s", got)
		}
		if g, _, ok := h.Answer(); !ok || strings.Join(g.Calls, " ") != "c1" {
			t.Errorf("the client was given %+v", g)
		}
	}
	f(`{"function":{"arguments":"{\"a\":1}","name":"own"},"id":"c1","index":3}`,
		`{"index":3,"id":"c1","function":{"arguments":"{\"a\""}}`, `{"index":3,"function":{"name":"own","arguments":":1}"}}`)
	f(`{"function":{"arguments":"","name":"epitome_other"},"id":"c1","index":0}`,
		`{"index":0,"id":"c1","function":{"name":"epitome_","arguments":""}}`, `{"index":0,"function":{"name":"other"}}`)
	f(`{"function":{"arguments":"{","name":"e"},"id":"c1","index":0}`,
		`{"index":0,"id":"c1","function":{"name":"e","arguments":""}}`, `{"index":0,"function":{"arguments":"{"}}`,
		`{"index":0,"function":{"arguments":"}"}}`)
	f(`{"id":"c1","index":0,"type":"custom","custom":{"name":"own","input":"x"}}`,
		`{"id":"c1","index":0,"type":"custom","custom":{"name":"own","input":"x"}}`)
	f(`{"function":{"arguments":"{}","name":"own"},"id":"c1","index":0}`,
		`{"index":0,"id":"c0","function":{"name":"epitome_"}}`,
		`{"index":1,"id":"c1","function":{"name":"own","arguments":"{}"}}`,
		`{"index":0,"function":{"name":"recall","arguments":"{}"}}`)
}

// TestACallWithoutANameComesWithTheEnd: nothing that the server says is lost.
func TestACallWithoutANameComesWithTheEnd(t *testing.T) {
	got, _ := hears(false, piecesOf(`{"index":0,"id":"c1","function":{"name":"epitome_","arguments":""}}`))
	want := `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"function":{"arguments":"","name":"epitome_"},"id":"c1","index":0}]},` +
		`"finish_reason":"tool_calls"}]}` + "\n\n(end)data: [DONE]\n\n(end)"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestAnAnswerThatFailsIsNone: what the model called before it did is not part of what was said.
func TestAnAnswerThatFailsIsNone(t *testing.T) {
	call := piecesOf(`{"index":0,"id":"c1","function":{"name":"epitome_recall","arguments":"{}"}}`)
	f := func(want bool, events ...string) {
		t.Helper()
		_, h := hears(false, events)
		if _, _, ok := h.Answer(); ok != want {
			t.Errorf("%v is an answer: %v", events, ok)
		}
		if r, ok := h.Round(); ok {
			t.Errorf("%v goes on from %+v", events, r)
		}
	}
	text, wrong := `{"choices":[{"index":0,"delta":{"content":"Hi"}}]}`, `{"error":{"message":"busy"}}`
	f(true, text, "[DONE]")
	f(false, text, wrong, "[DONE]")
	f(false, call[0], wrong, "[DONE]")
	f(false, call[0], "[DONE]")
	f(false, call[0])
	f(false, call[0], call[1], wrong, "[DONE]")
	f(false, call[0], `{"error":{"code":502},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}`, "[DONE]")
}

// TestCallsWithoutNumbersAreToldApart: by their ids, or as each begins anew where the one before has all it needs.
func TestCallsWithoutNumbersAreToldApart(t *testing.T) {
	f := func(calls ...string) {
		t.Helper()
		got, h := hears(false, piecesOf(calls...))
		_, hidden, _ := h.Answer()
		if len(hidden) != 1 || hidden[0].Arguments != `{"a":1}` || strings.Contains(got, `\"a\"`) ||
			!strings.Contains(got, `\"b\"`) || !strings.Contains(got, `"own"`) {
			t.Errorf("hidden are %+v, and the client got\n%s", hidden, got)
		}
	}
	const ours, own = `"function":{"name":"epitome_recall","arguments":"`, `"function":{"name":"own","arguments":"`
	f(`{"id":"x",`+ours+`"}}`, `{"id":"y",`+own+`"}}`, `{"id":"x","function":{"arguments":"{\"a\":1}"}}`,
		`{"id":"y","function":{"arguments":"{\"b\":2}"}}`)
	f(`{` + ours + `{\"a\":1}"}},{` + own + `{\"b\":2}"}}`)
	f(`{"index":0,"id":"",`+own+`{\"b\":2}"}}`, `{"index":0,"id":"",`+ours+`{\"a\":1}"}}`)
}

// TestCallsThatSayNothingAreBounded: many of them are more than is held of an answer, in one piece or in many.
func TestCallsThatSayNothingAreBounded(t *testing.T) {
	const all = 64 << 20
	h := Dialect{}.Hear()
	h.Begin(false)
	var many []string
	for k := range 2 * mostCalls {
		many = append(many, `{"index":`+strconv.Itoa(k)+`}`)
	}
	event := []byte(piecesOf(strings.Join(many, ","))[0])
	h.Event(nil, event, event)
	if n := len(h.(*hearing).now.calls); n != mostCalls || h.Size() < all {
		t.Errorf("%d calls are heard, and %d bytes held", n, h.Size())
	}
}
