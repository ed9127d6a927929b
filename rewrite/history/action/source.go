package action

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"epitome/rewrite/conversation"
	"epitome/rewrite/mark"
)

// Source says what a result came from: the call that it answers.
type Source struct {
	Name   string
	Action Action
	Cites  []string             // what in its arguments looks like an artifact's name
	Said   conversation.Verdict // by the client, of how the call ended, if it says that
}

// About names the tool and its key argument, in one line.
func (s *Source) About() string {
	name := s.Name
	if name == "" || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		name = "a tool"
	}
	if s.Action.Key == "" {
		return name
	}
	return name + " `" + s.Action.Key + "`"
}

// Calls pairs results with the calls of the last assistant's message. Whoever tells people what a result came from
// asks it. Two others pair in ways of their own: conversation.Callers finds calls that are any number of messages
// away, and a dialect's judge counts what is answered twice or by nothing.
type Calls struct {
	open map[string][]Source // by id
	work int                 // what reading the calls has cost, as workOf and shell.Effects have it
}

// What reading calls may cost. What of them is read depends on the calls themselves, so that every machine knows the
// same of a conversation. Forty thousand calls as agents make them cost as much.
const (
	mostWork         = 1_500_000
	longestArguments = 1 << 20 // bytes of a call
)

// Reads reports whether the arguments of a call, as they stand in the body, are read: else its tool is known alone.
func (c *Calls) Reads(raw []byte) bool { return c.work <= mostWork && len(raw) <= longestArguments }

// NewCalls knows of no call.
func NewCalls() *Calls { return &Calls{open: map[string][]Source{}} }

// Learn takes in the calls of an assistant's message, and forgets those of the answer before.
func (c *Calls) Learn(r *conversation.Request, it *conversation.Item) {
	if it.Begins {
		clear(c.open)
	}
	for _, call := range it.Calls {
		s := Source{Name: call.Name, Action: Action{Kind: useOf(call.Name).kind()}}
		if c.Reads(call.Arguments.Of(r.Body)) {
			text := call.ArgumentsIn(r.Body)
			s.Action, s.Cites = Of(call.Name, text, call.FreeText), slices.Collect(mark.NamesLike(string(text)))
			c.work += workOf(text) + s.Action.workOfAll()
		}
		c.open[call.ID] = append(c.open[call.ID], s)
	}
}

// SourceOf returns what the result in the item came from. Calls that share an id are answered in their order; the last
// of them may be answered again. A result without a call has only the name that it says itself.
func (c *Calls) SourceOf(it *conversation.Item) (s Source) {
	if all := c.open[it.Answers]; len(all) > 0 {
		s = all[0]
		s.Said = it.Verdict
		if len(all) > 1 {
			c.open[it.Answers] = all[1:]
		}
	}
	if s.Name == "" {
		s.Name = it.Name
	}
	return s
}
