package chat

import (
	"encoding/json"

	"epitome/tokenize"
)

// Tools reads the declarations of tools; nil if they are not as expected.
func (Dialect) Tools(declared []byte) []tokenize.Tool {
	var all []struct{ Function tokenize.Tool }
	if json.Unmarshal(declared, &all) != nil {
		return nil
	}
	list := make([]tokenize.Tool, len(all))
	for i, t := range all {
		list[i] = t.Function
	}
	return list
}
