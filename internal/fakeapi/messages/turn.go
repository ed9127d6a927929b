package messages

import (
	"sort"

	"epitome/internal/fakeapi/messages/rules"
)

// A Turn is what a sound request is answered with.
type Turn struct {
	Blocks []Block
	Stop   string          // stop_reason; "" for tool_use where a tool is called, and for end_turn elsewhere
	Refuse *rules.Refusal  // instead of an answer
	Fail   *rules.Refusal  // an error event within the stream; a request that is not streamed is refused with it
	Cut    bool            // the connection ends within the answer
	After  int             // events before Fail or Cut, message_start among them; 0 for that alone
	Hold   <-chan struct{} // the answer begins when this is closed
	// Rounds are the input tokens of what the model was asked before it answered, by tools of the server. Usage has the
	// sum of all, and in iterations each.
	Rounds []int
}

// Say is a turn of one text.
func Say(text string) Turn { return Turn{Blocks: []Block{Text(text)}} }

// A Block is one piece of an answer.
type Block struct {
	kind  string
	text  string // what is said or thought
	id    string // of a call; "" for the server's next one
	name  string
	input string // JSON
}

// Text is a text block.
func Text(text string) Block { return Block{kind: "text", text: text} }

// Think is a thinking block. A request that asks for no thinking is answered without it.
func Think(text string) Block { return Block{kind: "thinking", text: text} }

// Call calls a tool. input is a JSON object; id is "" for the server's next one.
func Call(id, name, input string) Block {
	return Block{kind: "tool_use", id: id, name: name, input: input}
}

// thinks tells whether b is thinking.
func (b Block) thinks() bool { return b.kind == "thinking" }

// plan is the blocks that q is answered with: thinking only if it is asked for, and in manual mode always at the
// beginning of a turn.
func (t Turn) plan(q *rules.Request) []Block {
	var all []Block
	for _, b := range t.Blocks {
		if !b.thinks() || q.Thinks() {
			all = append(all, b)
		}
	}
	if q.Thinking.Mode == "enabled" && rules.OpenRound(q.Groups()) == nil && (len(all) == 0 || !all[0].thinks()) {
		all = append([]Block{Think("What is asked is clear.")}, all...)
	}
	return all
}

// fit is what of all has at most so many tokens: a text is cut, a call goes whole. It reports whether anything went.
func fit(all []Block, tokens int, count func(string) int) (kept []Block, cut bool) {
	for _, b := range all {
		text := b.text + b.name + b.input
		need := count(text)
		if need <= tokens {
			kept, tokens = append(kept, b), tokens-need
			continue
		}
		if runes := []rune(b.text); b.kind == "text" {
			n := sort.Search(len(runes), func(n int) bool { return count(string(runes[:n+1])) > tokens })
			if b.text = string(runes[:n]); n > 0 {
				kept = append(kept, b)
			}
		}
		return kept, true
	}
	return kept, false
}

// outputTokens is what blocks have.
func outputTokens(all []Block, count func(string) int) int {
	tokens := 0
	for _, b := range all {
		tokens += count(b.text + b.name + b.input)
	}
	return tokens
}
