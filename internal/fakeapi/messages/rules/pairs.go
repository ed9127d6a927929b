package rules

import (
	"slices"
	"strings"
)

// Group is a run of messages with one role. The server takes it for one message.
type Group struct {
	Role     string
	messages []*Message
}

// Groups are the messages of the list as the server takes them; those without content are left out.
func (q *Request) Groups() []*Group {
	var all []*Group
	for _, m := range q.Messages {
		last := len(all) - 1
		switch {
		case m.directive():
		case last >= 0 && all[last].Role == m.Role:
			all[last].messages = append(all[last].messages, m)
		default:
			all = append(all, &Group{m.Role, []*Message{m}})
		}
	}
	return all
}

// Blocks is the content of g.
func (g *Group) Blocks() []*Block {
	var all []*Block
	for _, m := range g.messages {
		all = append(all, m.Blocks...)
	}
	return all
}

// Index is the number of the first message in g.
func (g *Group) Index() int { return g.messages[0].Index }

// IDs are the values of a field in the blocks of one kind.
func IDs(blocks []*Block, kind, field string) []string {
	var all []string
	for _, b := range blocks {
		if b.Kind == kind {
			all = append(all, b.Fields.Text(field))
		}
	}
	return all
}

// checkRoles judges who may speak where.
func checkRoles(q *Request) *Refusal {
	for i, m := range q.Messages {
		if refused := checkInline(q, i, m); refused != nil {
			return refused
		}
	}
	all := q.Groups()
	if len(all) == 0 {
		return Flaw("messages: at least one message is required")
	}
	first, last := all[0], all[len(all)-1]
	if first.Role == "assistant" && first.Blocks()[0].Kind != "compaction" {
		return Flaw(`messages: first message must use the "user" role`)
	}
	if last.Role != "assistant" || pauses(q, last) {
		return nil
	}
	if !q.Model.Prefill {
		return Flaw("This model does not support assistant message prefill. The conversation must end with a user message.")
	}
	if blocks := last.Blocks(); len(blocks) > 0 {
		text := blocks[len(blocks)-1].Fields.Text("text")
		if strings.TrimRight(text, " \t\r\n") != text {
			return Flaw("messages: final assistant content cannot end with trailing whitespace")
		}
	}
	return nil
}

// anywhere ends the words about a system message in the wrong place.
const anywhere = "; the directive-only form (content: [] with output_config) is accepted at any position"

// checkInline judges where a system message of the list stands. The words are those of October 2026.
func checkInline(q *Request, i int, m *Message) *Refusal {
	if m.Role != "system" || m.directive() {
		return nil
	}
	before, after := neighbour(q, i, -1), neighbour(q, i, 1)
	switch {
	case before == nil:
		return Flaw("messages.%d: use the top-level 'system' parameter for the initial system prompt"+anywhere, i)
	case before.Role == "assistant":
		return Flaw("messages.%d: role 'system' must follow a 'user' message or an 'assistant' message ending in a server tool result"+anywhere, i)
	case after != nil && after.Role == "user":
		return Flaw("messages.%d: role 'system' must precede an 'assistant' message or end the array"+anywhere, i)
	}
	return nil
}

// neighbour is the message with content next to number i, in one direction; nil for none.
func neighbour(q *Request, i, step int) *Message {
	for i += step; i >= 0 && i < len(q.Messages); i += step {
		if !q.Messages[i].directive() {
			return q.Messages[i]
		}
	}
	return nil
}

// pauses tells whether g ends in a server tool that has not answered: the client sends it back to be gone on with.
func pauses(q *Request, g *Group) bool {
	blocks := g.Blocks()
	return len(blocks) > 0 && blocks[len(blocks)-1].Kind == "server_tool_use"
}

// checkPairs wants each call answered, once, at the beginning of the next message, and each answer called for.
func checkPairs(q *Request) *Refusal {
	all, called := q.Groups(), map[string]bool{}
	for i, g := range all {
		for _, b := range g.Blocks() {
			if b.Kind != "tool_use" {
				continue
			}
			if called[b.Fields.Text("id")] {
				return Flaw("%s: `tool_use` ids must be unique", b.Path)
			}
			called[b.Fields.Text("id")] = true
		}
		var before, after []*Block
		if i > 0 {
			before = all[i-1].Blocks()
		}
		if i+1 < len(all) {
			after = all[i+1].Blocks()
		}
		for _, refused := range []*Refusal{checkAnswered(g, after), checkCalled(g, before), checkServerTools(q, g)} {
			if refused != nil {
				return refused
			}
		}
	}
	return nil
}

// checkAnswered wants the results of all calls in g at the beginning of what comes after.
func checkAnswered(g *Group, after []*Block) *Refusal {
	end := slices.IndexFunc(after, func(b *Block) bool { return b.Kind != "tool_result" })
	if end < 0 {
		end = len(after)
	}
	answered := IDs(after[:end], "tool_result", "tool_use_id")
	missing := slices.DeleteFunc(IDs(g.Blocks(), "tool_use", "id"), func(id string) bool {
		return slices.Contains(answered, id)
	})
	if len(missing) == 0 {
		return nil
	}
	return Flaw("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
		g.Index(), strings.Join(missing, ", "))
}

// checkCalled wants each result in g to be called for in what comes before, and to be the only one.
func checkCalled(g *Group, before []*Block) *Refusal {
	called := IDs(before, "tool_use", "id")
	answered := map[string]bool{}
	for _, b := range g.Blocks() {
		if b.Kind != "tool_result" {
			continue
		}
		id := b.Fields.Text("tool_use_id")
		if answered[id] {
			return Flaw("%s: each tool_use must have a single result. Found multiple `tool_result` blocks with id: %s", b.Path, id)
		}
		if !slices.Contains(called, id) {
			return Flaw("%s: unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.",
				b.Path, id)
		}
		answered[id] = true
	}
	return nil
}

// checkServerTools wants calls of server tools and their results in one message, the call first.
func checkServerTools(q *Request, g *Group) *Refusal {
	open := map[string]*Block{}
	var order []string
	for _, b := range g.Blocks() {
		id := b.Fields.Text("tool_use_id")
		switch {
		case b.Kind == "server_tool_use" || b.Kind == "mcp_tool_use":
			open[b.Fields.Text("id")] = b
			order = append(order, b.Fields.Text("id"))
		case g.Role != "assistant" || !strings.HasSuffix(b.Kind, "_tool_result"):
		case open[id] == nil:
			return Flaw("%s: unexpected `tool_use_id` found in `%s` blocks: %s. Each `%s` block must have a corresponding `server_tool_use` block before it.",
				b.Path, b.Kind, id, b.Kind)
		default:
			delete(open, id)
		}
	}
	for _, id := range order {
		if b := open[id]; b != nil && g.messages[len(g.messages)-1] != q.Messages[len(q.Messages)-1] {
			name := b.Fields.Text("name")
			return Flaw("%s: `%s` tool use with id `%s` was found without a corresponding `%s_tool_result` block", b.Path, name, id, name)
		}
	}
	return nil
}
