package bench

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
)

// Shaper is what is measured: it gets each request as the client would send it and returns what would be sent
// upstream. The requests of a conversation come in order. It may neither change the body nor keep it beyond the call.
type Shaper interface {
	// Shape gets the time at which the request was made; zero where the log does not say.
	Shape(body []byte, at time.Time) (Shaped, error)
}

// Shaped is a request as it would be sent.
type Shaped struct {
	// Body may be the very slice that came in.
	Body []byte
	// Decided says that a new decision which changed earlier messages was recorded with this request. Any other
	// change of earlier messages is counted as unrecorded.
	Decided bool
	// Asked is what the shaper asked of a model of its own accord since the request before, whatever became of it.
	Asked []Asking
	// Invalid is what the shaper itself found wrong with its outcome. The replay looks for itself, too.
	Invalid error
}

// Policy is a way of shaping, by the name that it has in the report.
type Policy struct {
	Name string
	// Open gives a shaper for one conversation in a window of so many tokens. It is called from several goroutines.
	Open func(window int) (Shaping, error)
}

// Shaping shapes one conversation. Only the shaper is needed. All of it is used by one goroutine at a time.
type Shaping struct {
	Shaper
	// Artifact is what was taken out under a name that stands in a request. nil: nothing comes back.
	Artifact func(name string) ([]byte, bool)
	// Restore puts the client's request together again from what was sent. nil: that is not checked.
	Restore func(sent []byte) ([]byte, error)
	// Close is called at the conversation's end; nil: there is nothing to close.
	Close func() error
}

// ReplayOptions are the knobs of Replay.
type ReplayOptions struct {
	// Paths are logs of sessions, or folders of such; package sessions says which formats.
	Paths []string
	// Sessions is how many conversations to make up where there are no paths, from the seed.
	Sessions int
	Seed     uint64
	// WritePrice is what a provider bills for a token that is new to its cache. Default 1; some take 1.25.
	WritePrice float64
	// CacheLife is how long a provider has a request cached. Default 5 minutes; below 0 for ever.
	CacheLife time.Duration
	// Windows are in tokens. Default 32 000, 64 000, 128 000, 200 000.
	Windows []int
	// Policies are measured beside the baselines. The goals are about them.
	Policies []Policy
	// Guests are measured likewise, and no goals are about them.
	Guests []Policy
	// Bar adds the project's goals for cost, recall and breaks. They hold for the corpus that they were set on.
	Bar bool
	// ByKind adds the figures of each kind of session, ByConversation those of each conversation.
	ByKind, ByConversation bool
	// Misses is how many of the needs that its requests lack are listed for each policy in each window.
	Misses int
	// Progress gets a line per conversation. Default os.Stderr.
	Progress io.Writer
	// Live says that Progress is a terminal: it gets one line, drawn again and again.
	Live bool

	baselines []Policy // default: all there are
}

func (o ReplayOptions) withDefaults() ReplayOptions {
	if len(o.Windows) == 0 {
		o.Windows = []int{32_000, 64_000, 128_000, 200_000}
	}
	if o.WritePrice == 0 {
		o.WritePrice = newPrice
	}
	if o.CacheLife == 0 {
		o.CacheLife = cacheLife
	}
	if o.Progress == nil {
		o.Progress = os.Stderr
	}
	if o.baselines == nil {
		o.baselines = baselines()
	}
	return o
}

// replayRun is one run of Replay.
type replayRun struct {
	ReplayOptions
	policies []Policy
}

// played is one conversation with all policies in all windows.
type played struct {
	kind    string    // of session
	tallies [][]tally // by window, then by policy
	faults  []string
	misses  []Miss // the first ones of each player, by window, then by policy
	course  Course
}

// Replay plays recorded conversations turn by turn: wherever the agent answered, the request as it then was goes
// through each policy in each window, and what would be sent is measured. The recorded agent does not react to what is
// missing. A log that holds no conversation is left out and named in the report. A conversation that is the beginning of another one
// counts once: logs in files are read twice for that, the first time to compare. As many logs are read at once as there are processors,
// and of each one conversation is played at a time.
func Replay(ctx context.Context, opts ReplayOptions) (*ReplayReport, error) {
	r := &replayRun{ReplayOptions: opts.withDefaults()}
	r.policies = slices.Concat(r.baselines, r.Policies, r.Guests)
	sources, skipped := r.sources()
	results := make([]heard, len(sources))
	progress := newProgress(r.ReplayOptions, len(sources), time.Now)
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

// atOnce does n things, as many of them at once as there are processors.
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
	if p.kind = kindOf(c); r.ByConversation {
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
		original := c.prefix(c.bounds[b])
		for _, x := range players {
			if err = x.turn(b, original); err != nil {
				return p, err
			}
		}
	}
	p.course = r.course(c, players)
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

// open makes the players, by window, then by policy. With an error come those to be closed.
func (r *replayRun) open(c *recording) (players []*player, err error) {
	for _, window := range r.Windows {
		for _, policy := range r.policies {
			shaping, err := policy.Open(window)
			if err != nil {
				return players, fmt.Errorf("%s: %w", policy.Name, err)
			}
			x := newPlayer(c, policy.Name, window, shaping)
			x.bill = billTariff(r.WritePrice)
			x.bill.life = max(r.CacheLife, 0)
			x.mostMisses = r.Misses
			players = append(players, x)
		}
	}
	return players, nil
}

// report adds up, in the order of the files, so that one input has one outcome to the last digit.
func (r *replayRun) report(results []heard, skipped []string) *ReplayReport {
	out := &ReplayReport{
		Machine: thisMachine(), Subjects: []string{}, Rows: []ReplayRow{}, Courses: []Course{}, Notes: []string{}, Faults: []string{}, Origins: []Origin{},
		Skipped: append([]string{}, skipped...),
	}
	var kept []played
	for _, h := range results {
		out.Skipped = append(out.Skipped, h.skipped...)
		out.Copies += h.copies
		out.Origins = joined(out.Origins, h.origins)
		kept = append(kept, h.played...)
		for _, p := range h.played {
			out.Faults = append(out.Faults, p.faults...)
			out.Courses = append(out.Courses, p.course)
		}
	}
	out.Conversations, out.CacheMinutes = len(kept), max(r.CacheLife, 0).Minutes()
	out.Rows, out.Misses = r.rows(kept), r.misses(kept)
	if r.ByKind || r.ByConversation {
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
	out.settle(r.Bar)
	return out
}

// rows adds up conversations, by window, then by policy.
func (r *replayRun) rows(of []played) []ReplayRow {
	rows := []ReplayRow{}
	for w, window := range r.Windows {
		for i, policy := range r.policies {
			var column []tally
			for _, p := range of {
				column = append(column, p.tallies[w][i])
			}
			rows = append(rows, newReplayRow(window, policy.Name, column))
		}
	}
	return rows
}
