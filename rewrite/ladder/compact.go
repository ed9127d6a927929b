package ladder

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"epitome/event"
	"epitome/prose"
	"epitome/rewrite/activity"
	"epitome/rewrite/conversation"
	"epitome/rewrite/ledger"
	"epitome/rewrite/recap"
)

const (
	minGain = 0.1 // share of a request that a compaction has to save
	minTail = 500 // tokens that stay behind a cut
)

// Prose is what a model says about the items up to end, as far as it was asked. Look and Ask are about the text that
// updates earlier.
type Prose interface {
	// Look returns a text that is there; pending says that one is being made.
	Look(end int, earlier recap.Says) (text string, ready, pending bool)
	// Ask waits for one. An error says why there is none.
	Ask(end int, earlier recap.Says) (text string, cost event.Cost, err error)
	// Prepare has one made in the background; false if that may not be.
	Prepare(end int, earlier recap.Says) bool
}

// compaction is one in the making: the items from the head to a cut become a summary, and the groups behind it stay.
type compaction struct {
	s       *State
	budgets recap.Budgets
	from    int  // first item that may go
	done    int  // end of what earlier compactions left out
	fixed   int  // tokens of whatever stays wherever the cut falls
	summary int  // tokens that the summary takes, about
	tail    int  // tokens that may stay behind the cut
	target  int  // tokens to which the request is to come down
	minimal bool // every token counts: little stays of the summary, and no model is asked
	says    recap.Says
	stays   []bool // items that are sent wherever the cut falls
}

func newCompaction(s *State, minimal bool) *compaction {
	c := &compaction{s: s, minimal: minimal, from: s.Request.Head,
		budgets: recap.BudgetsFor(s.Style, s.Limits.Window, s.Scale.Ratio),
		target:  s.Limits.Target}
	if minimal {
		c.budgets = c.budgets.Shrink()
	}
	c.done = c.from
	if old, end := s.oldSummary(); old != nil {
		c.done = max(c.done, end)
		if s.Style.Mode != prose.ModeLossless {
			c.says = c.lastWords(old, end)
		}
	}
	c.stays = s.staying()
	c.fixed = s.Fixed.Total()
	for i := range s.Request.Items {
		if i < c.from || i < s.end && c.stays[i] {
			c.fixed += s.Size(i)
		}
	}
	c.summary = recap.Size(c.span(s.end))
	return c
}

// lastWords returns what a model says about the items of the earlier compaction, which end there: what stands in its
// text, or what came too late for that.
func (c *compaction) lastWords(old *ledger.Edit, end int) recap.Says {
	says := recap.Says{Text: old.Prose, Until: old.Told}
	if c.s.Prose == nil || says.Until == end {
		return says
	}
	if text, ready, _ := c.s.Prose.Look(end, says); ready {
		return recap.Says{Text: text, Until: end}
	}
	return says
}

// oldSummary returns the edit that holds the summary of the earlier compactions, and the end of what they left out; nil
// if there were none.
func (s *State) oldSummary() (summary *ledger.Edit, end int) {
	for k := range s.Edits {
		if e := &s.Edits[k]; e.Op == ledger.Drop && e.Step == ledger.StepCompact {
			end = max(end, e.End())
			if e.Text != "" {
				summary = e
			}
		}
	}
	return summary, end
}

// staying returns which items behind the head are sent whatever is left out: those of groups that have to stay where
// they are, and system messages, but for those that a later one repeats with other numbers (how much room is left).
// What was left out before stays so.
func (s *State) staying() []bool {
	stays := make([]bool, len(s.Request.Items))
	dropped, _, _ := s.edited()
	repeated := map[string]bool{}
	groups := s.Request.Groups()
	next := len(groups) // that stays
	for k, g := range slices.Backward(groups) {
		isSystem := s.Request.Items[g.First].Role == conversation.System
		stay := s.isPinned(g)
		if isSystem && !stay {
			shape := strings.Map(withoutNumbers, s.Request.TextOf(&s.Request.Items[g.First]))
			stay = !repeated[shape]
			repeated[shape] = repeated[shape] || g.End <= s.end
		}
		for i := g.First; i < g.End; i++ {
			stays[i] = stay && !dropped[i]
		}
		if isSystem && stays[g.First] {
			s.keepAnswer(stays, groups[k+1:next])
		}
		if stays[g.First] {
			next = k
		}
	}
	return stays
}

// keepAnswer has the last answer in some groups stay: an answer has to stand between a message of the system and one of
// the user.
func (s *State) keepAnswer(stays []bool, groups []conversation.Group) {
	if len(groups) == 0 {
		return
	}
	end := groups[len(groups)-1].End
	if end == len(stays) || s.Request.Items[end].Role != conversation.User {
		return
	}
	for _, g := range slices.Backward(groups) {
		if s.Request.Items[g.First].StartsAnswer {
			for i := g.First; i < g.End; i++ {
				stays[i] = true
			}
			return
		}
	}
}

// withoutNumbers drops digits and the signs between them.
func withoutNumbers(r rune) rune {
	if r >= '0' && r <= '9' || r == '.' || r == ',' {
		return -1
	}
	return r
}

// span is what a summary of the items before a cut is about.
func (c *compaction) span(to int) recap.Span {
	return recap.Span{Request: c.s.Request, Calls: c.s.Calls, From: c.from, To: to, End: c.s.end,
		Count: c.s.count, Budgets: c.budgets}
}

// Compact replaces old groups by a summary where the request is over its line, or a compaction was asked for; where it
// is not, it may have a summary made ahead of need.
func Compact(s *State) {
	reason := s.reasonToCompact()
	switch {
	case !s.mayDecideOlder() && reason != event.ReasonOverflow:
		return
	case reason == "":
		prepare(s)
		return
	case s.end <= s.Request.Head:
		s.Reason = noOlder
		return
	case reason == event.ReasonThreshold && s.inVain():
		s.Reason = Reason{event.CodeInVain, "the last compactions saved too little: there is none until the conversation has grown"}
	default:
		compact(s, reason)
	}
	if s.Total() > s.Limits.Usable {
		compactMinimally(s, reason)
	}
	if s.Total() > s.Limits.Usable {
		fitResults(s)
	}
	if s.Compaction != nil && s.Compaction.Kind == event.CompactionCompleted {
		s.Compaction.TokensAfter = int(float64(s.Total()) * s.Scale.Ratio)
	}
}

// reasonToCompact is why there is a compaction; empty if there is no reason for one.
func (s *State) reasonToCompact() string {
	switch {
	case s.Refused:
		return event.ReasonOverflow
	case s.Asked:
		return event.ReasonManual
	case s.Total() > s.Limits.CompactLine:
		return event.ReasonThreshold
	case s.OverBudget:
		return event.ReasonBudget
	}
	return ""
}

// maxCompactions is how many compactions of a conversation are remembered, to tell whether more of them pay.
const maxCompactions = 10

// inVain reports whether the last compaction, or the last ten together, saved too little, and the request has not grown
// by a tenth since.
func (s *State) inVain() bool {
	all := s.Decision.Compactions
	if len(all) == 0 || float64(s.Total()) >= (1+minGain)*float64(all[len(all)-1].After) {
		return false
	}
	saved := func(list []ledger.Compaction) (sum float64) {
		for _, c := range list {
			sum += 1 - float64(c.After)/float64(max(c.Before, 1))
		}
		return sum / float64(len(list))
	}
	return saved(all[len(all)-1:]) < minGain || len(all) == maxCompactions && saved(all) < minGain
}

// Reasons why nothing is compacted.
var (
	noOlder   = Reason{event.CodeNothingOlder, "there is no older group that could be left out"}
	noSmaller = Reason{event.CodeNoSmaller, "a summary would take at least as many tokens as it could replace"}
	tooLittle = Reason{event.CodeSavesLittle, "the older groups are less than a tenth of the request"}
)

// compact replaces old groups by a summary that saves at least a tenth of the request.
func compact(s *State, reason string) {
	c := newCompaction(s, false)
	c.tail = max(min(s.Limits.KeepTail, c.target-c.fixed-c.summary), minTail)
	least := int(minGain * float64(s.Total()))
	if s.Asked || s.Refused {
		least = 0
	}
	c.run(reason, least)
}

// compactMinimally is compact where every token counts: next to nothing of the summary and of the tail stays.
func compactMinimally(s *State, reason string) {
	const tail = 0.1 // of usable
	c := newCompaction(s, true)
	c.tail = max(min(int(tail*float64(s.Limits.Usable)), s.Limits.Usable-c.fixed-c.summary), 0)
	if s.count(c.says.Text) > int(tail*float64(s.Limits.Usable)) {
		c.says = recap.Says{}
	}
	c.summary += s.count(c.says.Text) - c.budgets.Prose // no more is asked for
	c.run(reason, int(minGain*float64(s.Total())))
}

// run compacts if that saves more than least tokens; if not, nothing changes.
func (c *compaction) run(reason string, least int) {
	s, total := c.s, c.s.Total()
	cut, newest := c.cut()
	if cut < 0 {
		s.Reason = noOlder
		return
	}
	large := c.overTail(newest)
	saved := c.savedBy(cut)
	if !s.Asked && saved+large <= least {
		s.Reason = tooLittle
		return
	}
	if s.Compaction == nil {
		s.Compaction = &event.Compaction{Kind: event.CompactionFailed, Reason: reason, Mode: s.Style.Mode,
			Detail: s.Style.Detail, TokensBefore: int(float64(total) * s.Scale.Ratio),
			MessagesBefore: s.Request.MessagesIn(0, len(s.Request.Items))}
	}
	if cut > c.from && !c.minimal {
		cut = c.findProse(cut, total-saved)
	}
	before := s.checkpoint()
	if large > 0 {
		c.shrinkTail(newest, large)
	}
	files := 0
	if cut > c.from {
		files = c.write(cut)
	}
	if total-s.Total() <= least {
		s.undo(before)
		if s.Reason = tooLittle; s.Asked {
			s.Reason = noSmaller
		}
		if s.Compaction.Kind == event.CompactionFailed {
			s.Compaction.Why = s.Reason.Text
		}
		return
	}
	s.Reason = Reason{}
	s.because(event.CauseOfReason(reason))
	c.report(cut, total, files)
}

// report notes what the compaction came to.
func (c *compaction) report(cut, before, files int) {
	s, n := c.s, c.s.Compaction
	n.Kind, n.Why = event.CompactionCompleted, cmp.Or(n.Why, "")
	if c.says.Text == "" && (n.Mode == prose.ModeLLM || n.Mode == prose.ModeHybrid) {
		n.Mode = prose.ModeIntent
	}
	n.TokensAfter, n.Files, n.TurnsKept = int(float64(s.Total())*s.Scale.Ratio), files, 1
	n.MessagesAfter = s.Request.MessagesIn(0, c.from) + s.Request.MessagesIn(cut, len(s.Request.Items)) + 1
	for i := cut + 1; i < len(s.Request.Items); i++ {
		if s.Request.Speaks(&s.Request.Items[i]) {
			n.TurnsKept++
		}
	}
	all := append(slices.Clip(s.Decision.Compactions), ledger.Compaction{Before: before, After: s.Total()})
	s.Decision.Compactions = all[max(0, len(all)-maxCompactions):]
}

// cuts returns the places where the tail may begin, the last one first, each with the tokens behind it. A tail begins
// with an answer of the model, and holds whatever the model has not seen.
func (c *compaction) cuts() (list []cutPlace) {
	s := c.s
	groups := s.Request.Groups()
	behind, g := 0, len(groups)-1
	for i := len(s.Request.Items) - 1; i > c.done && g >= 0; i-- {
		behind += s.sent[i]
		for g >= 0 && groups[g].First > i {
			g--
		}
		if g < 0 || groups[g].First != i || !s.Request.Items[i].StartsAnswer || i >= s.end {
			continue
		}
		if len(list) == 0 && i > c.newestGroup() {
			continue
		}
		list = append(list, cutPlace{i, behind})
	}
	return list
}

// cutPlace is an item at which a tail may begin, and the tokens from there on.
type cutPlace struct{ item, behind int }

// newestGroup is the first item of the group that holds the first result which the model has not seen; the number of
// items if there is none.
func (c *compaction) newestGroup() int {
	s, first := c.s, len(c.s.Request.Items)
	for i := first - 1; i >= c.from; i-- {
		if s.Request.Items[i].Role == conversation.Tool && s.mustShow(i) {
			first = i
		}
	}
	for first > c.from && first < len(s.Request.Items) && !s.Request.Items[first].StartsAnswer {
		first--
	}
	return first
}

// cut returns the earliest place with no more behind it than the tail may have; if the newest group alone has more, the
// tail is that group. newest is where that begins. Both are -1 if there is no place.
func (c *compaction) cut() (cut, newest int) {
	cut, newest = -1, -1
	for _, place := range c.cuts() {
		if newest < 0 {
			newest = place.item
		}
		if place.behind <= c.tail {
			cut = place.item
		}
	}
	if cut < 0 {
		cut = newest
	}
	return cut, newest
}

// savedBy is how many tokens go with the items before a cut, less what comes in their place.
func (c *compaction) savedBy(cut int) int {
	if cut <= c.from {
		return 0
	}
	n := -c.summary
	for i := c.from; i < cut; i++ {
		if !c.stays[i] {
			n += c.s.sent[i]
		}
	}
	return n
}

// overTail is by how many tokens the results of the newest group are too large for the tail, as far as they may be
// shortened: the model has seen them, or the request was refused.
func (c *compaction) overTail(newest int) int {
	if c.minimal {
		return 0
	}
	have, most := -c.tail, 0
	for i := newest; i < len(c.s.Request.Items); i++ {
		have += c.s.sent[i]
		if c.s.isShrinkable(i) && !c.s.mustShow(i) {
			most += c.s.sent[i]
		}
	}
	return max(min(have, most), 0)
}

// shrinkTail shortens the largest of these results by about large tokens together.
func (c *compaction) shrinkTail(newest, large int) {
	var items []int
	for i := newest; i < len(c.s.Request.Items); i++ {
		if c.s.isShrinkable(i) && !c.s.mustShow(i) {
			items = append(items, i)
		}
	}
	keep := c.s.level(items, large)
	for _, i := range items {
		if c.s.sent[i] > keep {
			c.s.shrink(i, keep-stubTokens)
		}
	}
}

// enough is the size to which a request has to come down so that a summary which is there, or being made, is taken: one
// that must be waited for and paid is worth a little room.
func (c *compaction) enough() int {
	if c.s.Refused {
		return c.s.Limits.Usable
	}
	return c.target + c.s.Limits.Usable/10
}

// findProse finds what a model says about the items before a cut: one that is ready or being made for another cut which
// brings the request down far enough, else it asks. It returns the cut that the text is for. after is what the request
// takes with the first cut.
func (c *compaction) findProse(cut, after int) int {
	if c.s.Prose == nil {
		return cut
	}
	pending := 0
	for _, place := range c.placesAround(cut, after, 0) {
		text, ready, being := c.s.Prose.Look(place, c.says)
		if ready {
			c.s.Compaction.Prepared = true
			c.says = recap.Says{Text: text, Until: place}
			return place
		}
		if being && pending == 0 {
			pending = place
		}
	}
	if c.s.Refused {
		c.s.Compaction.Why = "a refused request does not wait for a summary"
		return cut
	}
	if pending > 0 {
		cut = pending
	} else if !c.isFamiliar(cut) {
		c.s.Compaction.Why = "no model is asked about a conversation that was not seen before"
		return cut
	}
	text, cost, err := c.s.Prose.Ask(cut, c.says)
	if err != nil {
		c.s.Compaction.Why = err.Error()
		return cut
	}
	c.says, c.s.Compaction.Cost = recap.Says{Text: text, Until: cut}, cost
	return cut
}

// placesAround returns the cuts for which a summary that is there would do: those that leave the request small enough
// when it has grown by so many tokens, the last one first, down to half of the tail.
func (c *compaction) placesAround(cut, after, growth int) (places []int) {
	const maxLooks = 300
	least := min(c.tail/2, c.tail-c.s.Limits.Usable/10)
	if ahead := c.s.Decision.Ahead.End; ahead > c.done && ahead < c.s.end {
		places = append(places, ahead)
	}
	for _, place := range c.cuts() {
		if place.item > cut && place.behind < least {
			continue
		}
		size := after
		for i := place.item; i < cut; i++ {
			size += c.s.sent[i]
		}
		if place.item < cut && size+growth > c.enough() || len(places) == maxLooks {
			break
		}
		places = append(places, place.item)
	}
	return places
}

// isFamiliar reports whether most of the items before a cut were decided on before. A client whose history never
// continues the one before would have a model asked at each turn, for nothing.
func (c *compaction) isFamiliar(cut int) bool { return c.s.Asked || 2*c.s.Known >= c.from+cut }

// prepare has a summary made ahead of need, once the request is over its line for that, and again when it has grown by a
// twentieth of usable.
func prepare(s *State) {
	step, total := s.Limits.Usable/20, s.Total()
	if total <= s.Limits.PrepareLine {
		s.Decision.Ahead = ledger.Ahead{}
		return
	}
	if s.Prose == nil || total < s.Decision.Ahead.Tokens+step || s.end <= s.Request.Head {
		return
	}
	c := newCompaction(s, false)
	growth := max(0, s.Limits.CompactLine-total) + step
	room := c.target - c.fixed - c.summary - growth
	c.tail = max(min(s.Limits.KeepTail, room), minTail)
	cut, _ := c.cut()
	if cut <= c.from || room < minTail || !c.isFamiliar(cut) {
		return
	}
	saved := c.savedBy(cut)
	if saved <= int(minGain*float64(total)) || total-saved+growth > c.enough() {
		return
	}
	if s.Prose.Prepare(cut, c.says) {
		s.Decision.Ahead = ledger.Ahead{End: cut, Tokens: total}
	}
}

// write puts the summary in the place of the items before a cut, but for those that stay, and returns how many files it
// names. The first run that goes carries the summary.
func (c *compaction) write(cut int) (files int) {
	s, first := c.s, c.from
	for first < cut && c.stays[first] {
		first++
	}
	for cut > first && c.stays[cut-1] {
		cut--
	}
	if first == cut {
		return 0
	}
	artifacts := s.keepItems(first, cut)
	span := c.span(cut)
	span.Sent = c.sentBeside(cut)
	index := ""
	if s.Style.Mode == prose.ModeLossless {
		index = recap.Index(span)
	}
	text, files := recap.Text(span, c.says, index, s.whereAllLies(artifacts[0]))
	var edits []ledger.Edit
	for i := first; i < cut; i++ {
		if c.stays[i] {
			continue
		}
		e := ledger.Edit{First: i, Count: 1, Op: ledger.Drop, Step: ledger.StepCompact, Why: s.whyCompacted()}
		for e.End() < cut && !c.stays[e.End()] {
			e.Count++
		}
		for k := e.First; k < e.End(); k++ {
			e.Saved += s.Size(k)
		}
		if len(edits) == 0 {
			e.Text, e.Artifacts = text, artifacts
			e.Prose, e.Told = c.says.Text, c.says.Until
			e.Tokens = s.count(text)
			e.Saved -= e.Tokens
		}
		edits = append(edits, e)
		i = e.End() - 1
	}
	s.Add(edits...)
	return files
}

// sentBeside returns all texts that are sent beside the items before a cut.
func (c *compaction) sentBeside(cut int) (texts []string) {
	s := c.s
	dropped, cleared, shortened := s.edited()
	for i := range s.Request.Items {
		if i >= c.from && i < cut || dropped[i] {
			continue
		}
		it := &s.Request.Items[i]
		for k := range it.Calls {
			texts = append(texts, activity.Texts(s.Request.Body, &it.Calls[k]))
		}
		if !cleared[i] && !shortened[i] {
			texts = append(texts, s.Request.TextOf(it))
		}
	}
	for k := range s.Edits {
		if e := &s.Edits[k]; e.First >= cut && e.Op != ledger.Drop {
			texts = append(texts, e.Text)
		}
	}
	return texts
}

// whereAllLies says where a transcript lies, and how to read it.
func (s *State) whereAllLies(name string) string {
	at := s.addressOf(name)
	switch {
	case at == "":
		return "Kept as artifact " + name + ", which you cannot read from here"
	case strings.HasPrefix(at, "http://"), strings.HasPrefix(at, "https://"):
		return "All of it is in " + at + ". Fetch it and search it: it is long"
	case s.ReadsByTool:
		return "All of it is " + at + ". Search it with " + Tool + ", or read some of its lines"
	}
	return fmt.Sprintf("All of it is in %s. Search it with grep, or read some of its lines", at)
}

// whyCompacted is the code of the compaction that is made.
func (s *State) whyCompacted() event.Code {
	switch s.reasonToCompact() {
	case event.ReasonOverflow:
		return event.CodeRefused
	case event.ReasonManual:
		return event.CodeAsked
	case event.ReasonBudget:
		return event.CodeBudget
	}
	return event.CodeLine
}
