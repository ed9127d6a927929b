package ladder

import (
	"slices"

	"epitome/dialect/conversation"
	"epitome/event"
	"epitome/rewrite/ledger"
	"epitome/summarize"
)

// stubTokens is about how many tokens a stub takes.
const stubTokens = 100

// candidate is a result that may be cleared.
type candidate struct {
	item  int
	freed int // tokens that clearing it frees, about
	since int // how many answers the conversation had when the result became clearable
}

// clearOld replaces old results by stubs, all in one batch, as each change costs the provider's cache. It does so when
// the request is over ClearLine and the batch frees ClearAtLeast tokens, or when a batch pays (batchThatPays). If the stale
// results free enough, the others stay.
func (s State) clearOld() {
	list, why := s.clearable(), event.CodeClearAt
	stale := slices.DeleteFunc(slices.Clone(list), func(c candidate) bool { return !s.isStale(c.item) })
	switch freed := freedBy(stale); {
	case s.Total > s.Limits.ClearLine && freed >= s.Limits.ClearAtLeast && s.Total-freed <= s.Limits.ClearLine:
		list = stale
	case s.Total <= s.Limits.ClearLine || freedBy(list) < s.Limits.ClearAtLeast: // not due, or too little for a lost cache
		list, why = s.batchThatPays(list)
	}
	if len(list) == 0 {
		if s.Reason = event.CodeNotDue; s.Total > s.Limits.ClearLine {
			s.Reason = event.CodeFreesLittle
		}
		return
	}
	s.clearAll(list, leastFreed, why)
}

func freedBy(list []candidate) (freed int) {
	for _, c := range list {
		freed += c.freed
	}
	return freed
}

// clearable returns, oldest first, the results that may be cleared. The newest results stay, up to Limits.Protect tokens together, and so does each result until Limits.Groups answers later,
// except those that a later call has replaced. Not among them are results behind prefixEnd, which no decision covers
// yet, and those that would free too little.
func (s State) clearable() (list []candidate) {
	var newest []int                                            // results up to item i that take at most Protect tokens together
	since := slices.Repeat([]int{s.Answers + 1}, len(s.callOf)) // by item: as in candidate
	tokens := 0
	for i := range s.Request.Items {
		if s.Request.Items[i].Role != conversation.Tool {
			continue
		}
		newest, tokens = append(newest, i), tokens+s.forms[i].tokens
		for len(newest) > 0 && tokens > s.Limits.Protect { // result i pushes the oldest of them out
			old := newest[0]
			newest, tokens = newest[1:], tokens-s.forms[old].tokens
			since[old] = max(s.answersUpTo[i], s.answersUpTo[old]+s.Limits.Groups) // from then on neither limit protects it
		}
	}
	for i := range s.prefixEnd {
		if at := s.callOf[i].Replaced; at > 0 && at < s.prefixEnd {
			since[i] = min(since[i], s.answersUpTo[at])
		}
		c := candidate{item: i, freed: s.forms[i].tokens - stubTokens, since: since[i]}
		if c.since <= s.Answers && c.freed >= leastFreed && s.mayShorten(i) && !s.mustShow(i) {
			list = append(list, c)
		}
	}
	return list
}

// stale returns the stale results from item first on that take more than most tokens, also as stubs that quote a failure.
func (s State) stale(first, most int) (list []candidate) {
	for i := first; i < s.prefixEnd; i++ {
		mayClear := (s.mayShorten(i) || s.forms[i].cleared) && !s.mustShow(i)
		if mayClear && s.isStale(i) && s.forms[i].tokens > most {
			list = append(list, candidate{item: i})
		}
	}
	return list
}

// batchThatPays is rent or buy. A batch is a candidate with all candidates behind it, since clearing the first one
// loses the cache of all that follows. A batch owes as rent the price of its cached tokens in each request since they
// were clearable. Clearing it costs that the rest of the prefix behind its first result is sent uncached. The batch is
// taken whose rent exceeds Limits.Rent times this cost by most; none if no rent does.
func (s State) batchThatPays(list []candidate) (batch []candidate, why event.Code) {
	rent, least, why := s.Limits.Rent, leastBatch, event.CodeRent
	for len(list) > 0 && list[0].item < s.Decision.Restored { // the user wants it whole, as long as it fits
		list = list[1:]
	}
	if rent == 0 || s.ArtifactsOff || s.Binds && !s.CacheCold { // only ClearLine clears; Binds: thinking would go too
		return nil, event.NoCode
	}
	if s.CacheCold { // all is sent uncached anyway, so clearing costs nothing, but must free more (leastCold)
		rent, least, why = 0, leastCold, event.CodePause
		if s.Decision.OtherModel {
			why = event.CodeModel
		}
	}
	cached, answers, first := s.Limits.CachedPrice, s.Answers, s.prefixEnd
	uncached := rent * (1 - cached)             // what must be owed for each token that loses the cache
	tokens, freed, owed, best := 0, 0, 0.0, 0.0 // tokens are those of items [first, prefixEnd)
	for k := len(list) - 1; k >= 0; k-- {
		c := list[k]
		owed += cached * float64(c.freed) * float64(answers-c.since+1) // one request per answer since, and this one
		tokens, first = tokens+s.Sent(c.item, first), c.item
		freed += c.freed
		if gain := owed - uncached*float64(tokens-freed); gain > best && freed >= least {
			best, batch = gain, list[k:]
		}
	}
	return batch, why
}

// clearAll replaces the candidates by stubs, except those whose stub frees less than least, as it may quote a failure.
func (s State) clearAll(list []candidate, least int, why event.Code) {
	var edits []ledger.Edit
	for _, c := range list {
		e := s.stub(c.item)
		after := s.Size(c.item, c.item+1) - e.Saved // tokens with the stub; until now an excerpt, smaller than Size, may be sent
		if s.forms[c.item].tokens-after >= least {
			edits = append(edits, e)
		}
	}
	s.Add(ledger.StepClear, why, edits...)
}

// isLarge reports whether result i is worth a distillate: it is large, and what is sent of it takes at least twice as
// much as a stub with the distillate.
func (s State) isLarge(i int) bool {
	const largeResult, largeSent = 2_000, 2 * (stubTokens + summarize.MaxDistillate) // tokens
	return s.Request.Items[i].Size.Text >= largeResult && s.forms[i].tokens >= largeSent
}

// askDistillates has a model asked for distillates of the large results that may be cleared from this request on: about
// each once. Stale results, and those that report a failure, have other stubs.
func (s State) askDistillates() {
	before := s.answersUpTo[max(s.Recorded, 1)-1] // answers that the request before had
	for _, c := range s.clearable() {
		call := s.callOf[c.item]
		if c.since > before && s.isLarge(c.item) && !s.isStale(c.item) &&
			call.Failure(s.Request.LinesOf(&s.Request.Items[c.item])) == "" {
			s.Distill(c.item, call)
		}
	}
}

// distillate returns a model's distillate for the stub of result i. It is empty if there is none, and in a rescue.
func (s State) distillate(i int) string {
	if s.Distillate == nil || s.Refused || !s.isLarge(i) {
		return ""
	}
	return s.Distillate(i)
}
