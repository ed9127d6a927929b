package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
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
		resp, err := r.badge.get(ctx, "/-/metrics", url.Values{"nonce": {rand.Text()}})
		if err != nil && ctx.Err() != nil {
			return t, nil // it goes on without us
		}
		if err != nil {
			return t, err
		}
		t, err = readTally(resp.Body)
		_ = resp.Body.Close()
		if err != nil {
			return t, err
		}
		if quiet++; t.underWay > 0 {
			quiet = 0
			time.Sleep(settleTime / 100)
		}
	}
	return t, nil
}

// tally is what metrics tell of a proxy's life.
type tally struct {
	requests, underWay float64
	before, after      float64 // tokens of conversations
	observed           bool    // some of them were only looked at
}

// readTally adds up metrics in the text format of Prometheus.
func readTally(metrics io.Reader) (t tally, err error) {
	lines := bufio.NewScanner(metrics)
	for lines.Scan() {
		series, value, _ := strings.Cut(lines.Text(), "} ")
		if strings.HasPrefix(series, "epitome_exchanges_in_flight ") {
			series, value, _ = strings.Cut(series, " ")
		}
		name, labels, _ := strings.Cut(series, "{")
		n, err := strconv.ParseFloat(value, 64)
		switch {
		case err != nil:
		case name == "epitome_exchanges_in_flight":
			t.underWay = n
		case name == "epitome_exchanges_total":
			t.requests += n
		case name == "epitome_conversation_tokens_total" && strings.Contains(labels, `side="before"`):
			t.before += n
			t.observed = t.observed || strings.Contains(labels, `mode="observe"`)
		case name == "epitome_conversation_tokens_total":
			t.after += n
		}
	}
	return t, lines.Err()
}

// String is the tally in one line.
func (t tally) String() string {
	requests := fmt.Sprintf("%.0f requests", t.requests)
	if t.requests == 1 {
		requests = "1 request"
	}
	switch {
	case t.before == 0:
		return "nothing that it can shorten was seen (" + requests + " passed through)"
	case t.after == t.before:
		return requests + ", " + tokens(t.before) + " tokens; nothing was to be shortened"
	case t.observed:
		return requests + ", " + tokens(t.before) + " tokens would have become " + tokens(t.after)
	}
	return requests + ", " + tokens(t.before) + " tokens became " + tokens(t.after)
}

// tokens is a number as people read it.
func tokens(n float64) string {
	switch {
	case n >= 1e6:
		return fmt.Sprintf("%.1f M", n/1e6)
	case n >= 1e4:
		return fmt.Sprintf("%.0f k", n/1e3)
	}
	return fmt.Sprintf("%.0f", n)
}
