package pages

import (
	"fmt"
	"strings"

	"epitome/event"
)

// misses says in words why the provider's cache had less of a request than the one before had put there.
var misses = map[event.Miss]string{
	event.MissFirst:    "the first request of the conversation: nothing was there yet",
	event.MissModel:    "another model was asked before, and each model has a cache of its own",
	event.MissPause:    "the pause before it was longer than the provider keeps its cache",
	event.MissOurs:     "a new decision of epitome's changed what had been sent",
	event.MissLeading:  "the client changed its system prompt, its tools or its settings",
	event.MissClient:   "the client changed an earlier message",
	event.MissSmall:    "too small: below 1 024 tokens nothing is cached",
	event.MissProvider: "the provider: the beginning was the same, and yet its cache had less",
	event.MissUnknown:  "the answer says nothing of the cache",
}

// missWords says why the cache had less of e; empty if it did not.
func missWords(m event.Miss) string {
	if m == event.NoMiss {
		return ""
	}
	if words, ok := misses[m]; ok {
		return words
	}
	return text(string(m))
}

// isMiss reports whether something went missing that was there, or should have been.
func isMiss(m event.Miss) bool {
	switch m {
	case event.NoMiss, event.MissFirst, event.MissSmall, event.MissUnknown:
		return false
	}
	return true
}

// unpricedWords says why an amount is unknown.
func unpricedWords(reason string) string {
	switch reason {
	case event.UnpricedModel:
		return "no price of the model is known; [prices] in config.toml can name one"
	case event.UnpricedCached:
		return "no price of cached tokens is known; [prices] in config.toml can name one"
	case event.UnpricedUsage:
		return "the answer says nothing of its tokens"
	case event.UnpricedOdd:
		return "the numbers in the answer contradict each other"
	case event.UnpricedFailed:
		return "there was no answer to pay for"
	case event.UnpricedOther:
		return "the request is no conversation"
	}
	return text(reason)
}

// faultWords says on which side an exchange went wrong.
func faultWords(f event.Fault) string {
	switch f {
	case event.None:
		return ""
	case event.ClientGone:
		return "the client left before it had the whole answer"
	case event.ClientSlow:
		return "the client did not take its answer"
	case event.Refused:
		return "epitome refused the request"
	case event.Unreachable:
		return "the upstream could not be reached"
	case event.Broken:
		return "the upstream broke off before its answer began"
	case event.Timeout:
		return "the upstream was silent for too long"
	case event.Truncated:
		return "the upstream broke off within its answer"
	case event.Stopped:
		return "epitome was stopped"
	case event.Panic:
		return "a bug in epitome; it went on"
	}
	return text(string(f))
}

// what says in a few words what was done to a request.
func what(e event.Exchange) string {
	var all []string
	add := func(format string, n int) {
		if n > 0 {
			all = append(all, fmt.Sprintf(format, n, plural(n)))
		}
	}
	add("offload: %d item%s", e.Offloaded)
	add("clear: %d item%s", e.Cleared)
	if e.Compacted > 0 && isWatched(e) {
		all = append(all, "compact: a summary in place of old turns")
	} else if e.Compacted > 0 {
		all = append(all, "compact: old turns became a summary")
	}
	if e.Rescue.Kind != "" {
		words := "rescue: refused as too long, then answered"
		if !e.Rescue.Rescued {
			words = "rescue failed: refused as too long"
		}
		all = append(all, words)
	}
	done := strings.Join(all, "; ")
	switch {
	case isWatched(e) && done != "":
		return "would be done: " + done
	case done != "":
		return done
	case e.Mode == event.ModeOff:
		return "nothing: mode off"
	case e.Conversation == "":
		return "no conversation"
	case e.Action == event.ActionBypass:
		return "bypass: something failed inside epitome"
	case e.Action == "" || e.Action == event.ActionNone:
		return "nothing"
	case e.Added > 0 && e.Decision == "":
		return addedWords(e) + " added"
	}
	return "nothing new"
}

// addedWords says what a request has beside what its client sent, and that it was.
func addedWords(e event.Exchange) string {
	switch {
	case e.Memory == 0:
		return "an index of context files was"
	case e.Contexts == "":
		return "the project's memory was"
	}
	return "an index of context files and the project's memory were"
}

// ended says of an exchange that did not end well what became of it.
func ended(e event.Exchange) string {
	switch {
	case e.Fault != event.None && e.Status >= 400:
		return fmt.Sprintf("answered %d: %s", e.Status, faultWords(e.Fault))
	case e.Fault != event.None:
		return faultWords(e.Fault)
	case e.Status >= 400:
		return fmt.Sprintf("answered %d", e.Status)
	}
	return ""
}

func plural(n any) string {
	if whole(n) == 1 {
		return ""
	}
	return "s"
}

// why says why something was done to a request, or why nothing was.
func why(e event.Exchange) string {
	switch {
	case e.Causes != 0:
		return causesWords(e, grown(e))
	case e.Inner != "":
		return text(e.Inner)
	case e.Reason != "":
		return text(e.Reason)
	case e.Rescue.Kind != "":
		return "the provider refused it as too long (" + text(e.Rescue.Kind) + ")"
	case e.Compacted > 0 || e.Cleared > 0 || e.Offloaded > 0:
		return codeWords(event.CodeNotNoted)
	case e.Code != event.NoCode:
		return codeWords(e.Code)
	case e.Action != "" && e.Action != event.ActionNone && e.Action != event.ActionBypass && e.Mode == event.ModeOn:
		return "earlier decisions are repeated"
	}
	return ""
}

// causesWords says why items of a request were changed, and why not more was done. tokens is what it had when it was
// held against its lines.
func causesWords(e event.Exchange, tokens int) string {
	var all []string
	for c := range e.Causes.All() {
		all = append(all, causeWords(c, e, tokens))
	}
	if e.Reason != "" {
		all = append(all, "Not all was done: "+strings.TrimRight(text(e.Reason), ". ")+".")
	}
	if e.Inner != "" && !e.Causes.Has(event.CauseBroken) { // which says the same
		all = append(all, "Something failed inside epitome: "+strings.TrimRight(text(e.Inner), ". ")+".")
	}
	return strings.Join(all, " ")
}

// causeWords says one cause, with the numbers that show it.
func causeWords(c event.Cause, e event.Exchange, tokens int) string {
	line, at := 0, ""
	switch c {
	case event.CauseLine:
		line, at = int(e.CompactLine), "old turns become a summary"
	case event.CauseClearAt:
		line, at = int(e.ClearLine), "old results are cleared"
	}
	if line == 0 || tokens < line {
		return c.Sentence()
	}
	return fmt.Sprintf("With %s tokens it was over the line of %s at which %s.", short(tokens), short(line), at)
}

// grown is how many tokens would have been sent without the new decision.
func grown(e event.Exchange) int { return e.TokensAfter.Total() + e.TakenOut }

// codeWords says a code in words.
func codeWords(c event.Code) string {
	if sentence := c.Sentence(); sentence != "" {
		return sentence
	}
	return text(strings.ReplaceAll(string(c), "_", " "))
}

// rungWords says what a rung did to an item, or would have done.
func rungWords(e seenEdit) string {
	switch {
	case e.Watched && e.Rung == "offload":
		return "offload: would be sent as an excerpt"
	case e.Watched && e.Rung == "clear":
		return "clear: a short note would stand in its place"
	case e.Watched && e.Rung == "compact" && e.After > 0:
		return "compact: a summary would be put here"
	case e.Watched && e.Rung == "compact":
		return "compact: would be left out, a summary would stand for it"
	case e.Rung == "offload":
		return "offload: sent as an excerpt"
	case e.Rung == "clear":
		return "clear: a short note stands in its place"
	case e.Rung == "compact" && e.After > 0:
		return "compact: the summary is put here"
	case e.Rung == "compact":
		return "compact: left out, the summary stands for it"
	}
	return text(e.Rung)
}
