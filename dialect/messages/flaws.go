package messages

import (
	"bytes"
	"slices"

	"epitome/dialect/conversation"
	"epitome/dialect/jsonspan"
)

// Check finds the broken rules, of those that a rewrite could break: all calls of an answer, of the last one too, have
// results right behind it, before the user says anything; system messages and answers stand only where they may; an
// answer that has to begin with thinking does; no text is blank and no message but the last is empty. Messages of one
// role in a row are one message to the API, so roles need not alternate.
func (Dialect) Check(r *conversation.Request) *conversation.Checker {
	c := new(conversation.Checker)
	for i := range r.Items {
		it := &r.Items[i]
		if it.StartsAnswer || it.Role == conversation.User { // behind the user's words a result is too late
			c.Close()
		}
		c.Pair(i, it)
		checkPlace(c, r, i)
		if slices.ContainsFunc(it.Parts, func(p conversation.Part) bool { return isBlank(r.Body, &p) }) {
			c.Add("a text is blank", "")
		}
		isEmpty := it.Role == conversation.Assistant && len(it.Parts)+len(it.Calls)+len(it.Thinking) == 0
		if isEmpty && i < len(r.Items)-1 { // the API takes an empty message only as the last
			c.Add("a message says nothing", "")
		}
	}
	c.Close() // calls that still wait for their results are flaws
	if i := openRound(r); i >= 0 && !beginsWithThinking(&r.Items[i]) {
		c.Add("an answer with thoughts does not begin with one", "")
	}
	return c
}

// checkPlace checks whether item i may stand behind the item before it: a system message behind the user's words or
// results and before an answer, and an answer not as the first of all.
func checkPlace(c *conversation.Checker, r *conversation.Request, i int) {
	const misplaced = "a message of the system stands where none may"
	before := conversation.Assistant // at the start, too, no system message may stand
	if i > 0 {
		before = r.Items[i-1].Role
	}
	switch r.Items[i].Role {
	case conversation.System:
		if before == conversation.Assistant {
			c.Add(misplaced, "")
		}
	case conversation.Assistant:
		if i == r.Lead && !r.Items[i].Compaction { // the provider's own summary may come first
			c.Add("the first message is not the user's", "")
		}
	case conversation.User, conversation.Tool:
		if before == conversation.System {
			c.Add(misplaced, "")
		}
	}
}

// openRound returns the index of the item that starts the first answer since the user last spoke, if that answer must
// begin with thinking: the model thinks first, and is to continue it, as results stand behind it. Else it is -1.
func openRound(r *conversation.Request) int {
	if !r.ThinksFirst {
		return -1
	}
	first, hasResults := -1, false
	for i := len(r.Items) - 1; i >= 0; i-- {
		it := &r.Items[i]
		switch {
		case it.Role == conversation.Tool:
			hasResults = true
		case it.Role == conversation.Assistant && !hasResults:
			return -1 // nothing asks the model to continue its last answer
		case it.Role == conversation.User && first >= 0: // words behind the last results end no round
			return first
		case it.StartsAnswer:
			first = i
		}
	}
	return first
}

func beginsWithThinking(it *conversation.Item) bool {
	if len(it.Thinking) == 0 {
		return false
	}
	isFirst := func(start int) bool { return it.Thinking[0].Start < start }
	beforeParts := len(it.Parts) == 0 || isFirst(it.Parts[0].Start)
	return beforeParts && (len(it.Calls) == 0 || isFirst(it.Calls[0].Arguments.Start))
}

// isBlank reports whether a part is a text of nothing but white space, which the API refuses.
func isBlank(body []byte, p *conversation.Part) bool {
	v := p.Value.Of(body) // a JSON string: v[1], the first byte of the text, saves reading all of nearly every text
	mayBe := p.Kind == conversation.TextPart && (v[1] == ' ' || v[1] == '\\' || v[1] == '"')
	return mayBe && len(bytes.TrimSpace(jsonspan.TextOf(v))) == 0
}
