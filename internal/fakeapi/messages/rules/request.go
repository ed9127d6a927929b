package rules

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"epitome/internal/fakeapi"
)

// Request is a body that was read; whether it is sound is judged part by part.
type Request struct {
	Fields    fakeapi.Object
	betas     string // of the header anthropic-beta
	Scope     string // whose cache it is: the credentials
	Name      string // of the model
	Model     Model
	counting  bool // count_tokens
	Streamed  bool
	MaxTokens int
	Thinking  thinking
	Tools     []*Block
	System    []*Block
	Messages  []*Message
}

// Message is one of the list.
type Message struct {
	Role   string
	Index  int // in the list
	Blocks []*Block
	// Passing is a system message that is shown until the next message of the user.
	Passing bool
}

// NewMessage is number i of the list, without its blocks.
func NewMessage(i int, fields fakeapi.Object) *Message {
	return &Message{Role: fields.Text("role"), Index: i, Passing: fields.Text("clear_at") == "next_user_message"}
}

// Place is where the blocks of m stand.
func (m *Message) Place() string {
	if m.Role == "system" {
		return inInline
	}
	return m.Role
}

// directive tells whether m is a system message that has settings and no content. It may stand anywhere.
func (m *Message) directive() bool { return m.Role == "system" && len(m.Blocks) == 0 }

// topFields are the names that a body may have.
const topFields = "model! messages! max_tokens system tools tool_choice thinking stream stop_sequences temperature top_p " +
	"top_k metadata container context_management mcp_servers service_tier output_config output_format cache_control " +
	"billing_policy fallback_credit_token inference_geo speed compaction thread fallbacks diagnostics user_profile_id"

// betaFields are those that need a value in anthropic-beta, which begins so.
var betaFields = [][2]string{{"context_management", "context-management-"}, {"compaction", "compact-"}}

// thinking are the settings of that name.
type thinking struct {
	Mode   string // enabled, adaptive, disabled; "" where the request does not say
	Budget int
	Hidden bool // display is omitted
	// OnMismatch is what is done with thinking that is bound to something else: "error", "drop_block" or "".
	OnMismatch string
}

// Read reads a body with its headers, and holds it to all rules that are told by it alone, but for thinking and
// size.
func Read(header http.Header, body []byte, counting bool, modelOf func(string) Model) (*Request, *Refusal) {
	q := &Request{counting: counting, betas: strings.Join(header.Values("anthropic-beta"), ","),
		Scope: header.Get("x-api-key") + header.Get("Authorization")}
	if header.Get("anthropic-version") == "" {
		return q, Flaw("anthropic-version: header is required")
	}
	var refused *Refusal
	if q.Fields, refused = readBody(body); refused != nil {
		return q, refused
	}
	if refused := checkFields(q.Fields, "", topFields); refused != nil {
		return q, refused
	}
	for _, f := range betaFields {
		if q.Fields.Has(f[0]) && !strings.Contains(q.betas, f[1]) {
			return q, Flaw("%s: Extra inputs are not permitted", f[0])
		}
	}
	if q.Name = q.Fields.Text("model"); q.Name == "" {
		return q, Flaw("model: String should have at least 1 character")
	}
	q.Model = modelOf(q.Name)
	_ = json.Unmarshal(q.Fields["stream"], &q.Streamed)
	automatic, refused := readMarker(q.Fields["cache_control"], "cache_control")
	if refused != nil {
		return q, refused
	}
	for _, read := range []func() *Refusal{q.readThinking, q.readTools, q.readSystem, q.readMessages} {
		if refused := read(); refused != nil {
			return q, refused
		}
	}
	q.markLast(automatic)
	for _, check := range []func(*Request) *Refusal{checkSettings, checkRoles, checkPairs, checkMarkers} {
		if refused := check(q); refused != nil {
			return q, refused
		}
	}
	return q, nil
}

// readBody reads a body, whatever it holds.
func readBody(body []byte) (fakeapi.Object, *Refusal) {
	if !json.Valid(body) {
		var v any
		return nil, Flaw("The request body is not valid JSON: %v", json.Unmarshal(body, &v))
	}
	return ReadObject(body, "body")
}

// ReadBeginning reads what stands before the messages, and judges nothing else.
func ReadBeginning(body []byte, modelOf func(string) Model) (*Request, *Refusal) {
	q := &Request{}
	var refused *Refusal
	if q.Fields, refused = readBody(body); refused != nil {
		return nil, refused
	}
	q.Name = q.Fields.Text("model")
	q.Model = modelOf(q.Name)
	if refused := q.readTools(); refused != nil {
		return nil, refused
	}
	return q, q.readSystem()
}

func (q *Request) readThinking() *Refusal {
	if !q.Fields.Has("thinking") {
		q.Thinking.Hidden = q.Model.HidesThinking
		return nil
	}
	fields, refused := ReadObject(q.Fields["thinking"], "thinking")
	if refused != nil {
		return refused
	}
	q.Thinking.Mode = fields.Text("type")
	path := "thinking." + q.Thinking.Mode
	if refused := checkFields(fields, path, "type! budget_tokens display block_binding"); refused != nil {
		return refused
	}
	_ = json.Unmarshal(fields["budget_tokens"], &q.Thinking.Budget)
	display := fields.Text("display")
	q.Thinking.Hidden = display == "omitted" || display == "" && q.Model.HidesThinking
	if !fields.Has("block_binding") {
		return nil
	}
	if !q.MayDrop() {
		return Flaw("%s.block_binding: Extra inputs are not permitted", path)
	}
	binding, refused := ReadObject(fields["block_binding"], path+".block_binding")
	if refused != nil {
		return refused
	}
	q.Thinking.OnMismatch = binding.Text("prefix_mismatch_behavior")
	return checkFields(binding, path+".block_binding", "prefix_mismatch_behavior")
}

// toolFields are the names that a tool may have.
const toolFields = "type name! description input_schema strict cache_control eager_input_streaming defer_loading " +
	"allowed_callers input_examples"

func (q *Request) readTools() *Refusal {
	if !q.Fields.Has("tools") {
		return nil
	}
	list, refused := ReadList(q.Fields["tools"], "tools")
	if refused != nil {
		return refused
	}
	names := map[string]bool{}
	for i, raw := range list {
		b := &Block{Kind: "tool", Path: fmt.Sprintf("tools.%d", i)}
		if b.Fields, refused = ReadObject(raw, b.Path); refused != nil {
			return refused
		}
		if kind := b.Fields.Text("type"); kind == "" || kind == "custom" { // others are the vendor's own
			refused = checkFields(b.Fields, b.Path+".custom", toolFields+" input_schema!")
		}
		if refused != nil {
			return refused
		}
		if name := b.Fields.Text("name"); names[name] {
			return Flaw("tools: Tool names must be unique.")
		} else {
			names[name] = true
		}
		if b.marker, refused = readMarker(b.Fields["cache_control"], b.Path+".cache_control"); refused != nil {
			return refused
		}
		b.Canon = Canon(b.Fields)
		q.Tools = append(q.Tools, b)
	}
	return nil
}

// IsDeferred tells whether b is a tool that the model does not see until somebody names it.
func (b *Block) IsDeferred() bool { return string(b.Fields["defer_loading"]) == "true" }

func (q *Request) readSystem() *Refusal {
	raw := q.Fields["system"]
	if text, ok := fakeapi.IsText(raw); !q.Fields.Has("system") || ok && text == "" {
		return nil
	}
	var refused *Refusal
	q.System, refused = readBlocks(raw, "system", inSystem)
	return refused
}

func (q *Request) readMessages() *Refusal {
	list, refused := ReadList(q.Fields["messages"], "messages")
	if refused != nil {
		return refused
	}
	if len(list) == 0 {
		return Flaw("messages: at least one message is required")
	}
	for i, raw := range list {
		m, refused := q.readMessage(i, raw)
		if refused != nil {
			return refused
		}
		if len(m.Blocks) == 0 && !m.directive() && (i < len(list)-1 || m.Role != "assistant") {
			return Flaw("messages.%d: all messages must have non-empty content except for the optional final assistant message", i)
		}
		q.Messages = append(q.Messages, m)
	}
	return nil
}

func (q *Request) readMessage(i int, raw json.RawMessage) (*Message, *Refusal) {
	path := fmt.Sprintf("messages.%d", i)
	fields, refused := ReadObject(raw, path)
	if refused == nil {
		refused = checkFields(fields, path, "role! content clear_at output_config")
	}
	if _, ok := fields["content"]; refused == nil && !ok && fields.Text("role") != "system" {
		refused = Flaw("%s.content: Field required", path)
	}
	if refused != nil {
		return nil, refused
	}
	m := NewMessage(i, fields)
	switch m.Role {
	case "user", "assistant":
		if fields.Has("clear_at") {
			return nil, Flaw("%s.clear_at: Extra inputs are not permitted", path)
		}
	case "system":
		if !q.Model.InlineSystem {
			return nil, Flaw("messages: role 'system' is not supported on this model")
		}
	default:
		return nil, Flaw(`messages: Unexpected role "%s". Allowed roles are "user" or "assistant"`, m.Role)
	}
	if text, ok := fakeapi.IsText(fields["content"]); fields.Has("content") && (!ok || text != "") {
		m.Blocks, refused = readBlocks(fields["content"], path+".content", m.Place())
	}
	if refused == nil && m.directive() && !fields.Has("output_config") {
		refused = Flaw("%s: system content must contain at least one block", path)
	}
	return m, refused
}

// BindingBeta is the header's value that lets a client say what is done with thinking that is bound to something else,
// and be told of it.
const BindingBeta = "thinking-binding-controls-2026-08-01"

// MayDrop tells whether the client may ask for drops, and is told of them.
func (q *Request) MayDrop() bool { return strings.Contains(q.betas, BindingBeta) }

// Live are the messages from the last compaction on; what stands before it is dead.
func (q *Request) Live() []*Message {
	for i := len(q.Messages) - 1; i > 0; i-- {
		if m := q.Messages[i]; len(m.Blocks) > 0 && m.Blocks[0].Kind == "compaction" {
			return q.Messages[i:]
		}
	}
	return q.Messages
}
