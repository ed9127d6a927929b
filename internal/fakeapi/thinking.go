package fakeapi

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// A model that binds its thinking accepts a thinking block only behind what it was thought behind: the system prompt,
// the tools, all blocks before it by value, and the thinking before it. The oldest thinking may be missing, a gap may
// not be. See bindingBeta for clients that want such blocks dropped.

// bindingBeta is the value of anthropic-beta that lets a client have the provider drop thinking that is bound to
// something else.
const bindingBeta = "thinking-binding-controls-2026-08-01"

// bond is what thinking is bound to.
type bond struct {
	system, tools, before string // digests
	last                  string // the signature of the thinking before it; "" for none
}

// pass takes a block that is no thinking.
func (b *bond) pass(role, raw string) { b.before = digest(b.before, role+" "+normal(raw)) }

// thought is a thinking block that the provider made.
type thought struct {
	model     string
	answer    string // the answer that it is part of
	place, of int    // among the thinking of that answer, from 1
	text      string // as it is shown
	tokens    int
	bond      bond
	unbound   bool // it was made elsewhere, and only the block itself is known
}

// sign remembers a thought and returns its signature.
func (p *Provider) sign(t thought) string {
	digits := digest(t.answer, fmt.Sprint(t.place, t.text))
	signature := strings.Repeat(digits, 10)
	p.thoughts[signature] = t
	return signature
}

// adoptThoughts takes the thinking of a conversation for the provider's own.
func (p *Provider) adoptThoughts(body gjson.Result) {
	for i, m := range body.Get("messages").Array() {
		var all []block
		for _, raw := range m.Get("content").Array() {
			if b := (block{Result: raw, kind: raw.Get("type").Str}); b.isThinking() {
				all = append(all, b)
			}
		}
		for n, b := range all {
			p.thoughts[b.signature()] = thought{answer: fmt.Sprint(i), place: n + 1, of: len(all),
				text: b.text("thinking"), unbound: true}
		}
	}
}

func (b block) signature() string {
	if b.kind == "thinking" {
		return b.text("signature")
	}
	return b.text("data")
}

// checkThoughts judges all thinking, and where it stands.
func (p *Provider) checkThoughts(q *request) *Refusal {
	for _, b := range q.body.Get("system").Array() {
		q.bond.system = digest(q.bond.system, normal(b.Raw))
	}
	for _, tool := range q.body.Get("tools").Array() {
		if !tool.Get("defer_loading").Bool() {
			q.bond.tools = digest(q.bond.tools, normal(tool.Raw))
		}
	}
	for _, m := range q.messages {
		for i := range m.blocks {
			b := &m.blocks[i]
			if b.isThinking() {
				if refused := p.checkThought(q, b); refused != nil {
					return refused
				}
			} else if m.role != "system" || !m.passing && !q.model.SystemUnbound {
				q.bond.pass(m.role, b.Raw)
			}
		}
	}
	for _, m := range q.groups() {
		if n := len(m.blocks); n > 0 && m.blocks[n-1].isThinking() {
			return flaw("messages.%d: The final block in an assistant message cannot be `thinking`.", m.index)
		}
	}
	if refused := p.checkLatest(q); refused != nil {
		return refused
	}
	return p.checkManual(q)
}

// checkThought judges one block, and takes it into the bond.
func (p *Provider) checkThought(q *request, b *block) *Refusal {
	t, known := p.thoughts[b.signature()]
	switch {
	case !known && b.kind == "redacted_thinking":
		return flaw("%s: Invalid data in redacted_thinking block", b.path)
	case !known || b.kind == "thinking" && t.text != b.text("thinking"):
		return flaw("%s: Invalid `signature` in `thinking` block", b.path)
	case t.unbound:
		return nil
	case t.model != q.name:
		b.dropped = true
		return nil
	case !q.model.Binds:
		return nil
	}
	differs := ""
	switch {
	case t.bond.system != q.bond.system:
		differs = "The `system` prompt differs."
	case t.bond.tools != q.bond.tools:
		differs = "The `tools` differ."
	case t.bond.before != q.bond.before:
		differs = "The messages before the block differ."
	case t.bond.last != q.bond.last && q.bond.last != "":
		differs = "The thinking block that preceded this one is missing."
	}
	switch {
	case differs == "":
		q.bond.last = b.signature()
	case q.dropsLost && strings.Contains(q.header.Get("anthropic-beta"), bindingBeta):
		b.dropped = true
	default:
		return flaw("%s: Invalid `signature` in `thinking` block. The block is bound to a different conversation. "+
			"Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\". %s",
			b.path, differs)
	}
	return nil
}

// checkLatest wants the latest answer of the assistant to have all of its thinking or none.
func (p *Provider) checkLatest(q *request) *Refusal {
	for _, m := range slices.Backward(q.messages) {
		if m.role != "assistant" {
			continue
		}
		n := 0
		for _, b := range m.blocks {
			if !b.isThinking() || b.dropped {
				continue
			}
			if n++; p.thoughts[b.signature()].place != n {
				n = -1
				break
			}
		}
		for _, b := range m.blocks {
			if b.isThinking() && !b.dropped && n != p.thoughts[b.signature()].of {
				return flaw("%s: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be "+
					"modified. These blocks must remain as they were in the original response.", b.path)
			}
		}
		return nil
	}
	return nil
}

// checkManual wants, while thinking has a budget, each message with thinking to begin with it, and so the open round of
// calls, and the latest answer if it did.
func (p *Provider) checkManual(q *request) *Refusal {
	if !q.manual {
		return nil
	}
	expected := func(b block) *Refusal {
		if b.isThinking() {
			return nil
		}
		return flaw("%s.type: Expected `thinking` or `redacted_thinking`, but found `%s`. When `thinking` is enabled, "+
			"a final `assistant` message must start with a thinking block (preceeding the lastmost set of "+
			"`tool_use` and `tool_result` blocks).", b.path, b.kind)
	}
	var latest message
	for _, m := range q.messages {
		if m.role != "assistant" {
			continue
		}
		latest = m
		if slices.ContainsFunc(m.blocks, block.isThinking) && !m.blocks[0].isThinking() {
			return flaw("%s: If an assistant message contains any thinking blocks, the first block must be `thinking` "+
				"or `redacted_thinking`. Found `%s`.", m.blocks[0].path, m.blocks[0].kind)
		}
	}
	begin := q.openRound()
	if begin == nil {
		return nil
	}
	if refused := expected(begin.blocks[0]); refused != nil {
		return refused
	}
	if slices.ContainsFunc(latest.blocks, func(b block) bool { return p.thinkers[b.text("id")] }) {
		return expected(latest.blocks[0])
	}
	return nil
}

// openRound returns the first answer of the turn whose results end the list; nil where it does not end in results.
func (q *request) openRound() *message {
	all := slices.DeleteFunc(q.groups(), func(m message) bool { return m.role == "system" })
	isResult := func(b block) bool { return b.kind == "tool_result" }
	end := len(all) - 1
	if end < 1 || all[end].role != "user" || !slices.ContainsFunc(all[end].blocks, isResult) {
		return nil
	}
	begin := end - 1
	for i := end - 2; i > 0; i -= 2 {
		if n := len(all[i].blocks); !isResult(all[i].blocks[n-1]) {
			break
		}
		begin = i - 1
	}
	return &all[begin]
}
