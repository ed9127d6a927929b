// Package dialect lists the APIs that epitome reads.
package dialect

import (
	"fmt"

	"epitome/dialect/chat"
	"epitome/dialect/conversation"
	"epitome/dialect/messages"
	"epitome/dialect/responses"
)

// All are all that there are. The last is the API of a request that could be of any.
var All = []conversation.Dialect{messages.Dialect{}, responses.Dialect{}, chat.Dialect{}}

// Of returns the API of a request whose path nobody knows: the one of that name, or without a name the one whose fields
// the body has. Without any of them it is Chat Completions.
func Of(name string, body []byte) (conversation.Dialect, error) {
	for _, d := range All {
		if d.Name() == name || name == "" && d.Owns(body) {
			return d, nil
		}
	}
	return nil, fmt.Errorf("cannot read dialect %.40q: write chat, messages or responses", name)
}
