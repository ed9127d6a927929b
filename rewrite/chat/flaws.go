package chat

import (
	"epitome/rewrite/conversation"
	"epitome/rewrite/jsonspan"
)

// Flaws lists the rules that the request breaks. Calls of the last message may be unanswered: the client may be about
// to ask for more than their results.
func (Dialect) Flaws(r *conversation.Request) []conversation.Flaw {
	c := checker{body: r.Body, older: map[string]bool{}}
	for i := range r.Items {
		it := &r.Items[i]
		c.Count = i
		switch it.Role {
		case conversation.Assistant:
			c.endAnswer(true)
			c.answer(it)
			continue
		case conversation.Tool:
			c.result(it.Answers)
			continue
		case conversation.Unknown:
			c.AddHere(conversation.RuleRole)
		}
		c.apart = true
	}
	c.endAnswer(false)
	return c.Flaws
}

// checker goes through a conversation once. It pairs calls and results as a server does that refuses what it finds: it
// counts how often a call is answered, and remembers the calls of older messages.
type checker struct {
	conversation.FlawList
	body    []byte
	calls   []conversation.Call // of the last assistant's message
	results map[string]int      // of each of them so far
	older   map[string]bool     // IDs of calls before that message
	apart   bool                // something stands between that message and here
}

// answer begins with an assistant's message.
func (c *checker) answer(it *conversation.Item) {
	if it.Content.Empty() && len(it.Calls) == 0 {
		c.AddHere(conversation.RuleEmpty)
	}
	c.calls, c.results, c.apart = it.Calls, make(map[string]int, len(it.Calls)), false
	for _, call := range it.Calls {
		c.results[call.ID] = 0
		if !call.FreeText && !jsonspan.HoldsJSON(call.Arguments.Of(c.body)) {
			c.Add(conversation.RuleArguments, call.ID)
		}
	}
}

func (c *checker) result(id string) {
	n, isCalled := c.results[id]
	switch {
	case !isCalled && c.older[id]:
		c.Add(conversation.RuleApart, id)
	case !isCalled:
		c.Add(conversation.RuleOrphan, id)
	case n > 0:
		c.Add(conversation.RuleAnsweredTwice, id)
	case c.apart:
		c.Add(conversation.RuleApart, id)
	}
	if isCalled {
		c.results[id] = n + 1
	}
}

// endAnswer checks that all calls of the last assistant's message have been answered, if anything but results follows.
func (c *checker) endAnswer(more bool) {
	for _, call := range c.calls {
		if c.results[call.ID] == 0 && (more || c.apart) {
			c.Add(conversation.RuleUnanswered, call.ID)
		}
		c.older[call.ID] = true
	}
	c.calls, c.results = nil, nil
}
