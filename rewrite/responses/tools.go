package responses

import (
	"encoding/json"

	"epitome/tokenize"
)

// Tools reads the declarations of tools; nil if one of them is no function, or not as expected.
func (Dialect) Tools(declared []byte) []tokenize.Tool {
	var all []struct {
		Type string
		tokenize.Tool
	}
	if json.Unmarshal(declared, &all) != nil {
		return nil
	}
	list := make([]tokenize.Tool, len(all))
	for i, t := range all {
		if t.Type != "function" || t.Name == "" {
			return nil
		}
		list[i] = t.Tool
	}
	return list
}
