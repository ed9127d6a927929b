package rules

import (
	"encoding/json"

	"epitome/internal/fakeapi"
)

// Tokens that are not a text's.
const (
	itemTokens  = 4    // of an item, besides what is in it
	toolsTokens = 120  // of the prompt that tools bring along
	imageTokens = 1100 // of a picture
	fileTokens  = 3000 // of a file
)

// CountText is one token for each four bytes.
func CountText(text string) int { return (len(text) + 3) / 4 }

// Counter counts: texts, and what is in opaque strings.
type Counter struct {
	Text   func(text string) int
	Opaque func(opaque string) int
}

// Position is one place of the prompt, in the order tools, instructions, items.
type Position struct {
	canon  []byte
	role   string
	marks  []*Mark
	newest bool // the cache is written behind it, if it is the last one such: an item of the user or of a tool
	tokens int
}

// Prompt is the prompt as the model gets it: without reasoning of earlier turns.
func Prompt(q *Request, c Counter) []Position {
	var all []Position
	for n, tool := range q.Tools {
		tokens := c.Text(tool.Text("name")) + c.Text(tool.Text("description")) + c.Text(string(tool["parameters"])) +
			c.Text(string(tool["tools"]))
		if n == 0 {
			tokens += toolsTokens
		}
		all = append(all, Position{canon: tool.NormalWith(nil), tokens: tokens})
	}
	if text := q.Fields.Text("instructions"); text != "" {
		all = append(all, Position{canon: []byte(text), role: "instructions", tokens: c.Text(text) + itemTokens})
	}
	begun := turnOf(q.Items)
	for n, i := range q.Items {
		tokens := c.item(i)
		if i.Kind == "reasoning" && n < begun {
			continue
		}
		all = append(all, Position{canon: i.Canon, role: i.Role, marks: i.Marks, newest: !i.Spoken(), tokens: tokens})
	}
	if q.Truncates {
		all = truncate(all, q.Model.Window)
	}
	return all
}

// truncate leaves out what is oldest of what is no instruction, until the rest fits.
func truncate(all []Position, window int) []Position {
	for Sum(all) > window {
		n := 0
		for n < len(all)-1 && (all[n].role == "" && !all[n].newest || all[n].role == "developer" ||
			all[n].role == "system" || all[n].role == "instructions") {
			n++
		}
		all = append(all[:n:n], all[n+1:]...)
	}
	return all
}

// turnOf is the number of the item that began the newest turn: the last message of the user.
func turnOf(items []*Item) int {
	for n := len(items) - 1; n >= 0; n-- {
		if items[n].Role == "user" {
			return n
		}
	}
	return 0
}

// item is how many tokens an item has.
func (c Counter) item(i *Item) int {
	switch i.Kind {
	case "message", "function_call_output", "custom_tool_call_output":
		return itemTokens + c.content(i.Fields["content"]) + c.content(i.Fields["output"])
	case "function_call", "custom_tool_call":
		return itemTokens + c.Text(i.Fields.Text("name")) + c.Text(i.Fields.Text("arguments")+i.Fields.Text("input"))
	case "reasoning", "compaction":
		return c.Opaque(i.Fields.Text("encrypted_content"))
	case "compaction_trigger":
		return 0
	}
	return itemTokens + c.Text(string(i.Canon))
}

// content is how many tokens a string has, or a list of parts.
func (c Counter) content(raw json.RawMessage) int {
	if text, ok := fakeapi.IsText(raw); ok {
		return c.Text(text)
	}
	list, _ := fakeapi.CutList(raw)
	tokens := 0
	for _, raw := range list {
		part, _ := fakeapi.CutObject(raw)
		switch part.Text("type") {
		case "input_image":
			tokens += imageTokens
		case "input_file", "input_audio":
			tokens += fileTokens
		default:
			tokens += c.Text(part.Text("text") + part.Text("refusal"))
		}
	}
	return tokens
}

// Sum is the tokens of all.
func Sum(all []Position) int {
	tokens := 0
	for _, p := range all {
		tokens += p.tokens
	}
	return tokens
}
