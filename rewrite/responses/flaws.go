package responses

import (
	"fmt"

	"epitome/rewrite/conversation"
	"epitome/rewrite/span"
)

// checker goes through a request once, as a server does that refuses what it finds: over its bytes, not over the items
// that were read of them.
type checker struct {
	body  []byte
	flaws []conversation.Flaw
	count int // entries so far

	calls    []string          // ids of all, in their order
	answered map[string]int    // how often each call was answered
	named    map[string]string // calls by the ids of their entries

	thinks    bool     // the model thought something, somewhere
	thought   bool     // and nothing that this has led to has come yet
	reasoned  bool     // it thought something before what it says now
	bare      []string // calls before which it thought nothing
	triggered bool     // there was a request for a compaction
}

// Flaws returns all rules that the request breaks.
func (Dialect) Flaws(r *conversation.Request) []conversation.Flaw {
	c := checker{body: r.Body, answered: map[string]int{}, named: map[string]string{}}
	_ = span.Document(r.Body, func(key []byte, i int) (int, error) { // it was read before
		if string(key) == "input" && r.Body[i] == '[' {
			return span.Elements(r.Body, i, c.entry)
		}
		return span.EndOfValue(r.Body, i)
	})
	c.endRun()
	for _, id := range c.calls {
		if c.answered[id] == 0 {
			c.add(conversation.RuleUnanswered, id)
			c.answered[id]++
		}
	}
	if c.thinks {
		for _, id := range c.bare {
			c.add(conversation.RuleReasoned, id)
		}
	}
	return c.flaws
}

func (c *checker) add(rule, call string) {
	c.flaws = append(c.flaws, conversation.Flaw{Rule: rule, Call: call})
}

// here adds a flaw of the entry that is looked at.
func (c *checker) here(rule string) { c.add(rule, fmt.Sprint(c.count)) }

// endRun ends what the model says at once: it must have been more than thoughts.
func (c *checker) endRun() {
	if c.thought {
		c.here(conversation.RuleReasoning)
	}
	c.thought, c.reasoned = false, false
}

// entry looks at the entry that begins at body[i].
func (c *checker) entry(i int) (int, error) {
	e, err := readEntry(c.body, i)
	if err != nil {
		return 0, err
	}
	if c.triggered {
		c.here(conversation.RuleTrigger)
	}
	switch {
	case e.kind == reasoningEntry:
		c.thinks, c.thought, c.reasoned = true, true, true
	case e.speaks():
		c.thought = false
	case e.kind == oddEntry || e.kind == referenceEntry: // nobody knows here what it is: it may be either
		c.thought, c.reasoned = false, true
	default:
		c.endRun()
	}
	switch e.kind {
	case messageEntry:
		c.message(&e)
	case callEntry:
		c.call(&e)
	case outputEntry:
		c.output(&e)
	case oddEntry:
		c.here(conversation.RuleRole)
	case triggerEntry:
		c.triggered = true
	}
	c.count++
	return e.End, nil
}

// message looks at a message: it says something, in parts that its role may have.
func (c *checker) message(e *entry) {
	if e.role == conversation.Unknown {
		c.here(conversation.RuleRole)
	}
	if e.value.Empty() {
		c.here(conversation.RuleNothing)
		return
	}
	if c.body[e.value.Start] != '[' {
		return
	}
	parts := 0
	_, _ = span.Elements(c.body, e.value.Start, func(i int) (int, error) { // it was read before
		parts++
		end, err := span.EndOfValue(c.body, i)
		if err != nil || c.body[i] != '{' {
			return end, err
		}
		p, err := readPart(c.body, i)
		if err != nil {
			return 0, err
		}
		kind := string(p.at("type").Of(c.body))
		said := kind == `"output_text"` || kind == `"refusal"`
		if said != (e.role == conversation.Assistant) && kind != "" && e.role != conversation.Unknown {
			c.here(conversation.RulePart)
		}
		return end, nil
	})
	if parts == 0 {
		c.here(conversation.RuleNothing)
	}
}

// call looks at a call.
func (c *checker) call(e *entry) {
	if _, known := c.answered[e.call]; known {
		c.add(conversation.RuleRepeated, e.call)
	}
	c.answered[e.call] = 0
	c.calls = append(c.calls, e.call)
	if e.id != "" {
		c.named[e.id] = e.call
	}
	if e.name == "" && !e.free && !span.HoldsJSON(e.value.Of(c.body)) {
		c.add(conversation.RuleArguments, e.call)
	}
	if !c.reasoned {
		c.bare = append(c.bare, e.call)
	}
}

// output looks at the output of a call. One that names none answers none.
func (c *checker) output(e *entry) {
	if !c.isWritten(e) {
		c.add(conversation.RuleOutput, e.call)
	}
	if e.call == "" {
		return
	}
	n, called := c.answered[e.call]
	if id, known := c.named[e.call]; e.named && !called && known {
		e.call = id
		n, called = c.answered[id]
	}
	switch {
	case !called:
		c.add(conversation.RuleOrphan, e.call)
	case n > 0:
		c.add(conversation.RuleAnsweredTwice, e.call)
	}
	if called {
		c.answered[e.call] = n + 1
	}
}

// isWritten reports whether an output is written as those of its kind are.
func (c *checker) isWritten(e *entry) bool {
	v := e.value.Of(c.body)
	switch {
	case e.byID:
		return len(v) > 0 && v[0] == '"' && span.HoldsJSON(v)
	case e.typ == "shell_call_output":
		return len(v) > 0 && v[0] == '[' && areChunks(v)
	case e.loads || e.hidden || e.fixed || len(v) == 0:
		return true
	}
	return v[0] == '"' || v[0] == '['
}

// areChunks reports whether a list has nothing but what commands have written.
func areChunks(list []byte) bool {
	all := true
	_, err := span.Elements(list, 0, func(i int) (int, error) {
		end, err := span.EndOfValue(list, i)
		if err != nil || list[i] != '{' {
			all = false
			return end, err
		}
		p, err := readPart(list, i)
		all = all && err == nil && isChunk(&p)
		return end, err
	})
	return all && err == nil
}
