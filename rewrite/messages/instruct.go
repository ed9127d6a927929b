package messages

import (
	"epitome/rewrite/conversation"
	"epitome/rewrite/span"
)

// Instruct puts a text behind what the system says: at the end of its string, as one more block, or as all of it.
func (Dialect) Instruct(r *conversation.Request, text string) (edits []span.Edit, ok bool) {
	said := r.Instructions
	switch {
	case len(r.Items) == 0:
		return nil, false
	case said.Empty():
		o, err := span.WholeObject(r.Body)
		if err != nil {
			return nil, false
		}
		o.Set("system", string(span.AppendQuoted(nil, text)))
		return o.Edits(), true
	case r.Body[said.Start] == '"':
		return []span.Edit{span.AddText(said, "\n\n"+text)}, true
	case r.Body[said.Start] == '[':
		return []span.Edit{span.AddElement(r.Body, said, appendText(nil, text))}, true
	}
	return nil, false
}
