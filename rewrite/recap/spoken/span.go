// Package spoken is what was said between user and agent in a span of a conversation: what the user wrote and answered,
// and what the agent concluded.
//
// It promises that what it tells of the user stands there word for word or not at all, that nothing of a client's or a
// tool's passes for the user's words, and that all else is whole lines and sentences of the agent's. Each message is
// read once.
package spoken

import (
	"strings"

	"epitome/rewrite/conversation"
	"epitome/rewrite/plan"
)

// Span is what a summary stands for.
type Span struct {
	Plan     *plan.Plan
	From, To int   // items behind the head
	Read     int   // item from which on it is read what the agent said; the user's words are read everywhere
	Until    int   // item from which on nothing else tells what the agent said
	Callers  []int // of each item, the item whose call it answers; -1 if it answers none
}

// itemAt is item i behind the head.
func (s *Span) itemAt(i int) *conversation.Item { return &s.Plan.Req.Items[s.Plan.Req.Head+i] }

// callOf is the call that item i answers; nil if there is none.
func (s *Span) callOf(i int) *conversation.Call { return CallOf(s.Plan, s.Callers, i) }

// MostRead is how much of the newest messages of a span is read for what was said and done in it, as plan.CostOf has
// it.
const MostRead = 3 << 20

// Reach is the first item of the span that is read, and none that answers a call before it.
func (s *Span) Reach() int {
	room := MostRead
	for i := s.To - 1; i >= s.From; i-- {
		if room -= plan.CostOf(s.Plan, i); room < 0 {
			i++
			for i < s.To && s.Callers[i] >= 0 {
				i++
			}
			return i
		}
	}
	return s.From
}

// CallOf is the call that item i answers; nil if there is none. callers are, of each item, the item whose call it
// answers; -1 if it answers none.
func CallOf(p *plan.Plan, callers []int, i int) *conversation.Call {
	caller := callers[i]
	if caller < 0 {
		return nil
	}
	return conversation.CallOf(p.Req, caller, p.Req.Items[p.Req.Head+i].Answers)
}

// Quoted marks lines as quoted, without those at both ends that say nothing.
func Quoted(lines []string) string {
	for len(lines) > 0 && strings.TrimSpace(lines[0]) == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	var s strings.Builder
	for _, l := range lines {
		if l = strings.TrimRight(l, " \t\r"); l != "" {
			s.WriteString("> " + l + "\n")
		}
	}
	return s.String()
}
