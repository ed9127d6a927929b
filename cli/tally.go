package cli

import (
	"fmt"

	"epitome/console"
	"epitome/console/figure"
)

// unreached is what to do about an agent whose requests do not come.
const unreached = "an agent that reads neither OPENAI_BASE_URL nor ANTHROPIC_BASE_URL needs a setting of its own; " +
	"docs/agents.md has those of many"

// tally says in one line what an epitome has done in its life.
func tally(t console.Totals) string {
	requests := fmt.Sprintf("%d requests", t.Exchanges)
	if t.Exchanges == 1 {
		requests = "1 request"
	}
	became := "became"
	if t.Observed {
		became = "would have become"
	}
	switch {
	case t.Exchanges == 0:
		return "no request came: " + unreached
	case t.TokensBefore == 0:
		return "nothing that it can shorten was seen (" + requests + " passed through)"
	case t.TokensAfter >= t.TokensBefore:
		return requests + ", " + figure.Tokens(int64(t.TokensBefore)) + " tokens; nothing was to be shortened"
	}
	return fmt.Sprintf("%s, %s tokens %s %s (%s less); the largest request had %s, with epitome %s", requests,
		figure.Tokens(int64(t.TokensBefore)), became, figure.Tokens(int64(t.TokensAfter)),
		figure.Percent(float64(t.TokensBefore-t.TokensAfter)/float64(t.TokensBefore)), figure.Tokens(int64(t.LargestBefore)),
		figure.Tokens(int64(t.LargestAfter)))
}
