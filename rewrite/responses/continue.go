package responses

import (
	"epitome/rewrite/conversation"
	"epitome/rewrite/span"
)

// This file puts a text behind a conversation.

// say puts a message behind all items. Nothing can be said while a call waits for its output, or what the model thought
// for what it led to. It is the user's, unless the model thought since the user spoke, and only the provider can read
// that: where the user speaks again, the provider leaves out what was thought before, and with it goes all that is
// cached behind. Then it is the developer's.
func (c *continuation) say(text string) (span.Edit, error) {
	list := c.settings.Value("input")
	if list.Empty() || c.body[list.Start] != '[' {
		return span.Edit{}, errNoList
	}
	if err := c.readInput(list); err != nil {
		return span.Edit{}, err
	}
	role := conversation.User
	if c.thinks {
		role = conversation.System
	}
	return span.AddElement(c.body, list, Dialect{}.Message(role, text)), nil
}

// readInput finds out whether the conversation can go on with a message, whether tools are declared in it, and whether
// the model thinks since the user spoke last.
func (c *continuation) readInput(list span.Span) error {
	waiting := map[string]bool{} // calls, by the id that their outputs have
	calls := map[string]string{} // such an id of a call, by the call's own
	last := oddEntry
	_, err := span.Elements(c.body, list.Start, func(i int) (int, error) {
		if c.body[i] != '{' {
			return span.EndOfValue(c.body, i)
		}
		e, err := readEntry(c.body, i)
		switch last = e.kind; e.kind {
		case messageEntry:
			c.thinks = c.thinks && e.role != conversation.User
		case reasoningEntry:
			c.thinks = c.thinks || e.sealed
		case toolsEntry:
			c.hasTools = true
		case callEntry:
			waiting[e.call], calls[e.id] = true, e.call
		case outputEntry:
			delete(waiting, e.call)
			if e.byID && e.id != "" {
				delete(waiting, calls[e.id])
			}
		}
		return e.End, err
	})
	switch {
	case err != nil:
		return err
	case len(waiting) > 0, last == reasoningEntry, last == triggerEntry:
		return errOpen
	}
	return nil
}
