package pages

import (
	"cmp"
	"fmt"
	"strings"

	"epitome/console/story"
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
	var all []string
	for c := range e.Causes.All() {
		all = append(all, c.Sentence())
	}
	if e.Inner != "" && !e.Causes.Has(event.CauseBroken) { // whose sentence says the same
		all = append(all, "Something failed inside epitome: "+e.Inner)
	}
	if e.Reason != "" {
		all = append(all, e.Reason)
	} else if len(all) == 0 && e.Code != event.NoCode {
		all = append(all, codeText(e.Code))
	}
	return strings.Join(all, " ")
}

// codeText says a reason code in words.
func codeText(c event.Code) string { return cmp.Or(c.Sentence(), string(c)) }

// faultTexts say what went wrong in an exchange.
var faultTexts = map[event.Fault]string{
	event.ClientGone:  "the client left before it had the whole answer",
	event.ClientSlow:  "the client stopped reading its answer",
	event.Refused:     "epitome refused the request",
	event.Unreachable: "the upstream could not be reached",
	event.Broken:      "the upstream closed the connection before its answer began",
	event.Timeout:     "the upstream did not answer in time",
	event.Truncated:   "the upstream closed the connection within its answer",
	event.Failed:      "the upstream reported an error within its answer",
	event.Stopped:     "epitome was stopped",
	event.Panic:       "a bug in epitome",
}

// failed says how an exchange failed; empty if it did not.
func failed(e event.Exchange) string {
	var all []string
	if e.Status >= 400 {
		all = append(all, fmt.Sprintf("answered %d", e.Status))
	}
	if e.Fault != event.None {
		all = append(all, cmp.Or(faultTexts[e.Fault], string(e.Fault)))
	}
	if e.Err != "" && e.Err != faultTexts[e.Fault] {
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

// stepText says what an edit does to its messages.
func stepText(e story.Edit) string {
	switch {
	case e.Rung == "offload":
		return "offload: an excerpt"
	case e.Rung == "clear":
		return "clear: a stub"
	case e.Rung == "compact" && e.After > 0:
		return "compact: the summary"
	case e.Rung == "compact":
		return "compact: left out"
	}
	return e.Rung
}

// refusedText says why a provider refused a request.
func refusedText(kind string) string {
	return cmp.Or(map[string]string{
		"input":     "it was longer than the model's window",
		"output":    "there was no room for the output that it asked for",
		"rate":      "it was larger than the rate limit",
		"bytes":     "it had too many bytes",
		"malformed": "the provider took the conversation for malformed",
		"thinking":  "the provider takes thinking only where it was produced",
	}[kind], kind)
}

// stagesText says how a refused request was changed each time before it was sent again.
func stagesText(stages string) string {
	texts := map[string]string{
		"output":   "less output requested",
		"clear":    "old results cleared",
		"compact":  "old turns compacted",
		"bare":     "tool calls and results left out",
		"users":    "user messages moved to the transcript",
		"whole":    "sent unchanged",
		"thinking": "thinking left out",
	}
	all := strings.Split(stages, ", ")
	for i, stage := range all {
		all[i] = cmp.Or(texts[stage], stage)
	}
	return strings.Join(all, ", then ")
}
