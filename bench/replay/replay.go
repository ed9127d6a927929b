// Package replay plays recorded sessions without a model, and measures what epitome and other policies make of them:
// the price of all requests under a prompt cache, and how much of what the agent needs is still there.
//
// Wherever the agent answered, the request as it then was goes through each policy in each window, and what would be
// sent is compared with the request before and with the client's own. The recorded agent does not react to what is
// missing. The figures depend on the sessions and the policies alone, never on the speed of the machine.
package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"epitome/bench/sessions"
	"epitome/config"
	"epitome/offload"
)

// Options say what Run plays.
type Options struct {
	Paths    []string      // logs of sessions, or folders with logs; see package sessions
	Windows  []int         // in tokens
	Config   config.Config // of the epitome that is measured
	Progress io.Writer     // gets a line for each file

	// Of Recall:
	Once    bool          // compact each conversation once, as a whole, instead of playing it as it grew
	Methods []string      // names of Methods, "all", modes or details of summaries, or NAME=COMMAND
	Wait    time.Duration // for an answer of a command
	Last    bool          // the report has the last requests, for bench/reader.py

	policies []policy // in the place of the baselines and epitome, for tests
}

// Run plays the sessions in the files. What cannot be read is named in the report.
func Run(ctx context.Context, o Options) (*Report, error) {
	if o.policies == nil {
		o.policies = append(slices.Clone(baselines), ownPolicy(o.Config, offload.Options{Address: "none"}))
	}
	files, err := sessions.Find(o.Paths)
	if err != nil {
		return nil, err
	}
	r := &Report{Skipped: []string{}} // not null in JSON
	for _, window := range o.Windows {
		for _, p := range o.policies {
			r.Rows = append(r.Rows, Row{Window: window, Policy: p.name})
		}
	}
	for _, file := range files {
		bodies, err := sessions.Read(file)
		if err != nil {
			r.Skipped = append(r.Skipped, err.Error())
		}
		for i, body := range bodies {
			err := o.play(ctx, body, r)
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if err != nil {
				r.Skipped = append(r.Skipped, fmt.Sprintf("cannot replay %s, conversation %d: %v", file, i+1, err))
			}
		}
		fmt.Fprintln(o.Progress, "bench: played", file)
	}
	return r, nil
}

// play plays a conversation through all policies in all windows, turn by turn, and adds the figures to r. The players
// of a turn run at once, each on its own row.
func (o *Options) play(ctx context.Context, body []byte, r *Report) error {
	s, err := newSession(body)
	if err != nil {
		return err
	}
	var players []*player
	for i := range r.Rows {
		row := &r.Rows[i]
		shape := o.policies[i%len(o.policies)].open(s, row.Window)
		players = append(players, &player{session: s, shape: shape, row: row, known: maps.Clone(s.known), before: &request{}})
	}
	original := &request{}
	for _, t := range s.turns {
		original, err = s.read(s.bodyAt(t.end), original, s.known)
		if err != nil || ctx.Err() != nil {
			return err
		}
		r.Requests++
		r.Tokens += original.tokens
		var turn sync.WaitGroup
		for _, p := range players {
			turn.Go(func() { p.play(t, original) })
		}
		turn.Wait()
	}
	r.Conversations++
	return nil
}

// Report is the result of Run.
type Report struct {
	Conversations int      `json:"conversations"`
	Requests      int      `json:"requests"`
	Tokens        int      `json:"tokens"`  // of all requests as the clients sent them
	Rows          []Row    `json:"rows"`    // by window, then by policy
	Skipped       []string `json:"skipped"` // what could not be replayed, and why
}

// Row has the figures of one policy in one window. Shares are in percent.
type Row struct {
	Window       int    `json:"window"` // tokens
	Policy       string `json:"policy"`
	Cost         ratio  `json:"cost"`           // of all requests, relative to sending everything
	BreaksPer100 ratio  `json:"breaks_per_100"` // requests that change what the provider has cached
	Recall       ratio  `json:"recall"`         // of the names that an answer needs, those in its request
	RecallOlder  ratio  `json:"recall_older"`   // the same, of those last seen more than five answers before
	RecallLines  ratio  `json:"recall_lines"`   // the same, of lines
	Seen         ratio  `json:"seen"`           // of the failures in new outputs, those that a request shows
	Signal       ratio  `json:"signal"`         // the same, of outputs that are changed when they come
	SignalFirst  ratio  `json:"signal_first"`   // the same, of the first failure of each output
	Retrievable  ratio  `json:"retrievable"`    // of the needed names that are not in a request, those in its artifacts
	Died         int    `json:"died"`           // sessions with a request over the window
	Invalid      int    `json:"invalid"`        // requests that break a rule which the client's request keeps
}

// ratio is a sum relative to another: a share, or a mean. It is null in JSON if nothing was counted.
type ratio struct{ sum, of float64 }

// count adds one thing to a share, and whether it is among those to be counted.
func (r *ratio) count(holds bool) {
	r.of++
	if holds {
		r.sum += 100
	}
}

// addShare adds a share to a mean of shares; one of nothing is left out.
func (r *ratio) addShare(o ratio) {
	if o.of > 0 {
		r.sum, r.of = r.sum+o.sum/o.of, r.of+1
	}
}

// Text writes the share or mean with so many digits behind the point.
func (r ratio) Text(digits int) string {
	if r.of == 0 {
		return "—"
	}
	return strconv.FormatFloat(r.sum/r.of, 'f', digits, 64)
}

func (r ratio) MarshalJSON() ([]byte, error) {
	if r.of == 0 {
		return []byte("null"), nil
	}
	return json.Marshal(r.sum / r.of)
}

// Missed returns the goals that this epitome misses: no session died, no request is invalid, and all that is needed can
// be retrieved. That nothing was replayed is one, too.
func (r *Report) Missed() (missed []string) {
	if r.Conversations == 0 {
		return []string{"conversations: none; give session logs, or files with a Chat Completions request each"}
	}
	for _, x := range r.Rows {
		lost := int(x.Retrievable.of - x.Retrievable.sum/100) // each that can be retrieved has added 100
		if strings.HasPrefix(x.Policy, "epitome") && x.Died+x.Invalid+lost > 0 {
			missed = append(missed, fmt.Sprintf("window %d: %d sessions died, %d requests are invalid, "+
				"%d names cannot be retrieved", x.Window, x.Died, x.Invalid, lost))
		}
	}
	return missed
}
