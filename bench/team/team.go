// Package team measures what a shared store costs: the same conversations through an epitome with a store of its own,
// and through several that share one.
//
// It promises that everything compared was measured in one run, in turns; that it talks to loopback alone and ends only
// what it started; that a run is bounded in time and count; and that what this machine cannot show is named, never
// guessed. The epitomes and the store are processes of their own.
//
// It does not promise figures that hold on another machine, or beside a store that is far away: a store's distance is
// what a relay adds.
package team

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"epitome/bench/lineup"
	"epitome/bench/redis"
	"epitome/bench/report"
)

// Options are what Run can be told. The defaults take about two minutes.
type Options struct {
	Program  string // the epitome to run
	Progress io.Writer
	// Talks is how many conversations an epitome is asked to take over. Default 40.
	Talks int
	// Rounds is how often epitomes with and without a shared store have their turn at a conversation. Default 24.
	Rounds int
	// Turn is how long each number of epitomes works at once, three times each. Default 4 s.
	Turn time.Duration
	// Freezes is how often the store stands still. Default 5.
	Freezes int
	// Quick makes the defaults tiny: it shows that everything works and yields no figure worth reading.
	Quick bool
}

func (o Options) withDefaults() Options {
	def := Options{Talks: 40, Rounds: 24, Turn: 4 * time.Second, Freezes: 5}
	if o.Quick {
		def = Options{Talks: 2, Rounds: 1, Turn: 200 * time.Millisecond, Freezes: 1}
	}
	o.Talks = cmp.Or(max(o.Talks, 0), def.Talks)
	o.Rounds = cmp.Or(max(o.Rounds, 0), def.Rounds)
	o.Turn = cmp.Or(max(o.Turn, 0), def.Turn)
	o.Freezes = cmp.Or(max(o.Freezes, 0), def.Freezes)
	if o.Progress == nil {
		o.Progress = io.Discard
	}
	return o
}

// bench is one Run under way.
type bench struct {
	Options
	folder   string
	upstream *lineup.Lane
	server   *redis.Server
	made     int // epitomes that were started so far
	report   *Report
}

// Run measures one part after the other.
func Run(ctx context.Context, o Options) (*Report, error) {
	o = o.withDefaults()
	folder, err := os.MkdirTemp("", "team-")
	if err != nil {
		return nil, fmt.Errorf("cannot begin: %w", err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	b := &bench{Options: o, folder: folder, report: &Report{Machine: report.ThisMachine()}}
	if b.server, err = redis.Start(folder); err != nil {
		return nil, err
	}
	defer b.server.Kill()
	command := []string{o.Program, "bench", "upstream", "--listen", "{listen}"}
	if b.upstream, err = lineup.Launch(ctx, lineup.Contender{Name: "upstream", Command: command}, ""); err != nil {
		return nil, err
	}
	defer b.upstream.Stop()
	for _, part := range []func(context.Context) error{b.takeOvers, b.warmTurns, b.throughputs, b.freezes} {
		if err = part(ctx); err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
	}
	b.report.settle()
	return b.report, nil
}

func (b *bench) say(format string, args ...any) {
	fmt.Fprintf(b.Progress, "bench: "+format+"\n", args...)
}

// timeout is how long an epitome waits for one answer of the store.
const timeout = 150 * time.Millisecond

// home is the folder of an epitome that was not there before.
func (b *bench) home() (string, error) {
	b.made++
	home := filepath.Join(b.folder, fmt.Sprint("epitome-", b.made))
	return home, os.Mkdir(home, 0o700)
}

// start runs an epitome in a folder. store is the address of the store that it shares; empty: it has its own.
func (b *bench) start(ctx context.Context, home, store string) (*lineup.Lane, error) {
	shared := ""
	if store != "" {
		shared = fmt.Sprintf("[store]\nurl = \"redis://%s\"\ntimeout = %q\n[offload]\nfolder = %q\n", store, timeout,
			filepath.Join(b.folder, "artifacts"))
	}
	text := fmt.Sprintf("[window]\ndefault = %d\nmodels = { \"*\" = %d }\nprobe = false\n%s", window, window, shared)
	config := filepath.Join(home, "epitome.toml")
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, fmt.Errorf("cannot write a configuration: %w", err)
	}
	return lineup.Launch(ctx, lineup.Contender{Name: "epitome", Ready: "/-/ready", Leave: leaves,
		Command: []string{b.Program, "serve", "--config", config, "--listen", "{listen}", "--upstream", "{upstream}",
			"--data", filepath.Join(home, "data")}}, "http://"+b.upstream.At.Addr)
}

// leaves is how long an epitome may take to write what it has, when it ends.
const leaves = 20 * time.Second
