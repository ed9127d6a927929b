package promisetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// chat is Chat Completions.
type chat struct{}

func (chat) list() string   { return "messages" }
func (chat) system() string { return "" }

func (d chat) body(c *conversation) []byte {
	list := c.all()
	if c.system != "" {
		list = d.say(&pen{}, "system", c.system) + ", " + list
	}
	tools := ""
	if c.tools != "" {
		tools = `,"tools":` + c.tools
	}
	return []byte(`{"model":"` + c.model + `", "messages" : [` + list + "],\n\"temperature\":1e-1" + tools + "}\n")
}

func (chat) say(p *pen, role, text string) string {
	content := p.quote(text)
	if role == "user" && p.in(8) {
		content = `[{"type":"image_url","image_url":{"url":"data:image/png;base64,` + picture + `"}},` +
			`{"type":"text","text":` + content + `}]`
	}
	return p.object(`"role":`+p.space()+`"`+role+`"`, `"content":`+p.space()+content)
}

func (chat) answer(p *pen, a answer) []string {
	members := []string{`"role":"assistant"`, `"content":` + p.one("null", `""`)}
	if a.text != "" {
		members[1] = `"content":` + p.quote(a.text)
	}
	if a.thought != "" {
		members = append(members, `"reasoning_content":`+p.quote(a.thought))
	}
	var calls []string
	for _, c := range a.calls {
		calls = append(calls, `{"id":"`+c.id+`","type":"function","function":{"name":"`+c.tool+`","arguments":`+
			p.quote(c.arguments)+`}}`)
	}
	if calls != nil {
		members = append(members, `"tool_calls":[`+strings.Join(calls, ", ")+`]`)
	}
	return []string{"{" + strings.Join(members, ",") + "}"}
}

func (chat) results(p *pen, calls []call) (list []string) {
	for _, c := range calls {
		content := p.quote(c.result)
		switch a, b, ok := halves(c.result); {
		case p.in(12):
			content = `[{"type":"text","text":` + content + `}]`
		case ok && p.in(12):
			content = `[{"text":` + p.quote(a) + `,"type":"text"}, {"type":"text"` + marker + `,"text":` + p.quote(b) + `}]`
		case p.in(12):
			content = `[{"type":"image_url","image_url":{"url":"data:image/png;base64,` + picture + `"}},` +
				`{"type":"text","text":` + content + `}]`
		}
		list = append(list, p.object(`"role":"tool"`, `"tool_call_id":"`+c.id+`"`, `"content":`+content))
	}
	return list
}

func (d chat) oddities(p *pen, long string) []string {
	return []string{
		`{"role":"critic","content":` + long + `}`, d.say(p, "developer", "Once more."), `{"role":"user"}`, `{}`,
		`{"role":"user","content":[]}`, `{"role":"tool","content":` + long + `}`,
		`{"role":"tool","tool_call_id":"none","content":` + long + `}`, `{"role":"tool","content":{"a":` + long + `}}`,
		`{"role":"assistant","content":null,"tool_calls":[]}`,
		`{"role":"assistant","content":null,"function_call":{"name":"bash","arguments":"{}"}}`,
		`{"role":"function","name":"bash","content":` + long + `}`,
		`{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"x","arguments":"{broken"}}]}`,
		`{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"x","arguments":{}}},{"id":"a"},{}]}`,
	}
}

func (chat) pairs(m gjson.Result) (calls, results []string) {
	if m.Get("role").Str == "tool" {
		return nil, []string{m.Get("tool_call_id").String()}
	}
	for _, c := range m.Get("tool_calls").Array() {
		calls = append(calls, c.Get("id").String())
	}
	return calls, nil
}

// refusal knows the rules that OpenAI's server is known for.
func (d chat) refusal(body, _ []byte) error {
	if !gjson.ValidBytes(body) {
		return errors.New("no JSON")
	}
	var open []string // calls without a result
	for i, m := range gjson.GetBytes(body, "messages").Array() {
		role, content := m.Get("role").Str, m.Get("content")
		calls, results := d.pairs(m)
		if len(open) > 0 && role != "tool" {
			return fmt.Errorf("messages.%d: no result for call %s", i, open[0])
		}
		switch role {
		case "system", "developer", "user":
			if content.Type != gjson.String && len(content.Array()) == 0 {
				return fmt.Errorf("messages.%d has no content", i)
			}
		case "assistant":
			if m.Get("tool_calls").IsArray() && len(calls) == 0 {
				return fmt.Errorf("messages.%d: no call in tool_calls", i)
			}
			if content.Type == gjson.Null && len(calls) == 0 {
				return fmt.Errorf("messages.%d says nothing", i)
			}
			for _, arguments := range m.Get("tool_calls.#.function.arguments").Array() {
				if arguments.Type != gjson.String || !gjson.Valid(arguments.Str) {
					return fmt.Errorf("messages.%d: arguments are no JSON", i)
				}
			}
			open = calls
		case "tool":
			at := slices.Index(open, results[0])
			if at < 0 {
				return fmt.Errorf("messages.%d: no call for result %s", i, results[0])
			}
			open = slices.Delete(open, at, at+1)
		default:
			return fmt.Errorf("messages.%d: role %s", i, role)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("no result for call %s", open[0])
	}
	return nil
}
