package overflow

import (
	"encoding/json"
	"testing"
)

// What a server of Anthropic Messages or OpenAI Responses refuses as broken is a rewrite's fault, if there was one, and
// else the client's.
func TestBrokenMessagesAreMalformedAfterARewriteOnly(t *testing.T) {
	f := func(message string) {
		t.Helper()
		quoted, _ := json.Marshal(message)
		body := []byte(`{"type":"error","error":{"type":"invalid_request_error","message":` + string(quoted) + `},"request_id":"req_1"}`)
		for rewritten, want := range map[bool]Kind{true: Malformed, false: NotOurs} {
			s := Sent{Tokens: 190_000, MaxOutput: 32_000, Window: 200_000, Rewritten: rewritten}
			if v := Read(Answer{Status: 400, Body: body}, s); v.Kind != want {
				t.Errorf("rewritten %v: %s is %v (%s), want %v", rewritten, message, v.Kind, v.Why, want)
			}
		}
	}
	f("messages.3: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1. Each `tool_use` block must have a corresponding `tool_result` block in the next message.")
	f("messages.2.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_1. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.")
	f("messages: `tool_use` ids must be unique")
	f("messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `text`. When `thinking` is enabled, a final `assistant` message must start with a thinking block.")
	f("messages.1: If an assistant message contains any thinking blocks, the first block must be `thinking` or `redacted_thinking`. Found `text`.")
	f("messages.5.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.")
	f("messages.1.content.0: Invalid `signature` in `thinking` block")
	f("messages.1.content.0.thinking.signature: Field required")
	f("messages.1.content.0: Invalid data in `redacted_thinking` block")
	f("messages: text content blocks must be non-empty")
	f("messages: text content blocks must contain non-whitespace text")
	f("messages.3.content.0.text: cache_control cannot be set for empty text blocks")
	f("A maximum of 4 blocks with cache_control may be provided. Found 5.")
	f("messages: first message must use the \"user\" role")
	f("No tool output found for function call call_1.")
	f("No tool call found for custom tool call output with call_id call_1.")
	f("Item 'rs_1' of type 'reasoning' was provided without its required following item.")
	f("Item 'msg_1' of type 'message' was provided without its required 'reasoning' item: 'rs_1'.")
	f("The encrypted content for item rs_1 could not be verified. Reason: Encrypted content could not be decrypted or parsed.")
	f("Duplicate item found with id msg_1. Remove duplicate items from your input and try again.")
	f("Cannot determine type of 'item'")
	f("unknown input item type: \"x\"")
	f("messages.3: all messages must have non-empty content except for the optional final assistant message")
}

// Thinking that stands behind something else than it was thought behind is told apart, whoever has changed that.
func TestMisplacedThinkingIsToldApart(t *testing.T) {
	const words = "messages.7.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. " +
		"Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\"."
	f := func(status int, message string) {
		t.Helper()
		quoted, _ := json.Marshal(message)
		body := []byte(`{"type":"error","error":{"type":"invalid_request_error","message":` + string(quoted) + `},"request_id":"req_1"}`)
		for _, rewritten := range []bool{true, false} {
			s := Sent{Tokens: 190_000, MaxOutput: 32_000, Window: 200_000, Rewritten: rewritten}
			if v := Read(Answer{Status: status, Body: body}, s); v.Kind != Thinking {
				t.Errorf("rewritten %v: %s is %v (%s)", rewritten, message, v.Kind, v.Why)
			}
		}
	}
	f(400, words)
	f(400, words+" The `system` prompt differs.")
	f(400, words+" The `tools` differ.")
	f(400, words+" The messages before the block differ.")
	f(400, words+" That setting requires the `thinking-binding-controls-2026-08-01` value in the `anthropic-beta` header. "+
		"The thinking block that preceded this one is missing.")
	f(400, "The model returned the following errors: "+words)
}
