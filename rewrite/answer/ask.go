package answer

import (
	"errors"

	"epitome/prose"
	"epitome/rewrite/jsonspan"
)

// Ask returns body with the settings of o and with one more message behind the list under listKey. The provider is to
// answer in one plain text, as a stream if the form says so.
func Ask(body []byte, o *jsonspan.Object, listKey string, message []byte, f prose.Form) ([]byte, error) {
	list := o.Value(listKey)
	if list.Empty() || body[list.Start] != '[' {
		return nil, errors.New("the body has no list of " + listKey)
	}
	o.TakeOut("stream", "stream_options", "metadata", "top_logprobs")
	if f.Stream {
		o.Set("stream", "true")
	}
	return jsonspan.Splice(body, append(o.Edits(), jsonspan.AddElement(body, list, message)))
}
