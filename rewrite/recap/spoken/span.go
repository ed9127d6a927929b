// Package spoken is what was said between user and agent in a span of a conversation: what the user wrote and answered,
// and what the agent concluded.
//
// It promises that what it tells of the user stands there word for word or not at all, that nothing of a client's or a
// tool's passes for the user's words, and that all else is whole lines and sentences of the agent's. Each message is
// read once.
package spoken

import (
	"strings"

	"epitome/rewrite/recap/past"
)

// Span is what a summary stands for, as far as it is told what was said in it.
type Span struct {
	*past.Span
	Until int // item from which on nothing else tells what the agent said
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
