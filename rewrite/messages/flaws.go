package messages

import (
	"bytes"
	"slices"

	"epitome/rewrite/conversation"
	"epitome/rewrite/jsonspan"
)

// Flaws lists the rules that the request breaks, of those that a rewrite could break: results answer the calls of the
// last answer before anything else is said. Calls of the last message must be answered, too. To the API, messages of
// one role in a row are one message.
func (Dialect) Flaws(r *conversation.Request) []conversation.Flaw {
	var c conversation.Checker
	isLate := false // the user has said more than results since the last answer
	for i := range r.Items {
		it := &r.Items[i]
		if it.StartsAnswer {
			c.Close()
			isLate = false
		}
		c.Pair(it)
		isLate = isLate || it.Role == conversation.User
		if isLate && it.Role == conversation.Tool {
			c.Flaws = append(c.Flaws, conversation.Flaw{Rule: conversation.RuleLate, Call: it.Answers})
		}
		checkPlace(&c, r, i)
		if slices.ContainsFunc(it.Parts, func(p conversation.Part) bool { return isBlank(r.Body, &p) }) {
			c.Add(conversation.RuleBlank)
		}
		isEmpty := it.Role == conversation.Assistant && len(it.Parts)+len(it.Calls)+len(it.Thinking) == 0
		if isEmpty && i < len(r.Items)-1 {
			c.Add(conversation.RuleNothing)
		}
	}
	c.Close()
	if i := openRound(r); i >= 0 && !beginsWithThinking(&r.Items[i]) {
		c.Add(conversation.RuleThinking)
	}
	return c.Flaws
}

// checkPlace checks whether item i may stand behind the one before.
func checkPlace(c *conversation.Checker, r *conversation.Request, i int) {
	before := conversation.Assistant // the first item may be no message of the system either
	if i > 0 {
		before = r.Items[i-1].Role
	}
	switch r.Items[i].Role {
	case conversation.System:
		if before == conversation.Assistant {
			c.Add(conversation.RuleSystem)
		}
	case conversation.Assistant:
		if i == r.Lead && !r.Items[i].Compaction {
			c.Add(conversation.RuleFirst)
		}
	case conversation.User, conversation.Tool:
		if before == conversation.System {
			c.Add(conversation.RuleSystem)
		}
	}
}

// openRound returns the first answer since the user spoke, if the model must have begun it with thinking: results at
// the end wait for it to go on. It is -1 if there is none.
func openRound(r *conversation.Request) int {
	first, awaits := -1, false
	for i := len(r.Items) - 1; i >= 0 && r.ThinksFirst; i-- {
		switch it := &r.Items[i]; {
		case it.Role == conversation.Tool:
			awaits = true
		case it.Role == conversation.Assistant && !awaits:
			return -1
		case it.Role == conversation.User && first >= 0:
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
	return (len(it.Parts) == 0 || isFirst(it.Parts[0].Start)) && (len(it.Calls) == 0 || isFirst(it.Calls[0].Arguments.Start))
}

// isBlank reports whether a part is a text of nothing but white space.
func isBlank(body []byte, p *conversation.Part) bool {
	v := p.Value.Of(body)
	if p.Kind != conversation.TextPart {
		return false
	}
	mayBe := v[1] == ' ' || v[1] == '\\' || v[1] == '"'
	return mayBe && len(bytes.TrimSpace(jsonspan.TextOf(v))) == 0
}
