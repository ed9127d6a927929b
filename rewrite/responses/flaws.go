package responses

import (
	"github.com/tidwall/gjson"

	"epitome/rewrite/conversation"
	"epitome/rewrite/jsonspan"
)

// Flaws lists the rules that the request breaks. It reads the bytes as a server does, not the items.
func (Dialect) Flaws(r *conversation.Request) []conversation.Flaw {
	c := checker{body: r.Body, answers: map[string]int{}}
	_ = jsonspan.Document(r.Body, func(key []byte, i int) (int, error) { // it was read before
		if string(key) == "input" && r.Body[i] == '[' {
			return jsonspan.Elements(r.Body, i, c.checkEntry)
		}
		return jsonspan.EndOfValue(r.Body, i)
	})
	c.endAnswer()
	for _, id := range c.order {
		if c.answers[id] == 0 {
			c.Add(conversation.RuleUnanswered, id)
			c.answers[id]++
		}
	}
	if c.thinks {
		for _, id := range c.unreasoned {
			c.Add(conversation.RuleReasoned, id)
		}
	}
	return c.Flaws
}

// checker reads the entries of one request.
type checker struct {
	conversation.FlawList
	body []byte

	order   []string       // IDs of calls
	answers map[string]int // how many a call has

	thinks     bool     // there is reasoning anywhere
	isReasoned bool     // the answer has reasoning, or may have
	isOpen     bool     // nothing has followed that reasoning yet
	unreasoned []string // calls of answers without reasoning
	isOver     bool     // a compaction was asked for
}

// endAnswer ends an answer of the model, which must be more than reasoning.
func (c *checker) endAnswer() {
	if c.isOpen {
		c.AddHere(conversation.RuleReasoning)
	}
	c.isOpen, c.isReasoned = false, false
}

func (c *checker) checkEntry(i int) (int, error) {
	e, err := readEntry(c.body, i)
	if err != nil {
		return 0, err
	}
	if c.isOver {
		c.AddHere(conversation.RuleTrigger)
	}
	switch {
	case e.kind == reasoningEntry:
		c.thinks, c.isOpen, c.isReasoned = true, true, true
	case e.isModels():
		c.isOpen = false
	case e.kind == unknownEntry: // it may be reasoning, or what follows it
		c.isOpen, c.isReasoned = false, true
	default:
		c.endAnswer()
	}
	switch e.kind {
	case messageEntry:
		c.checkMessage(&e)
	case callEntry:
		c.checkCall(&e)
	case outputEntry:
		c.checkOutput(&e)
	case unknownEntry:
		if e.typeName != itemReference {
			c.AddHere(conversation.RuleRole)
		}
	case triggerEntry:
		c.isOver = true
	}
	c.Count++
	return e.End, nil
}

// checkMessage checks that a message says something, in parts that its role may have.
func (c *checker) checkMessage(e *entry) {
	switch {
	case e.role == conversation.Unknown:
		c.AddHere(conversation.RuleRole)
	case e.value.Empty(), c.body[e.value.Start] == '[' && !jsonspan.HasElements(c.body, e.value):
		c.AddHere(conversation.RuleNothing)
	case c.body[e.value.Start] == '[':
		for _, name := range gjson.GetBytes(e.value.Of(c.body), "#.type").Array() {
			isAnswer := name.Str == "output_text" || name.Str == "refusal"
			if isAnswer != (e.role == conversation.Assistant) {
				c.AddHere(conversation.RulePart)
			}
		}
	}
}

func (c *checker) checkCall(e *entry) {
	if _, known := c.answers[e.callID]; known {
		c.Add(conversation.RuleRepeated, e.callID)
	}
	c.answers[e.callID] = 0
	c.order = append(c.order, e.callID)
	if !e.fixed && !e.freeText && !jsonspan.HoldsJSON(e.value.Of(c.body)) {
		c.Add(conversation.RuleArguments, e.callID)
	}
	if !c.isReasoned {
		c.unreasoned = append(c.unreasoned, e.callID)
	}
}

// checkOutput checks the output of a call. One that names no call needs none.
func (c *checker) checkOutput(e *entry) {
	id := e.callID
	n, isKnown := c.answers[id]
	switch {
	case id == "":
	case !isKnown:
		c.Add(conversation.RuleOrphan, id)
	case n > 0:
		c.Add(conversation.RuleAnsweredTwice, id)
	}
	if isKnown {
		c.answers[id]++
	}
}
