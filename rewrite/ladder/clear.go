package ladder

import (
	"epitome/event"
	"epitome/rewrite/conversation"
	"epitome/rewrite/ledger"
)

// stubTokens is about what a stub takes.
const stubTokens = 100

// candidate is a result that may be cleared.
type candidate struct {
	item  int
	freed int // tokens, about
	since int // the answer at which it became clearable
}

// Clear replaces old results by stubs, all in one batch: when the request is over the line, or when the rent that they
// have cost in the provider's cache exceeds what clearing them costs.
func Clear(s *State) {
	s.Compared = s.Total()
	list, cause, freed := s.clearable(s.now()), event.CauseClearAt, 0
	for _, c := range list {
		freed += c.freed
	}
	if s.Total() <= s.Limits.ClearLine || freed < s.Limits.AtLeast {
		list, cause = s.firstThatPays(list)
	}
	if len(list) == 0 {
		s.Reason = s.whyNotCleared()
		return
	}
	s.clearAll(list, event.CodeOld, cause)
}

// DueSoon returns the results that will be cleared in about two answers, so that a model may be asked about them.
func (s *State) DueSoon() (items []int) {
	for _, c := range s.clearable(s.now() + 2) {
		items = append(items, c.item)
	}
	return items
}

// clearable returns the results that may be cleared at an answer, in the order of the conversation: those outside of
// the newest tokens of results and of the newest groups.
func (s *State) clearable(now int) (list []candidate) {
	var newest []int // results, of so many tokens together
	tokens := 0
	for i := range s.Request.Items {
		if s.Request.Items[i].Role != conversation.Tool {
			continue
		}
		newest, tokens = append(newest, i), tokens+s.forms[i].tokens
		for len(newest) > 0 && tokens > s.Limits.Protect {
			old := newest[0]
			newest, tokens = newest[1:], tokens-s.forms[old].tokens
			c := candidate{old, s.forms[old].tokens - stubTokens, max(s.answers[i], s.answers[old]+s.Limits.Age)}
			if old < s.end && c.since <= now && c.freed >= leastFreed && s.mayCut(old) && !s.mustShow(old) {
				list = append(list, c)
			}
		}
	}
	return list
}

// firstThatPays is rent or buy. From each candidate on, all results behind it could be cleared together. What they have
// cost since they were clearable, as cached tokens of every request, is the rent that they owe; what clearing costs is
// that all tokens behind the first of them are sent anew. The batch with the largest gain is taken; while nothing is
// cached, clearing costs nothing.
func (s *State) firstThatPays(list []candidate) (batch []candidate, cause event.Cause) {
	rent, least, cause := s.Limits.Conf.Rent, leastBatch, event.CauseRent
	if rent == 0 || s.ArtifactsOff || s.Binds && !s.CacheCold {
		return nil, event.NoCause
	}
	if s.CacheCold {
		rent, least, cause = 0, leastCold, event.CausePause
		if s.Decision.OtherModel {
			cause = event.CauseModel
		}
	}
	cached, now, end := s.Limits.Conf.CachedPrice, s.now(), s.end
	price := rent * (1 - cached) // of each token that is sent anew
	behind, freed, owed, best := 0, 0, 0.0, 0.0
	for k := len(list) - 1; k >= 0; k-- {
		c := list[k]
		owed += cached * float64(c.freed) * float64(now-c.since+1)
		for ; end > c.item; end-- {
			behind += s.forms[end-1].tokens
		}
		freed += c.freed
		if gain := owed - price*float64(behind-freed); gain > best && freed >= least {
			best, batch = gain, list[k:]
		}
	}
	return batch, cause
}

// clearAll clears the candidates, as far as that is worth it with what is left in their place.
func (s *State) clearAll(list []candidate, why event.Code, cause event.Cause) {
	var edits []ledger.Edit
	for _, c := range list {
		note := ""
		if s.Note != nil && why == event.CodeOld {
			note = s.Note(c.item)
		}
		e := s.stub(c.item, ledger.StepClear, why, note)
		if s.forms[c.item].tokens-(s.Size(c.item)-e.Saved) >= leastFreed {
			edits = append(edits, e)
		}
	}
	s.Add(cause, edits...)
}

// whyNotCleared says why nothing is cleared.
func (s *State) whyNotCleared() event.Code {
	switch {
	case s.ArtifactsOff && s.Total() <= s.Limits.ClearLine:
		return event.CodeQuota
	case s.Fixed.System+s.Fixed.Tools > s.Limits.Usable:
		return event.CodeFixedFills
	case s.Total() > s.Limits.ClearLine:
		return event.CodeFreesLittle
	}
	return event.CodeNotDue
}
