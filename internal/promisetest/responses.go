package promisetest

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"

	"epitome/internal/fakeapi/responses/rules"
)

// responses is OpenAI Responses.
type responses struct{}

func (responses) list() string   { return "input" }
func (responses) system() string { return "instructions" }

func (responses) body(c *conversation) []byte {
	system, tools := "", ""
	if c.system != "" {
		system = `"instructions":` + (&pen{}).quote(c.system) + `, `
	}
	if c.tools != "" {
		tools = `,"tools":` + c.tools
	}
	return []byte(`{"model":"` + c.model + `", ` + system + `"input" : [` + c.all() + `], "store":false` + tools + "}\n")
}

func (d responses) say(p *pen, role, text string) string {
	if role == "assistant" {
		return d.said(p, text, text)
	}
	part := `{"type":"input_text",` + p.space() + `"text":` + p.quote(text) + `}`
	content := "[" + part + "]"
	switch {
	case p.in(3):
		content = p.quote(text)
	case role == "user" && p.in(4):
		content = `[{"type":"input_text","text":"<environment_context>Here.</environment_context>"},` + part + "]"
	case role == "user" && p.in(4):
		content = `[{"type":"input_image","image_url":"data:image/png;base64,` + picture + `"}, ` + part + "]"
	}
	return p.one(`{"type":"message",`, "{") + `"role":"` + role + `",` + p.space() + `"content":` + content + "}"
}

// said writes a message of the model's with an ID made of seed, or without.
func (responses) said(p *pen, text, seed string) string {
	return p.one(`{"type":"message","role":"assistant","status":"completed","id":"msg_`+id(seed)+`",`,
		`{"role":"assistant",`) + `"content":[{"type":"output_text","text":` + p.quote(text) + `,"annotations":[]}]}`
}

// id makes letters of a text.
func id(text string) string { return fmt.Sprintf("%x", hashOf(text))[:24] }

func (d responses) answer(p *pen, a answer) (list []string) {
	if a.text == "" && len(a.calls) == 0 {
		return nil
	}
	if a.thought != "" {
		list = append(list, `{"type":"reasoning","id":"rs_`+id(a.thought)+`","summary":[],"encrypted_content":"gAAAA`+
			id(a.thought)+`"}`)
		p = &pen{} // what it led to has an ID
	}
	if a.text != "" {
		seed := a.thought + a.text
		if len(a.calls) > 0 {
			seed += a.calls[0].id
		}
		list = append(list, d.said(p, a.text, seed))
	}
	for _, c := range a.calls {
		kind := toolOf(c)
		prefix, what := "fc", `"name":"`+c.tool+`","arguments":`+p.quote(c.arguments)
		switch kind {
		case "custom_tool_call":
			prefix, what = "ctc", `"name":"`+c.tool+`","input":`+p.quote(c.arguments)
		case "local_shell_call":
			prefix, what = "ls", `"status":"completed","action":{"type":"exec","command":["make"],"env":{}}`
		}
		list = append(list, `{"type":"`+kind+`","id":"`+prefix+`_`+c.id+`","call_id":"`+c.id+`",`+p.space()+what+`}`)
	}
	return list
}

// toolOf is the type of the item that makes a call; its result has the same.
func toolOf(c call) string {
	switch c.tool {
	case "apply_patch":
		return "custom_tool_call"
	case "local_shell":
		return "local_shell_call"
	}
	return "function_call"
}

func (responses) results(p *pen, calls []call) (list []string) {
	for _, c := range calls {
		part := func(s string) string { return `{"type":"input_text","text":` + p.quote(s) + `}` }
		kind, output := toolOf(c), p.quote(c.result)
		switch a, b, ok := halves(c.result); {
		case kind == "local_shell_call":
			list = append(list, `{"type":"local_shell_call_output","id":"`+c.id+`","output":`+p.quote(output)+`}`)
			continue
		case ok && p.in(12):
			output = "[" + part(c.result) + "]"
		case ok && p.in(12):
			output = "[" + part(a) + "," + p.space() + part(b) + "]"
		case p.in(12):
			output = `[{"type":"input_image","image_url":"data:image/png;base64,` + picture + `"},` + part(c.result) + "]"
		}
		list = append(list, `{"type":"`+kind+`_output","call_id":"`+c.id+`",`+p.space()+`"output":`+output+`}`)
	}
	return list
}

func (d responses) oddities(p *pen, long string) []string {
	return []string{
		`{"role":"critic","content":` + long + `}`, `{"role":"system","content":` + long + `}`, `{"role":"user"}`, `{}`,
		`{"role":"user","content":[]}`, `{"role":"user","content":{"a":` + long + `}}`,
		`{"type":"hologram","of":` + long + `}`, `{"id":"rs_1"}`, `{"type":"item_reference","id":"fc_1"}`,
		`{"type":"function_call_output","call_id":"none","output":` + long + `}`, `{"type":"function_call_output"}`,
		`{"type":"function_call","call_id":"a","name":"x","arguments":"{broken"}`, `{"type":"reasoning","summary":[]}`,
		`{"type":"compaction","encrypted_content":` + long + `}`, `{"type":"image_generation_call","id":"i","result":"iVBO"}`,
	}
}

func (responses) pairs(m gjson.Result) (calls, results []string) {
	kind, id := m.Get("type").Str, m.Get("call_id").String()
	switch {
	case kind == "local_shell_call_output":
		return nil, []string{m.Get("id").String()}
	case strings.HasSuffix(kind, "_call_output"):
		return nil, []string{id}
	case strings.HasSuffix(kind, "_call") && id != "":
		return []string{id}, nil
	}
	return nil, nil
}

func (responses) refusal(body, request []byte) error {
	book := rules.NewBook()
	_ = book.Adopt(request) // what it cannot read is refused below
	q, refused := rules.Read(http.Header{}, body, rules.Answer, rules.ModelOf)
	if refused == nil {
		refused = book.Expand(q)
	}
	if refused == nil {
		refused = rules.CheckPairs(q.Items)
	}
	if refused == nil {
		refused = book.Check(q)
	}
	if refused != nil {
		return refused
	}
	return nil
}
