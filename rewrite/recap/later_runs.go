package recap

import (
	"fmt"
	"slices"
	"strings"

	"epitome/rewrite/excerpt"
	"epitome/rewrite/history"
	"epitome/rewrite/plan"
	"epitome/rewrite/recap/alike"
	"epitome/rewrite/recap/errand"
	"epitome/rewrite/recap/rerun"
	"epitome/rewrite/shorten"
)

// run is a call with what it does.
type run struct {
	res     *history.Result
	errands []errand.Errand
}

// newestRuns are the calls that failures are held against.
func (c *calls) newestRuns() []run {
	const most = 500
	return c.runs[max(0, len(c.runs)-most):]
}

// laterRun is the newest call behind a failure that did all of it again, or more, and whose output tells how that
// ended; nil if there is none.
func (c *calls) laterRun(f *failure) *history.Result {
	for _, r := range slices.Backward(c.newestRuns()) {
		if r.res.Item <= f.end.Item {
			break
		}
		ending := c.sum.endingOf(c.endOf(r.res))
		if !ending.Failed() && !ending.Succeeded() || ending.Refusal.KeptAll() {
			continue
		}
		isAgain := func(t errand.Errand) bool {
			return slices.ContainsFunc(r.errands, func(now errand.Errand) bool {
				return !now.Unseen && now.Place == t.Place && rerun.IsWider(now.Words, t.Words)
			})
		}
		if len(f.errands) > 0 && !slices.ContainsFunc(f.errands, func(t errand.Errand) bool { return !isAgain(t) }) {
			return c.endOf(r.res)
		}
	}
	return nil
}

// shownAgain says how many of the lines that tell of a failure a later result still shows, and of how many. Numbers by
// themselves, as of lines and shares of time, may differ.
func (r *writer) shownAgain(f *failure, later *history.Result) (shown, all int) {
	const most = 40 // lines of the failure
	screen, _ := shorten.FinalScreen(r.p.TextOf(later.Item))
	lines := map[string]bool{}
	for l := range strings.Lines(screen) {
		lines[alike.WithoutNumbers(l)] = true
	}
	screen, _ = shorten.FinalScreen(r.p.TextOf(f.end.Item))
	telling := excerpt.Failures(screen, most)
	if len(telling) == 0 {
		telling = r.tellingLines(f.end, most)
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
func (c *calls) noteOfLater(f *failure) (note string, of standing) {
	later := c.laterRun(f)
	if later == nil {
		return "", notHeld
	}
	shown, all := c.sum.shownAgain(f, later)
	ending := c.sum.endingOf(later)
	switch message := plan.NumberOf(c.sum.p, later.Item); {
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
