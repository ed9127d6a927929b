package messages

import (
	"bytes"
	"maps"
	"slices"

	"epitome/rewrite/conversation"
	"epitome/rewrite/jsonspan"
)

// Flaws lists the rules that the request breaks, of those that a rewrite could break. Calls of the last message must be
// answered, too. To the API, messages of one role in a row are one message.
func (Dialect) Flaws(r *conversation.Request) []conversation.Flaw {
	c := checker{older: map[string]bool{}}
	for i := range r.Items {
		it := &r.Items[i]
		c.Count = i
		c.checkPlace(it, i == r.Lead)
		c.checkPair(it)
		for k := range it.Parts {
			if isBlank(r.Body, &it.Parts[k]) {
				c.AddHere(conversation.RuleBlank)
			}
		}
		isEmpty := it.Role == conversation.Assistant && len(it.Parts)+len(it.Calls)+len(it.Thinking) == 0
		if isEmpty && i < len(r.Items)-1 {
			c.AddHere(conversation.RuleNothing)
		}
	}
	c.endAnswer()
	if i := openRound(r); i >= 0 && !beginsWithThinking(&r.Items[i]) {
		c.Count = i
		c.AddHere(conversation.RuleThinking)
	}
	return c.Flaws
}

// checker goes over the items of a request once.
type checker struct {
	conversation.FlawList
	before conversation.Role // of the item before
	older  map[string]bool   // IDs of calls before the last answer
	open   map[string]int    // IDs of the calls of the last answer, with the number of their results
	late   bool              // the user has said more than results since
}

// checkPlace checks whether an item may stand behind the one before. isFirst says that only messages of the system stand
// before it.
func (c *checker) checkPlace(it *conversation.Item, isFirst bool) {
	isSystem, isAnswer := it.Role == conversation.System, it.Role == conversation.Assistant
	switch {
	case isSystem && (c.Count == 0 || c.before == conversation.Assistant),
		!isSystem && !isAnswer && c.before == conversation.System:
		c.AddHere(conversation.RuleSystem)
	case isAnswer && isFirst && !it.Compaction:
		c.AddHere(conversation.RuleFirst)
	}
	c.before = it.Role
}

// checkPair checks that results answer the calls of the last answer, before anything else is said.
func (c *checker) checkPair(it *conversation.Item) {
	if it.StartsAnswer {
		c.endAnswer()
	}
	for _, call := range it.Calls {
		c.open[call.ID] = 0
	}
	c.late = c.late || it.Role == conversation.User
	if it.Role != conversation.Tool {
		return
	}
	n, isOpen := c.open[it.Answers]
	switch {
	case !isOpen && c.older[it.Answers]:
		c.Add(conversation.RuleApart, it.Answers)
	case !isOpen:
		c.Add(conversation.RuleOrphan, it.Answers)
	case n > 0:
		c.Add(conversation.RuleAnsweredTwice, it.Answers)
	case c.late:
		c.Add(conversation.RuleLate, it.Answers)
	}
	if isOpen {
		c.open[it.Answers] = n + 1
	}
}

// endAnswer checks that the last answer's calls have been answered.
func (c *checker) endAnswer() {
	for _, id := range slices.Sorted(maps.Keys(c.open)) {
		if c.open[id] == 0 {
			c.Add(conversation.RuleUnanswered, id)
		}
		c.older[id] = true
	}
	c.open, c.late = map[string]int{}, false
}

// openRound returns the first answer since the user spoke, if the model must have begun it with thinking: results at the
// end wait for it to go on. It is -1 if there is none.
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
