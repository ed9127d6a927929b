package ladder

import (
	"fmt"

	"epitome/event"
	"epitome/rewrite/conversation"
	"epitome/rewrite/ledger"
)

// stubTokens is about what a stub takes.
const stubTokens = 100

// maxCleared bounds the bytes of results that one request clears: to write a stub, the whole result is read. The oldest
// go first; those behind them wait for the next request.
const maxCleared = 4 << 20

// candidate is a result that may be cleared.
type candidate struct {
	item  int
	freed int // tokens, about
	since int // the answer at which it became clearable
}

// Clear replaces old results by stubs, all in one batch: when the request is over the line, or when the rent that they
// have cost in the provider's cache exceeds what clearing them costs.
func Clear(s *State) {
	if s.end <= s.Request.Head || !s.mayDecideOlder() {
		return
	}
	s.Compared = s.Total()
	list := s.clearable(s.answers[s.end-1])
	first, cause := s.firstToClear(list)
	if first == len(list) {
		s.Reason = s.whyNotCleared(freedBy(list))
		return
	}
	s.because(cause)
	s.clearAll(list[first:], event.CodeOld)
}

// DueSoon returns the results that will be cleared in about two answers, so that a model may be asked about them.
func (s *State) DueSoon() (items []int) {
	if s.end <= s.Request.Head {
		return nil
	}
	for _, c := range s.clearable(s.answers[s.end-1] + 2) {
		items = append(items, c.item)
	}
	return items
}

// clearable returns the results that may be cleared at an answer, in the order of the conversation: those that have
// become old by then, outside of the newest tokens of results and of the newest groups. A result counts with what it
// took first, so that none gets younger again when later ones are cleared.
func (s *State) clearable(now int) (list []candidate) {
	var newest []int // results, of so many tokens together
	tokens := 0
	for i := range s.Request.Items {
		if s.Request.Items[i].Role != conversation.Tool {
			continue
		}
		newest, tokens = append(newest, i), tokens+s.forms[i].first
		for len(newest) > 0 && tokens > s.Limits.Protect {
			old := newest[0]
			newest, tokens = newest[1:], tokens-s.forms[old].first
			c := candidate{old, s.forms[old].tokens - stubTokens, max(s.answers[i], s.answers[old]+s.Limits.Age)}
			if old < s.end && c.since <= now && s.mayClear(old, c.freed) {
				list = append(list, c)
			}
		}
	}
	return list
}

// mayClear reports whether a result may be cleared, which frees about so many tokens.
func (s *State) mayClear(i, freed int) bool {
	return isWorthClearing(s.forms[i].tokens, freed) && s.mayCut(i) && !s.mustShow(i)
}

// freedBy is about how many tokens clearing all of a list frees.
func freedBy(list []candidate) (tokens int) {
	for _, c := range list {
		tokens += c.freed
	}
	return tokens
}

// firstToClear returns the first candidate from which on all are cleared, and why; len(list) if none is.
func (s *State) firstToClear(list []candidate) (first int, cause event.Cause) {
	switch {
	case s.Total() > s.Limits.ClearLine && freedBy(list) >= s.Limits.AtLeast:
		return 0, event.CauseClearAt
	case s.Limits.Conf.Rent == 0 || s.ArtifactsOff || s.Binds && !s.CacheCold:
		return len(list), event.NoCause
	case s.CacheCold && s.Decision.OtherModel:
		cause = event.CauseModel
	case s.CacheCold:
		cause = event.CausePause
	default:
		cause = event.CauseRent
	}
	return s.firstThatPays(list), cause
}

// firstThatPays is rent or buy. From each candidate on, all results behind it could be cleared together. What they have
// cost since they were clearable, as cached tokens of every request, is the rent that they owe; what clearing costs is
// that all tokens behind the first of them are sent anew. The batch with the largest gain is taken; while nothing is
// cached, clearing costs nothing.
func (s *State) firstThatPays(list []candidate) (first int) {
	now, compacted, end := s.answers[s.end-1], s.lastCompacted(), s.lastRequestEnd()
	alpha, least := s.Limits.Conf.Rent, leastBatch
	if s.CacheCold {
		alpha, least = 0, min(leastCold, s.Limits.AtLeast/2)
	}
	cached := s.Limits.Conf.CachedPrice
	price := alpha * (1 - cached) // of each token that is sent anew
	behind, freed, owed := 0, 0, 0.0
	best, first := 0.0, len(list)
	for k := len(list) - 1; k >= 0; k-- {
		c := list[k]
		owed += cached * float64(c.freed) * float64(max(1, now-max(c.since, compacted+1)+1))
		for ; end > c.item; end-- {
			behind += s.forms[end-1].tokens
		}
		freed += c.freed
		if gain := owed - price*float64(behind-freed); gain > best && freed >= least {
			best, first = gain, k
		}
	}
	return first
}

// lastCompacted is the answer at which the conversation was compacted last; -1 if it never was.
func (s *State) lastCompacted() int {
	at := -1
	for k := range s.Edits {
		if e := &s.Edits[k]; e.Op == ledger.Drop && e.Step == ledger.StepCompact {
			at = max(at, e.At)
		}
	}
	return at
}

// lastRequestEnd is how many items the request before this one had: those before the newest answer.
func (s *State) lastRequestEnd() int {
	for i := s.end - 1; i > s.Request.Lead; i-- {
		if s.Request.Items[i].StartsAnswer {
			return i
		}
	}
	return 0
}

// clearAll clears the candidates, as far as that is worth it with what is left in their place.
func (s *State) clearAll(list []candidate, why event.Code) {
	var edits []ledger.Edit
	room := maxCleared
	for _, c := range list {
		content := s.Request.Items[c.item].Content
		if room -= content.End - content.Start; room < 0 && len(edits) > 0 {
			break
		}
		note := ""
		if s.Note != nil && why == event.CodeOld {
			note = s.Note(c.item)
		}
		e, sent := s.stub(c.item, ledger.StepClear, why, note), s.forms[c.item].tokens
		if isWorthClearing(sent, e.Saved-(s.Size(c.item)-sent)) {
			edits = append(edits, e)
		}
	}
	if len(edits) > 0 {
		s.Add(edits...)
	}
}

// whyNotCleared says why nothing is cleared that would free so many tokens.
func (s *State) whyNotCleared(freed int) Reason {
	line := s.Limits.ClearLine
	switch {
	case s.ArtifactsOff && s.Total() <= line:
		return Reason{Code: event.CodeQuota}
	case s.Fixed.System+s.Fixed.Tools > s.Limits.Usable:
		return Reason{Code: event.CodeFixedFills}
	case s.Total() > line:
		return Reason{event.CodeFreesLittle, fmt.Sprintf("the request is over the line of %s tokens, but clearing would free %s",
			s.number(line), s.number(freed))}
	case freed == 0:
		return Reason{event.CodeNotDue, "nothing to do: no new result is over its limit, and no old one can be cleared"}
	}
	return Reason{event.CodeNotDue, fmt.Sprintf("nothing to do: clearing would free %s tokens, which does not pay yet; the line is %s",
		s.number(freed), s.number(line))}
}

// number writes a number of tokens in the model's own, with its digits in groups of three.
func (s *State) number(tokens int) string {
	text := fmt.Sprint(int(float64(tokens) * s.Scale.Ratio))
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
