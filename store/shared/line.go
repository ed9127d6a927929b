package shared

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"epitome/store"
)

// askEvery is how often a server that does not answer is asked again.
const askEvery = time.Second

// ErrAway says that the server was not asked, as it did not answer before. Nothing was written.
var ErrAway = errors.New("the shared store does not answer")

// ErrUnknown says that the server did not answer in time: what is there is not known, nor whether a write was done.
var ErrUnknown = errors.New("the shared store did not answer, so it is not known what is there")

// line is the way to a server.
type line struct {
	client  redis.UniversalClient
	timeout time.Duration
	log     *slog.Logger
	fit     func() error // asks whether the store behind the server is the right one
	breaker breaker
	seen    counts

	life   context.Context
	stop   context.CancelFunc
	work   sync.WaitGroup // what watches the server
	closed atomic.Bool
	told   atomic.Int64 // when a refusal was told last, in nanoseconds since 1970
	denied atomic.Int64 // when something was refused last, in the same
}

// begin looks whether the server answers, and watches it from then on. The error is ErrUnfit.
func (l *line) begin() error {
	l.life, l.stop = context.WithCancel(context.Background())
	l.breaker.since = time.Now()
	if err := l.greet(); err != nil {
		if errors.Is(err, ErrUnfit) {
			return err
		}
		l.breaker.open(err)
		l.warnAway(err)
	}
	l.work.Go(l.watch)
	return nil
}

// end closes all connections; a second time it does nothing.
func (l *line) end() error {
	if l.closed.Swap(true) {
		return nil
	}
	l.stop()
	l.work.Wait()
	return l.client.Close()
}

// ask puts one question to the server. The error is ErrAway, ErrUnknown, store.ErrClosed, or says what the server
// refuses.
func (l *line) ask(question func(ctx context.Context) error) error {
	if l.closed.Load() {
		return store.ErrClosed
	}
	if l.breaker.shut.Load() {
		return ErrAway
	}
	put := time.Now()
	err := l.try(question)
	if isNil(err) {
		err = nil
	}
	if failure := hard(err); failure != nil || err == nil || isRefusal(err) {
		if l.breaker.note(failure, put) {
			l.warnAway(failure)
		}
	}
	return l.explain(err)
}

// early is the part of the timeout by which a question is given up before it: timers are late, and what waits for two
// answers is not to wait longer than twice the timeout.
const early = 32

// try asks, whatever happened before.
func (l *line) try(question func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(l.life, l.timeout-l.timeout/early)
	defer cancel()
	l.seen.trips.Add(1)
	return question(ctx)
}

// explain is the error as callers are told it.
func (l *line) explain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, redis.ErrClosed) || l.closed.Load():
		return store.ErrClosed
	case isRefusal(err):
		l.seen.refused.Add(1)
		l.warnRefused(err)
		return refusal(err)
	}
	l.seen.failed.Add(1)
	var call *net.OpError
	if errors.As(err, &call) && call.Op == "dial" {
		return fmt.Errorf("%w: %w", ErrAway, err)
	}
	return fmt.Errorf("%w: %w", ErrUnknown, err)
}

// isNil reports whether err says that nothing is there.
func isNil(err error) bool { return errors.Is(err, redis.Nil) }

// isRefusal reports whether err is an answer of the server, which has then done nothing.
func isRefusal(err error) bool {
	var answer redis.Error
	return errors.As(err, &answer)
}

// refusal says what a refusal means, where that can be told.
func refusal(err error) error {
	if strings.HasPrefix(err.Error(), "MOVED ") || strings.HasPrefix(err.Error(), "ASK ") {
		return fmt.Errorf("the server of the shared store is a Cluster; write redis+cluster:// in store.url: %w", err)
	}
	return fmt.Errorf("the shared store refuses: %w", err)
}

// hard is err if it says that the server does not work; nil if not: a full pool of connections says that we ask much.
func hard(err error) error {
	switch {
	case err == nil || errors.Is(err, redis.ErrPoolTimeout) || errors.Is(err, redis.ErrClosed):
		return nil
	case isRefusal(err):
		for _, word := range []string{"LOADING", "MASTERDOWN", "CLUSTERDOWN", "WRONGPASS", "NOAUTH"} {
			if strings.HasPrefix(err.Error(), word) {
				return err
			}
		}
		return nil
	}
	return err
}

// warnAway says that the server is not asked any more.
func (l *line) warnAway(why error) {
	l.log.Warn("the shared store does not answer: nothing new is decided until it does",
		"why", why.Error(), "do", "see to the server that store.url names")
}

// tellEvery is how often it is told that a server refuses: it does so several times with each request.
const tellEvery = time.Minute

// warnRefused says that the server answers and does not do what it is asked.
func (l *line) warnRefused(why error) {
	now := time.Now().UnixNano()
	l.denied.Store(now)
	if last := l.told.Load(); last == 0 || now-last >= int64(tellEvery) {
		if l.told.CompareAndSwap(last, now) {
			l.log.Warn("the shared store refuses what it is asked: nothing new is decided while it does",
				"why", refusal(why).Error(), "do", cure(why))
		}
	}
}

// refuses reports whether the server has refused something of late.
func (l *line) refuses() bool {
	last := l.denied.Load()
	return last > 0 && time.Now().UnixNano()-last < int64(tellEvery)
}

// cure is what may help against a refusal.
func cure(why error) string {
	for word, do := range map[string]string{
		"OOM ": "give the server more memory (maxmemory), or lower store.keep", "MISCONF ": "see to the disk of the server",
		"READONLY ": "have store.url lead to the master, or to its Sentinels", "NOREPLICAS ": "see to the replicas of the server",
		"NOPERM ": "give the user of store.url the rights that docs/team.md names",
		"MOVED ":  "write redis+cluster:// in store.url", "ASK ": "write redis+cluster:// in store.url",
	} {
		if strings.HasPrefix(why.Error(), word) {
			return do
		}
	}
	return "see to the server that store.url names"
}

// watch asks a server that does not answer again and again.
func (l *line) watch() {
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	for {
		select {
		case <-l.life.Done():
			return
		case <-tick.C:
		}
		if !l.breaker.shut.Load() {
			continue
		}
		if err := l.greet(); err != nil {
			l.stayAway(err)
			continue
		}
		away := l.breaker.close()
		l.log.Warn("the shared store answers again", "away", away.Round(time.Millisecond).String())
	}
}

// stayAway leaves the server alone further on. One that answers and cannot be used is told once.
func (l *line) stayAway(why error) {
	if _, _, before := l.breaker.state(); errors.Is(why, ErrUnfit) && before != why.Error() {
		l.log.Error("the shared store answers, and is not used", "why", why.Error())
	}
	l.breaker.open(why)
}

// greet asks whether the server answers and can be used.
func (l *line) greet() error {
	if err := l.try(func(ctx context.Context) error { return l.client.Ping(ctx).Err() }); err != nil {
		return l.explain(err)
	}
	// What the server says of itself may be denied to us; then it is used as it is.
	var said string
	if err := l.try(func(ctx context.Context) (err error) {
		said, err = l.client.Info(ctx, "server", "memory").Result()
		return err
	}); err != nil && hard(err) != nil {
		return l.explain(err)
	}
	if err := l.readSaid(said); err != nil {
		return err
	}
	return l.fit()
}

// readSaid reads what a server says of itself. It warns of one that forgets, and refuses one that is too old.
func (l *line) readSaid(text string) error {
	said := map[string]string{}
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		said[key] = value
	}
	major, _, _ := strings.Cut(said["redis_version"], ".")
	if n, err := strconv.Atoi(major); err == nil && n < 7 {
		return fmt.Errorf("%w: it is Redis %s; use 7.0 or later, or Valkey", ErrUnfit, said["redis_version"])
	}
	if policy := said["maxmemory_policy"]; strings.HasPrefix(policy, "allkeys-") {
		l.log.Warn("the shared store drops decisions when its memory is full, and conversations are then decided anew",
			"maxmemory_policy", policy, "do", "set maxmemory-policy to volatile-ttl or noeviction")
	}
	return nil
}
