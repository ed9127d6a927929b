package command

import (
	"context"
	"errors"
	"fmt"
	"os"

	"epitome/bench/replay"
	"epitome/bench/replay/figures"
	"epitome/bench/through"
)

// replayThrough are the flags for a replay through a running proxy.
type replayThrough struct {
	Proxy          string `group:"develop" placeholder:"URL" help:"Also play through this proxy. It must run on this machine, with the given window, and forward to --upstream-listen."`
	UpstreamListen string `group:"develop" placeholder:"HOST:PORT" help:"Address on loopback where the upstream listens that the proxy forwards to."`
}

// replay replays, through a proxy as well if one is named.
func (k replayCmd) replay(ctx context.Context, opts replay.Options) (*figures.Report, error) {
	if k.Proxy == "" {
		return replay.Run(ctx, opts)
	}
	return k.through(ctx, opts)
}

// through replays with the proxy as a guest.
func (k replayThrough) through(ctx context.Context, opts replay.Options) (*figures.Report, error) {
	if k.UpstreamListen == "" {
		return nil, errors.New("cannot replay through a proxy: name with --upstream-listen HOST:PORT the address that it forwards to")
	}
	if len(opts.Windows) != 1 {
		return nil, errors.New("cannot replay through a proxy in several windows: name with --window the one that it is set to")
	}
	if d := opts.Clients.Dialect; d == replay.AsMessages || d == replay.AsResponses {
		return nil, fmt.Errorf("cannot replay %s through a proxy: leave out --dialect, and all is played as chat completions", d)
	}
	opts.Clients.Dialect = replay.AsChat
	t, err := through.Open(through.Options{Proxy: k.Proxy, Listen: k.UpstreamListen})
	if err != nil {
		return nil, err
	}
	defer t.Close()
	fmt.Fprintf(os.Stderr, "bench: the upstream listens on %s\n", t.Upstream())
	opts.Guests = append(opts.Guests, t.Policy())
	r, err := replay.Run(ctx, opts)
	if err != nil {
		return nil, err
	}
	r.Notes = append(r.Notes, t.Notes()...)
	return r, nil
}
