package rules

import (
	"slices"

	"epitome/internal/fakeapi"
)

// Drop is thinking that the server left out, as input_transformations tells it.
type Drop struct {
	Type   string `json:"type"` // thinking_dropped
	Path   string `json:"path"` // messages.1.content.0
	Reason string `json:"reason"`
}

// Reasons of a drop.
const (
	otherModel  = "model_binding_mismatch"
	otherPrefix = "prefix_binding_mismatch"
)

// Walk is a conversation as far as it was read.
type Walk struct {
	Q     *Request
	Here  Bond   // what would be thought next is bound to this
	Drops []Drop // thinking that the server left out
}

// Check judges all thinking: its signatures, each at its place, and where it stands in its messages. thoughtful
// tells whether the answer with a call began with thinking.
func Check(q *Request, thoughtful func(call string) bool) (*Walk, *Refusal) {
	w := &Walk{Q: q, Here: newBond(q), Drops: []Drop{}}
	for _, m := range q.Live() {
		for _, c := range m.Blocks {
			if refused := w.take(m, c); refused != nil {
				return w, refused
			}
		}
	}
	return w, checkLayout(q, thoughtful)
}

// take goes on by one block of m.
func (w *Walk) take(m *Message, c *Block) *Refusal {
	switch {
	case IsThinking(c):
		return w.checkSeal(c)
	case c.Kind == "compaction":
		return w.passCompaction(c)
	}
	w.Here.hear(w.Q, m, c)
	return nil
}

// hear takes a block of m into the bond, unless thinking is not bound to it.
func (b *Bond) hear(q *Request, m *Message, c *Block) {
	if m.Role != "system" || !m.Passing && !q.Model.SystemUnbound {
		b.Pass(m.Role, c.Canon)
	}
}

// signatureOf is where the seal of a thinking block stands.
func signatureOf(b *Block) string {
	if b.Kind == "thinking" {
		return b.Fields.Text("signature")
	}
	return b.Fields.Text("data")
}

// checkSeal judges one thinking block.
func (w *Walk) checkSeal(b *Block) *Refusal {
	s, ok := unseal(signatureOf(b))
	if !ok || s.Content != fakeapi.Digest("", []byte(b.Fields.Text("thinking"))) {
		return badSeal(b)
	}
	b.Tokens = s.Tokens
	if s.Model != w.Q.Name {
		w.leaveOut(b, otherModel)
		return nil
	}
	if !w.Q.Model.Binds {
		return nil
	}
	if differs := w.Here.difference(s); differs != "" {
		if w.Q.Thinking.OnMismatch != "drop_block" {
			return refuseUnbound(w.Q, b, differs)
		}
		w.leaveOut(b, otherPrefix)
		return nil
	}
	w.Here.think(signatureOf(b))
	return nil
}

// leaveOut notes that the server takes b for gone.
func (w *Walk) leaveOut(b *Block, reason string) {
	b.Dropped = true
	w.Drops = append(w.Drops, Drop{"thinking_dropped", b.Path, reason})
}

// passCompaction takes a compaction block for what it stands for: the bond goes on as it was where the span ended.
func (w *Walk) passCompaction(b *Block) *Refusal {
	sealed := b.Fields.Text("encrypted_content")
	if sealed == "" {
		w.Here.Pass("assistant", b.Canon)
		return nil
	}
	s, ok := unseal(sealed)
	if !ok || s.Content != fakeapi.Digest("", []byte(b.Fields.Text("content"))) {
		return Flaw("%s: Invalid `encrypted_content` in `compaction` block", b.Path)
	}
	w.Here.Before, w.Here.Last = s.Before, s.Last
	return nil
}

// badSeal refuses thinking that is not as it was, or was never thought here.
func badSeal(b *Block) *Refusal {
	if b.Kind == "redacted_thinking" {
		return Flaw("%s: Invalid data in redacted_thinking block", b.Path)
	}
	return Flaw("%s: Invalid `signature` in `thinking` block", b.Path)
}

// refuseUnbound refuses thinking behind something else than it was thought behind.
func refuseUnbound(q *Request, b *Block, differs string) *Refusal {
	words := "%s: Invalid `signature` in `%s` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\"."
	if !q.MayDrop() {
		words += " That setting requires the `" + BindingBeta + "` value in the `anthropic-beta` header."
	}
	return Flaw(words+" %s", b.Path, b.Kind, differs)
}

// checkLayout judges where thinking stands in its messages.
func checkLayout(q *Request, thoughtful func(call string) bool) *Refusal {
	all := q.Groups()
	for _, g := range all {
		blocks := g.Blocks()
		if last := len(blocks) - 1; g.Role == "assistant" && last >= 0 && IsThinking(blocks[last]) {
			return Flaw("messages.%d: The final block in an assistant message cannot be `thinking`.", g.Index())
		}
	}
	newest := latest(q)
	if newest != nil && !intact(newest) {
		return Flaw("%s: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.",
			newest.Blocks[slices.IndexFunc(newest.Blocks, IsThinking)].Path)
	}
	if q.Model.WantsThinking && q.Thinks() {
		if refused := checkEveryCall(q); refused != nil {
			return refused
		}
	}
	if q.Thinking.Mode != "enabled" {
		return nil
	}
	return checkManual(q, all, thoughtful)
}

// latest is the last message of the assistant; nil for none.
func latest(q *Request) *Message {
	for i := len(q.Messages) - 1; i >= 0; i-- {
		if q.Messages[i].Role == "assistant" {
			return q.Messages[i]
		}
	}
	return nil
}

// intact tells whether the thinking in m is none, or all that one answer had; what the model cannot read aside.
func intact(m *Message) bool {
	var seals []seal
	for _, b := range m.Blocks {
		if s, ok := unseal(signatureOf(b)); ok && IsThinking(b) && !b.Dropped {
			seals = append(seals, s)
		}
	}
	for i, s := range seals {
		if s.Answer != seals[0].Answer || s.Place != i+1 || s.Of != len(seals) {
			return false
		}
	}
	return true
}

// checkEveryCall wants thinking in each message that calls tools, as other makers do.
func checkEveryCall(q *Request) *Refusal {
	for _, m := range q.Messages {
		calls := slices.ContainsFunc(m.Blocks, func(b *Block) bool { return b.Kind == "tool_use" })
		if calls && !slices.ContainsFunc(m.Blocks, IsThinking) {
			return Flaw("thinking is enabled but reasoning_content is missing in assistant tool call message at index %d", m.Index)
		}
	}
	return nil
}

// checkManual judges manual mode: thinking is first where there is any, and the open tool round begins with it.
func checkManual(q *Request, all []*Group, thoughtful func(call string) bool) *Refusal {
	for _, m := range q.Messages {
		if m.Role == "assistant" && slices.ContainsFunc(m.Blocks, IsThinking) && !IsThinking(m.Blocks[0]) {
			return Flaw("%s: If an assistant message contains any thinking blocks, the first block must be `thinking` or `redacted_thinking`. Found `%s`.",
				m.Blocks[0].Path, m.Blocks[0].Kind)
		}
	}
	begin := OpenRound(all)
	if begin == nil {
		return nil
	}
	must := []*Block{begin.Blocks()[0]}
	if last := latest(q); slices.ContainsFunc(IDs(last.Blocks, "tool_use", "id"), thoughtful) {
		must = append(must, last.Blocks[0])
	}
	for _, b := range must {
		if IsThinking(b) {
			continue
		}
		return Flaw("%s.type: Expected `thinking` or `redacted_thinking`, but found `%s`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable `thinking`. Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking",
			b.Path, b.Kind)
	}
	return nil
}

// OpenRound is the first answer of the turn that the last results belong to; nil where the list does not end in some.
func OpenRound(all []*Group) *Group {
	all = slices.DeleteFunc(slices.Clone(all), func(g *Group) bool { return g.Role == "system" })
	end := len(all) - 1
	if end < 1 || all[end].Role != "user" || !slices.ContainsFunc(all[end].Blocks(), IsResult) {
		return nil
	}
	begin := all[end-1]
	for i := end - 2; i > 0; i -= 2 {
		if between := all[i].Blocks(); !IsResult(between[len(between)-1]) {
			break
		}
		begin = all[i-1]
	}
	return begin
}
