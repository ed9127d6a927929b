package daemon

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/tidwall/gjson"

	"epitome/internal/fakeapi"
)

// packer compresses the bodies of all agents, as a new one each would clear megabytes.
var packer, _ = zstd.NewWriter(nil)

// agent works with tools, in one of the three APIs: each turn the model says something and calls the shell, which gives
// a long result. All of that is sent with each request.
type agent struct {
	t        *testing.T
	api      string // chat, messages or responses
	url      string // of epitome
	model    string
	stream   bool
	packs    bool     // bodies are compressed
	thinking string   // what requests of Messages say of it
	settings string   // of requests of Responses, each with a comma behind it
	header   []string // further lines, as NAME: VALUE
	tells    string   // the model says before it calls
	lines    int      // of a result
	items    []string // messages, or items of the input
	turns    int
	acted    map[string]int // what epitome did, by its header
	ids      map[string]int // of the conversation, by its header
	sent     string         // the last request
}

// working is an agent that talks to an epitome.
func working(p *program, api, model string) *agent {
	a := &agent{t: p.t, api: api, url: p.url, model: model, lines: 60, acted: map[string]int{}, ids: map[string]int{},
		thinking: `{"type":"disabled"}`,
		settings: `"store":false,"include":["reasoning.encrypted_content"],"prompt_cache_key":"k1",`}
	a.items = []string{`{"role":"user","content":"Mend the shop."}`}
	return a
}

// path is where requests go, below the address of epitome.
func (a *agent) path() string {
	return map[string]string{"chat": "/v1/chat/completions", "messages": "/v1/messages",
		"responses": "/v1/responses"}[a.api]
}

// body is the next request. The last block of Messages is marked for the cache, as clients do.
func (a *agent) body(more ...string) string {
	items := strings.Join(append(a.items[:len(a.items):len(a.items)], more...), ",")
	switch a.api {
	case "messages":
		if begin, ok := strings.CutSuffix(items, "}]}"); ok {
			items = begin + `,"cache_control":{"type":"ephemeral"}}]}`
		}
		return fmt.Sprintf(`{"model":%q,"max_tokens":4000,"stream":%t,"thinking":%s,"system":[{"type":"text",`+
			`"text":"You are an agent.","cache_control":{"type":"ephemeral"}}],"tools":[{"name":"bash",`+
			`"input_schema":{"type":"object"}}],"messages":[%s]}`,
			a.model, a.stream, a.thinking, items)
	case "responses":
		return fmt.Sprintf(`{"model":%q,"stream":%t,%s"tools":[{"type":"function","name":"bash",`+
			`"parameters":{"type":"object"}}],`+
			`"input":[%s]}`, a.model, a.stream, a.settings, items)
	}
	return fmt.Sprintf(`{"model":%q,"messages":[%s],"tools":[{"type":"function","function":{"name":"bash","parameters":`+
		`{"type":"object"}}}]}`, a.model, items)
}

// post sends a body to a path below that of the API.
func (a *agent) post(below, body string) (*http.Response, string) {
	a.t.Helper()
	lines := []string{"Authorization: Bearer sk-client"}
	if a.api == "messages" {
		lines = []string{"x-api-key: sk-client", "anthropic-version: 2023-06-01"}
	}
	lines = append(lines, a.header...)
	if a.packs {
		body = string(packer.EncodeAll([]byte(body), nil))
		lines = append(lines, "Content-Encoding: zstd")
	}
	return post(a.t, a.url+a.path()+below, body, lines...)
}

// turn has the model call its shell once, and returns what epitome did. It fails if the agent would see an error.
func (a *agent) turn() (action string) {
	a.t.Helper()
	a.turns++
	a.sent = a.body()
	resp, answer := a.post("", a.sent)
	if resp.StatusCode != http.StatusOK || !strings.Contains(answer, "part"+strconv.Itoa(a.turns)) {
		a.t.Fatalf("turn %d: %s %.900s", a.turns, resp.Status, answer)
	}
	a.goOn(answer)
	action = resp.Header.Get("x-epitome-action")
	a.acted[action]++
	a.ids[resp.Header.Get("x-epitome-conversation")]++
	return action
}

// work is so many turns.
func (a *agent) work(turns int) {
	a.t.Helper()
	for range turns {
		a.turn()
	}
}

// parts are what the model says and calls in this turn.
func (a *agent) parts() []fakeapi.Part {
	return []fakeapi.Part{fakeapi.Think(fmt.Sprintf("Part %d comes next.", a.turns)), fakeapi.Text("So. " + a.tells),
		fakeapi.Call(a.callID(), "bash", fmt.Sprintf(`{"command":"go test ./shop/part%d"}`, a.turns))}
}

// callID is the id of the call in this turn.
func (a *agent) callID() string { return fmt.Sprintf("toolu_%d", a.turns) }

// goOn takes what the model said and adds the results of its calls.
func (a *agent) goOn(answer string) {
	result := ""
	for n := range a.lines {
		result += fmt.Sprintf(`the refund of order %d in part %d was checked against the books and found as it should be\n`,
			n, a.turns)
	}
	items := calling(a.api, a.callID(), fmt.Sprint("go test ./shop/part", a.turns), result)
	said, ends := items[:1], items[1:]
	switch {
	case a.api == "responses":
		var id string
		said, id = outputOf(answer)
		if strings.Contains(a.settings, `"store":true`) { // all that came before lies with the provider
			a.settings = fmt.Sprintf(`"store":true,"previous_response_id":%q,`, id)
			a.items, said = nil, nil
		}
	case a.api == "messages" && !a.stream:
		said = []string{`{"role":"assistant","content":` + gjson.Get(answer, "content").Raw + `}`}
	case a.api == "chat":
		said = []string{gjson.Get(answer, "choices.0.message").Raw}
	}
	a.items = append(append(a.items, said...), ends...)
}

// outputOf are the items of an answer of Responses, whole or as a stream, and its id.
func outputOf(answer string) (items []string, id string) {
	if gjson.Valid(answer) {
		for _, item := range gjson.Get(answer, "output").Array() {
			items = append(items, item.Raw)
		}
		return items, gjson.Get(answer, "id").Str
	}
	for line := range strings.Lines(answer) {
		switch e := gjson.Parse(strings.TrimPrefix(line, "data: ")); e.Get("type").Str {
		case "response.output_item.done":
			items = append(items, e.Get("item").Raw)
		case "response.completed":
			id = e.Get("response.id").Str
		}
	}
	return items, id
}

// asksForSummary reports whether a request is one of epitome's own, in either way.
func asksForSummary(body []byte) bool {
	return strings.Contains(string(body), "Write the summary that will stand") ||
		strings.Contains(string(body), "You keep the memory of an agent at work")
}

// nthSummary is a summary as a model should write it, with the number of the question.
func nthSummary(n int) (text string) {
	for _, heading := range []string{"Goal", "Constraints", "Progress", "Key Decisions", "Failed Approaches",
		"Open Issues",
		"Next Steps", "Critical Values"} {
		text += fmt.Sprintf("## %s\nsummary %d about %s\n", heading, n, strings.ToLower(heading))
	}
	return text
}

// markOf is in what is sent once it has the n-th summary.
func markOf(n int) string { return fmt.Sprintf("summary %d about goal", n) }

// quoted is a text as JSON has it.
func quoted(text string) string {
	b, _ := json.Marshal(text)
	return string(b)
}
