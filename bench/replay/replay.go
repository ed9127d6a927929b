// Package replay plays recorded sessions without a model, and measures what epitome and other policies make of them:
// the price of all requests under a prompt cache, and how much of what the agent needs is still there.
//
// Wherever the agent answered, the request as it then was goes through each policy in each window, and what would be
// sent is compared with the request before and with the client's own. The recorded agent does not react to what is
// missing. The figures depend on the sessions and the policies alone, never on the speed of the machine.
package replay

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"epitome/bench/sessions"
	"epitome/config"
	"epitome/dialect/chat"
	"epitome/dialect/jsonspan"
	"epitome/offload"
)

// Options say what Run plays.
type Options struct {
	Paths    []string      // logs of sessions, or folders with logs; see package sessions
	Windows  []int         // in tokens
	Config   config.Config // of the epitome that is measured
	Progress io.Writer     // gets a line for each file
	Overhead int           // tokens of a system prompt that is put before each conversation: logs lack it, and the tools
	Once     bool          // of Recall: compact each conversation once, as a whole, instead of playing it as it grew

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
	r := &Report{Overhead: o.Overhead, Faults: []string{}, Skipped: []string{}} // not null in JSON
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
			name := fmt.Sprintf("%s, conversation %d", file, i+1)
			body, err := withOverhead(body, o.Overhead)
			var s *session
			if err == nil {
				s, err = newSession(name, body)
			}
			if err == nil {
				err = o.play(ctx, s, r)
			}
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if err != nil {
				r.Skipped = append(r.Skipped, fmt.Sprintf("cannot replay %s: %v", name, err))
			}
		}
		fmt.Fprintln(o.Progress, "bench: played", file)
	}
	return r, nil
}

// withOverhead puts a system prompt of so many tokens before a conversation.
func withOverhead(body []byte, tokens int) ([]byte, error) {
	parsed, err := chat.Dialect{}.Read(body, nil)
	if err != nil || tokens == 0 {
		return body, err
	}
	prompt := `{"role":"system","content":"` + strings.Repeat(" word", tokens) + `"},`
	return jsonspan.Splice(body, []jsonspan.Edit{jsonspan.Insert(parsed.List, prompt)}, nil)
}

// play plays a session through all policies in all windows, turn by turn, and adds the figures to r. The players of a
// turn run at once, each on its own row.
func (o *Options) play(ctx context.Context, s *session, r *Report) error {
	var players []*player
	for i := range r.Rows {
		row := &r.Rows[i]
		opened, err := o.policies[i%len(o.policies)].open(s, row.Window)
		if err != nil {
			return err
		}
		players = append(players, &player{session: s, shape: opened, row: row, known: maps.Clone(s.known),
			before: &request{}})
	}
	original := &request{}
	for n, t := range s.turns {
		var err error
		if original, err = s.read(s.bodyAt(t.end), original, s.known); err != nil || ctx.Err() != nil {
			return err
		}
		r.Requests, r.Tokens = r.Requests+1, r.Tokens+original.tokens
		var turn sync.WaitGroup
		for _, p := range players {
			turn.Go(func() { p.play(n, original) })
		}
		turn.Wait()
	}
	r.Conversations++
	for _, p := range players {
		if p.fault != "" {
			r.Faults = append(r.Faults, p.fault)
		}
	}
	return nil
}
