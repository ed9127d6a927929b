package daemon

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"epitome/rewrite/aside"
	"epitome/scripted/messages"
	"epitome/scripted/messages/rules"
	"epitome/scripted/scriptedtest"
)

// thinker is a bare agent of Messages that knows no tool but its own, before a strict server that binds thinking.
type thinker struct {
	t       *testing.T
	server  *messages.Server
	dice    *rand.Rand
	name    string // of an artifact
	forgets bool   // it sends nothing back of what the model thought
	wants   string // settings of every second request
	said    []string
	asked   int
	rounds  int // within the answer that is made
	calls   int
}

// turn is what the model says in one round: sometimes it thinks and speaks, and it calls the tool, others or none.
func (a *thinker) turn(messages.Received) messages.Turn {
	a.rounds++
	var blocks []messages.Block
	if a.dice.IntN(2) == 0 {
		blocks = append(blocks, messages.Think(fmt.Sprint("thought ", a.dice.Uint64())))
	}
	if a.dice.IntN(2) == 0 {
		blocks = append(blocks, messages.Text(fmt.Sprintf("Text %d. ", a.dice.IntN(1000))))
	}
	add := func(name, input string) {
		a.calls++
		blocks = append(blocks, messages.Call(fmt.Sprint("toolu_", a.calls), name, input))
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
		blocks = append(blocks, messages.Text(fmt.Sprintf("Done %d.", a.dice.IntN(1000))))
	}
	return messages.Turn{Blocks: blocks}
}

// asks sends the conversation, takes the answer into it, and answers its calls.
func (a *thinker) asks(url string, streamed bool) {
	a.t.Helper()
	a.rounds = 0
	wants := a.wants
	if a.asked++; a.asked%2 == 1 {
		wants = ""
	}
	body := fmt.Sprintf(`{"model":%q,"max_tokens":4000,"stream":%v,"thinking":{"type":"adaptive"},%s`+
		`"tools":[{"name":"own","input_schema":{"type":"object"}}],"messages":[%s]}`, bindsThinking, streamed, wants, strings.Join(a.marked(), ","))
	req, _ := http.NewRequest(http.MethodPost, url+"/v1/messages", strings.NewReader(body))
	req.Header.Set("x-api-key", "k")
	req.Header.Set("anthropic-version", "2023-06-01")
	raw := answered200(a.t, req)
	sent := a.server.Received()
	if got, want := bytes.Count(sent[len(sent)-1].Body, []byte(aMark)), strings.Count(body, aMark); got != want {
		a.t.Fatalf("of %d marks for the cache the provider gets %d: %s", want, got, sent[len(sent)-1].Body)
	}
	answer := gjson.Parse(raw)
	if streamed {
		answer = blocksOf(a.t, raw)
	}
	if strings.Contains(answer.Raw, aside.Tool) {
		a.t.Fatalf("the client sees %s", answer.Raw)
	}
	var kept, results []string
	for _, b := range answer.Get("content").Array() {
		if kind := b.Get("type").Str; a.forgets && kind == "thinking" || kind == "text" && b.Get("text").Str == "" {
			continue
		}
		kept = append(kept, b.Raw)
		if b.Get("type").Str == "tool_use" {
			results = append(results, `{"type":"tool_result","tool_use_id":"`+b.Get("id").Str+`","content":"own result"}`)
		}
	}
	if texts := answer.Get(`content.#(type=="text")#`).Array(); wants != "" && len(texts) > 2 {
		a.t.Fatalf("%d rounds, and one document is %s", a.rounds, answer.Raw)
	}
	if (answer.Get("stop_reason").Str == "tool_use") != (len(results) > 0) {
		a.t.Fatalf("%d calls stop with %s", len(results), answer.Get("stop_reason").Raw)
	}
	if len(kept) > 0 {
		a.said = append(a.said, `{"role":"assistant","content":[`+strings.Join(kept, ",")+`]}`)
	}
	if results = append(results, `{"type":"text","text":"Go on."}`); len(kept) > 0 {
		a.said = append(a.said, `{"role":"user","content":[`+strings.Join(results, ",")+`]}`)
	}
}

// aMark is a mark for the cache.
const aMark = `,"cache_control":{"type":"ephemeral"}`

// marked is what was said with a mark for the cache somewhere in each of the newest two answers.
func (a *thinker) marked() []string {
	said, left := slices.Clone(a.said), 2
	for i := len(said) - 1; i >= 0 && left > 0; i-- {
		blocks := gjson.Get(said[i], "content").Array()
		b := blocks[a.dice.IntN(len(blocks))].Raw
		if gjson.Get(said[i], "role").Str == "assistant" && !strings.Contains(b, `"thinking"`) {
			said[i], left = strings.Replace(said[i], b, b[:len(b)-1]+aMark+"}", 1), left-1
		}
	}
	return said
}

// blocksOf puts a streamed answer together, as SDKs do, and holds it to have one beginning, one end and no hole.
func blocksOf(t *testing.T, stream string) gjson.Result {
	t.Helper()
	var content []map[string]any
	message, starts, stops, input := map[string]any{}, 0, 0, ""
	for part := range strings.SplitSeq(strings.TrimSpace(stream), "\n\n") {
		kind, data, _ := strings.Cut(strings.TrimPrefix(part, "event: "), "\ndata: ")
		v := gjson.Parse(data)
		if kind != v.Get("type").Str {
			t.Fatalf("an event is called %s: %s", kind, data)
		}
		at := int(v.Get("index").Int())
		switch kind {
		case "message_start":
			starts++
		case "content_block_start":
			if at != len(content) {
				t.Fatalf("block %d comes behind %d blocks: %s", at, len(content), stream)
			}
			block, _ := v.Get("content_block").Value().(map[string]any)
			content, input = append(content, block), ""
		case "content_block_delta":
			d, b := v.Get("delta"), content[at]
			for _, key := range []string{"text", "thinking", "signature"} {
				if d.Get(key).Exists() {
					before, _ := b[key].(string)
					b[key] = before + d.Get(key).Str
				}
			}
			if input += d.Get("partial_json").Str; input != "" {
				b["input"] = gjson.Parse(input).Value()
			}
		case "message_delta":
			message["stop_reason"], message["usage"] = v.Get("delta.stop_reason").Value(), v.Get("usage").Value()
		case "message_stop":
			stops++
		}
	}
	if starts != 1 || stops != 1 {
		t.Fatalf("%d beginnings and %d ends: %s", starts, stops, stream)
	}
	message["content"] = content
	all, _ := json.Marshal(message)
	return gjson.ParseBytes(all)
}

// goesOn reports that a list of messages begins with all that the list before it had, marks for the cache aside.
func goesOn(t *testing.T, before, now []byte, list string) {
	t.Helper()
	unmarked := func(body []byte) []byte { return bytes.ReplaceAll(body, []byte(aMark), nil) }
	was, is := gjson.GetBytes(unmarked(before), list).Array(), gjson.GetBytes(unmarked(now), list).Array()
	for i, m := range was {
		if i >= len(is) || is[i].Raw != m.Raw {
			t.Fatalf("message %d was\n%s\nand the next request is\n%s", i, m.Raw, now)
		}
	}
}

// TestThinkingOutlivesAsides: whatever a model does within its answers, and whenever epitome starts again, the provider
// takes each request, and finds all behind what it bound it to.
func TestThinkingOutlivesAsides(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		a := &thinker{t: t, dice: rand.New(rand.NewPCG(seed, 1)), forgets: seed%4 == 3,
			wants: []string{"", `"output_config":{"format":{"type":"json_schema","schema":{"type":"object"}}},`}[seed/4],
			said:  []string{`{"role":"user","content":[{"type":"text","text":"Which?"}]}`}}
		binds := rules.ModelOf(bindsThinking)
		a.server = scriptedtest.StartMessages(t, messages.Options{Otherwise: a.turn,
			Models: map[string]rules.Model{bindsThinking: binds}})
		folder := t.TempDir()
		k := besides(t, folder, a.server.URL(), nil)
		a.name = k.shelved(t, "first\nsecond\n")
		for n := range 8 {
			a.asks(k.url(), (uint64(n)+seed)%2 == 0)
			if n%3 == 2 {
				k.end(t)
				k = besides(t, folder, a.server.URL(), nil)
			}
		}
		k.end(t)
		got := a.server.Received()
		for i := 1; i < len(got) && !a.forgets; i++ {
			goesOn(t, got[i-1].Body, got[i].Body, "messages")
		}
		if refused := a.server.Refusals(); len(refused) > 0 {
			t.Fatalf("seed %d: %+v", seed, refused[0])
		}
	}
}
