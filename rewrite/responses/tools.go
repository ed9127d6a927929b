package responses

import (
	"encoding/json"

	"epitome/tokenize"
)

// Tools reads the declarations of tools; nil if one of them is no function, or not as expected.
func (Dialect) Tools(declared []byte) []tokenize.Tool {
	var all []struct {
		Type, Name, Description string
		Parameters              tokenize.Schema
	}
	if json.Unmarshal(declared, &all) != nil {
		return nil
	}
	list := make([]tokenize.Tool, len(all))
	for i, t := range all {
		if t.Type != "function" || t.Name == "" {
			return nil
		}
		list[i] = tokenize.Tool{Name: t.Name, Description: t.Description, Properties: t.Parameters.List()}
	}
	return list
}
