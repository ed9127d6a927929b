package ladder

import (
	"fmt"
	"slices"
	"strings"

	"epitome/event"
	"epitome/rewrite/conversation"
	"epitome/rewrite/excerpt"
	"epitome/rewrite/ledger"
)

// Filter applies the user's own rules: only text of older turns, the newest turns, messages or results alone, shorter
// old answers. Each acts in strides of half its number, so that the beginning of a conversation stays as it is for many
// turns.
func Filter(s *State) {
	rules := s.Limits.Conf.Rules
	if rules == (Rules{}) || s.end <= s.Request.Head || !s.mayDecideOlder() {
		return
	}
	edits := len(s.Added)
	leaveOldest(s, rules.Turns, rules.Messages)
	if rules.Pairs > 0 {
		clearOlderResults(s, rules.Pairs)
	}
	if rules.TextOnly {
		leaveOlderCalls(s)
	}
	if rules.Assistant > 0 {
		shortenAnswers(s, rules.Assistant)
	}
	if len(s.Added) > edits {
		s.because(event.CauseRules)
	}
}

// overdue is how many of have things a rule that keeps keep of them takes away now: none until half as many more have
// come.
func overdue(have, keep int) int {
	if keep <= 0 || have < keep+stride(keep) {
		return 0
	}
	return have - keep
}

// stride is how many things a rule that keeps keep of them takes away at once, at least.
func stride(keep int) int { return max(1, keep/2) }

// filteredEnd is the end of whatever was left out before behind the head.
func (s *State) filteredEnd() int {
	end := s.Request.Head
	for k := range s.Edits {
		if s.Edits[k].Op == ledger.Drop {
			end = max(end, s.Edits[k].End())
		}
	}
	return end
}

// leaveOldest leaves the oldest turns or messages out, in whole groups.
func leaveOldest(s *State, turns, messages int) {
	done, end := s.filteredEnd(), s.Request.Head
	var begins []int // of turns
	for i := done; i < s.end; i++ {
		if s.Request.Speaks(&s.Request.Items[i]) {
			begins = append(begins, i)
		}
	}
	if n := overdue(len(begins), turns); n > 0 {
		end = begins[n]
	}
	if n := overdue(s.Request.MessagesIn(done, s.end), messages); n > 0 {
		at := done
		for at < s.end && s.Request.MessagesIn(done, at) < n {
			at++
		}
		end = max(end, at)
	}
	for _, g := range s.Request.Groups() { // to the beginning of a group
		if g.First < end && end < g.End {
			end = g.First
		}
	}
	if end <= done || end >= s.end {
		return
	}
	s.drop(s.Request.Head, end, event.CodeOldest, "older than the messages that are to be sent", "")
}

// drop leaves items out, but for those of groups that have to stay. The first run says so.
func (s *State) drop(first, end int, why event.Code, reason, said string) {
	total, before := s.Total(), s.checkpoint()
	var edits []ledger.Edit
	for _, g := range s.Request.Groups() {
		if g.First < first || g.End > end || s.isPinned(g) || s.Request.Items[g.First].Role == conversation.System {
			continue
		}
		if n := len(edits); n > 0 && edits[n-1].End() == g.First {
			edits[n-1].Count += g.End - g.First
		} else {
			edits = append(edits, ledger.Edit{First: g.First, Count: g.End - g.First, Op: ledger.Drop,
				Step: ledger.StepFilter, Why: why})
		}
	}
	for k := range edits {
		e := &edits[k]
		e.Artifacts = s.keepItems(e.First, e.End())
		if k == 0 {
			what := fmt.Sprintf("%d earlier messages left out: %s", s.Request.MessagesIn(first, end), reason)
			e.Text = excerpt.Note(what, s.whereAllLies(e.Artifacts[0])) + said
			e.Tokens = s.count(e.Text)
		}
		for i := e.First; i < e.End(); i++ {
			e.Saved += s.Size(i)
		}
		e.Saved -= e.Tokens
	}
	if s.Add(edits...); total-s.Total() < leastSaving {
		s.undo(before)
	}
}

// clearOlderResults clears all results but the newest.
func clearOlderResults(s *State, keep int) {
	var results []int
	for i := range s.Request.Items {
		if s.Request.Items[i].Role == conversation.Tool {
			results = append(results, i)
		}
	}
	dropped, cleared, _ := s.edited()
	var list []candidate
	for _, i := range results[:max(0, len(results)-keep)] {
		if s.sent[i] >= leastFreed && !dropped[i] && !cleared[i] && !s.isKept(i) && !s.mustShow(i) && i < s.end {
			list = append(list, candidate{item: i})
		}
	}
	if len(list) >= stride(keep) {
		s.clearAll(list, event.CodeOlderResults)
	}
}

// leaveOlderCalls leaves the calls and results of older groups out, and keeps what the model said beside them.
func leaveOlderCalls(s *State) {
	dropped, _, _ := s.edited()
	var older []conversation.Group
	for _, g := range s.Request.Groups() {
		if g.End <= s.end && len(s.Request.Items[g.First].Calls) > 0 && !dropped[g.First] && !s.isPinned(g) {
			older = append(older, g)
		}
	}
	keep := max(1, s.Limits.Age)
	if older = older[:max(0, len(older)-keep)]; len(older) < stride(keep) {
		return
	}
	for k := 0; k < len(older); {
		first, end, said := older[k].First, older[k].First, ""
		for k < len(older) && older[k].First == end {
			if text := strings.TrimSpace(s.Request.TextOf(&s.Request.Items[end])); text != "" {
				said += "\nYou said before a call:\n> " + strings.ReplaceAll(text, "\n", "\n> ")
			}
			end = older[k].End
			k++
		}
		s.drop(first, end, event.CodeTextOnly, "calls and results of older turns are not sent", said)
	}
}

// shortenAnswers cuts long texts of the model's in older groups, several at once.
func shortenAnswers(s *State, limit int) {
	const atOnce = 3
	dropped, cleared, shortened := s.edited()
	newest := s.answers[s.end-1]
	var edits []ledger.Edit
	for i := range s.Request.Items[:s.end] {
		it := &s.Request.Items[i]
		if it.Role != conversation.Assistant || dropped[i] || cleared[i] || shortened[i] || it.Locked ||
			newest-s.answers[i] < s.Limits.Age || s.sent[i] <= limit {
			continue
		}
		texts := s.textsOf(i)
		if len(texts) != 1 || texts[0].tokens <= limit || s.isMarked(texts[0].text) {
			continue
		}
		t := texts[0]
		short, omitted := excerpt.Lines(t.text, limit, s.count)
		if omitted == 0 {
			continue
		}
		names := s.keepText(t.raw, t.text)
		what := fmt.Sprintf("%d of %s omitted, of an earlier answer (%d tokens)", omitted,
			lines(excerpt.CountLines(t.text)), t.tokens)
		e := ledger.Edit{First: i, Count: 1, Op: ledger.ReplaceText, Part: t.part, Artifacts: names,
			Text: excerpt.Note(what, s.whereToRead(names, t.tokens)) + "\n" + short,
			Step: ledger.StepFilter, Why: event.CodeLongAnswer}
		e.Tokens = s.count(e.Text)
		if e.Saved = t.tokens - e.Tokens; e.Saved >= leastSaving {
			edits = append(edits, e)
		}
	}
	if len(edits) >= atOnce {
		s.Add(slices.Clip(edits)...)
	}
}
