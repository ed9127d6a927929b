package rules

import (
	"encoding/json"

	"epitome/internal/fakeapi"
)

// leastBudget is the smallest budget_tokens.
const leastBudget = 1024

// checkSettings judges what stands beside the conversation.
func checkSettings(q *Request) *Refusal {
	for _, check := range []func(*Request) *Refusal{checkOutput, checkMode, checkChoice, checkCompaction} {
		if refused := check(q); refused != nil {
			return refused
		}
	}
	return nil
}

// checkOutput judges max_tokens, which count_tokens does not need.
func checkOutput(q *Request) *Refusal {
	if !q.Fields.Has("max_tokens") {
		if q.counting {
			return nil
		}
		return Flaw("max_tokens: Field required")
	}
	var ok bool
	q.MaxTokens, ok = fakeapi.Whole(q.Fields["max_tokens"])
	switch {
	case !ok:
		return Flaw("max_tokens: Input should be a valid integer")
	case q.MaxTokens < 0:
		return Flaw("max_tokens: Input should be greater than or equal to 0")
	case q.MaxTokens > q.Model.MaxOutput:
		return Flaw("max_tokens: %d > %d, which is the maximum allowed number of output tokens for %s",
			q.MaxTokens, q.Model.MaxOutput, q.Name)
	case q.MaxTokens == 0 && q.Streamed:
		return Flaw("max_tokens: 0 is not allowed with stream: true")
	}
	return nil
}

// checkMode judges the thinking settings.
func checkMode(q *Request) *Refusal {
	switch q.Thinking.Mode {
	case "", "disabled":
		return nil
	case "adaptive", "between_tools":
		if !q.Model.Adaptive {
			return Flaw("adaptive thinking is not supported on this model")
		}
	case "enabled":
		if refused := checkBudget(q); refused != nil {
			return refused
		}
	default:
		return Flaw("thinking: Input tag '%s' found using 'type' does not match any of the expected tags: 'adaptive', 'between_tools', 'disabled', 'enabled'",
			q.Thinking.Mode)
	}
	if on := q.Thinking.OnMismatch; on != "" && on != "error" && on != "drop_block" {
		return Flaw("thinking.%s.block_binding.prefix_mismatch_behavior: Input should be 'error' or 'drop_block'", q.Thinking.Mode)
	}
	var temperature float64
	if json.Unmarshal(q.Fields["temperature"], &temperature) == nil && temperature != 1 {
		return Flaw("`temperature` may only be set to 1 when thinking is enabled. Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking#important-considerations-when-using-extended-thinking")
	}
	return nil
}

// checkBudget judges manual mode.
func checkBudget(q *Request) *Refusal {
	switch {
	case !q.Model.Manual:
		return Flaw(`"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.`)
	case q.Thinking.Budget < leastBudget:
		return Flaw("thinking.enabled.budget_tokens: Input should be greater than or equal to %d", leastBudget)
	case !q.counting && q.MaxTokens <= q.Thinking.Budget:
		return Flaw("`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking#max-tokens-and-context-window-size")
	}
	return nil
}

// Thinks tells whether the model thinks before it answers.
func (q *Request) Thinks() bool {
	if q.Thinking.Mode == "" {
		return q.Model.ThinksUnasked
	}
	return q.Thinking.Mode != "disabled"
}

// checkChoice judges tool_choice.
func checkChoice(q *Request) *Refusal {
	if !q.Fields.Has("tool_choice") {
		return nil
	}
	choice, refused := ReadObject(q.Fields["tool_choice"], "tool_choice")
	if refused != nil {
		return refused
	}
	kind := choice.Text("type")
	switch kind {
	case "auto", "none":
	case "any", "tool":
		if q.Thinks() {
			return Flaw("Thinking may not be enabled when tool_choice forces tool use.")
		}
	default:
		return Flaw("tool_choice: Input tag '%s' found using 'type' does not match any of the expected tags: 'auto', 'any', 'tool', 'none'", kind)
	}
	if len(q.Tools) == 0 {
		return Flaw("tool_choice: tool_choice may only be specified while providing tools.")
	}
	if kind != "tool" {
		return nil
	}
	for _, t := range q.Tools {
		if t.Fields.Text("name") == choice.Text("name") {
			return nil
		}
	}
	return Flaw("Tool '%s' not found in provided tools", choice.Text("name"))
}

// checkCompaction judges the request for a compaction.
func checkCompaction(q *Request) *Refusal {
	if q.Fields.Has("compaction") && q.Fields.Has("context_management") {
		return Flaw("compaction: may not be used together with context_management")
	}
	return nil
}
