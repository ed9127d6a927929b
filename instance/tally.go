package instance

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"epitome/console/metrics"
)

// How long the end of a run waits.
const (
	settleTime = time.Second     // for exchanges whose answers the command has read already to be counted
	totalsTime = 3 * time.Second // for the proxy to say what it has counted, as everybody is waited for who is asked
)

// AwaitTally is what the proxy has done, once nothing is under way.
func (r *Running) AwaitTally() (t Tally, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), totalsTime)
	defer cancel()
	late := time.Now().Add(settleTime)
	for quiet := 0; quiet < 2; { // an exchange is counted just after it has ended
		t, err = r.Card.totals(ctx)
		if err != nil && ctx.Err() != nil {
			return t, nil // it goes on without us
		}
		if err != nil {
			return t, err
		}
		if quiet++; t.InFlight > 0 {
			if time.Now().After(late) {
				return t, nil
			}
			quiet = 0
			time.Sleep(settleTime / 100)
		}
	}
	return t, nil
}

// IsUnasked reports whether the proxy had no request for so long. It is false if ctx ends first, or if nobody can say.
func (r *Running) IsUnasked(ctx context.Context, long time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(long):
	}
	t, err := r.Card.totals(ctx)
	return err == nil && t.Exchanges == 0 && t.InFlight == 0
}

// Unreached is what to do about an agent whose requests do not come.
const Unreached = "an agent that reads neither OPENAI_BASE_URL nor ANTHROPIC_BASE_URL needs a setting of its own; " +
	"docs/agents.md has those of many"

// Tally is what a proxy has done in its life.
type Tally metrics.Totals

// mostTotals bounds the answer that is read, in bytes.
const mostTotals = 64 << 10

// totals asks the proxy what it has done. An older one does not know the question.
func (c *Card) totals(ctx context.Context) (t Tally, err error) {
	resp, err := c.Get(ctx, "/-/totals", url.Values{"nonce": {rand.Text()}})
	if err != nil {
		return t, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return t, fmt.Errorf("cannot ask %s for its totals: it answers %s", c.Listen, resp.Status)
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, mostTotals)).Decode(&t); err != nil {
		return t, fmt.Errorf("cannot read the totals of %s: %w", c.Listen, err)
	}
	return t, nil
}

// String is the tally in one line.
func (t Tally) String() string {
	requests := fmt.Sprintf("%d requests", t.Exchanges)
	if t.Exchanges == 1 {
		requests = "1 request"
	}
	switch {
	case t.Exchanges == 0:
		return "no request came: " + Unreached
	case t.TokensBefore == 0:
		return "nothing that it can shorten was seen (" + requests + " passed through)"
	case t.TokensAfter == t.TokensBefore+t.Added && t.Added > 0:
		return requests + ", " + tokens(t.TokensBefore) + " tokens; nothing was to be shortened" + t.addedNote()
	case t.TokensAfter == t.TokensBefore:
		return requests + ", " + tokens(t.TokensBefore) + " tokens; nothing was to be shortened"
	case t.Observed:
		return requests + ", " + tokens(t.TokensBefore) + " tokens would have become " + tokens(t.TokensAfter) + t.less() +
			t.largest("would have been sent")
	}
	return requests + ", " + tokens(t.TokensBefore) + " tokens became " + tokens(t.TokensAfter) + t.less() +
		t.largest("was sent") + t.addedNote()
}

// addedNote is what was added of context files and memories.
func (t Tally) addedNote() string {
	if t.Added == 0 {
		return ""
	}
	var said []string
	if files := t.Added - t.Memory; files > 0 {
		said = append(said, tokens(files)+" tokens name context files")
	}
	if t.Memory > 0 {
		said = append(said, tokens(t.Memory)+" tokens are what earlier sessions have learned")
	}
	return "; " + strings.Join(said, ", ")
}

// less is how much less was sent than came.
func (t Tally) less() string {
	switch share := 100 * float64(t.TokensBefore-t.TokensAfter) / float64(t.TokensBefore); {
	case share < 0:
		return "" // what stands in the place of results may be more, in very short sessions
	case share < 9.95:
		return fmt.Sprintf(" (%.1f %% less)", share)
	default:
		return fmt.Sprintf(" (%.0f %% less)", share)
	}
}

// largest tells of the largest request that came. A proxy of an older version does not know it.
func (t Tally) largest(sent string) string {
	if t.LargestBefore == 0 {
		return ""
	}
	return "; the largest request had " + tokens(t.LargestBefore) + " and " + sent + " as " + tokens(t.LargestAfter)
}

// tokens is a number as people read it.
func tokens(n int64) string {
	switch {
	case n >= 1_000_000:
		return fmt.Sprintf("%.1f M", float64(n)/1e6)
	case n >= 10_000:
		return fmt.Sprintf("%.0f k", float64(n)/1e3)
	}
	return strconv.FormatInt(n, 10)
}
