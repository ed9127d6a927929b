package fakeapi

import (
	"slices"
	"strings"
)

// checkPairs wants each call answered once, at the beginning of the next message, and each result called for.
func (q *request) checkPairs() *Refusal {
	all, called := q.groups(), map[string]bool{}
	for i, m := range all {
		for _, b := range m.blocks {
			switch id := b.text("id"); {
			case b.kind != "tool_use":
			case called[id]:
				return flaw("%s: `tool_use` ids must be unique", b.path)
			default:
				called[id] = true
			}
		}
		var before, after []block
		if i > 0 {
			before = all[i-1].blocks
		}
		if i+1 < len(all) {
			after = all[i+1].blocks
		}
		isFollowed := i+1 < len(all)
		for _, refused := range []*Refusal{m.checkAnswered(after), m.checkCalled(before), m.checkServed(isFollowed)} {
			if refused != nil {
				return refused
			}
		}
	}
	return nil
}

// checkAnswered wants the results of all calls in m at the beginning of the blocks after it.
func (m message) checkAnswered(after []block) *Refusal {
	var open []string
	for _, b := range m.blocks {
		if b.kind == "tool_use" {
			open = append(open, b.text("id"))
		}
	}
	for _, b := range after {
		if b.kind != "tool_result" {
			break
		}
		open = slices.DeleteFunc(open, func(id string) bool { return id == b.text("tool_use_id") })
	}
	if len(open) == 0 {
		return nil
	}
	return flaw("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s. Each "+
		"`tool_use` block must have a corresponding `tool_result` block in the next message.",
		m.index, strings.Join(open, ", "))
}

// checkCalled wants each result in m to be called for by the blocks before it, and to be the only one.
func (m message) checkCalled(before []block) *Refusal {
	answered := map[string]bool{}
	for _, b := range m.blocks {
		if b.kind != "tool_result" {
			continue
		}
		id := b.text("tool_use_id")
		isCall := func(c block) bool { return c.kind == "tool_use" && c.text("id") == id }
		switch {
		case answered[id]:
			return flaw("%s: each tool_use must have a single result. Found multiple `tool_result` blocks with id: %s",
				b.path, id)
		case !slices.ContainsFunc(before, isCall):
			return flaw("%s: unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block "+
				"must have a corresponding `tool_use` block in the previous message.", b.path, id)
		}
		answered[id] = true
	}
	return nil
}

// checkServed wants each result of a server's tool behind its call in m, and each such call answered, unless m is the
// last message and the server is to go on.
func (m message) checkServed(isFollowed bool) *Refusal {
	var open []string
	for _, b := range m.blocks {
		of := b.text("tool_use_id")
		switch {
		case b.kind == "server_tool_use" || b.kind == "mcp_tool_use":
			open = append(open, b.text("id"))
		case !strings.HasSuffix(b.kind, "_tool_result"):
		case !slices.Contains(open, of):
			return flaw("%s: unexpected `tool_use_id` found in `%s` blocks: %s.", b.path, b.kind, of)
		default:
			open = slices.DeleteFunc(open, func(id string) bool { return id == of })
		}
	}
	if len(open) > 0 && isFollowed {
		return flaw("messages.%d: tool use with id `%s` was found without a corresponding result block",
			m.index, open[0])
	}
	return nil
}
