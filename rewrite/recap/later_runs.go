package recap

import (
	"fmt"
	"strings"

	"epitome/rewrite/excerpt"
	"epitome/rewrite/history"
	"epitome/rewrite/recap/alike"
	"epitome/rewrite/recap/fate"
	"epitome/rewrite/shorten"
)

// shownAgain says how many of the lines that tell of a failure a later result still shows, and of how many. Numbers by
// themselves, as of lines and shares of time, may differ.
func (c *calls) shownAgain(f *fate.Failure, later *history.Result) (shown, all int) {
	const most = 40 // lines of the failure
	screen, _ := shorten.FinalScreen(c.span.TextOf(later))
	lines := map[string]bool{}
	for l := range strings.Lines(screen) {
		lines[alike.WithoutNumbers(l)] = true
	}
	screen, _ = shorten.FinalScreen(c.span.TextOf(f.End))
	telling := excerpt.Failures(screen, most)
	if len(telling) == 0 {
		telling = c.tellingLines(f.End, most)
	}
	for _, l := range telling {
		if all++; lines[alike.WithoutNumbers(l)] {
			shown++
		}
	}
	return shown, all
}

// standing is what a later run says of a failure.
type standing int8

const (
	notHeld   standing = iota // nothing that puts its lines out of date
	inPart                    // that some of it may have passed
	toldLater                 // all of it once more
)

// noteOfLater says what a later run shows of a failure.
func (c *calls) noteOfLater(f *fate.Failure) (note string, of standing) {
	later := c.fates.LaterRun(f)
	if later == nil {
		return "", notHeld
	}
	shown, all := c.shownAgain(f, later)
	ending := c.span.EndingOf(later)
	switch message := c.span.NumberOf(later); {
	case all == 0:
	case shown == 0:
		if of = notHeld; ending.Succeeded() {
			of = inPart
		}
		return fmt.Sprintf("; the later run in message %d does not show what failed", message), of
	case shown < all:
		return fmt.Sprintf("; the later run in message %d shows only a part of what failed", message), inPart
	case ending.Failed():
		return "", toldLater
	}
	return "", notHeld
}
