package demo

import (
	"fmt"
	"io"
	"strings"
)

// Print writes what came of the session. The turns were told as they came.
func (r *Report) Print(w io.Writer) error {
	p := &page{to: w}
	row := func(name, without, with string) { p.line("%-34s%-39s %s", name, without, with) }
	star := ""
	if r.Died > 0 {
		star = " *"
	}
	sent, cost := r.Sent.Tokens+r.Summaries.Input, int(r.Sent.Cost+r.Summaries.cost())
	p.line("")
	if r.Excerpt != nil {
		r.excerpt(p)
	}
	if r.rewrites() {
		p.line("offload: a large result leaves the conversation for a file, which a line in its place names.")
		p.line("clear: old results do so, many at once. compact: old turns become one summary.")
		p.line("")
		row("", "without epitome", "with epitome")
	} else {
		row("", "sent by the agent", "as it came through, mode "+r.Mode)
	}
	row("turns answered", r.lifespan(), fmt.Sprintf("%d of %d", r.countAnswered(), len(r.Turns)))
	row("largest request, tokens", fmt.Sprintf("%s (%d %% of the model's window)", thousands(r.Raw.Largest), share(r.Raw.Largest, r.Window)),
		fmt.Sprintf("%s (%d %%)", thousands(r.Sent.Largest), share(r.Sent.Largest, r.Window)))
	row("all requests, tokens", short(r.Raw.Tokens)+star, fmt.Sprintf("%s (%d %%)", short(sent), share(sent, r.Raw.Tokens)))
	row("cost, a cached token at a tenth", short(int(r.Raw.Cost))+star,
		fmt.Sprintf("%s (%d %%)", short(cost), share(cost, int(r.Raw.Cost))))
	if star != "" {
		row("", "* had the window had no end", "")
	}
	p.line("")
	r.facts(p)
	return p.err
}

// facts writes what else is worth telling, each fact with its name.
func (r *Report) facts(p *page) {
	add := func(name, format string, a ...any) { p.fact(name, fmt.Sprintf(format, a...)) }
	missed := "WRONG"
	if !r.rewrites() {
		missed = "as was to be seen"
	}
	for _, m := range r.Missed() {
		add(missed, "%s", m)
	}
	if r.Failed != "" {
		return
	}
	add("nothing is lost", "Of %s, %d stand in the last request as they were, and %d in the %s (%s) that it leads to. %d are lost.",
		number(r.Kept.Messages, "message"), r.Kept.Whole, r.Kept.Aside, number(r.Kept.Files, "file"),
		thousands(r.Kept.Bytes/1024)+" KB", r.Kept.Lost)
	right := 0
	for _, q := range r.Questions {
		if q.Got == q.Want {
			right++
		}
	}
	add("it can be read again", "The agent did so %s. Of %s about much earlier turns, %d got the right answer.", times(r.ReadBack), number(len(r.Questions), "question"), right)
	add("the cache keeps hitting",
		"%d of %d requests hold the one before byte for byte; the other %d are the decisions above to clear or to compact. "+
			"Of all tokens sent, %d %% were cached.", r.Extended, len(r.Turns)-1,
		len(r.Turns)-1-r.Extended-r.Unexplained, share(r.Sent.Cached, r.Sent.Tokens))
	if s := r.Restart; s != nil && s.Equal {
		add("decided once", "Stopped and started again before turn %d, epitome sent the same request in the same bytes. "+
			countedToo, s.Turn)
	}
	made := "each summary was made by code alone"
	if r.Compactions == 0 {
		made = "the window never filled so far"
	}
	if s := r.Summaries; s.Requests > 0 {
		made = fmt.Sprintf("the model was asked for a summary %s: %s tokens in, %d %% of them cached, and %s out",
			times(s.Requests), short(s.Input), share(s.Cached, s.Input), short(s.Output))
	}
	if r.Compactions > 0 {
		made += ". The table counts all messages that a summary stands for; epitome's pages, those of the request before and " +
			"after it"
	}
	add("summaries", "%s; %s.", number(r.Compactions, "compaction"), made)
	add("what this cannot show", "%s", cannotShow)
	p.line("")
	p.line("With an agent of yours: epitome run -- your-agent --its-flags")
}

// countedToo says why the turns of epitome's own pages have other numbers.
const countedToo = "Its pages count that request, too: their turns are one ahead from there on."

// cannotShow says what a scripted model leaves open.
const cannotShow = "How well a model works with what it is left. This one is scripted: it always notices that something was taken " +
	"out, and reads it where epitome says. A real one may not. Its summaries are lines that it copies, as many as it is asked for: " +
	"they show what a summary costs, not how good one is. Figures from real sessions are in docs/benchmarks.md."

// rewrites reports whether epitome ran in a mode in which it changes requests.
func (r *Report) rewrites() bool { return r.Mode == "" || r.Mode == "on" }

// excerpt writes what the model got in place of one large result, whole.
func (r *Report) excerpt(p *page) {
	e := r.Excerpt
	p.line("One excerpt whole: in turn %d the model got these %s tokens in place of %s.", e.Turn, thousands(e.After), thousands(e.Before))
	p.line("")
	for l := range strings.Lines(e.Text) {
		p.line("  │ %s", strings.TrimRight(l, "\n"))
	}
	p.line("")
}

// lifespan returns how far the session would have come without epitome.
func (r *Report) lifespan() string {
	if r.Died == 0 {
		return fmt.Sprintf("%d of %d", len(r.Turns), len(r.Turns))
	}
	return fmt.Sprintf("%d, then error 400", r.Died-1)
}

// countAnswered returns how many turns the model answered.
func (r *Report) countAnswered() int {
	if r.Failed != "" {
		return len(r.Turns) - 1
	}
	return len(r.Turns)
}
