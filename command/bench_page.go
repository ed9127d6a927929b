package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	benchpage "epitome/bench/page"
	"epitome/bench/replay"
	"epitome/bench/replay/figures"
	"epitome/bench/through"
	"epitome/instance"
)

// replayThrough are the flags for a replay through a running proxy.
type replayThrough struct {
	Proxy          string `group:"develop" placeholder:"URL" help:"Also play through this proxy. It must run on this machine, with the given window, and forward to --upstream-listen."`
	UpstreamListen string `group:"develop" placeholder:"HOST:PORT" help:"Address on loopback where the upstream listens that the proxy forwards to."`
}

// replay replays, through a proxy as well if one is named, and writes the page if one is wanted.
func (k replayCmd) replay(ctx context.Context, opts replay.Options) (r *figures.Report, err error) {
	file, err := benchpage.Open(k.HTML)
	if err != nil {
		return nil, err
	}
	defer file.Drop()
	if k.Proxy == "" {
		r, err = replay.Run(ctx, opts)
	} else {
		r, err = k.through(ctx, opts)
	}
	if err != nil {
		return nil, err
	}
	about := benchpage.About{Version: instance.Version(), Time: time.Now(), Command: commandLine(os.Args)}
	return r, file.Keep(r, about)
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

// commandLine is the command that the program was started with, as a reader would write it again.
func commandLine(args []string) string {
	words := []string{"epitome"}
	for _, arg := range args[1:] {
		if strings.ContainsAny(arg, " \t\n\"'$`\\*?") || arg == "" {
			arg = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		words = append(words, arg)
	}
	return strings.Join(words, " ")
}
