package responses

import "epitome/rewrite/conversation"

// Flaws lists the rules that the request breaks, of those that a rewrite could break: the model's reasoning leads to
// something, and each call has one output, anywhere behind it. An output that names no call needs none.
func (Dialect) Flaws(r *conversation.Request) []conversation.Flaw {
	var c conversation.FlawList
	var calls []string
	isOpen := map[string]bool{}
	for i := range r.Items {
		it := &r.Items[i]
		c.Count = i
		if it.Role == model && len(it.Parts)+len(it.Calls) == 0 {
			c.AddHere(conversation.RuleReasoning)
		}
		for _, call := range it.Calls {
			calls, isOpen[call.ID] = append(calls, call.ID), true
		}
		if it.Role == tool && it.Answers != "" {
			if !isOpen[it.Answers] {
				c.Add(conversation.RuleOrphan, it.Answers)
			}
			delete(isOpen, it.Answers)
		}
	}
	for _, id := range calls {
		if isOpen[id] {
			c.Add(conversation.RuleUnanswered, id)
			delete(isOpen, id)
		}
	}
	return c.Flaws
}
