package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"

	"epitome/console/metrics"
)

// isTerminal reports whether somebody reads along.
func isTerminal(f *os.File) bool {
	s, err := f.Stat()
	return err == nil && s.Mode()&os.ModeCharDevice != 0
}

// tell says at the end of a run, to who sits at the terminal, what the proxy has done. One that others use has done it for them
// as well: it is only named.
func (r *running) tell() {
	if !isTerminal(os.Stderr) {
		return
	}
	said := "used the epitome on " + r.badge.Listen
	if r.started {
		t, err := r.settled()
		if err != nil {
			return // there is nothing to tell, and the command's end is not to be spoilt
		}
		said = t.String()
	}
	if r.log != "" {
		said += "; log: " + r.log
	}
	fmt.Fprintln(os.Stderr, "epitome: "+said)
}

// settleTime bounds how long the end of a run waits for exchanges whose answers the command has read already to be counted.
const settleTime = time.Second

// settled is what the proxy has done, once nothing is under way.
func (r *running) settled() (t tally, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), settleTime)
	defer cancel()
	for quiet := 0; quiet < 2; { // an exchange is counted just after it has ended
		t, err = r.badge.totals(ctx)
		if err != nil && ctx.Err() != nil {
			return t, nil // it goes on without us
		}
		if err != nil {
			return t, err
		}
		if quiet++; t.InFlight > 0 {
			quiet = 0
			time.Sleep(settleTime / 100)
		}
	}
	return t, nil
}

// tally is what a proxy has done in its life.
type tally metrics.Totals

// mostTotals bounds the answer that is read, in bytes.
const mostTotals = 64 << 10

// totals asks the proxy what it has done. An older one does not know the question.
func (b *badge) totals(ctx context.Context) (t tally, err error) {
	resp, err := b.get(ctx, "/-/totals", url.Values{"nonce": {rand.Text()}})
	if err != nil {
		return t, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return t, fmt.Errorf("cannot ask %s for its totals: it answers %s", b.Listen, resp.Status)
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, mostTotals)).Decode(&t); err != nil {
		return t, fmt.Errorf("cannot read the totals of %s: %w", b.Listen, err)
	}
	return t, nil
}

// String is the tally in one line.
func (t tally) String() string {
	requests := fmt.Sprintf("%d requests", t.Exchanges)
	if t.Exchanges == 1 {
		requests = "1 request"
	}
	switch {
	case t.TokensBefore == 0:
		return "nothing that it can shorten was seen (" + requests + " passed through)"
	case t.TokensAfter == t.TokensBefore:
		return requests + ", " + tokens(t.TokensBefore) + " tokens; nothing was to be shortened"
	case t.Observed:
		return requests + ", " + tokens(t.TokensBefore) + " tokens would have become " + tokens(t.TokensAfter)
	}
	return requests + ", " + tokens(t.TokensBefore) + " tokens became " + tokens(t.TokensAfter)
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
