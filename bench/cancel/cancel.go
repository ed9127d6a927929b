// Package cancel measures the time from a client's leaving to the end of its upstream connection, in each phase of an
// exchange.
//
// It promises that the upstream itself is the witness: what counts is when its connection ends, not what a proxy says.
// As in package load, contenders take turns within one run, and the run is bounded.
//
// It does not promise figures that hold on another machine.
package cancel

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"time"

	"epitome/bench/backend"
	"epitome/bench/lineup"
	"epitome/bench/report"
	"epitome/bench/wire"
)

// Options are what Run can be told. The defaults take about 50 seconds with three contenders.
type Options struct {
	lineup.Lineup
	// Tries is how often a client leaves, per round, phase and way of leaving, through the subject; half as often
	// through the others. Default 100.
	Tries int
	// Rounds is how often all contenders have their turn; each round has percentiles of its own. Default 3.
	Rounds int
	// Patience is how long a try waits for the upstream to notice. Default 500 ms.
	Patience time.Duration
	// Quick makes the defaults tiny: it shows that everything works and yields no figure worth reading.
	Quick bool
}

func (o Options) withDefaults() (Options, error) {
	tries, rounds, patience := 100, 3, 500*time.Millisecond
	if o.Quick {
		tries, rounds, patience = 2, 1, 200*time.Millisecond
	}
	o.Tries = cmp.Or(max(o.Tries, 0), tries)
	o.Rounds = cmp.Or(max(o.Rounds, 0), rounds)
	o.Patience = cmp.Or(max(o.Patience, 0), patience)
	var err error
	o.Lineup, err = o.Lineup.WithDefaults()
	for _, c := range o.Proxies {
		if err == nil && len(c.Command) == 0 {
			err = fmt.Errorf("cannot measure %s by URL: the upstream of a cancel run has no fixed address", c.Name)
		}
	}
	return o, err
}

// Phase is what an exchange is doing when its client leaves.
type Phase string

// The phases.
const (
	Waiting Phase = "waiting" // the upstream has the whole request and has answered nothing
	Idle    Phase = "idle"    // in mid-stream, the upstream is silent
	Flowing Phase = "flowing" // in mid-stream, an event each 5 ms
	Sending Phase = "sending" // the upstream does not read the request's body, which fills all buffers
)

// The ways of leaving: a close in order, and a reset.
const (
	byFIN = "FIN"
	byRST = "RST"
)

const (
	// giveUp is how many tries of one cell may go unnoticed before the rest of its turn is left out.
	giveUp = 3
	// dwell is the time between reaching a phase and leaving, so that the proxy has come to rest in it.
	dwell = 2 * time.Millisecond
	// sendingBytes is the body of the sending phase: more than sockets buffer on the way.
	sendingBytes = 6 << 20
)

// cell is one line of the report while it is measured.
type cell struct {
	phase Phase
	leave string
	lane  *lineup.Lane

	tries, unnoticed int
	all              []float64 // ms
	p99s             []float64 // ms, one per round
}

// cancelRun is one Run under way.
type cancelRun struct {
	opts     Options
	witness  *witness
	payloads map[Phase][]byte
	lanes    []*lineup.Lane
	report   *Report
}

// Run measures the time from a client's leaving to the upstream's noticing. The upstream lives in this process, so
// both moments are read from one clock. It returns an error when the subject (the first of the proxies) cannot be
// measured; other contenders that fail are left out and named in the report.
func Run(ctx context.Context, opts Options) (*Report, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	small, err := backend.ChatBody(2 << 10)
	if err != nil {
		return nil, err
	}
	large, err := backend.ChatBody(sendingBytes)
	if err != nil {
		return nil, err
	}
	w, err := newWitness(ctx)
	if err != nil {
		return nil, err
	}
	defer w.close()
	run := &cancelRun{
		opts: opts, witness: w,
		payloads: map[Phase][]byte{Waiting: small, Idle: small, Flowing: small, Sending: large},
		report:   &Report{Machine: report.ThisMachine(), Subject: opts.Proxies[0].Name},
	}
	defer run.stopField()
	if err = run.launchField(ctx); err != nil {
		return nil, err
	}
	if err = run.measure(ctx); err != nil {
		return nil, err
	}
	return run.report, nil
}

func (r *cancelRun) launchField(ctx context.Context) error {
	field, skipped := r.opts.Contenders()
	for _, why := range skipped {
		r.skip(why)
	}
	r.lanes = []*lineup.Lane{{Name: lineup.DirectName, At: wire.Site{Addr: r.witness.addr}}}
	for i, c := range field {
		lane, err := lineup.Launch(ctx, c, "http://"+r.witness.addr)
		if err != nil && i == 0 {
			return err
		}
		if err != nil {
			r.skip(err.Error())
			continue
		}
		r.lanes = append(r.lanes, lane)
	}
	return nil
}

func (r *cancelRun) stopField() {
	for _, lane := range r.lanes {
		lane.Stop()
	}
}

// skip notes in the report, and says, that something is left out.
func (r *cancelRun) skip(why string) {
	r.report.Skipped = append(r.report.Skipped, why)
	r.opts.Say("SKIPPED %s", why)
}

// measure runs the rounds: in each, every cell has one turn, contenders next to each other.
func (r *cancelRun) measure(ctx context.Context) error {
	cells := r.cells()
	for round := range r.opts.Rounds {
		r.opts.Say("cancel: round %d of %d, %d tries per cell", round+1, r.opts.Rounds, r.opts.Tries)
		for _, c := range cells {
			if err := r.turn(ctx, c); err != nil {
				return fmt.Errorf("cannot measure cancel through %s, %s, %s: %w", c.lane.Name, c.phase, c.leave, err)
			}
		}
	}
	for _, c := range cells {
		r.report.Rows = append(r.report.Rows, c.row())
	}
	r.report.settle()
	return nil
}

func (r *cancelRun) cells() []*cell {
	var cells []*cell
	for _, phase := range []Phase{Waiting, Idle, Flowing, Sending} {
		for _, leave := range []string{byFIN, byRST} {
			for _, lane := range r.lanes {
				cells = append(cells, &cell{phase: phase, leave: leave, lane: lane})
			}
		}
	}
	return cells
}

// turn adds one round's tries to c. A contender that has noticed nothing so far is not asked again.
func (r *cancelRun) turn(ctx context.Context, c *cell) error {
	if c.unnoticed >= giveUp && len(c.all) == 0 {
		return nil
	}
	tries := r.opts.Tries
	if c.lane.Name != r.report.Subject {
		tries = (tries + 1) / 2
	}
	var took []float64
	missed := 0
	for range tries {
		if err := ctx.Err(); err != nil {
			return err
		}
		d, noticed, err := r.try(c)
		if err != nil {
			return err
		}
		c.tries++
		if noticed {
			took = append(took, report.Milliseconds(d))
			continue
		}
		if missed++; missed == giveUp {
			break
		}
	}
	c.unnoticed += missed
	c.all = append(c.all, took...)
	if len(took) > 0 {
		c.p99s = append(c.p99s, report.Percentile(took, 99))
	}
	return nil
}

// try lets one client come and leave. noticed is false when the upstream's connection outlived r.Patience, or the
// upstream got the whole body of a request that should have been cut.
func (r *cancelRun) try(c *cell) (took time.Duration, noticed bool, err error) {
	t := r.witness.expect(c.phase)
	defer t.end()
	conn, err := wire.Dial(c.lane.At.Addr, lineup.TurnLimit)
	if err != nil {
		return 0, false, err
	}
	defer conn.Close()
	request := wire.PostRequest(c.lane.At, t.target(), r.payloads[c.phase])
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		_, _ = conn.Conn.Write(request) // cut by our own leaving in the sending phase; elsewhere reach reports it
	}()
	defer func() { conn.Close(); <-sent }()
	if err = t.reach(conn); err != nil {
		return 0, false, err
	}
	time.Sleep(dwell)
	left, err := leave(conn, c.leave)
	if err != nil {
		return 0, false, err
	}
	close(t.left)
	select {
	case at := <-t.gone:
		return at.Sub(left), !at.IsZero(), nil
	case <-time.After(r.opts.Patience):
		return 0, false, nil
	}
}

// leave closes the connection in the given way and returns the moment before.
func leave(c *wire.Client, how string) (time.Time, error) {
	if tcp, ok := c.Conn.(*net.TCPConn); ok && how == byRST {
		if err := tcp.SetLinger(0); err != nil {
			return time.Time{}, fmt.Errorf("cannot set linger: %w", err)
		}
	}
	left := time.Now()
	return left, c.Conn.Close()
}

func (c *cell) row() Row {
	row := Row{Contender: c.lane.Name, Phase: c.phase, Leave: c.leave, Tries: c.tries, Unnoticed: c.unnoticed}
	if len(c.all) > 0 {
		p50, p99, most := report.Median(c.all), report.Median(c.p99s), report.Percentile(c.all, 100)
		row.P50MS, row.P99MS, row.MaxMS = &p50, &p99, &most
	}
	return row
}
