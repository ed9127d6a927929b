package tokenize

import (
	"fmt"
	"maps"
	"slices"
)

// Schema is what of a schema in JSON is rendered for a model.
type Schema struct {
	Type        any
	Description string
	Enum        []any
	Properties  map[string]Schema
	Items       *Schema
}

// List returns the properties of an object, or of an array's items.
func (s Schema) List() []Property {
	if s.Items != nil && len(s.Properties) == 0 {
		return s.Items.List()
	}
	var list []Property
	for _, key := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[key]
		list = append(list, Property{Key: key, Type: fmt.Sprint(p.Type), Description: p.Description,
			Enum: texts(p.Enum), Properties: p.List()})
	}
	return list
}

func texts(values []any) (list []string) {
	for _, v := range values {
		list = append(list, fmt.Sprint(v))
	}
	return list
}
