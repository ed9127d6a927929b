package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	benchpage "epitome/bench/page"
	"epitome/bench/replay"
	"epitome/bench/through"
	"epitome/instance"
)

// replayThrough are the flags for a replay through a running proxy.
type replayThrough struct {
	Proxy          string `group:"develop" placeholder:"URL" help:"Also play through this proxy. It must run on this machine, with the given window, and forward to --upstream-listen."`
	UpstreamListen string `group:"develop" placeholder:"HOST:PORT" help:"Address on loopback where the upstream listens that the proxy forwards to."`
}

// replay replays, through a proxy as well if one is named, and writes the page if one is wanted.
func (k replayCmd) replay(ctx context.Context, opts replay.Options) (r *replay.Report, err error) {
	file, err := openPage(k.HTML)
	if err != nil {
		return nil, err
	}
	defer file.drop()
	if k.Proxy == "" {
		r, err = replay.Run(ctx, opts)
	} else {
		r, err = k.through(ctx, opts)
	}
	if err != nil {
		return nil, err
	}
	return r, file.keep(r)
}

// through replays with the proxy as a guest.
func (k replayThrough) through(ctx context.Context, opts replay.Options) (*replay.Report, error) {
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

// pageFile is a page that is being written beside where it is to stand, so that what stands there is always whole.
type pageFile struct {
	to   string // empty: no page is wanted
	file *os.File
}

// openPage finds out before a long run whether the page can be written.
func openPage(to string) (pageFile, error) {
	if to == "" {
		return pageFile{}, nil
	}
	if s, err := os.Stat(to); err == nil && !s.Mode().IsRegular() {
		return pageFile{}, fmt.Errorf("cannot write page %s: it is no ordinary file", to)
	}
	file, err := os.CreateTemp(filepath.Dir(to), ".epitome-*.html")
	if err != nil {
		return pageFile{}, fmt.Errorf("cannot write page %s: %w", to, err)
	}
	return pageFile{to, file}, nil
}

// keep writes the page and puts it into its place.
func (p pageFile) keep(r *replay.Report) error {
	if p.to == "" {
		return nil
	}
	err := benchpage.Write(p.file, r, benchpage.About{
		Version: instance.Version(), Time: time.Now(), Command: commandLine(os.Args),
	})
	if err == nil {
		err = p.file.Chmod(0o644)
	}
	if err = errors.Join(err, p.file.Close()); err == nil {
		err = os.Rename(p.file.Name(), p.to)
	}
	if err != nil {
		return fmt.Errorf("cannot write page %s: %w", p.to, err)
	}
	return nil
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

// drop removes what was not kept.
func (p pageFile) drop() {
	if p.to != "" {
		_ = p.file.Close()
		_ = os.Remove(p.file.Name()) // gone already if it was kept
	}
}
