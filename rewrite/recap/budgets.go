package recap

import (
	"epitome/prose"
	"epitome/rewrite/conversation"
)

// Budgets are what the parts of the text may take, in tokens of the vocabulary.
type Budgets struct {
	Users  int // the user's messages, but for the newest one
	Latest int // the user's newest message, while nothing newer stays behind the span
	Turns  int // where each turn lies
	Prose  int // what a model says
	lists
}

// lists are the parts that code makes.
type lists struct{ tasks, files, calls, words int }

func (l lists) over(n int) lists { return lists{l.tasks / n, l.files / n, l.calls / n, l.words / n} }

// BudgetsFor returns the budgets for a style at a window of so many tokens. Of the model's own tokens, ratio are one of
// the vocabulary.
func BudgetsFor(style prose.Style, window int, ratio float64) Budgets {
	part := func(tokens int, share float64) int {
		return int(min(float64(tokens)/ratio, share*float64(window)))
	}
	b := Budgets{
		Users: part(20_000, 0.10), Latest: part(20_000, 0.25), Prose: part(1_750, 0.06),
		lists: lists{part(400, 0.01), part(400, 0.01), part(6_000, 0.13), part(900, 0.015)},
	}
	switch style.Detail {
	case prose.DetailHigh:
		b.Prose *= 2
	case prose.DetailLow:
		b.lists, b.Prose = b.over(2), b.Prose/2
	case prose.DetailTruncate:
		b.lists, b.Prose = lists{}, b.Prose/4
	}
	switch style.Mode {
	case prose.ModeLossless:
		b.lists, b.Turns = lists{}, part(6_000, 0.10)
	case prose.ModeWindow:
		b.lists = lists{}
	}
	return b
}

// Shrink returns the budgets for a window that must be saved: little stays but the user's newest message and what a
// model said.
func (b Budgets) Shrink() Budgets {
	const share = 5
	b.Users, b.Turns, b.lists = b.Users/share, b.Turns/share, b.over(share)
	return b
}

// Size returns about how many tokens Text takes at most.
func Size(s Span) int {
	const frame = 200 // headings and notes
	users, latest := 0, 0
	for i := s.From; i < s.To; i++ {
		if it := &s.Request.Items[i]; it.Role == conversation.User {
			latest = it.Size.Total()
			users += latest
		}
	}
	b := s.Budgets
	code := b.tasks + b.files + max(b.calls+b.words, b.calls/2+b.Prose) // beside a model's words, code says less
	return min(users, b.Users+min(latest, b.Latest)) + code + b.Turns + frame
}
