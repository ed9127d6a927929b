package chat

import (
	"encoding/json"

	"epitome/tokenize"
)

// declaration is what of a tool's declaration is rendered for a model. It is for counting only.
type declaration struct {
	Function struct {
		Name        string
		Description string
		Parameters  tokenize.Schema
	}
}

// Tools reads the declarations of tools; nil if they are not as expected.
func (Dialect) Tools(declared []byte) []tokenize.Tool {
	var all []declaration
	if json.Unmarshal(declared, &all) != nil {
		return nil
	}
	list := make([]tokenize.Tool, len(all))
	for i, t := range all {
		list[i] = tokenize.Tool{Name: t.Function.Name, Description: t.Function.Description,
			Properties: t.Function.Parameters.List()}
	}
	return list
}
