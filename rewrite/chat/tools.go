package chat

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"epitome/tokenize"
)

// declaration and chatSchema are what of a tool's declaration is rendered for a model. They are for counting only.
type declaration struct {
	Function struct {
		Name        string
		Description string
		Parameters  schema
	}
}

type schema struct {
	Type        any
	Description string
	Enum        []any
	Properties  map[string]schema
	Items       *schema
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
			Properties: t.Function.Parameters.properties()}
	}
	return list
}

// properties returns those of an object, or of an array's items.
func (s schema) properties() []tokenize.Property {
	if s.Items != nil && len(s.Properties) == 0 {
		return s.Items.properties()
	}
	var list []tokenize.Property
	for _, key := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[key]
		list = append(list, tokenize.Property{Key: key, Type: fmt.Sprint(p.Type), Description: p.Description,
			Enum: texts(p.Enum), Properties: p.properties()})
	}
	return list
}

func texts(values []any) (list []string) {
	for _, v := range values {
		list = append(list, fmt.Sprint(v))
	}
	return list
}
