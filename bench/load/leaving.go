package load

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"epitome/bench/report"
)

// The phases of a request in which clients leave: the upstream has it and has answered nothing, or has sent one event
// and is silent.
const (
	waiting   = "waiting"
	streaming = "streaming"
)

// leavings measures the time from a client's leaving to the end of the upstream's connection. The upstream is in this
// process, so that one clock times both.
func (r *loadRun) leavings(ctx context.Context) error {
	r.opts.Say("clients that leave: %d in each of two phases", r.plan.leavings)
	w, err := newWitness()
	if err != nil {
		return err
	}
	defer func() { _ = w.Close() }()
	lanes := []*Lane{{Name: DirectName, Addr: w.addr}}
	for i, c := range r.field {
		lane, err := Launch(ctx, c, "http://"+w.addr)
		if err != nil && i == 0 {
			return err
		}
		if err != nil {
			r.skip(err)
			continue
		}
		defer lane.Stop()
		lanes = append(lanes, lane)
	}
	for _, phase := range []string{waiting, streaming} {
		for _, lane := range lanes {
			row, err := r.leaving(ctx, w, lane, phase)
			if err != nil {
				return fmt.Errorf("cannot measure clients that leave %s, %s: %w", lane.Name, phase, err)
			}
			r.report.Leaving = append(r.report.Leaving, row)
		}
	}
	return nil
}

// leaving has clients of one lane leave in one phase. A lane that has not noticed the first three is not asked again.
func (r *loadRun) leaving(ctx context.Context, w *witness, lane *Lane, phase string) (Leaving, error) {
	row := Leaving{Contender: lane.Name, Phase: phase}
	var took []float64
	for row.Tries < r.plan.leavings && (row.Unnoticed < 3 || len(took) > 0) {
		if err := ctx.Err(); err != nil {
			return row, err
		}
		row.Tries++
		d, err := w.try(lane, phase, r.plan.patience)
		if err != nil {
			return row, err
		}
		if d == 0 {
			row.Unnoticed++
			continue
		}
		took = append(took, report.Milliseconds(d))
	}
	if len(took) > 0 {
		p50, p99 := report.Median(took), report.Percentile(took, 99)
		row.P50MS, row.P99MS = &p50, &p99
	}
	return row, nil
}

// witness is an upstream that leaves requests unanswered, and tells when their connections end.
type witness struct {
	http.Server
	addr    string
	tries   int // so far
	reached chan struct{}
	gone    chan departure
}

// departure is the end of the connection of one try.
type departure struct {
	try string
	at  time.Time
}

func newWitness() (*witness, error) {
	ln, err := Listen("127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	w := &witness{addr: ln.Addr().String(), reached: make(chan struct{}, 1), gone: make(chan departure, 1000)}
	w.Handler = w
	go func() { _ = w.Serve(ln) }() // without it every try fails
	return w, nil
}

func (w *witness) ServeHTTP(to http.ResponseWriter, q *http.Request) {
	_, _ = io.Copy(io.Discard, q.Body)
	try := q.URL.Query().Get("try")
	if try == "" { // a proxy that has started is asked whether it is ready
		return
	}
	if q.URL.Query().Get("phase") == streaming {
		_, _ = to.Write([]byte("data: {}\n\n"))
		_ = http.NewResponseController(to).Flush()
	}
	w.reached <- struct{}{}
	<-q.Context().Done()
	w.gone <- departure{try, time.Now()}
}

// try lets one client come and leave; 0: the upstream did not notice within patience.
func (w *witness) try(lane *Lane, phase string, patience time.Duration) (time.Duration, error) {
	w.tries++
	body, err := ChatBody(2 << 10)
	if err != nil {
		return 0, err
	}
	c, err := Dial(lane.Addr, TurnLimit)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	target := fmt.Sprintf("%s?try=%d&phase=%s", ChatPath, w.tries, phase)
	if _, err = c.Conn.Write(PostRequest(lane.Addr, target, body)); err != nil {
		return 0, err
	}
	select {
	case <-w.reached:
	case <-time.After(TurnLimit):
		return 0, fmt.Errorf("no request reached the upstream within %s", TurnLimit)
	}
	if phase == streaming {
		if _, err = ReadHead(c.Reader); err != nil {
			return 0, err
		}
	}
	time.Sleep(2 * time.Millisecond) // the proxy comes to rest
	left, late := time.Now(), time.After(patience)
	c.Close()
	for {
		select {
		case d := <-w.gone: // of an earlier try as well, which nobody noticed in time
			if d.try == strconv.Itoa(w.tries) {
				return d.at.Sub(left), nil
			}
		case <-late:
			return 0, nil
		}
	}
}
