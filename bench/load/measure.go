package load

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
)

// settle is the time from a change to a reading of memory.
const settle = 500 * time.Millisecond

// measureStart measures start and idle memory of fresh processes.
func (r *run) measureStart(ctx context.Context) error {
	r.say("start")
	return inTurns(ctx, r.few(15), r.contenders, func(c contender) error {
		l, err := launch(ctx, c, r.upstream.addr)
		if err != nil {
			return err
		}
		defer l.stop()
		time.Sleep(r.wait(settle))
		r.record("start to ready", "ms", c.name, milliseconds(l.ready))
		r.recordMemory("idle memory", l)
		return nil
	})
}

func (r *run) measureIdleStreams(_ context.Context, lanes []*lane) error {
	for _, l := range lanes {
		if err := r.idle(l); err != nil {
			return fmt.Errorf("cannot measure idle streams of %s: %w", l.name, err)
		}
	}
	return nil
}

// idle measures the memory of streams that stay open and silent.
func (r *run) idle(l *lane) error {
	streams := r.few(1000)
	r.say("%d idle streams of %s", streams, l.name)
	body := chatBody(2 << 10)
	if err := exchange(l.client(1), l.request(chatPath, body)); err != nil { // the first one finds nothing prepared
		return err
	}
	time.Sleep(r.wait(settle))
	_, before, known := l.usage()
	for range streams {
		conn, err := l.open(chatPath+"?bench="+streaming, body)
		if err != nil {
			return err
		}
		defer conn.Close()
		if _, err := conn.Read(make([]byte, 1)); err != nil {
			return err
		}
	}
	time.Sleep(r.wait(settle))
	if _, after, _ := l.usage(); known {
		r.record("memory of an idle stream", "KB", l.name, (after-before)/float64(streams))
	}
	return nil
}

// measureBurst sends large bodies, all different, and reads memory some seconds later.
func (r *run) measureBurst(_ context.Context, lanes []*lane) error {
	size := r.few(8 << 20)
	r.say("burst of bodies of %s", sizeName(size))
	body := chatBody(size)
	for _, l := range lanes {
		var group errgroup.Group
		group.SetLimit(8)
		client := l.client(8)
		for n := range r.few(48) {
			group.Go(func() error {
				other := bytes.Replace(body, []byte("careful"), fmt.Appendf(nil, "%07d", n), 1)
				return exchange(client, l.request(chatPath, other))
			})
		}
		if err := group.Wait(); err != nil {
			return fmt.Errorf("cannot send a burst through %s: %w", l.name, err)
		}
	}
	time.Sleep(r.wait(10 * time.Second))
	for _, l := range lanes {
		r.recordMemory("memory after a burst", l)
	}
	return nil
}

// measureLoad measures requests, clients that leave, and memory after both.
func (r *run) measureLoad(ctx context.Context, proxies []*lane) error {
	lanes := append([]*lane{{name: direct, addr: r.upstream.addr}}, proxies...)
	for _, size := range []int{2 << 10, 100 << 10, 800 << 10} {
		for _, conns := range []int{1, r.few(16)} {
			if err := r.measureRequests(ctx, lanes, size, conns); err != nil {
				return err
			}
		}
	}
	for _, phase := range []string{waiting, streaming} {
		for _, l := range lanes {
			if err := r.measureDepartures(ctx, l, phase); err != nil {
				return fmt.Errorf("cannot measure clients that leave %s while %s: %w", l.name, phase, err)
			}
		}
	}
	for _, l := range proxies {
		r.recordMemory("memory after load", l)
	}
	return nil
}

// measureRequests sends requests of one size over a number of connections, one at a time over each. One connection
// gives latency, several give throughput.
func (r *run) measureRequests(ctx context.Context, lanes []*lane, size, conns int) error {
	name := sizeName(size)
	if conns > 1 {
		name = fmt.Sprintf("%s over %d connections", name, conns)
	}
	r.say("%s", name)
	body := chatBody(size)
	cpu, requests := map[*lane]float64{}, map[*lane]int{}
	err := inTurns(ctx, r.few(20), lanes, func(l *lane) error {
		before, _, _ := l.usage()
		began := time.Now()
		took, err := l.sendFor(r.wait(100*time.Millisecond), body, conns)
		if err != nil {
			return fmt.Errorf("cannot measure %s with %s: %w", l.name, name, err)
		}
		if conns > 1 {
			r.record("throughput, "+name, "requests/s", l.name, float64(len(took))/time.Since(began).Seconds())
		} else {
			r.record("latency, "+name, "µs", l.name, percentile(took, 50))
		}
		after, _, _ := l.usage()
		cpu[l] += after - before
		requests[l] += len(took)
		return nil
	})
	for _, l := range lanes {
		if conns == 1 && err == nil {
			r.recordAdded("latency, "+name, l.name)
		}
		if cpu[l] > 0 {
			r.record("CPU per request, "+name, "µs", l.name, cpu[l]/float64(requests[l]))
		}
	}
	return err
}

// sendFor sends requests over each of several connections for some time, at least one. It returns the time of each
// exchange in µs.
func (l *lane) sendFor(length time.Duration, body []byte, conns int) (all []float64, err error) {
	client := l.client(conns)
	defer client.CloseIdleConnections()
	took := make([][]float64, conns)
	var group errgroup.Group
	for i := range took {
		group.Go(func() error {
			request := l.request(chatPath, body)
			for began := time.Now(); len(took[i]) == 0 || time.Since(began) < length; {
				sent := time.Now()
				if err := exchange(client, request); err != nil {
					return err
				}
				took[i] = append(took[i], 1000*milliseconds(time.Since(sent)))
			}
			return nil
		})
	}
	err = group.Wait()
	return slices.Concat(took...), err
}

// measureDepartures measures the time from a client's departure to the end of the upstream's connection.
func (r *run) measureDepartures(ctx context.Context, l *lane, phase string) error {
	r.say("clients that leave %s while %s", l.name, phase)
	var took []float64
	unnoticed := 0
	for k := 0; k < r.few(100) && (unnoticed < 3 || len(took) > 0); k++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		d, err := r.depart(l, phase)
		if err != nil {
			return err
		}
		if d == 0 {
			unnoticed++
			continue
		}
		took = append(took, milliseconds(d))
	}
	if len(took) > 0 {
		r.record("client gone to upstream closed, "+phase+", p99", "ms", l.name, percentile(took, 99))
	}
	r.record("departures unnoticed, "+phase, "clients", l.name, float64(unnoticed))
	return nil
}

// depart has one client leave. It returns 0 if the upstream's connection goes on for half a second.
func (r *run) depart(l *lane, phase string) (time.Duration, error) {
	t, id := newTry(), fmt.Sprint(time.Now().UnixNano())
	r.upstream.tries.Store(id, t)
	target := fmt.Sprintf("%s?bench=%s&try=%s", chatPath, phase, id)
	conn, err := l.open(target, chatBody(2<<10))
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	select {
	case <-t.arrived:
	case <-time.After(answerLimit):
		return 0, errors.New("the request does not reach the upstream")
	}
	time.Sleep(2 * time.Millisecond) // the first event reaches the client
	left := time.Now()
	_ = conn.Close()
	select {
	case gone := <-t.gone:
		return gone.Sub(left), nil
	case <-time.After(500 * time.Millisecond):
		return 0, nil
	}
}
