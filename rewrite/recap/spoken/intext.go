package spoken

import (
	"slices"

	"epitome/rewrite/conversation"
	"epitome/rewrite/plan"
	"epitome/rewrite/recap/intext"
)

// resultsIn parts the texts of a user's message into what its client says of calls that stand in texts of the agent's,
// and what the user says. ok is false if nothing in them is of such calls.
func (s *Span) resultsIn(i int, texts []string) (results []intext.Result, words []string, ok bool) {
	own := ownOf(texts)
	if !slices.ContainsFunc(own, intext.MayBeResult) {
		return nil, nil, false
	}
	return intext.Read(own, s.saidBefore(i))
}

// ownOf are texts without what a client puts around them in elements of its own.
func ownOf(texts []string) []string {
	own := make([]string, 0, len(texts))
	for _, t := range texts {
		if t = conversation.OwnWords(t); t != "" {
			own = append(own, t)
		}
	}
	return own
}

// saidBefore is what the agent says in the message before item i; empty if that is not the agent's.
func (s *Span) saidBefore(i int) string {
	if i == 0 || s.ItemAt(i-1).Role != conversation.Assistant {
		return ""
	}
	return s.Plan.TextOf(i - 1)
}

// callsInText reports whether the message behind the agent's one in item i says what came of a call in its text.
func (s *Span) callsInText(i int, text string) bool {
	if i+1 >= s.Plan.End || s.ItemAt(i+1).Role != conversation.User {
		return false
	}
	return intext.HasResult(ownOf(plan.TextsOf(s.Plan, i+1)), text)
}

// CallsInTexts tells of the calls that stand in the agent's texts, in at most so many tokens, by what its client says
// of them in messages of the user: the newest first.
func (s *Span) CallsInTexts(tokens int) string {
	var all []intext.Told
	for i := s.To - 1; i >= max(s.Read, s.From); i-- {
		if s.ItemAt(i).Role != conversation.User {
			continue
		}
		results, _, _ := s.resultsIn(i, plan.TextsOf(s.Plan, i))
		for _, r := range slices.Backward(results) {
			all = append(all, intext.Told{Result: r, Number: plan.NumberOf(s.Plan, i)})
		}
	}
	return intext.Rows(all, s.Read <= s.From, tokens*36/10)
}
