package rules

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"epitome/internal/fakeapi"
)

// Block is one piece of content: of a message, of the system prompt, of a result; or a tool.
type Block struct {
	Kind    string
	Path    string // messages.1.content.0
	Fields  fakeapi.Object
	Inner   []*Block // of a result
	marker  *Marker  // nil for none
	Canon   []byte   // its value, markers aside
	Dropped bool     // the server leaves it out
	Tokens  int      // of a thinking block: what was thought
}

// places are where a block may stand: in a message of the user or the assistant, in one of the list's system messages
// (inline), in the system prompt, in a result.
const (
	inUser      = "user"
	inAssistant = "assistant"
	inInline    = "inline"
	inSystem    = "system"
	inResult    = "result"
)

// kinds are the types of blocks, with their fields and places.
var kinds = []struct{ name, fields, places string }{
	{"text", "text! citations cache_control", "user assistant inline system result"},
	{"image", "source! transformations cache_control", "user result"},
	{"document", "source! title context citations cache_control", "user result"},
	{"search_result", "source! title! content! citations cache_control", "user result"},
	{"container_upload", "file_id! cache_control", "user assistant"},
	{"tool_use", "id! name! input! caller toolset_name cache_control", "assistant"},
	{"tool_result", "tool_use_id! content is_error toolset_name cache_control", "user"},
	{"thinking", "thinking! signature!", "assistant"},
	{"redacted_thinking", "data!", "assistant"},
	{"compaction", "content encrypted_content signature tool_changes cache_control", "assistant"},
	{"fallback", "*", "assistant"},
	{"server_tool_use", "id! name! input! caller cache_control", "assistant"},
	{"web_search_tool_result", "tool_use_id! content! caller cache_control", "assistant"},
	{"web_fetch_tool_result", "tool_use_id! content! caller cache_control", "assistant"},
	{"code_execution_tool_result", "tool_use_id! content! caller cache_control", "assistant"},
	{"bash_code_execution_tool_result", "tool_use_id! content! caller cache_control", "assistant"},
	{"text_editor_code_execution_tool_result", "tool_use_id! content! caller cache_control", "assistant"},
	{"tool_search_tool_result", "tool_use_id! content! caller cache_control", "assistant"},
	{"advisor_tool_result", "tool_use_id! content! caller cache_control", "assistant"},
	{"mcp_tool_use", "id! name! input! server_name! cache_control", "assistant"},
	{"mcp_tool_result", "tool_use_id! content is_error cache_control", "assistant"},
	{"mcp_tool_listing", "*", "assistant"},
	{"tool_reference", "tool_name! cache_control", "result"},
	{"browser_state", "*", "result"},
	{"tool_addition", "*", "inline"},
	{"tool_removal", "*", "inline"},
}

// identifier is what ids of calls look like.
const identifier = `^[a-zA-Z0-9_-]+$`

var identifierForm = regexp.MustCompile(identifier)

// readBlocks reads a list of blocks in one place; a string is the same as one text block.
func readBlocks(raw json.RawMessage, path, place string) ([]*Block, *Refusal) {
	if _, ok := fakeapi.IsText(raw); ok {
		b := TextBlock(path, raw)
		return []*Block{b}, b.checkText(place)
	}
	list, refused := ReadList(raw, path)
	if refused != nil {
		return nil, refused
	}
	var all []*Block
	for i, raw := range list {
		b, refused := ReadBlock(raw, fmt.Sprintf("%s.%d", path, i), place)
		if refused != nil {
			return nil, refused
		}
		all = append(all, b)
	}
	return all, nil
}

// TextBlock is a text as a block; raw is a JSON string.
func TextBlock(path string, raw json.RawMessage) *Block {
	fields := fakeapi.Object{"type": json.RawMessage(`"text"`), "text": raw}
	return &Block{Kind: "text", Path: path, Fields: fields, Canon: Canon(fields)}
}

// ReadBlock reads one block and checks what can be told of it alone.
func ReadBlock(raw json.RawMessage, path, place string) (*Block, *Refusal) {
	fields, refused := ReadObject(raw, path)
	if refused != nil {
		return nil, refused
	}
	b := &Block{Kind: fields.Text("type"), Path: path, Fields: fields}
	if refused := b.checkKind(place); refused != nil {
		return nil, refused
	}
	if b.marker, refused = readMarker(fields["cache_control"], path+".cache_control"); refused != nil {
		return nil, refused
	}
	if refused := b.checkValues(place); refused != nil {
		return nil, refused
	}
	if b.Kind == "tool_result" {
		return b, b.readResult()
	}
	b.Canon = Canon(b.Fields)
	return b, nil
}

// checkKind wants a known type in a place where it may stand, with its fields and no others.
func (b *Block) checkKind(place string) *Refusal {
	if b.Kind == "" {
		return Flaw("%s.type: Field required", b.Path)
	}
	var tags []string
	for _, k := range kinds {
		if strings.Contains(k.places, place) {
			tags = append(tags, "'"+k.name+"'")
		}
		if k.name != b.Kind {
			continue
		}
		if !strings.Contains(k.places, place) {
			return misplaced(b, place, k.places)
		}
		return checkFields(b.Fields, b.Path+"."+b.Kind, "type! "+k.fields)
	}
	return Flaw("%s: Input tag '%s' found using 'type' does not match any of the expected tags: %s",
		b.Path, b.Kind, strings.Join(tags, ", "))
}

// misplaced refuses a block of a known type in a place that is not one of places.
func misplaced(b *Block, place, places string) *Refusal {
	message, _, inMessage := strings.Cut(b.Path, ".content.")
	if inMessage && (place == inUser || place == inAssistant) && (places == inUser || places == inAssistant) {
		return Flaw("%s: `%s` blocks can only be in `%s` messages", message, b.Kind, places)
	}
	return Flaw("%s: Input tag '%s' found using 'type' does not match any of the expected tags", b.Path, b.Kind)
}

// checkValues checks what the fields of b hold.
func (b *Block) checkValues(place string) *Refusal {
	path := b.Path + "." + b.Kind
	switch b.Kind {
	case "text":
		return b.checkText(place)
	case "thinking":
		if b.Fields.Text("signature") == "" {
			return Flaw("%s.signature: Field required", path)
		}
	case "image":
		return b.checkImage()
	case "tool_use", "server_tool_use", "mcp_tool_use":
		if !identifierForm.MatchString(b.Fields.Text("id")) {
			return Flaw("%s.id: String should match pattern '%s'", path, identifier)
		}
		if b.Fields.Text("name") == "" {
			return Flaw("%s.name: String should have at least 1 character", path)
		}
		if !fakeapi.IsObject(b.Fields["input"]) {
			return Flaw("%s.input: Input should be a valid dictionary", path)
		}
	}
	return nil
}

// checkText refuses texts with nothing in them.
func (b *Block) checkText(place string) *Refusal {
	text, ok := fakeapi.IsText(b.Fields["text"])
	where := "messages"
	if place == inSystem {
		where = "system"
	}
	switch {
	case !ok:
		return Flaw("%s.text.text: Input should be a valid string", b.Path)
	case text == "" && b.marker != nil:
		return Flaw("%s.text: cache_control cannot be set for empty text blocks", b.Path)
	case text == "":
		return Flaw("%s: text content blocks must be non-empty", where)
	case strings.TrimSpace(text) == "":
		return Flaw("%s: text content blocks must contain non-whitespace text", where)
	}
	return nil
}

// maxImage is the most of a picture, in bytes of base64.
const maxImage = 5 << 20

func (b *Block) checkImage() *Refusal {
	path := b.Path + ".image.source"
	source, refused := ReadObject(b.Fields["source"], path)
	if refused != nil {
		return refused
	}
	switch kind := source.Text("type"); kind {
	case "base64":
		media := source.Text("media_type")
		if !strings.Contains("image/jpeg image/png image/gif image/webp", media) || media == "" {
			return Flaw("%s.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'", path)
		}
		if n := len(source.Text("data")); n > maxImage {
			return Flaw("%s.base64: image exceeds 5 MB maximum: %d bytes > %d bytes", path, n, maxImage)
		}
		if source.Text("data") == "" {
			return Flaw("%s.base64.data: Field required", path)
		}
	case "url", "file":
	default:
		return Flaw("%s: Input tag '%s' found using 'type' does not match any of the expected tags: 'base64', 'url', 'file'",
			path, kind)
	}
	return nil
}

// readResult reads what is in a result. An empty string and no content are allowed, an empty text is not.
func (b *Block) readResult() *Refusal {
	content := b.Fields["content"]
	text, plain := fakeapi.IsText(content)
	if !b.Fields.Has("content") || plain && text == "" {
		b.Canon = Canon(b.Fields)
		return nil
	}
	var refused *Refusal
	if b.Inner, refused = readBlocks(content, b.Path+".tool_result.content", inResult); refused != nil {
		return refused
	}
	values := []byte{'['}
	for i, in := range b.Inner {
		if i > 0 {
			values = append(values, ',')
		}
		values = append(values, in.Canon...)
	}
	b.Canon = canonOf(b.Fields, map[string][]byte{"content": append(values, ']')})
	return nil
}

// IsThinking tells whether b is thinking of either type.
func IsThinking(b *Block) bool { return b.Kind == "thinking" || b.Kind == "redacted_thinking" }

// IsResult tells whether b is what a tool of the client answered.
func IsResult(b *Block) bool { return b.Kind == "tool_result" }
