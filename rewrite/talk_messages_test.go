package rewrite

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"epitome/rewrite/messages"
	"epitome/scripted/messages/rules"
)

// messagesTongue is Anthropic Messages.
type messagesTongue struct{ messages.Dialect }

// refusal is how a strict server refuses a body, thinking aside; nil if it takes it.
func (messagesTongue) refusal(body []byte) error {
	header := http.Header{"Anthropic-Version": {"2023-06-01"}}
	newest := func(string) rules.Model {
		m := rules.ModelOf("claude-opus-5-5")
		m.Prefill = true // as older ones do
		return m
	}
	if _, refused := rules.Read(header, body, false, newest); refused != nil {
		return errors.New(refused.Message)
	}
	return nil
}

// movingMark is a mark for the provider's cache behind the last block of a request, which is gone in the next one.
const movingMark = `,"cache_control":{"type":"ephemeral"}`

func (messagesTongue) lead(c *talk, quoted string) string {
	if c.IntN(2) == 0 {
		return quoted
	}
	return `[{"type":"text","text":` + quoted + `,"cache_control":{"type":"ephemeral"}}]`
}

// say writes a message with its text as a string, as a block, or as one block of several.
func (messagesTongue) say(c *talk, role, quoted string) string {
	block := `{"type":"text",` + c.space() + `"text":` + quoted + `}`
	picture := `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}`
	content := `[{"type":"text","text":` + c.string("<system-reminder>"+c.words(4)+"</system-reminder>") + "},\n" + block + "]"
	switch {
	case c.IntN(3) == 0:
		content = quoted
	case role != "user" || c.IntN(2) == 0:
		content = "[" + block + "]"
	case c.IntN(3) == 0:
		content = "[" + picture + ", " + block + "]"
	}
	if c.broken {
		return c.message(role, content)
	}
	return `{"role":"` + role + `",` + c.space() + `"content":` + content + "}"
}

func (messagesTongue) request(c *talk) string {
	list := append([]string(nil), c.items...)
	if c.reminder != "" {
		list = append(list, c.reminder)
	}
	last := &list[len(list)-1]
	at, ok := strings.CutSuffix(*last, "}]}")
	if ok && strings.Contains(*last, `"tool_result"`) && !strings.Contains(*last, `"cache_control"`) {
		*last = at + movingMark + "}]}"
	}
	system := ""
	if len(c.head) > 0 {
		system = `"system" : ` + c.head[0] + ", "
	}
	said := `"messages" : [` + strings.Join(list, ",\n ") + "],\n"
	if len(c.items)%2 == 0 { // clients keep to one order; readers must not mind
		return `{"model":"` + c.model + `", ` + system + said + `"max_tokens":1000,` + c.declared() + "}\n"
	}
	return `{"model":"` + c.model + `", ` + said + system + `"max_tokens":1000,` + c.declared() + "}\n"
}

func (messagesTongue) group(c *talk) {
	n := 1 + max(0, c.IntN(6)-3)
	var said, results []string
	if c.IntN(2) == 0 {
		said = append(said, `{"type":"thinking","thinking":`+c.string(c.words(c.IntN(30)))+`,"signature":"`+fmt.Sprint(c.Uint64())+`"}`)
	}
	if k := c.IntN(8); k < 4 {
		said = append(said, `{"type":"text","text":`+c.string("So: "+c.words(20))+`}`)
	} else if k == 4 {
		said = append(said, `{"text":`+c.string("So: "+c.text())+`,"type":"text"}`, `{"type":"text","text":"and"}`)
	}
	if c.IntN(12) == 0 {
		said = append(said, `{"type":"server_tool_use","id":"srv_1","name":"web_search","input":{}}`,
			`{"type":"web_search_tool_result","tool_use_id":"srv_1","content":[{"type":"web_search_result","url":"u"}]}`)
	}
	for range n {
		c.calls++
		id := fmt.Sprintf("toolu_%d", c.calls)
		name, arguments, result := c.call()
		said = append(said, `{"type":"tool_use","id":"`+id+`","name":"`+name+`","input":`+c.space()+arguments+`}`)
		results = append(results, toolResult(c, id, result))
	}
	c.items = append(c.items, `{"role":"assistant","content":[`+strings.Join(said, ", ")+`]}`)
	if c.broken && c.IntN(8) == 0 {
		k := c.IntN(n)
		results = [][]string{nil, append(results[:k:k], results[k+1:]...), append(results[:n:n], results[k]),
			{`{"type":"text","text":"stop"}`, results[k]}}[c.IntN(4)]
	}
	c.reorder(results)
	if len(results) > 1 && c.IntN(6) == 0 { // the server makes one message of two
		c.items = append(c.items, userWrites(c, results[:1]))
		results = results[1:]
	}
	if c.IntN(4) == 0 {
		results = append(results, `{"type":"text","text":`+c.string("<system-reminder>"+c.words(5)+"</system-reminder>")+`}`)
	}
	if len(results) > 0 {
		c.items = append(c.items, userWrites(c, results))
	}
	if c.IntN(10) == 0 && len(results) > 0 {
		note := [...]string{"by the way " + c.words(3), fmt.Sprint(c.IntN(2_000), " tokens left")}[c.IntN(2)]
		c.items = append(c.items, `{"role":"system","content":`+c.string(note)+`}`)
	}
}

// userWrites is a message of the user's, its keys in either order and with any white space.
func userWrites(c *talk, blocks []string) string {
	content := "[" + c.space() + strings.Join(blocks, c.space()+","+c.space()) + c.space() + "]"
	switch c.IntN(4) {
	case 0:
		return `{"content":` + content + c.space() + "," + c.space() + `"role":"user"` + c.space() + `}`
	case 1:
		return `{"role":"user",` + c.space() + `"content":` + content + c.space() + `}`
	}
	return `{"role":"user","content":[` + strings.Join(blocks, ","+c.space()) + `]}`
}

// toolResult is the block of a result.
func toolResult(c *talk, id, text string) string {
	more := ""
	if c.IntN(3) == 0 {
		more = `"is_error":` + fmt.Sprint(c.IntN(2) == 0) + ","
	}
	content := c.string(text)
	texts := func(s string) string { return `{"type":"text","text":` + c.string(s) + `}` }
	half := len(text) / 2
	switch k := c.IntN(14); {
	case k == 0 && strings.TrimSpace(text) != "":
		content = "[" + texts(text) + "]"
	case k == 1 && half > 0 && strings.TrimSpace(text[:half]) != "" && strings.TrimSpace(text[half:]) != "":
		content = texts(strings.ToValidUTF8(text[:half], "")) + ", " + texts(strings.ToValidUTF8(text[half:], ""))
		content = "[" + content + "]"
	case k == 2 && strings.TrimSpace(text) != "":
		content = `[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}},` + texts(text) + "]"
	case k == 3:
		return `{"type":"tool_result","tool_use_id":"` + id + `"}`
	case k == 4:
		content = `[{"type":"tool_reference","tool_name":"more"}]`
	}
	if c.broken && c.IntN(10) == 0 {
		content = []string{"null", `""`, "[]", `{"text":` + c.string(text) + `}`,
			`"lone \ud800 ` + strings.Repeat(`line \udc00\n`, 200) + `"`}[c.IntN(5)]
	}
	return `{"type":"tool_result",` + more + `"tool_use_id":"` + id + `",` + c.space() + `"content":` + content + `}`
}

func (messagesTongue) oddity(c *talk) {
	long := c.string(c.text())
	user := func(blocks string) string { return `{"role":"user","content":[` + blocks + `]}` }
	said := func(blocks string) string { return `{"role":"assistant","content":[` + blocks + `]}` }
	c.items = append(c.items, []string{
		c.message("critic", long), c.message("system", long), c.message("assistant", "null"), c.message("assistant", `""`),
		c.message("user", "null"), `{"role":"user"}`, `{}`, c.message("user", "[]"), c.message("assistant", "[]"),
		c.message("user", `{"a":`+long+`}`), c.message("user", "12"), user(`"stray"`),
		user(`{"type":"hologram","of":` + long + `}`), said(`{"type":"hologram","of":` + long + `}`),
		user(`{"type":"tool_result","tool_use_id":"none","content":` + long + `},{"type":"text","text":"x"}`),
		user(`{"type":"tool_result","content":` + long + `}`), user(`{"type":"text","text":""},{"type":"text"}`),
		said(`{"type":"tool_use","id":"a","name":"x","input":"{broken"}`), said(`{"type":"tool_use"},{"type":"tool_use","id":7}`),
		said(`{"type":"tool_result","tool_use_id":"a","content":` + long + `}`), user(`{"type":"tool_use","id":"a","name":"x","input":{}}`),
		said(`{"type":"text","text":"x"},{"type":"thinking","thinking":"late"}`), said(`{"type":"server_tool_use","id":"s","name":"x"}`),
		said(`{"type":"compaction","content":` + long + `}`), said(`{"type":"fallback"}`),
		said(`{"type":"tool_use","id":"u","name":"x","input":{}}`) +
			`,{"role":"critic","content":[{"type":"tool_result","tool_use_id":"u","content":` + long + `}]}`,
	}[c.IntN(26)])
}
