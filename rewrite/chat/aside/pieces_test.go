package aside

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"epitome/rewrite/aside"
)

// heard is the bytes that are allocated where so many pieces are heard.
func heard(pieces int, data string) uint64 {
	h := Dialect{}.Hear()
	h.Begin(false)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range pieces {
		h.Event(nil, []byte(data), []byte(data))
	}
	runtime.ReadMemStats(&after)
	if n := pieces * (len(data) - 60); h.Size() < n {
		panic(fmt.Sprintf("of %d bytes %d are held", n, h.Size()))
	}
	return after.TotalAlloc - before.TotalAlloc
}

// TestALongAnswerCostsWhatItIsLong: four times the pieces take four times the memory, and not sixteen times.
func TestALongAnswerCostsWhatItIsLong(t *testing.T) {
	f := func(delta string) {
		t.Helper()
		data := fmt.Sprintf(`{"choices":[{"index":0,"delta":%s}]}`, fmt.Sprintf(delta, strings.Repeat("x", 100)))
		if once, fourfold := heard(500, data), heard(2000, data); fourfold > 8*once {
			t.Errorf("%s: %d and %d bytes", data, once, fourfold)
		}
	}
	f(`{"content":"%s"}`)
	f(`{"reasoning_content":"%s"}`)
	f(`{"tool_calls":[{"index":0,"id":"c","function":{"name":"own","arguments":"%s"}}]}`)
}

func TestNumbersOfCallsStayAsTheyCame(t *testing.T) {
	first := `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"x","function":{"name":"own","arguments":""}}]}}]}`
	rest := `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"function":{"arguments":"{}"}}]}}]}`
	if got, _ := hears(false, []string{first, rest}); got != "data: "+first+"\n\ndata: "+rest+"\n\n" {
		t.Errorf("nothing was hidden, and the client got %s", got)
	}
}

func TestListsOfAnyKindAreMerged(t *testing.T) {
	data := `{"choices":[{"index":0,"delta":{"reasoning_details":[{"index":[1],"text":"a"},{"index":{},"text":"b"}]}}]}`
	if got, _ := hears(false, []string{data, data}); got != strings.Repeat("data: "+data+"\n\n", 2) {
		t.Errorf("got %s", got)
	}
}

// TestEmptyListsOfAPieceAreNotSentBack: servers stream them, and refuse the null that they would become.
func TestEmptyListsOfAPieceAreNotSentBack(t *testing.T) {
	says := `{"role":"assistant","content":"","annotations":[],"reasoning_details":[]}`
	asks := `{"tool_calls":[{"index":0,"id":"c","function":{"name":"epitome_recall","arguments":"{}"}}]}`
	_, h := hears(false, []string{`{"choices":[{"index":0,"delta":` + says + `}]}`,
		`{"choices":[{"index":0,"delta":` + asks + `,"finish_reason":"tool_calls"}]}`})
	if r, ok := h.Round(); !ok || strings.Contains(string(r.Said), "null") || strings.Contains(string(r.Said), "[]") {
		t.Errorf("%v: it said %s", ok, r.Said)
	}
}

// TestServersGetNoArgumentsThatTheyCannotRead: they read those of earlier calls again, and refuse what is no object.
func TestServersGetNoArgumentsThatTheyCannotRead(t *testing.T) {
	f := func(wrote, want string) {
		t.Helper()
		call := `"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"epitome_recall","arguments":` + wrote + `}}]`
		streamed, whole := Dialect{}.Hear(), Dialect{}.Hear()
		streamed.Begin(false)
		whole.Begin(false)
		data := []byte(`{"choices":[{"index":0,"delta":{` + call + `},"finish_reason":"tool_calls"}]}`)
		streamed.Event(nil, data, data)
		whole.Document([]byte(`{"choices":[{"index":0,"message":{"role":"assistant",` + call + `},"finish_reason":"tool_calls"}]}`))
		for _, h := range []aside.Hearing{streamed, whole} {
			r, ok := h.Round()
			if !ok || gjson.GetBytes(r.Said, "tool_calls.0.function.arguments").Raw != want ||
				r.Calls[0].Arguments != gjson.Parse(wrote).Str {
				t.Errorf("%s: %v %+v", wrote, ok, r)
			}
		}
	}
	f(`"{\"a\":1}"`, `"{\"a\":1}"`)
	f(`"{\"a"`, `"{}"`)
	f(`"[1]"`, `"{}"`)
	f(`""`, `"{}"`)
}

// TestPartsOfAnAnswerStay: some servers have a list of parts where others have a text.
func TestPartsOfAnAnswerStay(t *testing.T) {
	f := func(parts, want string) {
		t.Helper()
		h := Dialect{}.Hear()
		h.Begin(false)
		h.Document([]byte(`{"choices":[{"message":{"content":"Well","tool_calls":[{"id":"c","function":` +
			`{"name":"epitome_recall","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`))
		h.Begin(false)
		got := h.Document([]byte(`{"choices":[{"message":{"content":` + parts + `},"finish_reason":"stop"}]}`))
		given, _, _ := h.Answer()
		if gjson.GetBytes(got, "choices.0.message.content").Raw != want || !strings.HasPrefix(given.Text, "Well") {
			t.Errorf("%q %s", given.Text, got)
		}
	}
	f(`[ {"type":"text","text":"7"} ]`, `[{"type":"text","text":"Well\n\n"},{"type":"text","text":"7"}]`)
	f(`[]`, `[{"type":"text","text":"Well\n\n"}]`)
	f(`"7"`, `"Well\n\n7"`)
	f(`null`, `"Well"`)
}
