package drawing

import "epitome/event"

// Part is what a request spends tokens on.
type Part struct {
	Name          string
	Class         string // of its colour
	Before, After int
	of            func(t *event.Tokens) int
}

// allParts are the parts of a request, in the order in which charts stack them.
var allParts = [...]Part{
	{Name: "system prompt", Class: "p0", of: func(t *event.Tokens) int { return t.System }},
	{Name: "tools", Class: "p1", of: func(t *event.Tokens) int { return t.Tools }},
	{Name: "user", Class: "p2", of: func(t *event.Tokens) int { return t.User }},
	{Name: "assistant", Class: "p3", of: func(t *event.Tokens) int { return t.Assistant }},
	{Name: "tool results", Class: "p4", of: func(t *event.Tokens) int { return t.Results }},
	{Name: "summaries", Class: "p7", of: func(t *event.Tokens) int { return t.Summary }},
	{Name: "images and documents", Class: "p5", of: func(t *event.Tokens) int { return t.Images }},
	{Name: "other", Class: "p6", of: func(t *event.Tokens) int { return t.Other }},
}

// PartsOf lists what a request spends tokens on, without what is empty.
func PartsOf(before, after event.Tokens) (all []Part) {
	for _, p := range allParts {
		if p.Before, p.After = p.of(&before), p.of(&after); p.Before != 0 || p.After != 0 {
			all = append(all, p)
		}
	}
	return all
}
