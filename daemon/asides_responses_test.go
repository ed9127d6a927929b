package daemon

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"epitome/rewrite/aside"
	"epitome/scripted/responses"
	"epitome/scripted/scriptedtest"
)

// asker is a bare agent of Responses that knows no tool but its own, before a strict server.
type asker struct {
	t        *testing.T
	dice     *rand.Rand
	settings string
	chained  bool // it goes on from answers by their ids
	forgets  bool // it sends nothing back of what the model thought
	name     string
	said     []string
	previous string
	asked    int
	rounds   int
}

// turn is what the model says in one round.
func (a *asker) turn(responses.Received) responses.Turn {
	a.rounds++
	var items []responses.Item
	if a.dice.IntN(2) == 0 {
		items = append(items, responses.Think(fmt.Sprint("thought ", a.dice.Uint64())))
	}
	if a.dice.IntN(2) == 0 {
		items = append(items, responses.Text(fmt.Sprintf("Text %d. ", a.dice.IntN(1000))))
	}
	add := func(name, arguments string) {
		items = append(items, responses.Call("", name, arguments))
	}
	again := a.rounds < 4 && a.dice.IntN(3) > 0
	if again {
		for range 1 + a.dice.IntN(2) {
			add(aside.Tool, `{"artifact":"`+a.name+`","lines":"2"}`)
		}
	}
	if a.dice.IntN(3) == 0 {
		add("own", `{"x":"<1>"}`)
		if again && a.dice.IntN(2) == 0 {
			add(aside.Tool, `{"artifact":"none"}`)
			add("own", `{}`)
		}
	} else if !again {
		items = append(items, responses.Text(fmt.Sprintf("Done %d.", a.dice.IntN(1000))))
	}
	return responses.Turn{Items: items}
}

// asks sends the conversation, takes the answer into it, and answers its calls.
func (a *asker) asks(url string, streamed bool) {
	a.t.Helper()
	a.rounds = 0
	settings := a.settings
	if a.asked++; a.asked%3 == 0 {
		settings += `"text":{"format":{"type":"json_schema","name":"s","schema":{"type":"object"}}},`
	}
	if a.previous != "" {
		settings += fmt.Sprintf(`"previous_response_id":%q,`, a.previous)
	}
	body := fmt.Sprintf(`{"model":"gpt-5",%s"stream":%v,"tools":[{"type":"function","name":"own","parameters":{"type":"object"}}],`+
		`"input":[%s]}`, settings, streamed, strings.Join(a.said, ","))
	resp, err := http.Post(url+"/v1/responses", "application/json", strings.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK || strings.Contains(string(raw), `"`+aside.Tool+`","arguments`) {
		a.t.Fatalf("%d %s, %v", resp.StatusCode, raw, err)
	}
	items, id := answered(raw)
	if id == "" || streamed && len(id) < 5 {
		a.t.Fatalf("%s: %s", id, raw)
	}
	if streamed {
		a.joined(string(raw), items, id)
	}
	var outputs []string
	if a.previous = ""; a.chained {
		a.previous, a.said = id, nil
	}
	for _, item := range items {
		v := gjson.Parse(item)
		switch {
		case v.Get("name").Str == aside.Tool:
			a.t.Fatalf("the client sees %s", item)
		case v.Get("type").Str == "function_call":
			outputs = append(outputs, `{"type":"function_call_output","call_id":"`+v.Get("call_id").Str+`","output":"own result"}`)
		}
		if !a.chained && !(a.forgets && v.Get("type").Str == "reasoning") {
			if a.forgets {
				item = strings.Replace(item, `"id":"`+v.Get("id").Str+`",`, "", 1)
			}
			a.said = append(a.said, item)
		}
	}
	a.said = append(append(a.said, outputs...), `{"role":"user","content":"Go on."}`)
}

// joined holds a streamed answer to have one id, and its items in order in its end.
func (a *asker) joined(stream string, items []string, id string) {
	a.t.Helper()
	next := 0
	for line := range strings.Lines(stream) {
		e := gjson.Parse(strings.TrimPrefix(strings.TrimSpace(line), "data: "))
		if e.Get("response.id").Exists() && e.Get("response.id").Str != id {
			a.t.Fatalf("one answer has the ids %s and %s", id, e.Get("response.id").Str)
		}
		if e.Get("type").Str == "response.output_item.added" {
			if e.Get("output_index").Int() != int64(next) {
				a.t.Fatalf("item %d has the number %d", next, e.Get("output_index").Int())
			}
			next++
		}
		if e.Get("type").Str == "response.completed" && len(e.Get("response.output").Array()) != len(items) {
			a.t.Fatalf("%d items were streamed, the end has %s", len(items), e.Get("response.output").Raw)
		}
	}
}

// TestResponsesGoOnBehindAsides: whatever a model does within its answers, the provider takes each request, however its
// client goes on.
func TestResponsesGoOnBehindAsides(t *testing.T) {
	t.Parallel()
	sealed := `"store":false,"include":["reasoning.encrypted_content"],`
	for _, c := range []struct {
		settings         string
		chained, forgets bool
	}{
		{sealed, false, false}, {"", false, false}, {`"store":true,`, true, false}, {sealed, false, true},
		{`"store":false,`, false, true},
	} {
		for seed := range uint64(3) {
			a := &asker{t: t, dice: rand.New(rand.NewPCG(seed, 2)), settings: c.settings,
				chained: c.chained, forgets: c.forgets, said: []string{`{"role":"user","content":"Which?"}`}}
			server := scriptedtest.StartResponses(t, responses.Options{Otherwise: a.turn})
			folder := t.TempDir()
			k := besides(t, folder, server.URL(), nil)
			a.name = k.shelved(t, "first\nsecond\n")
			for n := range 8 {
				a.asks(k.url(), (uint64(n)+seed)%2 == 0)
				if n%4 == 3 {
					k.end(t)
					k = besides(t, folder, server.URL(), nil)
				}
			}
			k.end(t)
			got := server.Received()
			for i := 1; i < len(got) && !c.chained && !c.forgets; i++ {
				goesOn(t, got[i-1].Body, got[i].Body, "input")
			}
			if refused := server.Refusals(); len(refused) > 0 || len(got) < 9 {
				t.Fatalf("%+v, seed %d: %+v", c, seed, refused)
			}
		}
	}
}
