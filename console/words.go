package console

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"epitome/event"
)

// observed reports whether a request was sent unchanged because of mode observe. Its event says what mode on would do.
func observed(e event.Exchange) bool { return e.Mode == event.ModeObserve }

// changes says in a few words how a request was changed, and how not.
func changes(e event.Exchange) string {
	var all []string
	if e.Offloaded > 0 {
		all = append(all, "offload: "+plural(e.Offloaded, "result")+" sent as excerpts")
	}
	if e.Cleared > 0 {
		all = append(all, "clear: "+plural(e.Cleared, "old result")+" replaced by stubs")
	}
	if e.Compacted > 0 {
		all = append(all, "compact: "+plural(e.Compacted, "old message")+" replaced by a summary")
	}
	if e.Rescue.Rescued {
		all = append(all, "rescue: refused as too long, then answered")
	} else if e.Rescue.Kind != "" {
		all = append(all, "rescue failed: refused as too long")
	}
	switch text := strings.Join(all, "; "); {
	case observed(e) && text != "":
		return "would be done: " + text
	case text != "":
		return text
	case e.Mode == event.ModeOff:
		return "nothing: mode off"
	case e.Action == event.ActionBypass:
		return "nothing: something failed inside epitome"
	case e.Decision != "":
		return "nothing new: earlier edits repeated"
	}
	return "nothing"
}

// changed reports whether something was newly done to a request.
func changed(e event.Exchange) bool {
	return e.Offloaded+e.Cleared+e.Compacted > 0 || e.Rescue.Kind != "" || e.Action == event.ActionBypass
}

// why says why a request was changed, or why not; empty if that is not recorded.
func why(e event.Exchange) string {
	texts := []string{e.Causes.Sentences(), "", cmp.Or(e.Reason, e.Code.Sentence())}
	if e.Inner != "" {
		texts[1] = "Something failed inside epitome: " + e.Inner
	}
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), " ")
}

// failed says how an exchange failed; empty if it did not.
func failed(e event.Exchange) string {
	var all []string
	if e.Status >= 400 {
		all = append(all, fmt.Sprintf("answered %d", e.Status))
	}
	if e.Fault != event.None {
		all = append(all, strings.ReplaceAll(string(e.Fault), "_", " "))
	}
	if e.Err != "" {
		all = append(all, e.Err)
	}
	if e.Action == event.ActionBypass {
		all = append(all, "sent unchanged, because something failed inside epitome: "+cmp.Or(e.Inner, e.Reason))
	}
	return strings.Join(all, ": ")
}

// missTexts say why the provider's cache had less of a request than the request before had put there.
var missTexts = map[event.Miss]string{
	event.MissFirst:    "first request of the conversation",
	event.MissModel:    "another model was asked before",
	event.MissPause:    "the pause was longer than the provider keeps its cache",
	event.MissOurs:     "epitome changed earlier messages",
	event.MissLeading:  "the client changed its system prompt, tools or settings",
	event.MissClient:   "the client changed an earlier message",
	event.MissSmall:    "too small to be cached (under 1,024 tokens)",
	event.MissProvider: "the provider dropped it: the prefix was the same",
	event.MissUnknown:  "the answer does not say",
}

func missText(m event.Miss) string { return cmp.Or(missTexts[m], string(m)) }

// lost reports whether the provider's cache missed something that it had, or should have had.
func lost(m event.Miss) bool {
	switch m {
	case event.NoMiss, event.MissFirst, event.MissSmall, event.MissUnknown:
		return false
	}
	return true
}
