// Package shared is a store of facts that several processes use at once, in a server that speaks the Redis protocol:
// one server, one behind Sentinels, or a Cluster.
//
// It promises what package store says, over all processes with one server and one prefix. A version is a hash of the
// value: a value that is put again has the version that it had. Whoever has to know whether a fact is absent, or cannot
// be asked for, uses Find.
//
// No call waits longer than Options.Timeout for the server, or twice as long where it tries again. After two questions
// without an answer, one put behind the other, no call waits at all, until the server has answered a question that is
// put to it once a second.
//
// It does not promise that what is acknowledged survives the death of the server: that is for the server's own
// settings. Sync waits for nothing. It needs Redis 7.0, or any Valkey.
package shared

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"epitome/store"
)

// Options say where the facts lie and how long they are waited for.
type Options struct {
	Server Server

	// Prefix is what each key begins with on the server.
	Prefix string

	// Timeout is how long one answer is waited for. Default 150 ms.
	Timeout time.Duration

	// Log hears when the server is lost and when it is back. Default: nobody.
	Log *slog.Logger

	// Mark is what all who use the store must have in common. A store keeps that of the first; whoever has another one
	// finds nothing there and changes nothing. Default: nothing is looked at.
	Mark string
}

const (
	usualTimeout = 150 * time.Millisecond
	connections  = 64 // at most, to each server
)

// Store is a store.Store that others share. Make one with Open.
type Store struct {
	line   line
	client redis.UniversalClient // of the line
	prefix string

	swap *redis.Script
}

var _ store.Store = (*Store)(nil)

// counts are what a Store has done.
type counts struct{ trips, failed, refused atomic.Uint64 }

// State is how a store is, and what it has done.
type State struct {
	Up      bool
	Since   time.Time // when that began
	Why     string    // the server is not used; empty if it is
	Gap     time.Time // until when the server did not answer, as far as was noticed here; zero: it always has
	Refuses bool      // it has refused something in the last minute, whatever it answers to those who read
	Trips   uint64    // questions to the server, each with its answer
	Failed  uint64    // of these, without an answer
	Refused uint64    // of these, answered with a refusal
}

// ErrUnfit says that the server cannot be used, or not by this process, whatever it answers.
var ErrUnfit = errors.New("the server of the shared store cannot be used")

// Open returns the store on the server. That the server does not answer is no error: the store begins without it, and
// uses it when it answers. A server that answers and cannot be used is ErrUnfit.
func Open(o Options) (*Store, error) {
	if o.Timeout <= 0 {
		o.Timeout = usualTimeout
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	client, err := o.Server.connect(o.Timeout)
	if err != nil {
		return nil, fmt.Errorf("cannot use the shared store: %w", err)
	}
	silence.Do(func() { redis.SetLogger(quiet{}) })
	s := &Store{client: client, prefix: o.Prefix, swap: redis.NewScript(swap)}
	s.line.client, s.line.timeout, s.line.log = client, o.Timeout, o.Log
	s.line.fit = func() error { return s.checkMark(o.Mark) }
	if err := s.line.begin(); err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

// silence keeps the library from writing to standard error what the line tells in the log. Its log is one for all.
var silence sync.Once

// quiet is a log that nobody reads.
type quiet struct{}

// Printf writes nothing.
func (quiet) Printf(context.Context, string, ...any) {}

// MarkKey is the key of the mark that the users of a store have in common.
const MarkKey = "mark"

// checkMark refuses a store whose users have another mark.
func (s *Store) checkMark(mark string) error {
	if mark == "" {
		return nil
	}
	var answer []any
	err := s.line.try(func(ctx context.Context) (err error) {
		at := []string{s.name(MarkKey)}
		answer, err = s.swap.Run(ctx, s.client, at, "", sealed([]byte(mark)), millis(longest)).Slice()
		return err
	})
	if err != nil {
		return s.line.explain(err)
	}
	if len(answer) < 2 || answer[1] != sealed([]byte(mark)) {
		return fmt.Errorf("%w: the others that use it have another secret, so nothing could be shared; give all of them "+
			"the same", ErrUnfit)
	}
	return nil
}

// State returns how the store is now.
func (s *Store) State() State {
	seen := &s.line.seen
	st := State{Trips: seen.trips.Load(), Failed: seen.failed.Load(), Refused: seen.refused.Load()}
	st.Up, st.Since, st.Why = s.line.breaker.state()
	st.Gap, st.Refuses = s.line.breaker.lastGap(), s.line.refuses()
	return st
}

// Close ends the store. The facts stay on the server.
func (s *Store) Close() error {
	if err := s.line.end(); err != nil {
		return fmt.Errorf("cannot close the connections to the shared store: %w", err)
	}
	return nil
}

// Sync waits for nothing: how soon what is acknowledged is safe is for the server's own settings.
func (s *Store) Sync() error {
	if s.line.closed.Load() {
		return store.ErrClosed
	}
	return nil
}
