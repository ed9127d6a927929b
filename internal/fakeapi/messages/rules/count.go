package rules

import (
	"slices"

	"epitome/internal/fakeapi"
)

// Tokens that are not a text's.
const (
	messageTokens = 4    // of a message, besides its content
	toolsTokens   = 346  // of the prompt that tools bring along
	imageTokens   = 1600 // of a picture
	paperTokens   = 3000 // of a document that is no text
)

// CountText is one token for each four bytes.
func CountText(text string) int { return (len(text) + 3) / 4 }

// Position is one place of the prompt, in the order tools, system, messages.
type Position struct {
	block  *Block
	role   string
	stage  stage
	tokens int
}

// stage is the part of the prompt that a position is in.
type stage int

const (
	inTools stage = iota
	inPrompt
	inMessages
)

// Prompt is the prompt as the model gets it: what was left out is not there, nor what stands before a compaction.
func Prompt(q *Request, count func(string) int) []Position {
	var all []Position
	for _, t := range q.Tools {
		if t.IsDeferred() {
			continue
		}
		tokens := count(t.Fields.Text("name")) + count(t.Fields.Text("description")) + count(string(t.Fields["input_schema"]))
		if len(all) == 0 {
			tokens += toolsTokens
		}
		all = append(all, Position{t, "", inTools, tokens})
	}
	for _, s := range q.System {
		all = append(all, Position{s, "", inPrompt, tokensOf(s, count)})
	}
	begun := turnOf(q)
	for _, m := range q.Live() {
		overhead := messageTokens
		for _, b := range m.Blocks {
			if IsThinking(b) && (b.Dropped || !q.Model.KeepsThinking && m.Index < begun) {
				continue
			}
			tokens := tokensOf(b, count) + overhead
			if m.Passing && m.Index < begun {
				tokens = 0
			}
			overhead = 0
			all = append(all, Position{b, m.Role, inMessages, tokens})
		}
	}
	return all
}

// turnOf is the number of the message that began the newest turn: the last of the user with more than results.
func turnOf(q *Request) int {
	for i := len(q.Messages) - 1; i >= 0; i-- {
		m := q.Messages[i]
		if m.Role == "user" && slices.ContainsFunc(m.Blocks, func(b *Block) bool { return !IsResult(b) }) {
			return i
		}
	}
	return 0
}

// tokensOf is how many tokens b has.
func tokensOf(b *Block, count func(string) int) int {
	switch b.Kind {
	case "text":
		return count(b.Fields.Text("text"))
	case "thinking", "redacted_thinking":
		return b.Tokens
	case "tool_use":
		return count(b.Fields.Text("name")) + count(string(fakeapi.Normal(b.Fields["input"])))
	case "tool_result":
		tokens := 0
		for _, in := range b.Inner {
			tokens += tokensOf(in, count)
		}
		return tokens
	case "image":
		return imageTokens
	case "document":
		source, refused := ReadObject(b.Fields["source"], b.Path)
		if refused == nil && source.Text("type") == "text" {
			return count(source.Text("data"))
		}
		return paperTokens
	case "compaction":
		return count(b.Fields.Text("content"))
	}
	return count(string(b.Canon))
}

// pictured tells whether there is an image among blocks, or within them.
func pictured(blocks []*Block) bool {
	return slices.ContainsFunc(blocks, func(b *Block) bool { return b.Kind == "image" || pictured(b.Inner) })
}

// Sum is the tokens of all.
func Sum(all []Position) int {
	tokens := 0
	for _, p := range all {
		tokens += p.tokens
	}
	return tokens
}
