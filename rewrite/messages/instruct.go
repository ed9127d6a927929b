package messages

import (
	"epitome/rewrite/conversation"
	"epitome/rewrite/span"
)

// instruct puts a text behind what the system says: at the end of its string, as one more block, or as all of it.
func instruct(r *conversation.Request, text string) (e span.Edit, ok bool) {
	said := r.Instructions
	switch {
	case len(r.Items) == 0:
		return e, false
	case said.Empty():
		o, err := span.WholeObject(r.Body)
		if err != nil {
			return e, false
		}
		o.Set("system", string(span.AppendQuoted(nil, text)))
		if edits := o.Edits(); len(edits) == 1 {
			return edits[0], true
		}
	case r.Body[said.Start] == '"':
		return span.AddText(said, "\n\n"+text), true
	case r.Body[said.Start] == '[':
		return span.AddElement(r.Body, said, appendText(nil, text)), true
	}
	return e, false
}
