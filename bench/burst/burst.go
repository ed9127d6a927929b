// Package burst measures what memory a proxy takes while large bodies pass, and what it keeps of it afterwards.
//
// It promises that the proxy is a fresh process, that no body is like another, that only so many are under way at once
// as it says, and that a run is bounded in count, bytes and time.
//
// It does not promise that every body is taken: one that a proxy refuses for want of room is counted.
package burst

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"epitome/bench/backend"
	"epitome/bench/lineup"
	"epitome/bench/report"
	"epitome/bench/wire"
)

// Options are what Run can be told. The defaults take half a minute a contender.
type Options struct {
	lineup.Lineup
	// Bodies is how many are sent, at most 100. Default 48.
	Bodies int
	// Bytes is the size of one. Default 8 MiB.
	Bytes int
	// AtOnce is how many are under way at the same time. Default 8.
	AtOnce int
	// Rest is the time from the last answer to the reading of what was kept. Default 10 s.
	Rest time.Duration
	// Quick makes the defaults tiny: it shows that everything works and yields no figure worth reading.
	Quick bool
}

// mostBodies bounds a run.
const mostBodies = 100

func (o Options) withDefaults() (Options, error) {
	def := Options{Bodies: 48, Bytes: 8 << 20, AtOnce: 8, Rest: 10 * time.Second}
	if o.Quick {
		def = Options{Bodies: 4, Bytes: 64 << 10, AtOnce: 2, Rest: 10 * time.Millisecond}
	}
	o.Bodies = min(cmp.Or(max(o.Bodies, 0), def.Bodies), mostBodies)
	o.Bytes = cmp.Or(max(o.Bytes, 0), def.Bytes)
	o.AtOnce = min(cmp.Or(max(o.AtOnce, 0), def.AtOnce), o.Bodies)
	o.Rest = cmp.Or(max(o.Rest, 0), def.Rest)
	var err error
	o.Lineup, err = o.Lineup.WithDefaults()
	for _, c := range o.Proxies {
		if err == nil && len(c.Command) == 0 {
			err = fmt.Errorf("cannot measure %s by URL: the memory of a proxy that already runs is not read", c.Name)
		}
	}
	return o, err
}

// Run measures one contender after the other. The subject, the first of the proxies, must be measured; another one that
// fails is left out and named in the report.
func Run(ctx context.Context, opts Options) (*Report, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	r := &Report{Machine: report.ThisMachine(), Subject: opts.Proxies[0].Name}
	payload, err := backend.ChatBody(opts.Bytes)
	if err != nil {
		return nil, err
	}
	command := append(append([]string{}, opts.Self...), "upstream", "--listen", "{listen}")
	up, err := lineup.Launch(ctx, lineup.Contender{Name: "upstream", Command: command}, "")
	if err != nil {
		return nil, err
	}
	defer up.Stop()
	field, skipped := opts.Contenders()
	r.Skipped = skipped
	for i, c := range field {
		opts.Say("%s: %d bodies of %d bytes, %d at once", c.Name, opts.Bodies, opts.Bytes, opts.AtOnce)
		row, err := opts.measure(ctx, c, "http://"+up.At.Addr, payload)
		if err != nil && i == 0 {
			return nil, err
		}
		if err != nil {
			r.Skipped = append(r.Skipped, err.Error())
			continue
		}
		r.Rows = append(r.Rows, row)
	}
	r.settle()
	return r, nil
}

// measure sends the burst through a fresh process of c.
func (o Options) measure(ctx context.Context, c lineup.Contender, upstream string, payload []byte) (Row, error) {
	row := Row{Contender: c.Name, Bodies: o.Bodies, AtOnce: o.AtOnce}
	lane, err := lineup.Launch(ctx, c, upstream)
	if err != nil {
		return row, err
	}
	defer lane.Stop()
	time.Sleep(min(o.Rest, time.Second))
	idle, err := lineup.ResidentBytes(lane.PID())
	if err != nil {
		return row, err
	}
	ended, peak := make(chan struct{}), make(chan int64)
	go func() { peak <- highest(lane.PID(), ended) }()
	s := &sender{options: o, lane: lane, payload: payload}
	began := time.Now()
	err = s.send()
	row.Seconds = time.Since(began).Seconds()
	close(ended)
	row.IdleMB, row.PeakMB = megabytes(idle), megabytes(<-peak)
	row.Refused, row.InFlightMB = int(s.refused.Load()), megabytes(s.most)
	if err != nil {
		return row, fmt.Errorf("cannot send a burst through %s: %w", c.Name, err)
	}
	select {
	case <-time.After(o.Rest):
	case <-ctx.Done():
		return row, ctx.Err()
	}
	rest, err := lineup.ResidentBytes(lane.PID())
	row.AfterMB = megabytes(rest)
	return row, err
}

// watchEvery is how often the memory of a process is read.
const watchEvery = 5 * time.Millisecond

// highest is the largest resident memory of a process until ended is closed, in bytes.
func highest(pid int, ended <-chan struct{}) (most int64) {
	for {
		if rss, err := lineup.ResidentBytes(pid); err == nil {
			most = max(most, rss)
		}
		select {
		case <-ended:
			return most
		case <-time.After(watchEvery):
		}
	}
}

// sender sends the bodies of one burst.
type sender struct {
	options Options
	lane    *lineup.Lane
	payload []byte
	next    atomic.Int64
	refused atomic.Int64

	mu       sync.Mutex
	underWay int64 // bytes of bodies that have begun and are not answered
	most     int64
}

func (s *sender) send() error {
	errs := make([]error, s.options.AtOnce)
	var working sync.WaitGroup
	for i := range errs {
		working.Go(func() { errs[i] = s.work() })
	}
	working.Wait()
	return errors.Join(errs...)
}

// work sends one body after the other until there is none left.
func (s *sender) work() error {
	for {
		n := s.next.Add(1)
		if n > int64(s.options.Bodies) {
			return nil
		}
		if err := s.exchange(n); err != nil {
			return err
		}
	}
}

// patience is how long one body may take.
const patience = 2 * time.Minute

// exchange sends body number n. A refusal for want of room is no error.
func (s *sender) exchange(n int64) error {
	c, err := wire.Dial(s.lane.At.Addr, patience)
	if err != nil {
		return err
	}
	defer c.Close()
	request := wire.PostRequest(s.lane.At, backend.ChatPath, numbered(s.payload, n))
	s.note(int64(len(s.payload)))
	defer s.note(-int64(len(s.payload)))
	err = c.Exchange(request)
	if err != nil && strings.Contains(err.Error(), "503") {
		s.refused.Add(1)
		return nil
	}
	return err
}

func (s *sender) note(bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.underWay += bytes
	s.most = max(s.most, s.underWay)
}

// numbered is the body as conversation number n, which shares no message with another.
func numbered(payload []byte, n int64) []byte {
	return bytes.Replace(payload, []byte("careful"), fmt.Appendf(nil, "%07d", n), 1)
}

func megabytes(n int64) float64 { return float64(n) / (1 << 20) }
