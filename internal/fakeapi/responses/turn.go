package responses

import (
	"sort"

	"epitome/internal/fakeapi/responses/rules"
)

// A Turn is what a sound request is answered with.
type Turn struct {
	Items  []Item
	Stop   string          // reason of an incomplete answer; "" for a complete one
	Refuse *rules.Refusal  // instead of an answer
	Fail   *rules.Refusal  // response.failed within the stream; a request that is not streamed is refused with it
	Error  *rules.Refusal  // an error event within the stream, likewise
	Cut    bool            // the connection ends within the answer
	After  int             // events before Fail, Error or Cut, response.created among them; 0 for that alone
	Hold   <-chan struct{} // the answer begins when this is closed
}

// Say is a turn of one text.
func Say(text string) Turn { return Turn{Items: []Item{Text(text)}} }

// An Item is one piece of an answer.
type Item struct {
	kind  string
	text  string // what is said or thought; the JSON of a raw item
	id    string // call_id; "" for the server's next one
	name  string
	input string
}

// Text is a message of the assistant.
func Text(text string) Item { return Item{kind: "message", text: text} }

// Think is reasoning. A model that does not reason is not heard to.
func Think(text string) Item { return Item{kind: "reasoning", text: text} }

// Call calls a function. arguments is JSON; id is "" for the server's next one.
func Call(id, name, arguments string) Item {
	return Item{kind: "function_call", id: id, name: name, input: arguments}
}

// Custom calls a tool whose input is free text.
func Custom(id, name, input string) Item {
	return Item{kind: "custom_tool_call", id: id, name: name, input: input}
}

// Compaction is what stands for all before it.
func Compaction(text string) Item { return Item{kind: "compaction", text: text} }

// Raw is an item as it stands, a JSON object: a tool of the server, say. It has an id.
func Raw(json string) Item { return Item{kind: "raw", text: json} }

// plan is the items that q is answered with: one compaction if it asks for that, one in front where the server compacts
// by itself.
func (t Turn) plan(q *rules.Request, tokens int) []Item {
	text := ""
	var all []Item
	for _, i := range t.Items {
		if i.kind == "message" || i.kind == "compaction" {
			text += i.text
		}
		if i.kind != "reasoning" || q.Model.Reasons {
			all = append(all, i)
		}
	}
	switch most := q.Threshold(); {
	case q.Compacts() || q.Purpose == rules.Compact:
		return []Item{Compaction(text)}
	case most > 0 && tokens > most:
		return append([]Item{Compaction("What was said so far.")}, all...)
	}
	return all
}

// size is how many tokens an item of an answer has.
func (i Item) size(count func(string) int) int { return count(i.text + i.name + i.input) }

// fit is what of all has at most so many tokens: a text is cut, all else goes whole. It reports whether anything went.
func fit(all []Item, tokens int, count func(string) int) (kept []Item, cut bool) {
	for _, i := range all {
		need := i.size(count)
		if need <= tokens {
			kept, tokens = append(kept, i), tokens-need
			continue
		}
		if runes := []rune(i.text); i.kind == "message" {
			n := sort.Search(len(runes), func(n int) bool { return count(string(runes[:n+1])) > tokens })
			if i.text = string(runes[:n]); n > 0 {
				kept = append(kept, i)
			}
		}
		return kept, true
	}
	return kept, false
}
