package rewrite

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"epitome/rewrite/conversation"
	"epitome/rewrite/span"
)

// member is a key of an object with its value, both as they are written.
type member struct{ key, value string }

// membersOf are those of an object; none if it is no object that a reader takes.
func membersOf(object string) (list []member) {
	if !strings.HasPrefix(object, "{") {
		return nil
	}
	_, err := span.Members([]byte(object), 0, func(key []byte, i int) (int, error) {
		end, err := span.EndOfValue([]byte(object), i)
		if err == nil {
			list = append(list, member{string(key), object[i:end]})
		}
		return end, err
	})
	if err != nil {
		return nil
	}
	return list
}

// valueOf is what stands under a key; empty if nothing does.
func valueOf(object, key string) string {
	for _, m := range membersOf(object) {
		if m.key == key {
			return m.value
		}
	}
	return ""
}

// withValue is an object with another value under a key that it has.
func withValue(object, key, value string) string {
	var all []string
	for _, m := range membersOf(object) {
		if m.key == key {
			m.value = value
		}
		all = append(all, `"`+m.key+`":`+m.value)
	}
	return "{" + strings.Join(all, ",") + "}"
}

// elementsOf are the values of a list; ok is false if it is none.
func elementsOf(list string) (all []string, ok bool) {
	if !strings.HasPrefix(list, "[") {
		return nil, false
	}
	_, err := span.Elements([]byte(list), 0, func(i int) (int, error) {
		end, err := span.EndOfValue([]byte(list), i)
		if err == nil {
			all = append(all, list[i:end])
		}
		return end, err
	})
	return all, err == nil
}

// entriesOf are the objects of an item as a talk has it, which may be several with commas between them.
func entriesOf(item string) []string {
	all, ok := elementsOf("[" + item + "]")
	if !ok {
		return []string{item}
	}
	return all
}

// breakpoint is a mark for the provider's cache in Responses.
const breakpoint = `,"prompt_cache_breakpoint":{"mode":"explicit"}`

// thoughtKeys are where Chat Completions has what the model thought.
var thoughtKeys = []string{"reasoning", "reasoning_content"}

// thinksIn reports whether a block or an entry is what the model thought.
func thinksIn(entry string) bool {
	switch valueOf(entry, "type") {
	case `"thinking"`, `"redacted_thinking"`, `"reasoning"`:
		return true
	}
	return false
}

// respelled is an item as another version of its client writes it: no link covers the difference.
func (c *talk) respelled(item string) string {
	all := entriesOf(item)
	for i := range all {
		all[i] = c.respelledEntry(all[i])
	}
	return strings.Join(all, ","+c.space())
}

func (c *talk) respelledEntry(entry string) string {
	list := membersOf(entry)
	if list == nil {
		return entry
	}
	role, key := valueOf(entry, "role"), c.tongue.Key()
	for i := range list {
		switch m := &list[i]; {
		case m.key == "content" && role != "":
			m.value = c.rewrapped(m.value, role)
		case m.key == "output" && (valueOf(entry, "type") == `"function_call_output"`):
			m.value = c.rewrapped(m.value, `"user"`)
		}
	}
	if key == "responses" && c.IntN(3) > 0 && role != "" {
		list = slices.DeleteFunc(list, func(m member) bool { return m.key == "id" || m.key == "type" })
	}
	// What is kept of a part of a message goes by where its keys stand.
	if c.IntN(2) == 0 && key != "messages" {
		c.Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
	}
	return c.object(list)
}

// object is one with these members.
func (c *talk) object(list []member) string {
	var all []string
	for _, m := range list {
		all = append(all, `"`+m.key+`":`+c.space()+m.value)
	}
	return "{" + c.space() + strings.Join(all, c.space()+",") + c.space() + "}"
}

// rewrapped is a text as a list of that text alone, or such a list as the text; all else as it is, but for the results
// in it.
func (c *talk) rewrapped(content, role string) string {
	kind := "text"
	if c.tongue.Key() == "responses" {
		if kind = "input_text"; role == `"assistant"` {
			kind = "output_text"
		}
	}
	if strings.HasPrefix(content, `"`) {
		if isBlank := strings.TrimSpace(string(span.TextOf([]byte(content)))) == ""; isBlank || c.IntN(2) == 0 {
			return content
		}
		return `[{"type":"` + kind + `",` + c.space() + `"text":` + content + `}]`
	}
	all, ok := elementsOf(content)
	if !ok {
		return content
	}
	if text := soleText(all); text != "" && c.IntN(2) == 0 {
		return text
	}
	for i, block := range all {
		if valueOf(block, "type") == `"tool_result"` && valueOf(block, "content") != "" {
			list := membersOf(withValue(block, "content", c.rewrapped(valueOf(block, "content"), role)))
			c.Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
			all[i] = c.object(list)
		}
	}
	return "[" + strings.Join(all, c.space()+",") + "]"
}

// soleText is the text of which a list says no more; empty if it says more.
func soleText(list []string) string {
	if len(list) != 1 {
		return ""
	}
	text := ""
	for _, m := range membersOf(list[0]) {
		switch {
		case m.key == "text" && strings.HasPrefix(m.value, `"`):
			text = m.value
		case m.key == "type" && strings.HasSuffix(m.value, `text"`):
		case m.key == "annotations" && m.value == "[]":
		default:
			return ""
		}
	}
	return text
}

// unthought is an item without what the model thought in it, as clients leave that out of older turns. A message of
// nothing else goes, if there is another one beside it.
func (c *talk) unthought(item string) string {
	all := entriesOf(item)
	isThought := func(entry string) bool {
		blocks, ok := elementsOf(valueOf(entry, "content"))
		return ok && len(blocks) > 0 && !slices.ContainsFunc(blocks, func(b string) bool { return !thinksIn(b) })
	}
	if rest := slices.DeleteFunc(slices.Clone(all), isThought); len(rest) > 0 {
		all = rest
	}
	if c.tongue.Key() == "responses" {
		if rest := slices.DeleteFunc(slices.Clone(all), thinksIn); len(rest) < len(all) {
			return strings.Join(rest, ",")
		}
		return item
	}
	for i, entry := range all {
		blocks, ok := elementsOf(valueOf(entry, "content"))
		if rest := slices.DeleteFunc(slices.Clone(blocks), thinksIn); ok && len(rest) > 0 && len(rest) < len(blocks) {
			all[i] = withValue(entry, "content", "["+strings.Join(rest, ",")+"]")
		}
		if c.tongue.Key() == "" && strings.Contains(entry, `"reasoning`) {
			var written []string
			for _, m := range membersOf(entry) {
				if !slices.Contains(thoughtKeys, m.key) {
					written = append(written, `"`+m.key+`":`+m.value)
				}
			}
			all[i] = "{" + strings.Join(written, ",") + "}"
		}
	}
	return strings.Join(all, ",")
}

// remark takes all marks for the cache away and sets others, as clients do whose marks move.
func (c *talk) remark() {
	for i := range c.items {
		c.items[i] = unmarked(c.items[i])
	}
	for _, i := range c.Perm(len(c.items))[:min(len(c.items), 1+c.IntN(2))] {
		text := ""
		for k, entry := range entriesOf(c.items[i]) {
			if k > 0 {
				text += ","
			}
			text += c.marked(entry)
		}
		c.items[i] = text
	}
}

// marked is an entry with a mark on its last block, if that may have one.
func (c *talk) marked(entry string) string {
	blocks, ok := elementsOf(valueOf(entry, "content"))
	if !ok || len(blocks) == 0 {
		return entry
	}
	last := &blocks[len(blocks)-1]
	kind := valueOf(*last, "type")
	text := strings.TrimSpace(string(span.TextOf([]byte(valueOf(*last, "text")))))
	isText := strings.HasSuffix(kind, `text"`) && text != ""
	isMarked := valueOf(*last, "cache_control")+valueOf(*last, "prompt_cache_breakpoint") != ""
	if !isText && kind != `"tool_use"` && kind != `"tool_result"` || isMarked {
		return entry
	}
	mark := movingMark
	if c.tongue.Key() == "responses" {
		mark = breakpoint
	}
	*last = strings.TrimSuffix(*last, "}") + mark + "}"
	return withValue(entry, "content", "["+strings.Join(blocks, ",")+"]")
}

// plain is a value without what no link covers, in any spelling the same.
func plain(d conversation.Dialect, entry string) string {
	var v any
	if json.Unmarshal([]byte(entry), &v) != nil {
		return entry
	}
	b, err := json.Marshal(plainEntry(d.Key(), v))
	if err != nil {
		return entry
	}
	return string(b)
}

// plainEntry is a message, a block or an entry.
func plainEntry(dialect string, v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	m = maps.Clone(m)
	delete(m, "cache_control")
	switch dialect {
	case "":
		for _, k := range thoughtKeys {
			delete(m, k)
		}
	case "messages":
		delete(m, "x_unknown") // items of blocks are without it
	case "responses":
		if delete(m, "id"); m["role"] != nil {
			delete(m, "type")
		}
	}
	for _, k := range []string{"content", "output"} {
		if list, ok := m[k].([]any); ok {
			m[k] = plainList(dialect, list)
		}
	}
	return m
}

// plainList is a content: its text if it says no more, one behind the other if there are several, as a summary stands
// behind what a user says.
func plainList(dialect string, list []any) any {
	kept := []any{}
	for _, v := range list {
		m, ok := v.(map[string]any)
		if !ok {
			kept = append(kept, v)
			continue
		}
		m = maps.Clone(m)
		delete(m, "cache_control")
		delete(m, "prompt_cache_breakpoint")
		switch m["type"] {
		case "thinking", "redacted_thinking":
			if dialect == "messages" {
				continue
			}
		case "tool_result":
			if inner, ok := m["content"].([]any); ok {
				m["content"] = plainList(dialect, inner)
			}
		case "output_text":
			if empty, ok := m["annotations"].([]any); ok && len(empty) == 0 {
				delete(m, "annotations")
			}
		}
		kept = append(kept, m)
	}
	all := ""
	for _, v := range kept {
		m, _ := v.(map[string]any)
		text, ok := m["text"].(string)
		if !ok || len(m) != 2 {
			return kept
		}
		all += text
	}
	return all
}

// plainItem is an item of a request, whatever its spelling.
func plainItem(r *conversation.Request, it *conversation.Item) string {
	said := string(it.Of(r.Body))
	if !it.Outer.Empty() && it.Role == conversation.User {
		return plain(r.Dialect, `{"content":[`+said+`],"role":"user"}`)
	}
	if strings.HasPrefix(said, `"`) {
		return plain(r.Dialect, `{"content":`+said+`,"role":"user"}`)
	}
	var all []string
	for _, entry := range entriesOf(said) {
		if valueOf(entry, "type") != `"reasoning"` {
			all = append(all, plain(r.Dialect, entry))
		}
	}
	return strings.Join(all, ",")
}

// plainBody is a whole body, whatever its spelling.
func plainBody(d conversation.Dialect, body string) string {
	var all []string
	for _, m := range membersOf(strings.TrimSpace(body)) {
		if list, ok := elementsOf(m.value); ok && (m.key == "messages" || m.key == "input") {
			var entries []string
			for _, entry := range list {
				if valueOf(entry, "type") != `"reasoning"` {
					entries = append(entries, plain(d, entry))
				}
			}
			m.value = strings.Join(entries, ",")
		}
		all = append(all, m.key+":"+m.value)
	}
	return strings.Join(all, ",")
}

// anyText is a text as it is written in JSON.
var anyText = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// missingIn is a text of a body that stands neither in what is made again of it nor in what was taken out; empty if all
// do. Where its client has written it otherwise in between, what parts the texts may be another one, and how they are
// escaped.
func missingIn(again, kept, body string) string {
	there := map[string]bool{}
	for _, text := range anyText.FindAllString(again, -1) {
		there[text] = true
	}
	kept = unescaped(kept)
	for _, text := range anyText.FindAllString(body, -1) {
		if !there[text] && !spelledBy[text] && !strings.Contains(kept, unescaped(text)) {
			return text
		}
	}
	return ""
}

// keptOf is all that was taken out of what is sent. Between neighbours in another spelling it is not put back where it
// stood, or in the place of one of them.
func keptOf(b *bench, out Output) string {
	var all strings.Builder
	for _, f := range out.forms {
		if f == nil {
			continue
		}
		if content, err := b.cupboard.Get(f.Kept); err == nil {
			all.Write(content)
		}
		for _, q := range f.Patches {
			if content, err := b.cupboard.Get(q.Artifact); err == nil {
				all.Write(q.Restore(content))
			}
		}
	}
	return all.String()
}

// escapes are those of letters that need none.
var escapes = regexp.MustCompile(`\\(?:[^u]|u[0-9a-fA-F]{4}(?:\\u[dD][c-fC-F][0-9a-fA-F]{2})?)`)

// unescaped is a text with the letters themselves in the place of escapes, as far as letters may stand for themselves.
func unescaped(text string) string {
	return escapes.ReplaceAllStringFunc(text, func(escape string) string {
		var letter string
		if json.Unmarshal([]byte(`"`+escape+`"`), &letter) != nil || strings.ContainsAny(letter, "\"\\") || letter < " " {
			return escape
		}
		return letter
	})
}

// spelledBy are texts that another spelling may bring.
var spelledBy = map[string]bool{`"type"`: true, `"text"`: true, `"input_text"`: true, `"output_text"`: true,
	`"content"`: true, `"role"`: true, `"user"`: true, `"assistant"`: true, `"message"`: true, `"id"`: true,
	`"cache_control"`: true, `"ephemeral"`: true, `"prompt_cache_breakpoint"`: true, `"mode"`: true, `"explicit"`: true}
