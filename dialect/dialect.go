// Package dialect lists the APIs that epitome reads.
package dialect

import (
	"fmt"
	"slices"

	"github.com/tidwall/gjson"

	"epitome/dialect/chat"
	"epitome/dialect/conversation"
	"epitome/dialect/messages"
	"epitome/dialect/responses"
)

// All are all that there are. A body of one may have fields of those behind it, too.
var All = []conversation.Dialect{messages.Dialect{}, chat.Dialect{}, responses.Dialect{}}

// Of returns the API of a request whose path nobody knows: the one of that name, or without a name the first one whose
// fields the body has. Without any of them it is Chat Completions.
func Of(name string, body []byte) (conversation.Dialect, error) {
	has := func(path string) bool { return gjson.GetBytes(body, path).Type != gjson.Null } // as a missing value is
	for _, d := range All {
		api := d.API()
		if api.Name == name || name == "" && slices.ContainsFunc(api.Fields, has) {
			return d, nil
		}
	}
	if name == "" {
		return chat.Dialect{}, nil
	}
	return nil, fmt.Errorf("cannot read dialect %.40q: write chat, messages or responses", name)
}
