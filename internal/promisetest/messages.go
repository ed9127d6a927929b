package promisetest

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"

	"epitome/internal/fakeapi/messages/rules"
)

// messages is Anthropic Messages.
type messages struct{}

func (messages) list() string   { return "messages" }
func (messages) system() string { return "system" }

func (messages) body(c *conversation) []byte {
	list := c.all()
	if at, ok := strings.CutSuffix(list, "}]}"); ok && !strings.HasSuffix(at, "}") { // it marks the last block
		list = at + marker + "}]}"
	}
	system, tools := "", ""
	if c.system != "" {
		system = `"system":[{"type":"text","text":` + (&pen{}).quote(c.system) + marker + `}],`
	}
	if c.tools != "" {
		tools = `,"tools":` + c.tools
	}
	return []byte(`{"model":"` + c.model + `",` + system + ` "messages" : [` + list + `],"max_tokens":1000` +
		tools + "}\n")
}

func (messages) say(p *pen, role, text string) string {
	block := `{"type":"text",` + p.space() + `"text":` + p.quote(text) + `}`
	content := "[" + block + "]"
	switch {
	case p.in(3):
		content = p.quote(text)
	case role == "user" && p.in(4):
		content = `[{"type":"text","text":` + p.quote("<system-reminder>It rains.</system-reminder>") + "},\n" + block + "]"
	case role == "user" && p.in(4):
		content = `[` + imageBlock + `, ` + block + "]"
	}
	return `{"role":"` + role + `",` + p.space() + `"content":` + content + "}"
}

const imageBlock = `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + picture + `"}}`

func (messages) answer(p *pen, a answer) []string {
	var blocks []string
	if a.thought != "" {
		blocks = append(blocks, `{"type":"thinking","thinking":`+p.quote(a.thought)+`,"signature":`+
			p.quote("signed: "+a.thought)+`}`)
	}
	if strings.TrimSpace(a.text) != "" {
		blocks = append(blocks, `{"type":"text","text":`+p.quote(a.text)+`}`)
	}
	for _, c := range a.calls {
		blocks = append(blocks, `{"type":"tool_use","id":"`+c.id+`","name":"`+c.tool+`","input":`+p.space()+c.arguments+`}`)
	}
	if len(blocks) == 0 || len(blocks) == 1 && a.thought != "" {
		return nil
	}
	return []string{`{"role":"assistant","content":[` + strings.Join(blocks, ", ") + `]}`}
}

func (messages) results(p *pen, calls []call) []string {
	var blocks []string
	for _, c := range calls {
		content := p.quote(c.result)
		a, b, ok := halves(c.result)
		text := `{"type":"text","text":` + content + `}`
		switch {
		case ok && p.in(12):
			content = "[" + text + "]"
		case ok && p.in(12):
			content = `[{"type":"text","text":` + p.quote(a) + `}, {"type":"text","text":` + p.quote(b) + `}]`
		case ok && p.in(12):
			content = `[` + imageBlock + `,` + text + `]`
		case p.in(20):
			content = `[{"type":"tool_reference","tool_name":"more"}]`
		}
		failed := p.one("", `"is_error":true,`, `"is_error":false,`)
		blocks = append(blocks, `{"type":"tool_result",`+failed+`"tool_use_id":"`+c.id+`","content":`+content+`}`)
	}
	if p.in(4) {
		blocks = append(blocks, `{"type":"text","text":"<system-reminder>It snows.</system-reminder>"}`)
	}
	if n := len(calls); n > 1 && p.in(6) { // the server makes one message of two
		return []string{resultMessage(p, blocks[:1]), resultMessage(p, blocks[1:])}
	}
	return []string{resultMessage(p, blocks)}
}

func resultMessage(p *pen, blocks []string) string {
	content := `"content":[` + strings.Join(blocks, p.space()+","+p.space()) + `]`
	if p.in(4) {
		return `{` + content + `,"role":"user"}`
	}
	return `{"role":"user",` + content + `}`
}

func (messages) oddities(_ *pen, long string) []string {
	user := func(blocks string) string { return `{"role":"user","content":[` + blocks + `]}` }
	said := func(blocks string) string { return `{"role":"assistant","content":[` + blocks + `]}` }
	return []string{
		`{"role":"critic","content":` + long + `}`, `{"role":"system","content":` + long + `}`, `{"role":"user"}`, `{}`,
		user(""), said(""), user(`{"type":"hologram","of":` + long + `}`), said(`{"type":"hologram","of":` + long + `}`),
		user(`{"type":"tool_result","tool_use_id":"none","content":` + long + `},{"type":"text","text":"x"}`),
		user(`{"type":"tool_result","content":` + long + `}`), user(`{"type":"text","text":""},{"type":"text"}`),
		said(`{"type":"tool_use","id":"a","name":"x","input":"{broken"}`), said(`{"type":"tool_use"}`),
		said(`{"type":"text","text":"x"},{"type":"thinking","thinking":"late"}`),
	}
}

func (messages) pairs(m gjson.Result) (calls, results []string) {
	for _, b := range m.Get("content").Array() {
		switch b.Get("type").Str {
		case "tool_use":
			calls = append(calls, b.Get("id").String())
		case "tool_result":
			results = append(results, b.Get("tool_use_id").String())
		}
	}
	return calls, results
}

func (messages) refusal(body, _ []byte) error {
	header := http.Header{"Anthropic-Version": {"2023-06-01"}}
	model := func(name string) rules.Model {
		m := rules.ModelOf(name)
		m.Prefill, m.InlineSystem = true, true
		return m
	}
	if _, refused := rules.Read(header, body, false, model); refused != nil {
		return fmt.Errorf("%w (%s)", errors.New(refused.Message), body)
	}
	return nil
}
