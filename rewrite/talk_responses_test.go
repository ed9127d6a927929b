package rewrite

import (
	"fmt"
	"net/http"
	"strings"

	"epitome/rewrite/responses"
	"epitome/scripted/responses/rules"
)

// responsesTongue is OpenAI Responses.
type responsesTongue struct{ responses.Dialect }

// refusal is how a strict server refuses a body, for what shows in it alone; nil if it takes it.
func (responsesTongue) refusal(body []byte) error {
	newest := func(string) rules.Model { return rules.ModelOf("gpt-5.6") }
	q, refused := rules.Read(http.Header{}, body, rules.Answer, newest)
	if refused == nil {
		refused = rules.CheckPairs(q.Items)
	}
	if refused != nil {
		return refused
	}
	return nil
}

func (responsesTongue) lead(c *talk, quoted string) string {
	apart := c.IntN(2) == 0
	if len(c.head) > 0 { // clients keep to one place
		apart = !strings.HasPrefix(c.head[0], "{")
	}
	if apart {
		return `"instructions":` + c.space() + quoted + ","
	}
	return `{"type":"message","role":"developer","content":[{"type":"input_text","text":` + quoted + `}]}`
}

// say writes a message with or without its type, its text as a string, as a part, or as one part of several.
func (in responsesTongue) say(c *talk, role, quoted string) string {
	if role == "assistant" {
		return in.said(c, quoted)
	}
	part := `{"type":"input_text",` + c.space() + `"text":` + quoted + `}`
	content := `[{"type":"input_text","text":` + c.string("<environment_context>"+c.words(4)+"</environment_context>") + "},\n" + part + "]"
	switch {
	case c.IntN(3) == 0:
		content = quoted
	case role != "user" || c.IntN(2) == 0:
		content = "[" + part + "]"
	case c.IntN(3) == 0:
		content = `[{"type":"input_image","image_url":"data:image/png;base64,iVBORw0KGgo="}, ` + part + "]"
	}
	if c.IntN(2) == 0 {
		return c.message(role, content)
	}
	return `{"type":"message",` + c.space() + `"id":"` + c.id("msg") + `","role":"` + role + `",` + c.space() + `"content":` + content + "}"
}

// said writes a message of the model's.
func (responsesTongue) said(c *talk, quoted string) string {
	switch c.IntN(3) {
	case 0:
		return `{"role":"assistant","content":` + quoted + `}`
	case 1:
		return `{"type":"message","role":"assistant","status":"completed","id":"` + c.id("msg") +
			`","phase":"commentary","content":[{"type":"output_text","text":` + quoted + `,"annotations":[]}]}`
	}
	return `{"role":"assistant","content":[{"text":` + quoted + `,` + c.space() + `"type":"output_text"},{"type":"output_text","text":"and"}]}`
}

func (c *talk) id(kind string) string {
	return fmt.Sprintf("%s_%x", kind, c.Uint64())
}

func (responsesTongue) request(c *talk) string {
	list := append([]string(nil), c.items...)
	before := ""
	if len(c.head) > 0 && strings.HasPrefix(c.head[0], "{") {
		list = append(c.head[:1:1], list...)
	} else if len(c.head) > 0 {
		before = c.head[0]
	}
	if c.reminder != "" {
		list = append(list, c.reminder)
	}
	input := `"input" : [` + strings.Join(list, ",\n ") + "],\n"
	if len(c.items)%2 == 0 { // clients keep to one order; readers must not mind
		return `{"model":"` + c.model + `", ` + before + input + `"store":false,` + c.held + c.declared() + "}\n"
	}
	return `{"model":"` + c.model + `", ` + input + before + `"store":false,` + c.held + c.declared() + "}\n"
}

func (in responsesTongue) group(c *talk) {
	n := 1 + max(0, c.IntN(6)-3)
	var said, outputs []string
	if c.IntN(2) == 0 {
		summary := ""
		if c.IntN(2) == 0 {
			summary = `{"type":"summary_text","text":` + c.string(c.words(c.IntN(30))) + `}`
		}
		said = append(said, `{"type":"reasoning","id":"`+c.id("rs")+`","summary":[`+summary+`],"content":null,"encrypted_content":"`+c.id("gAAAA")+`"}`)
	}
	late := c.IntN(12) == 0
	if c.IntN(2) == 0 && !late {
		said = append(said, in.said(c, c.string("So: "+c.words(20))))
	}
	if c.IntN(12) == 0 {
		said = append(said, `{"type":"web_search_call","id":"`+c.id("ws")+`","status":"completed","action":{"type":"search","query":"x"}}`)
	}
	for range n {
		c.calls++
		call, output := in.called(c, fmt.Sprintf("call_%d", c.calls))
		said, outputs = append(said, call), append(outputs, output)
	}
	if late { // the model goes on to speak
		said = append(said, in.said(c, c.string("So: "+c.words(20))))
	}
	c.items = append(c.items, said...)
	if c.broken && c.IntN(8) == 0 {
		k := c.IntN(n)
		outputs = [][]string{nil, append(outputs[:k:k], outputs[k+1:]...), append(outputs[:n:n], outputs[k]),
			{in.say(c, "user", `"stop"`), outputs[k]}}[c.IntN(4)]
	}
	c.reorder(outputs)
	if len(outputs) > 1 && c.IntN(8) == 0 { // one of them comes when the model has gone on
		c.items = append(c.items, outputs[1:]...)
		c.items = append(c.items, in.said(c, c.string("Meanwhile: "+c.words(9))))
		outputs = outputs[:1]
	}
	c.items = append(c.items, outputs...)
	switch c.IntN(20) {
	case 0:
		c.items = append(c.items, `{"type":"message","role":"developer","content":`+c.string("by the way "+c.words(3))+`}`)
	case 1:
		c.items = append(c.items, `{"type":"configuration_update","of":`+c.string(c.words(3))+`}`)
	case 2:
		c.items = append(c.items, `{"type":"function_call_output","name":"monitor","output":`+c.string(c.text())+`}`)
	}
}

// called is a call of any kind, and its output.
func (responsesTongue) called(c *talk, id string) (call, output string) {
	name, arguments, result := c.call()
	with := `"call_id":"` + id + `",` + c.space()
	answer := func(kind string) string {
		return `{"type":"` + kind + `",` + with + `"output":` + c.output(result) + `}`
	}
	item := `"id":"` + c.id("fc") + `",`
	switch c.IntN(14) {
	case 0:
		file := fmt.Sprintf("src/file%d.go", c.IntN(4))
		result = "Done"
		return `{"type":"custom_tool_call",` + item + with + `"name":"apply_patch","input":` +
			c.string("*** Update File: "+file+"\n"+c.text()) + `}`, answer("custom_tool_call_output")
	case 1:
		item = `"id":"ls_` + id + `",`
		called := []string{id, "ls_" + id}[c.IntN(2)]
		return `{"type":"local_shell_call",` + item + with + `"status":"completed","action":{"type":"exec","command":["make"]}}`,
			`{"type":"local_shell_call_output","id":"` + called + `","output":` + c.string(string(ascii(result))) + `}`
	case 2:
		half := len(result) / 2
		chunk := func(s, t string) string {
			return `{"stdout":` + c.string(strings.ToValidUTF8(s, "")) + `,"stderr":` + c.string(t) + `,"outcome":{"type":"exit","exit_code":1}}`
		}
		return `{"type":"shell_call",` + item + with + `"action":{"commands":["make"]}}`,
			`{"type":"shell_call_output",` + with + `"output":[` + chunk(result[:half], "") + "," + chunk(result[half:], "oh") + `]}`
	case 3:
		return `{"type":"apply_patch_call",` + item + with + `"operation":{"type":"update_file","path":"a.go","diff":` + c.string(c.text()) + `}}`,
			`{"type":"apply_patch_call_output",` + with + `"status":"completed"}`
	case 4:
		if c.IntN(3) == 0 {
			return `{"type":"tool_search_call",` + with + `"execution":"client","arguments":{}}`,
				`{"type":"tool_search_output",` + with + `"execution":"client","tools":[{"type":"function","name":"more"}]}`
		}
	}
	return `{"type":"function_call",` + item + with + `"name":"` + name + `","arguments":` + c.string(arguments) + `,"status":"completed"}`,
		answer("function_call_output")
}

// output is the output of a call that holds the text.
func (c *talk) output(text string) string {
	part := func(s string) string {
		return `{"type":"input_text","text":` + c.string(strings.ToValidUTF8(s, "")) + `}`
	}
	half := len(text) / 2
	switch c.IntN(12) {
	case 0:
		return "[" + part(text) + "]"
	case 1:
		return "[" + part(text[:half]) + "," + c.space() + part(text[half:]) + "]"
	case 2:
		return `[{"type":"input_image","image_url":"data:image/png;base64,iVBORw0KGgo="},` + part(text) + "]"
	}
	if c.broken && c.IntN(10) == 0 {
		return []string{"null", `""`, "[]", `{"text":` + c.string(text) + `}`,
			`"lone \ud800 ` + strings.Repeat(`line \udc00\n`, 200) + `"`}[c.IntN(5)]
	}
	return c.string(text)
}

func (in responsesTongue) oddity(c *talk) {
	long := c.string(c.text())
	c.items = append(c.items, []string{
		c.message("critic", long), c.message("system", long), c.message("assistant", "null"), c.message("assistant", `""`),
		c.message("user", "null"), `{"role":"user"}`, `{}`, c.message("user", "[]"), c.message("assistant", "[]"),
		c.message("user", `{"a":`+long+`}`), c.message("user", "12"), c.message("user", `["stray"]`),
		`{"type":"hologram","of":` + long + `}`, `{"id":"rs_1"}`, `{"type":"item_reference","id":"fc_1"}`,
		`{"type":"function_call_output","call_id":"none","output":` + long + `}`, `{"type":"function_call_output"}`,
		`{"type":"function_call","call_id":"a","name":"x","arguments":"{broken"}`, `{"type":"function_call"}`,
		`{"type":"reasoning","summary":[]}`, `{"type":"compaction","encrypted_content":` + long + `}`, `{"type":"compaction_trigger"}`,
		`{"type":"program","call_id":"p","code":` + long + `},{"type":"program_output","call_id":"p","result":"x"}`,
		`{"type":"image_generation_call","id":"i","result":"iVBORw0KGgo="}`,
		`{"type":"function_call","call_id":"a","name":"x","arguments":"{}"},` + in.said(c, long),
		`{"type":"function_call","call_id":"u","name":"x","arguments":"{}"},{"type":"function_call","call_id":"v",` +
			`"name":"y","arguments":"{}"},{"type":"x_output","of":` + long + `},{"type":"function_call_output",` +
			`"call_id":"v","output":"ok"}`,
		`{"type":"local_shell_call","call_id":"w","action":{}},{"type":"local_shell_call_output","id":"w","of":` + long + `}`,
	}[c.IntN(27)])
}
