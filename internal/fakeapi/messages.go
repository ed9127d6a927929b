package fakeapi

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// The rules of Messages, each with the words in which the API refuses. Consecutive messages of one role count as one.

// message is one of the list, or several of one role in a row.
type message struct {
	role    string
	index   int // of the first one
	blocks  []block
	passing bool // a system message that the server takes out after the turn
}

// block is a content block.
type block struct {
	gjson.Result
	kind, path string
	dropped    bool // thinking that the server leaves out
}

// text returns a member that is a string.
func (b block) text(name string) string { return b.Get(name).Str }

func (b block) isThinking() bool { return b.kind == "thinking" || b.kind == "redacted_thinking" }

// messagesNames are the members that a request may have.
const messagesNames = "model! messages! max_tokens system tools tool_choice thinking stream stop_sequences " +
	"temperature top_p top_k metadata container context_management mcp_servers service_tier output_config " +
	"output_format cache_control speed thread fallbacks diagnostics"

// blockKinds are the types of blocks with their members, "!" marking the required ones, and the places where they
// stand.
var blockKinds = map[string]struct{ names, places string }{
	"text":              {"text! citations", "user assistant system result"},
	"image":             {"source!", "user result"},
	"document":          {"source! title context citations", "user result"},
	"search_result":     {"source! title! content! citations", "user result"},
	"tool_use":          {"id! name! input! caller toolset_name", "assistant"},
	"tool_result":       {"tool_use_id! content is_error toolset_name", "user"},
	"thinking":          {"thinking! signature!", "assistant"},
	"redacted_thinking": {"data!", "assistant"},
	"compaction":        {"*", "assistant"},
	"fallback":          {"*", "assistant"},
	"server_tool_use":   {"id! name! input! caller", "assistant"},
	"mcp_tool_use":      {"id! name! input! server_name!", "assistant"},
	"mcp_tool_listing":  {"*", "assistant"},
	"tool_reference":    {"tool_name!", "result"},
	"browser_state":     {"*", "result"},
	"tool_addition":     {"*", "system"},
	"tool_removal":      {"*", "system"},
}

// readMessages reads a request and holds it to the rules.
func (p *Provider) readMessages(q *request) *Refusal {
	if q.header.Get("anthropic-version") == "" {
		return flaw("anthropic-version: header is required")
	}
	if refused := checkMembers(q.body, "", messagesNames); refused != nil {
		return refused
	}
	checks := []func() *Refusal{q.checkOutput, q.checkThinking, q.checkTools, q.readList, q.checkRoles, q.checkPairs,
		q.checkMarkers, func() *Refusal { return p.checkThoughts(q) }}
	for _, check := range checks {
		if refused := check(); refused != nil {
			return refused
		}
	}
	p.promptOfMessages(q)
	return nil
}

// checkMembers wants the required members of an object, and no others than those named.
func checkMembers(o gjson.Result, path, names string) *Refusal {
	if !o.IsObject() {
		return flaw("%s: Input should be an object", path)
	}
	if path != "" {
		path += "."
	}
	switch missing, extra := checkNames(o, names); {
	case missing != "":
		return flaw("%s%s: Field required", path, missing)
	case extra != "":
		return flaw("%s%s: Extra inputs are not permitted", path, extra)
	}
	return nil
}

// checkOutput judges max_tokens, which a request for a count does not need.
func (q *request) checkOutput() *Refusal {
	most := q.body.Get("max_tokens")
	q.maxOutput = int(most.Int())
	switch {
	case most.Exists() && q.maxOutput > q.model.MaxOutput:
		return flaw("max_tokens: %d > %d, which is the maximum allowed number of output tokens for %s",
			q.maxOutput, q.model.MaxOutput, q.name)
	case !most.Exists() && !q.counting:
		return flaw("max_tokens: Field required")
	}
	return nil
}

// checkThinking judges the settings of thinking.
func (q *request) checkThinking() *Refusal {
	t := q.body.Get("thinking")
	kind, display, budget := t.Get("type").Str, t.Get("display").Str, int(t.Get("budget_tokens").Int())
	q.thinks = kind != "disabled" && (kind != "" || q.model.Thinks)
	q.manual = kind == "enabled"
	q.hidden = display == "omitted" || display == "" && q.model.Hides
	q.dropsLost = t.Get("block_binding.prefix_mismatch_behavior").Str == "drop_block"
	switch {
	case kind == "adaptive" && !q.model.Adaptive:
		return flaw("adaptive thinking is not supported on this model")
	case q.manual && !q.model.Manual:
		return flaw(`"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and ` +
			`"output_config.effort" to control thinking behavior.`)
	case q.manual && budget < 1024:
		return flaw("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
	case q.manual && !q.counting && q.maxOutput <= budget:
		return flaw("`max_tokens` must be greater than `thinking.budget_tokens`.")
	}
	return nil
}

// checkTools judges tools and tool_choice.
func (q *request) checkTools() *Refusal {
	var names []string
	for i, tool := range q.body.Get("tools").Array() {
		name := tool.Get("name").Str
		kind := tool.Get("type").Str
		if (kind == "" || kind == "custom") && !tool.Get("input_schema").IsObject() {
			return flaw("tools.%d.custom.input_schema: Field required", i)
		}
		if slices.Contains(names, name) {
			return flaw("tools: Tool names must be unique.")
		}
		names = append(names, name)
	}
	choice := q.body.Get("tool_choice")
	kind, name := choice.Get("type").Str, choice.Get("name").Str
	switch {
	case !choice.Exists():
	case len(names) == 0:
		return flaw("tool_choice: tool_choice may only be specified while providing tools.")
	case (kind == "any" || kind == "tool") && q.thinks:
		return flaw("Thinking may not be enabled when tool_choice forces tool use.")
	case kind == "tool" && !slices.Contains(names, name):
		return flaw("Tool '%s' not found in provided tools", name)
	}
	return nil
}

// readList reads the messages, each by itself.
func (q *request) readList() *Refusal {
	list := q.body.Get("messages").Array()
	if len(list) == 0 {
		return flaw("messages: at least one message is required")
	}
	for i, raw := range list {
		path := fmt.Sprintf("messages.%d", i)
		if refused := checkMembers(raw, path, "role! content clear_at output_config"); refused != nil {
			return refused
		}
		m := message{role: raw.Get("role").Str, index: i, passing: raw.Get("clear_at").Str == "next_user_message"}
		content := raw.Get("content")
		empty := len(content.Array()) == 0 || content.Type == gjson.String && content.Str == ""
		switch {
		case m.role == "system" && !q.model.InlineSystem:
			return flaw("messages: role 'system' is not supported on this model")
		case m.role == "system" && empty:
			continue // it has settings alone, and stands anywhere
		case m.role != "user" && m.role != "assistant" && m.role != "system":
			return flaw(`messages: Unexpected role "%s". Allowed roles are "user" or "assistant"`, m.role)
		case empty && (m.role != "assistant" || i < len(list)-1):
			return flaw("%s: all messages must have non-empty content except for the optional final assistant "+
				"message", path)
		}
		var refused *Refusal
		if m.blocks, refused = readBlocks(content, path+".content", m.role); refused != nil {
			return refused
		}
		q.messages = append(q.messages, m)
	}
	_, refused := readBlocks(q.body.Get("system"), "system", "system")
	return refused
}

// readBlocks reads content. A string is the same as a text block.
func readBlocks(content gjson.Result, path, place string) (all []block, refused *Refusal) {
	list := content.Array()
	if content.Type == gjson.String {
		list = []gjson.Result{gjson.Parse(`{"type":"text","text":` + content.Raw + `}`)}
	} else if content.Exists() && !content.IsArray() {
		return nil, flaw("%s: Input should be a valid list", path)
	}
	for i, raw := range list {
		b := block{Result: raw, kind: raw.Get("type").Str, path: fmt.Sprintf("%s.%d", path, i)}
		if refused := b.check(place); refused != nil {
			return nil, refused
		}
		all = append(all, b)
	}
	return all, nil
}

var callID = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

// check judges a block by itself.
func (b block) check(place string) *Refusal {
	kind, known := blockKinds[b.kind]
	names := kind.names + " type"
	if strings.HasSuffix(b.kind, "_tool_result") { // of a tool of the server's
		names, kind.places, known = "type tool_use_id! content caller is_error", "assistant", true
	}
	if !b.isThinking() {
		names += " cache_control"
	}
	if !known || !slices.Contains(strings.Fields(kind.places), place) {
		return flaw("%s: Input tag '%s' found using 'type' does not match any of the expected tags", b.path, b.kind)
	}
	if refused := checkMembers(b.Result, b.path+"."+b.kind, names); refused != nil {
		return refused
	}
	text := b.text("text")
	switch b.kind {
	case "text":
		switch {
		case text == "" && b.Get("cache_control").Exists():
			return flaw("%s.text: cache_control cannot be set for empty text blocks", b.path)
		case text == "":
			return flaw("messages: text content blocks must be non-empty")
		case strings.TrimSpace(text) == "":
			return flaw("messages: text content blocks must contain non-whitespace text")
		}
	case "tool_use", "server_tool_use", "mcp_tool_use":
		switch {
		case !callID.MatchString(b.text("id")):
			return flaw("%s.%s.id: String should match pattern '%s'", b.path, b.kind, callID)
		case !b.Get("input").IsObject():
			return flaw("%s.%s.input: Input should be a valid dictionary", b.path, b.kind)
		}
	case "tool_result":
		if content := b.Get("content"); content.Type != gjson.String {
			_, refused := readBlocks(content, b.path+".content", "result")
			return refused
		}
	}
	return nil
}

// groups are the messages as the API takes them: consecutive ones of one role are one.
func (q *request) groups() (all []message) {
	for _, m := range q.messages {
		if last := len(all) - 1; last >= 0 && all[last].role == m.role {
			all[last].blocks = slices.Concat(all[last].blocks, m.blocks)
			continue
		}
		all = append(all, m)
	}
	return all
}

// checkRoles judges who may speak where.
func (q *request) checkRoles() *Refusal {
	all := q.groups()
	for i, m := range all {
		switch {
		case m.role != "system":
		case i == 0:
			return flaw("messages.%d: use the top-level 'system' parameter for the initial system prompt", m.index)
		case all[i-1].role == "assistant":
			return flaw("messages.%d: role 'system' must follow a 'user' message", m.index)
		case i+1 < len(all) && all[i+1].role == "user":
			return flaw("messages.%d: role 'system' must precede an 'assistant' message or end the array", m.index)
		}
	}
	first, last := all[0], all[len(all)-1]
	if first.role == "assistant" && first.blocks[0].kind != "compaction" {
		return flaw(`messages: first message must use the "user" role`)
	}
	if last.role != "assistant" || q.model.Prefill {
		return nil
	}
	if n := len(last.blocks); n > 0 && last.blocks[n-1].kind == "server_tool_use" { // the client lets it go on
		return nil
	}
	return flaw("This model does not support assistant message prefill. The conversation must end with a user message.")
}

// checkMarkers wants at most four cache markers, those for an hour before those for five minutes.
func (q *request) checkMarkers() *Refusal {
	count, short := 0, false
	var refused *Refusal
	look := func(marker gjson.Result, path string) {
		if !marker.Exists() || isNull(marker) || refused != nil {
			return
		}
		ttl := marker.Get("ttl").Str
		switch count++; {
		case marker.Get("type").Str != "ephemeral":
			refused = flaw("%s.cache_control.type: Input should be 'ephemeral'", path)
		case ttl != "" && ttl != "5m" && ttl != "1h":
			refused = flaw("%s.cache_control.ttl: Input should be '5m' or '1h'", path)
		case ttl == "1h" && short:
			refused = flaw("%s.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' "+
				"cache_control block.", path)
		}
		short = short || ttl != "1h"
	}
	for i, tool := range q.body.Get("tools").Array() {
		look(tool.Get("cache_control"), fmt.Sprintf("tools.%d", i))
	}
	for i, b := range q.body.Get("system").Array() {
		look(b.Get("cache_control"), fmt.Sprintf("system.%d", i))
	}
	for _, m := range q.messages {
		for _, b := range m.blocks {
			if content := b.Get("content"); content.IsArray() {
				content.ForEach(func(_, in gjson.Result) bool {
					look(in.Get("cache_control"), b.path+".content")
					return true
				})
			}
			look(b.Get("cache_control"), b.path)
		}
	}
	look(q.body.Get("cache_control"), "request")
	if refused == nil && count > 4 {
		return flaw("A maximum of 4 blocks with cache_control may be provided. Found %d.", count)
	}
	return refused
}
