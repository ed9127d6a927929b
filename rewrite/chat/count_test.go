package chat

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"

	"epitome/rewrite/rewritetest"
	"epitome/tokenize"
)

// The provider's own example, with the count that its API gave.
func TestRequestCountsWhatTheCookbookSays(t *testing.T) {
	body := `{"model":"gpt-4o","messages":[
		{"role":"system","content":"You are a helpful assistant that can answer to questions about the weather."},
		{"role":"user","content":"What's the weather like in San Francisco?"}],
		"tools":[{"type":"function","function":{"name":"get_current_weather","description":"Get the current weather in a given location","parameters":
		{"type":"object","properties":{"location":{"type":"string","description":"The city and state, e.g. San Francisco, CA"},
		"unit":{"type":"string","description":"The unit of temperature to return","enum":["celsius","fahrenheit"]}},"required":["location"]}}}]}`
	size := rewritetest.Count(mustRead(t, body), rewritetest.Scale(t, "gpt-4o"))
	if size.Total() != 101 || size.System+size.User+size.Tools+tokenize.PerReply != 101 {
		t.Errorf("got %+v, want 101 in all", size)
	}
}

func TestEachKindOfContentIsCounted(t *testing.T) {
	s := rewritetest.Scale(t, "gpt-4o")
	const perMessage = tokenize.PerMessage + 1
	text := func(v string) int { return s.Counter.CountString(v) }
	f := func(message string, want int) {
		t.Helper()
		r := mustRead(t, rewritetest.ChatBody(message))
		if got := r.CountItem(s, 0); got != want {
			t.Errorf("%s counts %d, want %d", message, got, want)
		}
		if got := rewritetest.Count(r, s).Total(); got != want+tokenize.PerReply {
			t.Errorf("a request of %s counts %d, want %d", message, got, want+tokenize.PerReply)
		}
	}
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 100, 100))); err != nil {
		t.Fatal(err)
	}
	url := "data:image/png;base64," + base64.StdEncoding.EncodeToString(picture.Bytes())
	f(`{"role":"user","content":""}`, perMessage)
	f(`{"role":"user","content":null}`, perMessage)
	f(`{"role":"user","content":"a \"b\"\nc \u00e9"}`, perMessage+text("a \"b\"\nc é"))
	f(`{"role":"user","name":"ann","content":"hi"}`, perMessage+text("hi")+1+text("ann"))
	f(`{"role":"user","content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]}`, perMessage+text("one")+text("two"))
	f(`{"role":"user","content":[{"type":"odd","odd":1}]}`, perMessage+text(`{"type":"odd","odd":1}`))
	f(`{"role":"user","content":["bare"]}`, perMessage+text("bare"))
	f(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"`+url+`"}}]}`, perMessage+255)
	f(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"`+url+`","detail":"low"}}]}`, perMessage+85)
	f(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://x/y.png"}}]}`, perMessage+765)
	f(`{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"`+strings.Repeat("A", 64_000)+`","format":"wav"}}]}`, perMessage+20)
	f(`{"role":"user","content":[{"type":"file","file":{"file_data":"`+strings.Repeat("A", 4000)+`"}}]}`, perMessage+700+765)
	f(`{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"read","arguments":"{\"a\":1}"}}]}`,
		perMessage+tokenize.PerCall+text("read")+text(`{"a":1}`))
	f(`{"role":"tool","tool_call_id":"1","content":"ok"}`, perMessage+tokenize.PerResult+text("ok"))
}

func TestResultsOfParallelCallsAreCountedEscaped(t *testing.T) {
	result := `{"role":"tool","tool_call_id":"1","content":"` + strings.Repeat("температура ", 50) + `"}`
	f := func(model, call string) int {
		t.Helper()
		return rewritetest.Count(mustRead(t, rewritetest.ChatBody(task, call, result)),
			rewritetest.Scale(t, model)).Results
	}
	single := `{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"a","arguments":"{}"}}]}`
	if alone, beside := f("gpt-5", single), f("gpt-5", two); beside < 2*alone {
		t.Errorf("beside another %d, alone %d", beside, alone)
	}
	if alone, beside := f("qwen3", single), f("qwen3", two); beside != alone {
		t.Errorf("for another maker's model: beside another %d, alone %d", beside, alone)
	}
}

func TestRealConversationsAreCountedByItem(t *testing.T) {
	s := rewritetest.Scale(t, "gpt-5")
	rewritetest.Corpus(t, func(name string, body []byte) {
		r, err := Read(body)
		if err != nil {
			t.Fatal(err)
		}
		size := rewritetest.Count(r, s)
		sum := size.Tools + tokenize.PerReply
		for i := range r.Items {
			sum += r.CountItem(s, i)
		}
		if sum != size.Total() || size.Total() > len(body) || size.Total() < len(body)/20 {
			t.Errorf("%s: %d bytes count %+v, %d in all; item by item %d", name, len(body), size, size.Total(), sum)
		}
	})
}

// A conversation of 1 MB with three new messages, once it is known: reading and counting.
func BenchmarkCountKnown(b *testing.B) {
	s := rewritetest.Scale(b, "gpt-5")
	var messages []string
	for i := range 200 {
		text, _ := json.Marshal(strings.Repeat(fmt.Sprintf("line %d of some tool's output, with a \"quote\"\n", i), 110))
		messages = append(messages, fmt.Sprintf(`{"role":"tool","tool_call_id":"%d","content":%s}`, i, text))
	}
	body := []byte(rewritetest.ChatBody(messages...))
	b.SetBytes(int64(len(body)))
	for i := 0; b.Loop(); i++ {
		r, err := Read(body)
		if err != nil {
			b.Fatal(err)
		}
		rewritetest.Count(r, s)
	}
}
