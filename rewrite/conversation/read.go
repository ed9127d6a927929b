package conversation

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/tidwall/gjson"

	"epitome/rewrite/jsonspan"
)

// maxItems bounds a request that is read. Agents never come near it.
const maxItems = 50_000

// maxValues bounds the JSON values of a body that is read: each costs a microsecond or more, however short it is.
// Requests of agents have a few thousand.
const maxValues = 700_000

// ReadBody calls list with the start of the value under the key listKey, which is to read the items and return where
// the list ends, and setting for every other key of the body that no other API has too; a null is left out. It
// completes the request with whatever its items say.
func ReadBody(
	r *Request, listKey string, list func(start int) (end int, err error),
	setting func(key []byte, value jsonspan.Span) error,
) error {
	if len(r.Body) > 2*maxValues && hasMoreValues(r.Body, maxValues) { // each takes two bytes at least
		return fmt.Errorf("the request has more than %d values", maxValues)
	}
	found := false
	err := jsonspan.Document(r.Body, func(key []byte, start int) (int, error) {
		if string(key) == listKey {
			found = true
			return list(start)
		}
		end, err := jsonspan.EndOfValue(r.Body, start)
		if err != nil {
			return 0, err
		}
		v := jsonspan.UnlessNull(r.Body, jsonspan.Span{Start: start, End: end})
		switch {
		case v.Empty():
		case string(key) == "model":
			r.Model = gjson.ParseBytes(v.Of(r.Body)).Str
		case string(key) == "stream":
			r.Stream = string(v.Of(r.Body)) == "true"
		case string(key) == "tools":
			r.Tools = v
		case string(key) == "tool_choice":
			r.Settings = append(r.Settings, v)
		default:
			err = setting(key, v)
		}
		return end, err
	})
	switch {
	case err != nil:
		return err
	case !found:
		return errors.New("the body has no " + listKey)
	case len(r.Items) > maxItems:
		return fmt.Errorf("the request has more than %d items", maxItems)
	}
	r.number()
	for i := r.Reused; i < len(r.Items); i++ {
		r.Items[i].Hash = r.hashOf(i)
	}
	r.findHead()
	r.readLast()
	isOther := func(p Part) bool { return p.Kind == OtherPart }
	r.Unpriced = r.Unpriced || slices.ContainsFunc(r.Items, func(it Item) bool {
		return it.Role == Unknown || slices.ContainsFunc(it.Parts, isOther)
	})
	return nil
}

// number numbers the messages of the items.
func (r *Request) number() {
	n, message := 0, jsonspan.Span{}
	for i := range r.Items {
		it := &r.Items[i]
		if it.Message.Empty() || it.Message != message {
			n++
		}
		it.Number, message = n, it.Message
	}
}

// ReadList calls item with the start of each value of the list that begins at start, but for those that known repeats
// (see reuse), and returns where the list ends. item returns where its value ends.
func (r *Request) ReadList(known *Request, start int, item func(start int) (end int, err error)) (end int, err error) {
	if r.Body[start] != '[' {
		return 0, errors.New("the conversation is not a list")
	}
	r.List = start + 1
	if end, err = jsonspan.ElementsFrom(r.Body, r.reuse(known), item); err != nil {
		err = fmt.Errorf("cannot read item %d: %w", len(r.Items), err)
	}
	return end, err
}

// hasMoreValues reports whether a JSON text has more than most values. Those within a string are none, and a text that
// is not JSON may have any number.
func hasMoreValues(b []byte, most int) bool {
	for i := 0; i < len(b) && most >= 0; i++ {
		switch b[i] {
		case '"':
			end, err := jsonspan.EndOfString(b, i)
			if err != nil {
				return false
			}
			i = end - 1
		case ',', '[', '{':
			most--
		}
	}
	return most < 0
}

// findHead finds the items that always stay.
func (r *Request) findHead() {
	for r.Lead < len(r.Items) && r.Items[r.Lead].Role == System {
		r.Lead++
	}
	r.Head = r.Lead
	for i := range r.Items {
		if r.Items[i].Compaction {
			r.Head, r.Dead = i+1, i
			if !slices.ContainsFunc(r.Items[:i], func(it Item) bool { return it.isAnswer() }) {
				r.Dead = 0 // messages that the provider has kept
			}
		}
	}
	for r.Head < len(r.Items) && !r.Items[r.Head].isAnswer() {
		r.Head++
	}
}

// reuse takes over the items of known that the list at r.List repeats byte for byte, and returns where reading goes on.
// There are none if the lists begin at different places. It stops before the last answer that both have, so that
// whatever follows is read as if the conversation began there.
func (r *Request) reuse(known *Request) (next int) {
	r.Items, r.Reused = nil, 0
	if known == nil || known.List != r.List {
		return r.List
	}
	common := r.List + CommonPrefix(known.Body[r.List:], r.Body[r.List:])
	for i := len(known.Items) - 1; i > 0; i-- {
		if it := &known.Items[i]; it.StartsAnswer && it.Place().End < common {
			const more = 8 // items of a turn
			r.Items = append(make([]Item, 0, len(known.Items)+more), known.Items[:i]...)
			r.Reused, r.chain = i, known.Chain()[:i+1]
			return it.Place().Start
		}
	}
	return r.List
}

// CommonPrefix returns how many bytes a and b have in common from their start on.
func CommonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	const block = 4096
	i := 0
	for i+block <= n && bytes.Equal(a[i:i+block], b[i:i+block]) {
		i += block
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

// summaryRequest matches the texts with which clients ask a model to summarize their conversation. One that is missing
// here costs little: that request is compacted like any other.
var summaryRequest = regexp.MustCompile(`^"(?:` +
	`CRITICAL: Respond with TEXT ONLY|` + // Claude Code
	`Your task is to create a detailed summary of the conversation so far|` + // its older versions
	`Please create a detailed summary of the conversation so far|` + // Copilot CLI
	`Provide a detailed prompt for continuing our conversation above|` + // OpenCode
	`You are performing a CONTEXT CHECKPOINT COMPACTION)`) // Codex

// readLast finds out what the newest item asks for: that the model adds to its answer, or the client's own summary.
func (r *Request) readLast() {
	last := len(r.Items) - 1
	for last >= 0 && r.Items[last].Role == System {
		last--
	}
	if last < 0 {
		return
	}
	it := &r.Items[last]
	r.AnswerGoesOn = it.Role == Assistant && last >= r.Head
	if n := len(it.Parts); n > 0 && it.Role == User && summaryRequest.Match(it.Parts[n-1].Value.Of(r.Body)) {
		r.Upkeep = ClientSummarizes
	}
}
