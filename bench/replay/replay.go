// Package replay measures what policies do to recorded conversations, without a model: tokens, the price under a
// provider's prompt cache, what a provider bills, and how much of what the agent needs is still there.
//
// It promises that its figures depend on nothing but the conversations and the policies, but for the time that shaping
// takes; that each request is held against the one before and against the client's own; and that what cannot be read is
// named in the report.
//
// It assumes that a conversation's requests are those that were recorded, whatever would have been answered to a shaped
// one.
package replay

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"epitome/bench/baselines"
	"epitome/bench/policy"
	"epitome/bench/replay/figures"
	"epitome/bench/report"
)

// Options are what Run can be told.
type Options struct {
	// Paths are logs of sessions, or folders of such; package sessions says which formats.
	Paths []string
	// Sessions is how many conversations to make up where there are no paths, from the seed.
	Sessions int
	Seed     uint64
	Clients  Clients
	Provider Provider
	// Unit is what tokens are counted in: windows, costs, and what is dead. The zero value counts characters / 3.6.
	Unit policy.Unit
	// Windows are in tokens. Default 32 000, 64 000, 128 000, 200 000.
	Windows []int
	// Policies are measured beside the baselines. The goals are about them.
	Policies []policy.Policy
	// Guests are measured likewise, and no goals are about them.
	Guests []policy.Policy
	// Bar adds the project's goals for cost, recall and breaks. They hold for the corpus that they were set on.
	Bar bool
	// By adds the figures of each kind of session, or of each conversation. Empty: of neither.
	By string
	// Misses is how many of the needs that its requests lack are listed for each policy in each window.
	Misses int
	// Progress gets a line per conversation. Default os.Stderr.
	Progress io.Writer
	// Live says that Progress is a terminal: it gets one line, drawn again and again.
	Live bool

	baselines []policy.Policy // default: all there are
}

// Clients say how all conversations are played, whoever had them.
type Clients struct {
	// Dialect is what they are played as. Empty: each as its client speaks.
	Dialect string
	// Model is what requests name. Empty: what they name themselves.
	Model string
	// Thought is how many tokens stand before each answer as what was thought, in Messages and where no log says what
	// was. In Responses nobody can read that.
	Thought int
}

// Provider says what the provider of a replay charges.
type Provider struct {
	// WritePrice is that of a token which is new to its cache. Default 1, and 1.25 in Messages.
	WritePrice float64
	// CacheLife is how long it has a request cached. Default 5 minutes; below 0 for ever. In Messages marks say it,
	// but for that.
	CacheLife time.Duration
}

// What figures may be added by.
const (
	ByKind         = "kind"
	ByConversation = "conversation"
)

func (o Options) withDefaults() Options {
	if len(o.Windows) == 0 {
		o.Windows = []int{32_000, 64_000, 128_000, 200_000}
	}
	if o.Provider.CacheLife == 0 {
		o.Provider.CacheLife = policy.CacheLife
	}
	if o.Progress == nil {
		o.Progress = os.Stderr
	}
	if o.baselines == nil {
		o.baselines = slices.Concat(baselines.All(o.Unit), baselines.Adversaries(o.Unit))
	}
	return o
}

// replayRun is one Run under way.
type replayRun struct {
	Options
	policies []policy.Policy
}

// played is one conversation with all policies in all windows.
type played struct {
	kind    string    // of session
	tallies [][]tally // by window, then by policy
	faults  []string
	misses  []figures.Miss // the first misses of each player, by window, then by policy
	course  figures.Course
	flaws   []error // of requests as they came
}

// Run plays recorded conversations turn by turn: wherever the agent answered, it puts the request as it then was
// through each policy in each window, and measures what would be sent. The recorded agent does not react to what is
// missing. Run leaves out a log that holds no conversation, and names it in the report. It counts a conversation that
// is the beginning of another one once: it reads logs in files twice for that, the first time to compare. It reads as
// many logs at once as there are processors, and plays one conversation of each at a time.
func Run(ctx context.Context, opts Options) (*figures.Report, error) {
	r := &replayRun{Options: opts.withDefaults()}
	r.policies = slices.Concat(r.baselines, r.Policies, r.Guests)
	sources, skipped := r.sources()
	results := make([]heard, len(sources))
	progress := newProgress(r.Options, len(sources), time.Now)
	defer progress.end()
	copies, err := findCopies(ctx, sources)
	if err != nil {
		return nil, fmt.Errorf("cannot replay: %w", err)
	}
	err = atOnce(ctx, len(sources), func(ctx context.Context, i int) (err error) {
		results[i], err = r.hear(ctx, sources[i], copies[i])
		progress.did(sources[i].name)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("cannot replay: %w", err)
	}
	return r.report(results, skipped), nil
}

// atOnce calls do with each number below n, as many at once as there are processors.
func atOnce(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range n {
		group.Go(func() error { return do(ctx, i) })
	}
	return group.Wait()
}

// play plays one conversation. All players get a request before the next one is made.
func (r *replayRun) play(ctx context.Context, c *recording) (p played, err error) {
	if err = ctx.Err(); err != nil {
		return p, err
	}
	if p.kind = kindOf(c); r.By == ByConversation {
		p.kind = c.name
	}
	players, err := r.open(c)
	defer func() {
		for _, x := range players {
			if closing := x.close(); err == nil {
				err = closing
			}
		}
	}()
	if err != nil {
		return p, err
	}
	for b := range c.bounds {
		if err = ctx.Err(); err != nil {
			return p, err
		}
		original, err := c.prefix(c.bounds[b])
		if err != nil {
			return p, fmt.Errorf("%s: %w", c.name, err)
		}
		c.client.get(original.Body, c.requestTime(b))
		for _, x := range players {
			if err = x.turn(b, original); err != nil {
				return p, err
			}
		}
	}
	p.course, p.flaws = r.course(c, players), c.client.flaws
	for i, x := range players {
		if i%len(r.policies) == 0 {
			p.tallies = append(p.tallies, nil)
		}
		last := len(p.tallies) - 1
		p.tallies[last] = append(p.tallies[last], x.tally)
		p.faults = append(p.faults, x.faults...)
		p.misses = append(p.misses, x.misses...)
	}
	return p, nil
}

// open makes the players, by window, then by policy. With an error it returns those that the caller must close.
func (r *replayRun) open(c *recording) (players []*player, err error) {
	for _, window := range r.Windows {
		for n, it := range r.policies {
			shaping, err := it.Open(policy.Setting{Window: window, Dialect: c.client.dialect})
			if err != nil {
				return players, fmt.Errorf("%s: %w", it.Name, err)
			}
			x := newPlayer(c, it.Name, window, shaping)
			x.bill = policy.BillTariff(r.writePrice(c))
			x.bill.Life = max(r.Provider.CacheLife, 0)
			x.mostMisses = r.Misses
			x.account.wanted = n >= len(r.baselines)
			players = append(players, x)
		}
	}
	return players, nil
}

// writePrice is what a conversation's provider bills for a token that is new to its cache.
func (o Options) writePrice(c *recording) float64 {
	const markedWrite = 1.25 // where it is told what to cache
	if c.client.provider != nil {
		return cmp.Or(o.Provider.WritePrice, markedWrite)
	}
	return cmp.Or(o.Provider.WritePrice, policy.NewPrice)
}

// report adds up the results in the order of the files, so that one input has one outcome to the last digit.
func (r *replayRun) report(results []heard, skipped []string) *figures.Report {
	out := &figures.Report{
		Machine: report.ThisMachine(), Subjects: []string{}, Rows: []figures.Row{}, Courses: []figures.Course{},
		Notes: []string{}, Faults: []string{}, Origins: []figures.Origin{},
		Skipped: append([]string{}, skipped...),
	}
	var kept []played
	for _, h := range results {
		out.Skipped = append(out.Skipped, h.skipped...)
		out.Copies += h.copies
		out.Origins = joined(out.Origins, h.origins)
		kept = append(kept, h.played...)
		out.Notes = append(out.Notes, h.notes()...)
		for _, p := range h.played {
			out.Faults = append(out.Faults, p.faults...)
			out.Courses = append(out.Courses, p.course)
		}
	}
	out.Unit = r.Unit.String()
	out.Conversations, out.CacheMinutes = len(kept), max(r.Provider.CacheLife, 0).Minutes()
	out.Rows, out.Misses = r.rows(kept), r.misses(kept)
	if r.By != "" {
		out.Kinds = r.kinds(kept)
	}
	for _, p := range r.Policies {
		out.Subjects = append(out.Subjects, p.Name)
	}
	for _, p := range kept {
		t := p.tallies[0][0]
		out.Requests += t.requests
		out.RawTokens += t.raw
		out.Timed += t.timed
		out.Expired += t.expired
	}
	out.Settle(r.Bar)
	return out
}

// rows adds up conversations, by window, then by policy.
func (r *replayRun) rows(of []played) []figures.Row {
	rows := []figures.Row{}
	for w, window := range r.Windows {
		for i, policy := range r.policies {
			var column []tally
			for _, p := range of {
				column = append(column, p.tallies[w][i])
			}
			rows = append(rows, rowOf(window, policy.Name, column))
		}
	}
	return rows
}
