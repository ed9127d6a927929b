package answer

import (
	"encoding/json"
	"errors"
	"strconv"

	"epitome/dialect/jsonspan"
	"epitome/tokenize"
)

// OpenAI has the methods that the dialects of OpenAI's APIs have in common.
type OpenAI struct{}

func (OpenAI) Authorize(key string) (headers [][2]string) {
	return [][2]string{{"Authorization", "Bearer " + key}}
}

// Upstream returns nothing: the default upstream serves these APIs.
func (OpenAI) Upstream() string { return "" }

// MaxPictures returns the numbers of OpenAI's guide to vision as of 2026.
func (OpenAI) MaxPictures() (number, bytes int) { return 500, 50 << 20 }

// MeantPath returns nil, so a path stays as it is: clients of these APIs get the version with their base URL.
func (OpenAI) MeantPath([]byte, func(header string) bool) []byte { return nil }

// Declared reads the declarations of tools. Unless all are functions it returns nil: they are counted as written.
func (OpenAI) Declared(tools []byte) []tokenize.Tool {
	var all []struct {
		tokenize.Tool
		Type     string
		Function *tokenize.Tool // Chat Completions has the declaration in here
	}
	if json.Unmarshal(tools, &all) != nil {
		return nil
	}
	list := make([]tokenize.Tool, len(all))
	for i, t := range all {
		if t.Function != nil {
			t.Tool = *t.Function
		}
		if t.Type != "function" || t.Name == "" {
			return nil
		}
		list[i] = t.Tool
	}
	return list
}

// Form is how an answer is asked for.
type Form struct {
	MaxOutput int  // tokens
	OtherCap  bool // the provider wants the cap under another name than usual
	Stream    bool // the provider answers in streams alone
}

// Ask returns body with message at the end of the list under listKey. It deletes settings that would give the answer
// another form than one text, or that belong to the client's own answer; it is streamed only if the form says so.
func Ask(body []byte, listKey string, message []byte, f Form) ([]byte, error) {
	o, err := jsonspan.WholeObject(body)
	if err != nil {
		return nil, err
	}
	list := o.Value(listKey)
	if list.Empty() || body[list.Start] != '[' {
		return nil, errors.New("the body has no list of " + listKey)
	}
	body = jsonspan.Set(body, listKey+".-1", string(message)) // -1 appends
	body = jsonspan.Delete(body, "stream", "stream_options", "metadata", "top_logprobs")
	if f.Stream {
		body = jsonspan.Set(body, "stream", "true")
	}
	return body, nil
}

// CapOutput lowers the caps on the output that body has under keys to tokens (of the model). It returns body and false
// if none of them is higher. A body without a cap gets none.
func CapOutput(body []byte, tokens int, keys ...string) (capped []byte, ok bool) {
	o, err := jsonspan.WholeObject(body)
	if err != nil || tokens <= 0 {
		return body, false
	}
	for _, key := range keys {
		if n, err := strconv.Atoi(o.Raw(key)); err == nil && n > tokens {
			body, ok = jsonspan.Set(body, key, strconv.Itoa(tokens)), true
		}
	}
	return body, ok
}
