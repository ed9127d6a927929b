// Package demo runs a long session of an agent through epitome, without any network beyond this machine, and tells
// what happened.
//
// The agent, the repository that it works on, the user and the model are make-believe; each knows the others only
// through what is said on the wire, and none knows how epitome works. The model counts what it is sent, refuses what
// is larger than its window, and finds what it needs of earlier turns in the request or in the files that the request
// names. So every figure is of what really came to the model. What stands between agent and model is plugged in: the
// package does not know what it is, but for the texts and headers that an agent sees.
//
// Equal options give equal sessions, as far as the proxy between does the same.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// Options are what Run is told of a session.
type Options struct {
	Window int // tokens that the model holds
	Turns  int // how many requests the agent sends, about
	Seed   uint64
	// Open starts epitome before an upstream. It is called again after a Close, and must find what was kept until then.
	Open func(upstream string) (Proxy, error)
	// Live gets the turns as they come; nil tells nothing.
	Live  io.Writer
	Color bool                // colours what is told
	Mode  string              // that epitome runs in: "on", "observe" or "off"; empty is on
	End   func(*Report) error // if there is one, called at the end of the session, when epitome still runs
}

// Proxy is an epitome that runs.
type Proxy struct {
	URL   string // base, with /v1
	Close func() error
}

// Model is the name under which the session asks for its model.
const Model = modelName

// LeastTurns is the smallest number of turns with everything in the session.
const LeastTurns = 20

// Run plays a session and returns its report. A session that dies on its way is no error: the report says so.
func Run(ctx context.Context, o Options) (r *Report, err error) {
	if o.Turns < LeastTurns {
		return nil, fmt.Errorf("cannot play %d turns: %d are the least", o.Turns, LeastTurns)
	}
	ruler, err := newRuler()
	if err != nil {
		return nil, err
	}
	a, err := newAgent(ruler)
	if err != nil {
		return nil, err
	}
	w := newWorld(o.Seed)
	m, err := startModel(&o, &script{seed: o.Seed, turns: o.Turns}, ruler)
	if err != nil {
		return nil, err
	}
	defer m.close()
	defer a.client.CloseIdleConnections()
	s := &session{
		Options: o, agent: a, model: m, world: w, user: newUser(w.change(), o.Turns), table: newTable(o),
		report: &Report{
			Window: o.Window, Mode: o.Mode, Asked: o.Turns, Seed: o.Seed, Questions: []Question{}, Mistakes: []string{},
		},
	}
	if s.proxy, err = o.Open(m.url); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.proxy.Close()) }()
	if err = s.play(ctx); err == nil && o.End != nil {
		err = o.End(s.report)
	}
	return s.report, err
}
