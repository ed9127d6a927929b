package tokenize

import (
	"fmt"
	"strings"
)

// What a request costs beyond its texts. The numbers are those of OpenAI's cookbook ("How to count tokens"), which
// equalled the API on its own examples; the provider calls them an estimate, and other providers' templates differ.
// Ratios take care of the rest.
const (
	PerMessage = 3 // each message, besides its role and content
	PerName    = 1 // a message's name, besides the name itself
	PerReply   = 3 // once, for the answer's beginning

	// PerCall is each tool call of an assistant message, besides the texts of its name and arguments, and PerResult
	// what ties a result to it. Undocumented: a call with its result was seen to cost about 25.
	PerCall   = 12
	PerResult = 12
	// PerCallBatch is what a second call in the same message costs once.
	PerCallBatch = 24
)

// The cookbook's numbers for tools.
const (
	toolInit = 7
	propInit = 3
	propKey  = 3
	enumInit = -3
	enumItem = 3
	toolsEnd = 12
)

// Tool is a function that a model may call, as far as it is rendered for the model.
type Tool struct {
	Name, Description string
	Parameters        Schema
}

// Schema is what of a JSON schema is rendered for a model.
type Schema struct {
	Type        any
	Description string
	Enum        []any
	Properties  map[string]Schema
	Items       *Schema
}

// Tools returns the tokens of tools' declarations, as the provider renders them for the model.
func Tools(count func(string) int, tools []Tool) int {
	if len(tools) == 0 {
		return 0
	}
	n := toolsEnd
	for _, t := range tools {
		n += toolInit + count(t.Name+":"+strings.TrimSuffix(t.Description, ".")) + t.Parameters.tokens(count)
	}
	return n
}

// tokens are those of the properties of an object, or of an array's items.
func (s Schema) tokens(count func(string) int) (n int) {
	for s.Items != nil && len(s.Properties) == 0 {
		s = *s.Items
	}
	if len(s.Properties) == 0 {
		return 0
	}
	for key, p := range s.Properties {
		n += propKey + count(key+":"+fmt.Sprint(p.Type)+":"+strings.TrimSuffix(p.Description, "."))
		if len(p.Enum) > 0 {
			n += enumInit
		}
		for _, e := range p.Enum {
			n += enumItem + count(fmt.Sprint(e))
		}
		n += p.tokens(count)
	}
	return n + propInit
}
