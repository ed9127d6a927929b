// Program differ plays conversations through two builds of epitome and says where what they send is not the same to
// the byte.
//
//	go run ./bench/differ --old BINARY --new BINARY [--corpus FOLDER] [--clients FOLDER]
//
// Each setting is a window and a mode. In each, all conversations are played several times, over HTTP on loopback: by
// the old build; by the new build; and by the old one for the first half of each conversation, and then by the new one,
// started on the same data folder. Every run begins with a copy of one data folder, lies under the same path,
// and listens on the same port, so nothing needs to be made alike before it is compared. Compared are the requests that
// reach the upstream, head and body; the answers that clients get, with x-epitome-action and x-epitome-tokens; and the
// artifacts.
//
// It promises that it ends only processes that it started, and that it talks to loopback alone. It does not compare
// other headers of epitome's own, logs, metrics, or what depends on usage that a provider tells: its upstream tells
// none.
//
//	go run ./bench/differ --record FOLDER --old BINARY
//
// plays made-up conversations and writes what the build has recorded and sent: the fixture of recorded forms.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	differences, err := execute(ctx, os.Args[1:], os.Stdout)
	if errors.Is(err, flag.ErrHelp) {
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "differ:", err)
		os.Exit(2)
	}
	if differences > 0 {
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	old, new        string // paths of binaries
	corpus, clients string // folders; empty: none
	record          string // folder of the fixture; empty: compare
	windows, modes  list
	summaries       list
	sessions, turns int
	seed            uint64
	limit           time.Duration
}

// list is a flag with values between commas.
type list []string

// Set does what flag.Value says.
func (l *list) Set(text string) error {
	*l = strings.Split(text, ",")
	return nil
}

func (l *list) String() string { return strings.Join(*l, ",") }

// parse reads the flags.
func parse(args []string) (options, error) {
	o := options{windows: list{"8k", "32k", "128k", "1M"}, modes: list{"on", "observe"}, summaries: list{"intent"}}
	flags := flag.NewFlagSet("differ", flag.ContinueOnError)
	flags.StringVar(&o.old, "old", "", "the `binary` that is taken for right")
	flags.StringVar(&o.new, "new", "", "the `binary` that is compared with it")
	flags.StringVar(&o.corpus, "corpus", "", "`folder` with logs of sessions, in any form that bench replay reads")
	flags.StringVar(&o.clients, "clients", "", "`folder` with requests of clients: CLIENT-headers.json, CLIENT-*.json")
	flags.StringVar(&o.record, "record", "",
		"write the fixture of recorded forms into this `folder`, by the old binary")
	flags.Var(&o.windows, "windows", "`sizes` in tokens, between commas")
	flags.Var(&o.modes, "modes", "`modes` of epitome, between commas")
	flags.Var(&o.summaries, "summaries", "`modes` of summaries: intent is made by code, hybrid asks a model")
	flags.IntVar(&o.sessions, "sessions", 6, "how `many` sessions are made up")
	flags.Uint64Var(&o.seed, "seed", 1, "`number` of which the made-up sessions come")
	flags.IntVar(&o.turns, "turns", 40, "how `many` requests of each conversation are sent at most; 0 is all of them")
	flags.DurationVar(&o.limit, "limit", time.Hour, "`time` after which the run is given up")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("cannot use the argument %q: there are only flags", flags.Arg(0))
	}
	if o.old == "" || o.new == "" && o.record == "" {
		return o, errors.New("cannot compare without two binaries: give --old and --new")
	}
	return o, o.absolute()
}

// absolute makes the paths of binaries hold wherever they are started.
func (o *options) absolute() (err error) {
	for _, path := range []*string{&o.old, &o.new} {
		if *path == "" {
			continue
		}
		if *path, err = filepath.Abs(*path); err != nil {
			return fmt.Errorf("cannot find binary %s: %w", *path, err)
		}
	}
	return nil
}

// execute does what the arguments say, and returns how many differences it has found and printed.
func execute(ctx context.Context, args []string, out io.Writer) (differences int, err error) {
	o, err := parse(args)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, o.limit)
	defer cancel()
	root, err := os.MkdirTemp("", "differ-")
	if err != nil {
		return 0, fmt.Errorf("cannot begin: %w", err)
	}
	defer os.RemoveAll(root)
	if o.record != "" {
		return 0, record(ctx, o, root)
	}
	return compare(ctx, o, bench{root: root, out: out})
}

// tokensOf reads a window: 32k is 32 000 tokens, 1M a million.
func tokensOf(text string) (int, error) {
	factor, number := 1, text
	switch {
	case strings.HasSuffix(text, "k"):
		factor, number = 1_000, strings.TrimSuffix(text, "k")
	case strings.HasSuffix(text, "M"):
		factor, number = 1_000_000, strings.TrimSuffix(text, "M")
	}
	n, err := strconv.Atoi(number)
	if err != nil || n <= 0 {
		return 0, fmt.Errorf("cannot use window %q: write a number of tokens, as 32k", text)
	}
	return n * factor, nil
}
