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

// clearOld replaces old results by stubs, all in one batch, as each change costs the provider's cache.
func (s State) clearOld() {
	batch, reason := s.batchToClear()
	switch {
	case len(batch) > 0:
		s.clearAll(batch, leastFreed, reason)
	case s.Total > s.Limits.ClearLine:
		s.Reason = event.CodeFreesLittle
	default:
		s.Reason = event.CodeNotDue
	}
}

// batchToClear returns the results that are to be cleared now: over ClearLine all, or the stale ones if these are
// enough, provided that they free ClearAtLeast tokens; else a batch that pays, if there is one.
func (s State) batchToClear() (batch []candidate, reason event.Code) {
	all := s.clearable()
	if s.Total > s.Limits.ClearLine {
		stale := slices.DeleteFunc(slices.Clone(all), func(c candidate) bool { return !s.isStale(c.item) })
		freed := freedBy(stale)
		if freed >= s.Limits.ClearAtLeast && s.Total-freed <= s.Limits.ClearLine {
			return stale, event.CodeClearAt
		}
		if freedBy(all) >= s.Limits.ClearAtLeast {
			return all, event.CodeClearAt
		}
	}
	return s.batchThatPays(all)
}

func freedBy(list []candidate) (freed int) {
	for _, c := range list {
		freed += c.freed
	}
	return freed
}

// clearable returns, oldest first, the results that may be cleared. The newest results stay, up to Limits.Protect
// tokens together, and so does each result until Limits.Groups answers later, except those that a later call has
// replaced. Not among them are results behind prefixEnd, which no decision covers yet, and those that would free too
// little.
func (s State) clearable() (list []candidate) {
	since := slices.Repeat([]int{s.Answers + 1}, len(s.callOf)) // by item: as in candidate
	var newest []int                                            // results up to item i: tokens of them, at most Protect
	tokens := 0
	for i := range s.Request.Items {
		if s.Request.Items[i].Role != conversation.Tool {
			continue
		}
		newest = append(newest, i)
		tokens += s.forms[i].tokens
		for len(newest) > 0 && tokens > s.Limits.Protect { // result i pushes the oldest of them out
			old := newest[0]
			newest = newest[1:]
			tokens -= s.forms[old].tokens
			since[old] = max(s.answersUpTo[i], s.answersUpTo[old]+s.Limits.Groups) // neither limit protects it then
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

// stale returns the stale results from item first on that take more than most tokens, also as stubs that quote a
// failure.
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
func (s State) batchThatPays(list []candidate) (batch []candidate, reason event.Code) {
	losesThinking := s.Binds && !s.CacheCold
	if s.Limits.Rent == 0 || s.ArtifactsOff || losesThinking { // only ClearLine clears
		return nil, event.NoCode
	}
	rent, least, reason := s.Limits.Rent, leastBatch, event.CodeRent
	switch {
	case s.CacheCold && s.Decision.OtherModel:
		rent, least, reason = 0, leastCold, event.CodeModel
	case s.CacheCold: // all is sent uncached anyway, so clearing costs nothing, but must free more
		rent, least, reason = 0, leastCold, event.CodePause
	}
	for len(list) > 0 && list[0].item < s.Decision.Restored { // the user wants it whole, as long as it fits
		list = list[1:]
	}
	uncached := rent * (1 - s.Limits.CachedPrice) // what must be owed for each token that loses the cache
	first := s.prefixEnd                          // of the batch
	tokens, freed := 0, 0                         // of items [first, prefixEnd); of the batch
	owed, best := 0.0, 0.0
	for k, c := range slices.Backward(list) {
		requests := s.Answers - c.since + 1 // one per answer since, and this one
		owed += s.Limits.CachedPrice * float64(c.freed) * float64(requests)
		tokens += s.Sent(c.item, first)
		freed += c.freed
		first = c.item
		gain := owed - uncached*float64(tokens-freed)
		if gain > best && freed >= least {
			best, batch = gain, list[k:]
		}
	}
	return batch, reason
}

// clearAll replaces the candidates by stubs, except those whose stub frees less than least, as it may quote a failure.
func (s State) clearAll(list []candidate, least int, reason event.Code) {
	var edits []ledger.Edit
	for _, c := range list {
		e := s.stub(c.item)
		after := s.Size(c.item, c.item+1) - e.Saved // tokens with the stub; an excerpt may be sent so far
		if s.forms[c.item].tokens-after >= least {
			edits = append(edits, e)
		}
	}
	s.Add(ledger.StepClear, reason, edits...)
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
