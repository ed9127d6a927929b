package ladder

import (
	"fmt"
	"math"

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

// due is what clearing would come to.
type due struct {
	freed int // tokens by the results that are old
	from  int // from which on it pays; 0 if it waits for the line
}

// Clear replaces old results by stubs, all in one batch: when the request is over the line, or when the rent that they
// have cost in the provider's cache exceeds what clearing them costs.
func Clear(s *State) {
	if s.end <= s.Request.Head || !s.mayDecideOlder() {
		return
	}
	s.Compared = s.Total()
	list := s.clearable(s.answers[s.end-1])
	first, cause, d := s.firstToClear(list)
	if first < len(list) {
		s.because(cause)
		s.clearAll(list[first:], event.CodeOld)
		return
	}
	s.Reason = s.whyNotCleared(d)
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

// clearable returns the results that may be cleared at an answer, in the order of the conversation.
func (s *State) clearable(now int) (list []candidate) {
	dropped, cleared, _ := s.edited()
	since := s.agedSince()
	for i := range s.Request.Items[:s.end] {
		if s.Request.Items[i].Role != conversation.Tool || s.sent[i] < leastFreed || dropped[i] || cleared[i] {
			continue
		}
		freed := s.sent[i] - stubTokens
		if since[i] > now || !isWorthClearing(s.sent[i], freed) || s.isKept(i) || s.mustShow(i) {
			continue
		}
		list = append(list, candidate{i, freed, since[i]})
	}
	return list
}

// agedSince returns for each result the answer at which it had become old: outside of the newest tokens of results and
// of the newest groups.
func (s *State) agedSince() []int {
	var results []int
	for i := range s.Request.Items {
		if s.Request.Items[i].Role == conversation.Tool {
			results = append(results, i)
		}
	}
	at := make([]int, len(s.Request.Items))
	firstSent := s.firstSent()
	sum, end := 0, 0
	for k, i := range results {
		for end < len(results) && sum <= s.Limits.Protect {
			sum += firstSent[results[end]]
			end++
		}
		at[i] = never
		if sum > s.Limits.Protect {
			at[i] = max(s.answers[results[end-1]], s.answers[i]+s.Limits.Age)
		}
		sum -= firstSent[i]
		end = max(end, k+1)
	}
	return at
}

// firstSent returns what each item took when it was first sent: whole, or offloaded at once. So a result does not get
// younger again when later ones are cleared.
func (s *State) firstSent() []int {
	sizes := make([]int, len(s.Request.Items))
	for i := range sizes {
		sizes[i] = s.Size(i)
	}
	for k := range s.Edits {
		if e := &s.Edits[k]; e.Step == ledger.StepOffload {
			sizes[e.First] -= e.Saved
		}
	}
	return sizes
}

// firstToClear returns the first candidate from which on all are cleared, and why; len(list) if none is.
func (s *State) firstToClear(list []candidate) (first int, cause event.Cause, d due) {
	for _, c := range list {
		d.freed += c.freed
	}
	d.from = s.Limits.AtLeast
	switch {
	case s.Total() > s.Limits.ClearLine && d.freed >= s.Limits.AtLeast:
		return 0, event.CauseClearAt, d
	case s.Limits.Conf.Rent > 0 && !s.ArtifactsOff && (s.CacheCold || !s.Binds):
		first, d = s.firstThatPays(list, d)
		switch {
		case s.CacheCold && s.Decision.OtherModel:
			return first, event.CauseModel, d
		case s.CacheCold:
			return first, event.CausePause, d
		}
		return first, event.CauseRent, d
	}
	d.from = 0
	return len(list), event.NoCause, d
}

// firstThatPays is rent or buy. From each candidate on, all results behind it could be cleared together. What they have
// cost since they were clearable, as cached tokens of every request, is the rent that they owe; what clearing costs is
// that all tokens behind the first of them are sent anew. The batch with the largest gain is taken; while nothing is
// cached, clearing costs nothing.
func (s *State) firstThatPays(list []candidate, d due) (int, due) {
	now, compacted, end := s.answers[s.end-1], s.lastCompacted(), s.lastRequestEnd()
	alpha, least := s.Limits.Conf.Rent, leastBatch
	if s.CacheCold {
		alpha, least = 0, min(leastCold, s.Limits.AtLeast/2)
	}
	cached := s.Limits.Conf.CachedPrice
	price := alpha * (1 - cached) // of each token that is sent anew
	behind, freed, owed := 0, 0, 0.0
	best, at, nearest := 0.0, len(list), math.Inf(-1)
	for k := len(list) - 1; k >= 0; k-- {
		c := list[k]
		owed += cached * float64(c.freed) * float64(max(1, now-max(c.since, compacted+1)+1))
		for ; end > c.item; end-- {
			behind += s.sent[end-1]
		}
		freed += c.freed
		gain := owed - price*float64(behind-freed)
		if gain > best && freed >= least {
			best, at = gain, k
		}
		if gain > nearest && freed > 0 {
			from := math.Ceil(price * float64(behind) / (owed/float64(freed) + price))
			nearest, d.freed, d.from = gain, freed, max(least, int(from))
		}
	}
	return at, d
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
		it := &s.Request.Items[c.item]
		if room -= it.Content.End - it.Content.Start; room < 0 && len(edits) > 0 {
			break
		}
		noted := ""
		if s.Note != nil && why == event.CodeOld {
			noted = s.Note(c.item)
		}
		e := s.stub(c.item, ledger.StepClear, why, noted)
		if freed := e.Saved - (s.Size(c.item) - s.sent[c.item]); isWorthClearing(s.sent[c.item], freed) {
			edits = append(edits, e)
		}
	}
	if len(edits) > 0 {
		s.Add(edits...)
	}
}

// whyNotCleared says why nothing is cleared, with the numbers.
func (s *State) whyNotCleared(d due) Reason {
	total, line := s.Total(), s.Limits.ClearLine
	fixed := s.Fixed.System + s.Fixed.Tools
	switch {
	case s.ArtifactsOff && total <= line:
		return Reason{event.CodeQuota, "artifacts cannot be kept: results stay whole up to the line of " + s.tokens(line)}
	case fixed > s.Limits.Usable:
		return Reason{event.CodeFixedFills, fmt.Sprintf("system prompt and tools alone have %s and fill the window of %s",
			s.tokens(fixed), s.tokens(s.Limits.Usable))}
	case total > line:
		return Reason{event.CodeFreesLittle, fmt.Sprintf("the request is over the line of %s, but clearing would free %s of the %s it needs",
			s.tokens(line), s.number(d.freed), s.tokens(d.from))}
	case d.freed == 0:
		return Reason{event.CodeNotDue, "nothing to do: no new result is over its limit, and no old one can be cleared"}
	case d.from == 0:
		return Reason{event.CodeNotDue, fmt.Sprintf("nothing to do: clearing would free %s and waits for the line of %s",
			s.number(d.freed), s.tokens(line))}
	}
	return Reason{event.CodeNotDue, fmt.Sprintf("nothing to do: clearing would free %s of the %s it needs to pay off",
		s.number(d.freed), s.tokens(d.from))}
}

// number is a number of the vocabulary's tokens in those of the model, with its digits in groups of three.
func (s *State) number(tokens int) string {
	text := fmt.Sprint(int(float64(tokens) * s.Scale.Ratio))
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func (s *State) tokens(n int) string { return s.number(n) + " tokens" }
