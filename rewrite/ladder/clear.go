package ladder

import (
	"slices"
	"strings"

	"epitome/dialect/conversation"
	"epitome/event"
	"epitome/offload/excerpt"
	"epitome/rewrite/view"
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

// clearStale replaces outdated results by stubs, as soon as they are large enough for that (stale_tokens).
func (k *Known) clearStale(p *Plan) {
	if k.Limits.Stale > 0 && !k.Artifacts.Scarce {
		k.clearAll(p, k.stale(&p.View, k.Before.Restored, k.Limits.Stale), leastSaving, event.CodeStale)
	}
}

// clearOld replaces old results by stubs, all in one batch, as each change costs the provider's cache.
func (k *Known) clearOld(p *Plan) {
	batch, reason := k.batchToClear(&p.View)
	switch {
	case len(batch) > 0:
		k.clearAll(p, batch, leastFreed, reason)
	case p.View.Total > k.Limits.ClearLine:
		p.Reason = event.CodeFreesLittle
	default:
		p.Reason = event.CodeNotDue
	}
}

// batchToClear returns the results that are to be cleared now: over ClearLine all, or the stale ones if these are
// enough, provided that they free ClearAtLeast tokens; else a batch that pays, if there is one.
func (k *Known) batchToClear(v *view.View) (batch []candidate, reason event.Code) {
	all := k.clearable(v)
	if v.Total > k.Limits.ClearLine {
		stale := slices.DeleteFunc(slices.Clone(all), func(c candidate) bool { return !k.isStale(c.item) })
		freed := freedBy(stale)
		if freed >= k.Limits.ClearAtLeast && v.Total-freed <= k.Limits.ClearLine {
			return stale, event.CodeClearAt
		}
		if freedBy(all) >= k.Limits.ClearAtLeast {
			return all, event.CodeClearAt
		}
	}
	return k.batchThatPays(v, all)
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
func (k *Known) clearable(v *view.View) (list []candidate) {
	since := slices.Repeat([]int{k.Answers() + 1}, len(k.CallOf)) // by item: as in candidate
	var newest []int                                              // results up to item i: tokens of them, at most Protect
	tokens := 0
	for i := range k.Request.Items {
		if k.Request.Items[i].Role != conversation.Tool {
			continue
		}
		newest = append(newest, i)
		tokens += v.Forms[i].Tokens
		for len(newest) > 0 && tokens > k.Limits.Protect { // result i pushes the oldest of them out
			old := newest[0]
			newest = newest[1:]
			tokens -= v.Forms[old].Tokens
			since[old] = max(k.AnswersBefore[i+1], k.AnswersBefore[old+1]+k.Limits.Groups) // neither limit protects it then
		}
	}
	for i := range k.prefixEnd {
		if at := k.CallOf[i].Replaced; at > 0 && at < k.prefixEnd {
			since[i] = min(since[i], k.AnswersBefore[at+1])
		}
		c := candidate{item: i, freed: v.Forms[i].Tokens - stubTokens, since: since[i]}
		if c.since <= k.Answers() && c.freed >= leastFreed && k.mayReplace(v, i, conversation.Tool) && !k.mustShow(i) {
			list = append(list, c)
		}
	}
	return list
}

// stale returns the stale results from item first on that take more than most tokens, also as stubs that quote a
// failure.
func (k *Known) stale(v *view.View, first, most int) (list []candidate) {
	for i := first; i < k.prefixEnd; i++ {
		mayClear := (k.mayReplace(v, i, conversation.Tool) || v.Forms[i].Cleared) && !k.mustShow(i)
		if mayClear && k.isStale(i) && v.Forms[i].Tokens > most {
			list = append(list, candidate{item: i})
		}
	}
	return list
}

// batchThatPays is rent or buy. A batch is a candidate with all candidates behind it, since clearing the first one
// loses the cache of all that follows. A batch owes as rent the price of its cached tokens in each request since they
// were clearable. Clearing it costs that the rest of the prefix behind its first result is sent uncached. The batch is
// taken whose rent exceeds Limits.Rent times this cost by most; none if no rent does.
func (k *Known) batchThatPays(v *view.View, list []candidate) (batch []candidate, reason event.Code) {
	losesThinking := k.Binds && !k.CacheCold
	if k.Limits.Rent == 0 || k.Artifacts.Scarce || losesThinking { // only ClearLine clears
		return nil, event.NoCode
	}
	rent, least, reason := k.Limits.Rent, leastBatch, event.CodeRent
	if k.CacheCold { // all is sent uncached anyway, so clearing costs nothing, but must free more
		rent, least, reason = 0, leastCold, event.CodePause
		if k.Before.OtherModel {
			reason = event.CodeModel
		}
	}
	for len(list) > 0 && list[0].item < k.Before.Restored { // the user wants it whole, as long as it fits
		list = list[1:]
	}
	uncached := rent * (1 - k.Limits.CachedPrice) // what must be owed for each token that loses the cache
	first := k.prefixEnd                          // of the batch
	tokens, freed := 0, 0                         // of items [first, prefixEnd); of the batch
	owed, best := 0.0, 0.0
	for n, c := range slices.Backward(list) {
		requests := k.Answers() - c.since + 1 // one per answer since, and this one
		owed += k.Limits.CachedPrice * float64(c.freed) * float64(requests)
		tokens += v.Sent(c.item, first)
		freed += c.freed
		first = c.item
		gain := owed - uncached*float64(tokens-freed)
		if gain > best && freed >= least {
			best, batch = gain, list[n:]
		}
	}
	return batch, reason
}

// clearAll replaces the candidates by stubs, except those whose stub frees less than least, as it may quote a failure.
func (k *Known) clearAll(p *Plan, list []candidate, least int, reason event.Code) {
	var edits []view.Edit
	for _, c := range list {
		e := k.stub(&p.View, c.item)
		after := k.Size(c.item, c.item+1) - e.Saved // tokens with the stub; an excerpt may be sent so far
		if p.View.Forms[c.item].Tokens-after >= least {
			edits = append(edits, e)
		}
	}
	p.View = k.with(p.View, view.StepClear, reason, edits...)
}

// isLarge reports whether result i is worth a distillate: it is large, and what is sent of it takes at least twice as
// much as a stub with the distillate.
func (k *Known) isLarge(v *view.View, i int) bool {
	const largeResult, largeSent = 2_000, 2 * (stubTokens + summarize.MaxDistillate) // tokens
	return k.Request.Items[i].Size.Text >= largeResult && v.Forms[i].Tokens >= largeSent
}

// askDistillates has a model asked for distillates of the large results that may be cleared from this request on: about
// each once. Stale results, and those that report a failure, have other stubs.
func (k *Known) askDistillates(p *Plan) {
	before := k.AnswersBefore[k.Recorded] // answers that the request before had
	for _, c := range k.clearable(&p.View) {
		call := k.CallOf[c.item]
		if c.since > before && k.isLarge(&p.View, c.item) && !k.isStale(c.item) &&
			call.Failure(k.Request.LinesOf(&k.Request.Items[c.item])) == "" {
			k.Model.Distill(c.item, call)
		}
	}
}

// maxCall is how many characters of a call the text in the place of its result repeats: the call itself stands above.
const maxCall = 100

// stub returns the edit that clears result i. Its text says what was called, how the call ended if not well, how large
// the result is and where it can be read. Unless the result is stale, it quotes the failure of a failed call, or else a
// model's distillate, if there is one and the request was not refused.
func (k *Known) stub(v *view.View, i int) view.Edit {
	call := k.CallOf[i]
	what := excerpt.OneLine(call.String(), maxCall) + ", " + call.State()
	what = strings.TrimSuffix(what, ", ok") // as most calls end
	if k.isStale(i) {
		return k.clearEdit(i, what, " omitted, as a later call repeats it or changed the file", "")
	}
	text := k.Request.LinesOf(&k.Request.Items[i])
	failure := call.Failure(text)
	if failure != "" && 2*len(failure) < len(text) { // else the quote would free little
		return k.clearEdit(i, what, " omitted; failing lines follow", failure)
	}
	if k.Model.Distillate != nil && !k.Demand.Refused && k.isLarge(v, i) {
		said := k.Model.Distillate(i)
		if said != "" {
			return k.clearEdit(i, what, " omitted; a model's account of it follows", said)
		}
	}
	return k.clearEdit(i, what, " omitted", "")
}

// clearEdit returns the edit that puts one text in the place of all that item i says. The text names what the item was
// and its size, says what was done to it and where to read it, and ends with a quote, if any.
func (k *Known) clearEdit(i int, what, done, quoted string) view.Edit {
	it := &k.Request.Items[i]
	media := k.Request.Media(it)
	names, files := k.keepItem(i)
	isDocument := it.Role == conversation.User && media != "" // the lines may be those of a document
	if k.Request.TextOf(it) != "" && !isDocument {
		lines := excerpt.CountLines(string(k.Artifacts.Content[names[0]])) // of what the model is told to read
		what += ", " + excerpt.Amount(lines)
	}
	if media != "" {
		what += ", " + media
	}
	where := k.whereToRead("Full output", names, it.Size.Text)
	for _, name := range files {
		where += ". " + k.whereToRead("Picture or document", []string{name}, 0)
	}
	text := excerpt.Note(what+done, where)
	if quoted != "" {
		text += "\n" + excerpt.Quote(quoted)
	}
	tokens := it.Size.Media
	for n := range it.Parts { // text and other parts are in Size.Text, beside calls and thinking, which stay
		if p := &it.Parts[n]; p.Kind < conversation.ImagePart {
			tokens += k.Request.CountContent(k.Scale, i, p.Value.Of(k.Request.Body))
		}
	}
	return k.edit(view.Clear, i, tokens, text, append(names, files...))
}
