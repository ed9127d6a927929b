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
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"epitome/bench/sessions"
	"epitome/config"
	"epitome/tokenize"
)

// Options say what Run plays.
type Options struct {
	Paths    []string      // logs of sessions, or folders with logs; see package sessions
	Windows  []int         // in tokens; nil is 32,000, 64,000, 128,000 and 200,000
	Config   config.Config // of the epitome that is measured
	Progress io.Writer     // gets a line for each file

	policies []policy // in the place of the baselines and epitome, for tests
}

// Run plays the sessions in the files, as many files at once as there are processors. What cannot be read is named in
// the report.
func Run(ctx context.Context, o Options) (*Report, error) {
	if len(o.Windows) == 0 {
		o.Windows = []int{32_000, 64_000, 128_000, 200_000}
	}
	m := &meter{models: tokenize.NewModels(), memo: tokenize.NewMemo(1 << 18)}
	if o.policies == nil {
		o.policies = append(slices.Clone(baselines), ownPolicy(o.Config, m))
	}
	files, skipped := sessions.Find(o.Paths)
	parts := make([]*Report, len(files))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, file := range files {
		group.Go(func() (err error) {
			parts[i], err = o.playFile(ctx, file, m)
			fmt.Fprintln(o.Progress, "bench: played", file)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("cannot replay: %w", err)
	}
	total := o.newReport()
	total.Skipped = append(total.Skipped, skipped...)
	for _, part := range parts { // in the order of the files: equal sessions have equal figures to the last digit
		total.add(part)
	}
	return total, nil
}

// newReport returns a report with a row for each policy in each window.
func (o *Options) newReport() *Report {
	r := &Report{Faults: []string{}, Skipped: []string{}} // not null in JSON
	for _, window := range o.Windows {
		for _, p := range o.policies {
			r.Rows = append(r.Rows, Row{Window: window, Policy: p.name, isOwn: p.isOwn})
		}
	}
	return r
}

// playFile plays the sessions in a file.
func (o *Options) playFile(ctx context.Context, file string, m *meter) (*Report, error) {
	r := o.newReport()
	conversations, skipped := sessions.Read(file)
	if skipped != "" {
		r.Skipped = append(r.Skipped, skipped)
	}
	for _, c := range conversations {
		s, err := newSession(c, m)
		if err != nil {
			r.Skipped = append(r.Skipped, fmt.Sprintf("cannot replay %s: %v", c.Name, err))
			continue
		}
		if err := o.playSession(ctx, s, r); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// playSession plays a session through all policies in all windows, turn by turn, and adds the figures to r.
func (o *Options) playSession(ctx context.Context, s *session, r *Report) error {
	var players []*player
	defer func() {
		for _, p := range players {
			p.shaper.close()
		}
	}()
	for _, window := range o.Windows {
		for _, it := range o.policies {
			p, err := newPlayer(s, it, window)
			if err != nil {
				return err
			}
			players = append(players, p)
		}
	}
	var original *request
	for n, t := range s.turns {
		err := ctx.Err()
		if err == nil {
			original, err = s.read(s.bodyAt(t.end), original, s.known)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		r.Requests, r.Tokens = r.Requests+1, r.Tokens+original.tokens
		for _, p := range players {
			p.play(n, original)
		}
	}
	r.Conversations++
	for i, p := range players {
		r.Rows[i].add(&p.row)
		r.Faults = append(r.Faults, p.faults...)
	}
	return nil
}
