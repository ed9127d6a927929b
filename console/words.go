package console

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"epitome/event"
	"epitome/event/journal"
)

// phrases are the texts that apply.
type phrases []string

func (p *phrases) add(applies bool, text string) {
	if applies {
		*p = append(*p, text)
	}
}

// changes says in a few words what was newly done to a request.
func changes(e event.Exchange) string {
	var p phrases
	p.add(e.Offloaded > 0, plural(e.Offloaded, "new result")+" shortened (offload)")
	p.add(e.Cleared > 0, plural(e.Cleared, "old result")+" cleared")
	p.add(e.Compacted > 0, plural(e.Compacted, "old message")+" compacted into a summary")
	p.add(slices.Contains(e.Causes, event.CodeRestored), "earlier messages sent whole again")
	p.add(e.Rescue.Rescued, "the provider refused the first try and answered a later one")
	p.add(e.Rescue.Kind != "" && !e.Rescue.Rescued, "the provider refused every try")
	p.add(len(p) == 0 && e.Action != event.ActionNone && e.Action != event.ActionAdd, "nothing new; earlier changes were sent in the same form")
	return cmp.Or(strings.Join(p, "; "), "nothing")
}

// changed reports whether something was newly done to a request, or failed.
func changed(e event.Exchange) bool { return event.Step(&e) != "" || e.Action == event.ActionBypass }

// why says why a request was changed, or why not; empty if that is not recorded.
func why(e event.Exchange) string {
	var p phrases
	reason := cmp.Or(e.Reason, e.Code.Sentence())
	p.add(len(e.Causes) > 0, e.Causes.Sentences())
	p.add(e.Inner != "", "Something failed inside epitome: "+e.Inner+".")
	p.add(reason != "", sentence(reason))
	return strings.Join(p, " ")
}

// sentence returns a text that begins with a capital and ends with a full stop.
func sentence(text string) string {
	return strings.ToUpper(text[:min(len(text), 1)]) + strings.TrimSuffix(text[min(len(text), 1):], ".") + "."
}

// failed says how an exchange failed; empty if it did not.
func failed(e event.Exchange) string {
	var p phrases
	p.add(e.Status >= 400, "answered "+strconv.Itoa(e.Status))
	p.add(e.Fault != event.None, strings.ReplaceAll(string(e.Fault), "_", " "))
	p.add(e.Err != "", e.Err)
	p.add(e.Action == event.ActionBypass, "sent unchanged after a fault in epitome: "+cmp.Or(e.Inner, e.Reason))
	return strings.Join(p, ": ")
}

// sumUp says in a sentence what became of a conversation.
func sumUp(c *conversation) string {
	p := phrases{plural(c.Turns, "turn")}
	before, after := Tokens(int64(c.Raw)), Tokens(int64(c.Tokens))
	p.add(c.Observed(), before+" tokens sent unchanged in mode observe")
	p.add(!c.Observed(), before+" → "+after+" tokens")
	p.add(c.AliveSince > 0, "alive since turn "+strconv.Itoa(c.AliveSince))
	money := c.Sums.Money
	name, amount := saving(money)
	p.add(money.Compared > 0 || money.Own > 0, amount+" "+strings.ToLower(name))
	p.add(c.Sums.ReadAgain > 0, "read again "+plural(c.Sums.ReadAgain, "time"))
	return strings.Join(p, ", ") + "."
}

// saving returns the name and the amount of what was saved, which may be an extra cost.
func saving(m journal.Money) (name, amount string) {
	if m.Saved < 0 {
		return "Extra cost", Dollars(-m.Saved)
	}
	return "Saved", Dollars(m.Saved)
}

// costs says what the requests with a price cost without epitome, what with it, and what summaries cost.
func costs(m journal.Money) string {
	text := plural(m.Compared, "request") + " that fit: " + Dollars(m.Raw) + " without epitome, " + Dollars(m.Sent) + " with it"
	if m.Own > m.Distills {
		text += ", plus " + Dollars(m.Own-m.Distills) + " for summaries"
	}
	if m.Distills > 0 {
		text += ", plus " + Dollars(m.Distills) + " for distillates of results"
	}
	return text
}

// MoneyText says in sentences what epitome saved, in the words of the pages. It is empty if no request has a price and
// none would have failed.
func MoneyText(m journal.Money) string {
	var p phrases
	name, amount := saving(m)
	p.add(m.Compared+m.Own > 0, costs(m)+". "+name+": "+amount+".")
	p.add(m.Oversized > 0, plural(m.Oversized, "request")+" would have failed without epitome, "+
		"as they are larger than the window. They are not compared.")
	return strings.Join(p, " ")
}

// ReadAgain says what agents have read again after it was taken out; empty if nothing was compacted or read again. who
// is "the agent" or "agents".
func ReadAgain(s journal.Sums, who string) string {
	if s.Compactions+s.ReadAgain == 0 {
		return ""
	}
	text := who + " read "
	if s.Compactions > 0 {
		text = "after " + plural(s.Compactions, "compaction") + " " + text
	}
	if s.ReadAgain == 0 {
		return sentence(text + "nothing again")
	}
	return sentence(text + plural(s.ReadAgain, "thing") + " again, " + plural(s.ReadAgainTokens, "token"))
}

// missTexts say why the provider's cache had less of a request than the request before had put there.
var missTexts = map[event.Miss]string{
	event.MissFirst:    "first request of the conversation",
	event.MissModel:    "another model was asked before",
	event.MissPause:    "the pause was longer than the provider keeps its cache",
	event.MissOurs:     "epitome changed earlier messages",
	event.MissTools:    "the client changed its tools",
	event.MissLeading:  "the client changed its system prompt or settings",
	event.MissClient:   "the client changed an earlier message",
	event.MissSmall:    "too small to be cached (under 1,024 tokens)",
	event.MissProvider: "the provider dropped the unchanged beginning from its cache",
	event.MissUnknown:  "the provider did not report cached tokens",
}

func missText(m event.Miss) string { return missTexts[m] }

// ClockText says for how long the provider's cache holds a conversation, and what the next request costs after that.
func ClockText(c *event.Clock) string {
	cost := Tokens(int64(c.Tokens)) + " tokens again (" + Dollars(c.Nano) + ")"
	if c.Left == 0 {
		return "cache dropped, " + cost
	}
	return "cache " + leftText(c.Left) + ", then " + cost
}

// leftText writes seconds as minutes and seconds, such as 3:40.
func leftText(seconds int) string { return fmt.Sprintf("%d:%02d", seconds/60, seconds%60) }

// Rebilled says what part of a bill was for tokens that the provider's cache had lost, if any, and why it had.
func Rebilled(s journal.Sums) (part, causes string) {
	var p phrases
	all := 0.0
	add := func(cause string, misses ...event.Miss) {
		share := 0.0
		for _, m := range misses {
			share += float64(s.Rebilled[m]) / float64(s.Money.Billed)
		}
		all += share
		p.add(share > 0, Percent(share)+" "+cause)
	}
	add("after a pause", event.MissPause)
	add("as the client changed its prefix", event.MissModel, event.MissTools, event.MissLeading, event.MissClient)
	add("by epitome's edits", event.MissOurs)
	add("lost by the provider", event.MissProvider)
	return Percent(all), strings.Join(p, ", ")
}

// CacheLost says why the provider's cache missed tokens that it had, and how many are billed in full again; empty for none.
func CacheLost(m event.Miss, rebilled int) string {
	if rebilled == 0 {
		return ""
	}
	return "cache lost: " + missText(m) + "; " + Tokens(int64(rebilled)) + " tokens billed in full again"
}
