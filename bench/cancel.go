package bench

import (
	"context"
	"fmt"
	"net"
	"time"
)

// CancelOptions are the knobs of Cancel. The defaults take about 50 seconds with three contenders.
type CancelOptions struct {
	Lineup
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

func (o CancelOptions) withDefaults() (CancelOptions, error) {
	tries, rounds, patience := 100, 3, 500*time.Millisecond
	if o.Quick {
		tries, rounds, patience = 2, 1, 200*time.Millisecond
	}
	orInt(&o.Tries, tries)
	orInt(&o.Rounds, rounds)
	orInt(&o.Patience, patience)
	var err error
	o.Lineup, err = o.Lineup.withDefaults()
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
	sendingBytes = 8 << 20
)

// cell is one line of the report while it is measured.
type cell struct {
	phase Phase
	leave string
	lane  *contenderRun

	tries, unnoticed int
	all              []float64 // ms
	p99s             []float64 // ms, one per round
}

// cancelRun is one run of Cancel.
type cancelRun struct {
	CancelOptions
	witness  *witness
	payloads map[Phase][]byte
	lanes    []*contenderRun
	report   *CancelReport
}

// Cancel measures the time from a client's leaving to the upstream's noticing. The upstream lives in this process, so
// both moments are read from one clock. It returns an error when the subject (the first of the proxies) cannot be
// measured; other contenders that fail are left out and named in the report.
func Cancel(ctx context.Context, opts CancelOptions) (*CancelReport, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	small, err := chatBody(2 << 10)
	if err != nil {
		return nil, err
	}
	large, err := chatBody(sendingBytes)
	if err != nil {
		return nil, err
	}
	w, err := newWitness(ctx)
	if err != nil {
		return nil, err
	}
	defer w.close()
	run := &cancelRun{
		CancelOptions: opts, witness: w,
		payloads: map[Phase][]byte{Waiting: small, Idle: small, Flowing: small, Sending: large},
		report:   &CancelReport{Machine: thisMachine(), Subject: opts.Proxies[0].Name},
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
	field, skipped := r.contenders()
	for _, why := range skipped {
		r.skip(why)
	}
	r.lanes = []*contenderRun{{name: directName, at: site{addr: r.witness.addr}}}
	for i, c := range field {
		lane, err := launch(ctx, c, "http://"+r.witness.addr)
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
		lane.stop()
	}
}

// skip leaves something out, aloud.
func (r *cancelRun) skip(why string) {
	r.report.Skipped = append(r.report.Skipped, why)
	r.say("SKIPPED %s", why)
}

// measure runs the rounds: in each, every cell has one turn, contenders next to each other.
func (r *cancelRun) measure(ctx context.Context) error {
	cells := r.cells()
	for round := range r.Rounds {
		r.say("cancel: round %d of %d, %d tries per cell", round+1, r.Rounds, r.Tries)
		for _, c := range cells {
			if err := r.turn(ctx, c); err != nil {
				return fmt.Errorf("cannot measure cancel through %s, %s, %s: %w", c.lane.name, c.phase, c.leave, err)
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
	tries := r.Tries
	if c.lane.name != r.report.Subject {
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
			took = append(took, milliseconds(d))
			continue
		}
		if missed++; missed == giveUp {
			break
		}
	}
	c.unnoticed += missed
	c.all = append(c.all, took...)
	if len(took) > 0 {
		c.p99s = append(c.p99s, percentile(took, 99))
	}
	return nil
}

// try lets one client come and leave. noticed is false when the upstream's connection outlived r.Patience, or the
// upstream got the whole body of a request that should have been cut.
func (r *cancelRun) try(c *cell) (took time.Duration, noticed bool, err error) {
	t := r.witness.expect(c.phase)
	defer t.end()
	conn, err := dial(c.lane.at.addr, turnLimit)
	if err != nil {
		return 0, false, err
	}
	defer conn.close()
	request := postRequest(c.lane.at, t.target(), r.payloads[c.phase])
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		_, _ = conn.conn.Write(request) // cut by our own leaving in the sending phase; elsewhere reach reports it
	}()
	defer func() { conn.close(); <-sent }()
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
	case <-time.After(r.Patience):
		return 0, false, nil
	}
}

// leave closes the connection in the given way and returns the moment before.
func leave(c *client, how string) (time.Time, error) {
	if tcp, ok := c.conn.(*net.TCPConn); ok && how == byRST {
		if err := tcp.SetLinger(0); err != nil {
			return time.Time{}, fmt.Errorf("cannot set linger: %w", err)
		}
	}
	left := time.Now()
	return left, c.conn.Close()
}

func (c *cell) row() CancelRow {
	row := CancelRow{Contender: c.lane.name, Phase: c.phase, Leave: c.leave, Tries: c.tries, Unnoticed: c.unnoticed}
	if len(c.all) > 0 {
		p50, p99, most := median(c.all), median(c.p99s), percentile(c.all, 100)
		row.P50MS, row.P99MS, row.MaxMS = &p50, &p99, &most
	}
	return row
}
