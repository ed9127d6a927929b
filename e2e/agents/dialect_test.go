//go:build e2e

package agents_test

import (
	"bytes"
	"strings"

	"epitome/internal/fakeapi/messages"
	"epitome/internal/fakeapi/responses"
	"epitome/internal/fakeapi/responses/rules"
)

// taken is a request as a provider of whatever dialect took it.
type taken struct {
	method, target string
	body           []byte
	refusal        error // nil where it was answered
	tooLong        bool  // that is why
	counting       bool  // it asks for a number of tokens
	input, cached  int   // tokens
}

// inMessages are the requests that a server of Messages had.
func inMessages(provider *messages.Server) []taken {
	var all []taken
	for _, r := range provider.Received() {
		one := taken{method: r.Method, target: r.Target, body: r.Body, counting: r.Counting,
			input: r.Usage.Total(), cached: r.Usage.Read}
		if r.Refusal != nil {
			one.refusal, one.tooLong = r.Refusal, strings.HasPrefix(r.Refusal.Message, "prompt is too long")
		}
		all = append(all, one)
	}
	return all
}

// inResponses are the requests that a server of Responses had.
func inResponses(provider *responses.Server) []taken {
	var all []taken
	for _, r := range provider.Received() {
		one := taken{method: r.Method, target: r.Target, body: r.Body, counting: r.Purpose == rules.Count,
			input: r.Usage.Input, cached: r.Usage.Cached}
		if r.Refusal != nil {
			one.refusal, one.tooLong = r.Refusal, r.Refusal.Code == "context_length_exceeded"
		}
		all = append(all, one)
	}
	return all
}

// inBlocks is the move as Messages has it.
func (m move) inBlocks() messages.Turn {
	var blocks []messages.Block
	if m.thought != "" {
		blocks = append(blocks, messages.Think(m.thought))
	}
	blocks = append(blocks, messages.Text(m.words))
	for _, c := range m.calls {
		blocks = append(blocks, messages.Call("", c.tool, c.input))
	}
	return messages.Turn{Blocks: blocks}
}

// inItems is the move as Responses has it.
func (m move) inItems() responses.Turn {
	var items []responses.Item
	if m.thought != "" {
		items = append(items, responses.Think(m.thought))
	}
	items = append(items, responses.Text(m.words))
	for _, c := range m.calls {
		if c.item != "" {
			items = append(items, responses.Raw(c.item))
			continue
		}
		if c.free {
			items = append(items, responses.Custom("", c.tool, c.input))
			continue
		}
		items = append(items, responses.Call("", c.tool, c.input))
	}
	return responses.Turn{Items: items}
}

// compacts tells whether an agent asks for a compaction of its own.
func compacts(body []byte) bool {
	return bytes.Contains(body, []byte(`{"type":"compaction_trigger"}`)) ||
		bytes.Contains(body, []byte("You are performing a CONTEXT CHECKPOINT COMPACTION"))
}
