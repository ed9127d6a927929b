// Package words says in sentences what was done to an exchange, why, and how it ended.
//
// It promises that each code of an event has words, that one without any is told as it is, that a text from outside is
// bounded and has nothing in it that cannot be seen, and that what was only observed is told as what would have been.
package words

import (
	"cmp"
	"fmt"
	"strings"

	"epitome/console/figure"
	"epitome/console/markup"
	"epitome/console/story"
	"epitome/event"
)

// Miss says why the provider's cache had less of a request than the one before had put there; empty if it did not.
func Miss(m event.Miss) string {
	switch m {
	case event.MissFirst:
		return "the first request of the conversation: nothing was there yet"
	case event.MissModel:
		return "another model was asked before, and each model has a cache of its own"
	case event.MissPause:
		return "the pause before it was longer than the provider keeps its cache"
	case event.MissOurs:
		return "a new decision of epitome's changed what had been sent"
	case event.MissLeading:
		return "the client changed its system prompt, its tools or its settings"
	case event.MissClient:
		return "the client changed an earlier message"
	case event.MissSmall:
		return "too small: below 1 024 tokens nothing is cached"
	case event.MissProvider:
		return "the provider: the beginning was the same, and yet its cache had less"
	case event.MissUnknown:
		return "the answer says nothing of the cache"
	}
	return markup.Shown(string(m))
}

// IsMiss reports whether something went missing that was there, or should have been.
func IsMiss(m event.Miss) bool {
	switch m {
	case event.NoMiss, event.MissFirst, event.MissSmall, event.MissUnknown:
		return false
	}
	return true
}

// Unpriced says why an amount is unknown.
func Unpriced(reason string) string {
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
	return markup.Shown(reason)
}

// Fault says on which side an exchange went wrong.
func Fault(f event.Fault) string {
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
	case event.Failed:
		return "the upstream told of an error within its answer"
	case event.Stopped:
		return "epitome was stopped"
	case event.Panic:
		return "a bug in epitome; it went on"
	}
	return markup.Shown(string(f))
}

// Done says in a few words what was done to a request.
func Done(e event.Exchange) string {
	var all []string
	add := func(format string, n int) {
		if n > 0 {
			all = append(all, fmt.Sprintf(format, n, Plural(n)))
		}
	}
	add("offload: %d item%s", e.Offloaded)
	add("clear: %d item%s", e.Cleared)
	if e.Compacted > 0 && Watched(e) {
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
	case Watched(e) && done != "":
		return "would be done: " + done
	case done != "":
		return done
	case e.Mode == event.ModeOff:
		return "nothing: mode off"
	case e.Action == event.ActionBypass:
		return "bypass: something failed inside epitome"
	case e.Conversation == "":
		return "no conversation"
	case e.Action == "" || e.Action == event.ActionNone:
		return "nothing"
	case e.Added > 0 && e.Decision == "":
		return added(e) + " added"
	}
	return "nothing new"
}

// added says what a request has beside what its client sent, and that it was.
func added(e event.Exchange) string {
	switch {
	case e.Memory == 0:
		return "an index of context files was"
	case e.Contexts == "":
		return "the project's memory was"
	}
	return "an index of context files and the project's memory were"
}

// Ended says of an exchange that did not end well what became of it.
func Ended(e event.Exchange) string {
	switch {
	case e.Fault != event.None && e.Status >= 400:
		return fmt.Sprintf("answered %d: %s", e.Status, Fault(e.Fault))
	case e.Fault != event.None:
		return Fault(e.Fault)
	case e.Status >= 400:
		return fmt.Sprintf("answered %d", e.Status)
	}
	return ""
}

// Wrong says what became of an exchange that went wrong, for its client and inside epitome.
func Wrong(e event.Exchange) string {
	end := Ended(e)
	switch {
	case e.Action != event.ActionBypass:
		return end
	case end == "":
		return Done(e)
	}
	return Done(e) + "; " + end
}

// Unstopped is a text from outside without the stop at its end, for who puts one there.
func Unstopped(text string) string { return strings.TrimRight(markup.Shown(text), ". ") }

// Plural is the ending of a noun that n of something have.
func Plural[N markup.Whole](n N) string {
	if n == 1 {
		return ""
	}
	return "s"
}

// Why says why something was done to a request, or why nothing was.
func Why(e event.Exchange) string {
	switch {
	case e.Causes != 0:
		return Causes(e, Grown(e))
	case e.Inner != "":
		return markup.Shown(e.Inner)
	case e.Reason != "":
		return markup.Shown(e.Reason)
	case e.Rescue.Kind != "":
		return "the provider refused it as too long (" + markup.Shown(e.Rescue.Kind) + ")"
	case e.Compacted > 0 || e.Cleared > 0 || e.Offloaded > 0:
		return Code(event.CodeNotNoted)
	case e.Code != event.NoCode:
		return Code(e.Code)
	case e.Action != "" && e.Action != event.ActionNone && e.Action != event.ActionBypass && e.Mode == event.ModeOn:
		return "earlier decisions are repeated"
	}
	return ""
}

// Causes says why items of a request were changed, and why not more was done. tokens is what it had when it was
// held against its lines.
func Causes(e event.Exchange, tokens int) string {
	var all []string
	for c := range e.Causes.All() {
		all = append(all, causeWords(c, e, tokens))
	}
	if e.Reason != "" {
		all = append(all, "Not all was done: "+Unstopped(e.Reason)+".")
	}
	if e.Inner != "" && !e.Causes.Has(event.CauseBroken) { // which says the same
		all = append(all, "Something failed inside epitome: "+Unstopped(e.Inner)+".")
	}
	return strings.Join(all, " ")
}

// causeWords says one cause, with the numbers that show it.
func causeWords(c event.Cause, e event.Exchange, tokens int) string {
	line, at := 0, ""
	switch c {
	case event.CauseLine:
		if tokens == int(e.Compared) && e.Cleared > 0 { // it had less when that line was looked at
			return c.Sentence()
		}
		line, at = int(e.CompactLine), "old turns become a summary"
	case event.CauseClearAt:
		line, at, tokens = int(e.ClearLine), "old results are cleared", cmp.Or(int(e.Compared), tokens)
	}
	if line == 0 || tokens < line {
		return c.Sentence()
	}
	had, most := figure.Tokens(int64(tokens)), figure.Tokens(int64(line))
	if had == most {
		had, most = figure.Thousands(int64(tokens)), figure.Thousands(int64(line))
	}
	return fmt.Sprintf("With %s tokens it was over the line of %s at which %s.", had, most, at)
}

// Grown is how many tokens a request had when it was held against the line for clearing; where that is not noted, those
// that would have been sent without the new decision.
func Grown(e event.Exchange) int { return cmp.Or(int(e.Compared), e.TokensAfter.Total()+e.TakenOut) }

// Code says a code in words.
func Code(c event.Code) string {
	if sentence := c.Sentence(); sentence != "" {
		return sentence
	}
	return markup.Shown(strings.ReplaceAll(string(c), "_", " "))
}

// Rung says what a rung did to an item, or would have done to it in a request that was only observed.
func Rung(e story.Edit, watched bool) string {
	switch {
	case watched && e.Rung == "offload":
		return "offload: would be sent as an excerpt"
	case watched && e.Rung == "clear":
		return "clear: a short note would stand in its place"
	case watched && e.Rung == "compact" && e.After > 0:
		return "compact: a summary would be put here"
	case watched && e.Rung == "compact":
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
	return markup.Shown(e.Rung)
}
