package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"
)

// bench is where runs take place. All of them have the same paths and ports.
type bench struct {
	root     string // folder of this process
	out      io.Writer
	listen   string // host:port of each epitome
	upstream *provider
	plays    []play
	found    int // differences
}

// setting is how epitome is configured in one comparison.
type setting struct {
	window    string
	mode      string
	summaries string
}

func (s setting) String() string {
	return fmt.Sprintf("window %s, mode %s, summaries %s", s.window, s.mode, s.summaries)
}

// compare plays everything in every setting, and returns how many differences there are.
func compare(ctx context.Context, o options, b bench) (differences int, err error) {
	var notes []string
	if b.plays, notes, err = plays(o); err != nil {
		return 0, err
	}
	settings, err := settingsOf(o)
	if err != nil {
		return 0, err
	}
	if b.upstream, err = startProvider(); err != nil {
		return 0, err
	}
	defer b.upstream.close()
	if b.listen, err = freeAddress(); err != nil {
		return 0, err
	}
	b.announce(notes)
	if err := b.seed(ctx, o.old, settings[0]); err != nil {
		return 0, err
	}
	begun, requests := time.Now(), 0
	for _, s := range settings {
		n, err := b.compareIn(ctx, s, o)
		if err != nil {
			return b.found, fmt.Errorf("%s: %w", s, err)
		}
		requests += n
	}
	fmt.Fprintf(b.out, "%d differences in %d settings, %d conversations and clients, %d requests, in %s\n",
		b.found, len(settings), len(b.plays), requests, time.Since(begun).Round(time.Second))
	return b.found, nil
}

// settingsOf returns all settings that the options ask for.
func settingsOf(o options) (all []setting, err error) {
	for _, window := range o.windows {
		if _, err := tokensOf(window); err != nil {
			return nil, err
		}
		for _, mode := range o.modes {
			for _, summaries := range o.summaries {
				all = append(all, setting{window, mode, summaries})
			}
		}
	}
	return all, nil
}

// announce says what is played, and what is not.
func (b *bench) announce(notes []string) {
	requests, left := 0, 0
	for _, p := range b.plays {
		requests, left = requests+len(p.requests), left+p.left
	}
	fmt.Fprintf(b.out, "%d conversations and clients with %d requests; %d further requests are left out (--turns)\n",
		len(b.plays), requests, left)
	for _, note := range notes {
		fmt.Fprintln(b.out, "left out:", note)
	}
}

// What lies below the root, beside the folders of runs that are done.
const (
	configFile = "config.toml"
	liveFolder = "live" // the data folder of the epitome that runs
	seedFolder = "seed" // what every run begins with
)

func (b *bench) path(name string) string { return filepath.Join(b.root, name) }

// seed lets a binary make a data folder, so that all runs have the same secret.
func (b *bench) seed(ctx context.Context, binary string, s setting) error {
	config, err := b.configure(s)
	if err != nil {
		return err
	}
	p, err := start(ctx, binary, b.listen, config)
	if err != nil {
		return err
	}
	if err := p.stop(); err != nil {
		return err
	}
	return os.Rename(b.path(liveFolder), b.path(seedFolder))
}

// configure writes the configuration file of a setting.
func (b *bench) configure(s setting) (path string, err error) {
	tokens, err := tokensOf(s.window)
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf(`listen = %q
upstream = %q
data = %q
mode = %q
scope = "header:%s"
[window]
default = %d
models = { "*" = %d }
probe = false
[summarize]
mode = %q
prepare = "off"
`, b.listen, b.upstream.url, b.path(liveFolder), s.mode, scopeHeader, tokens, tokens, s.summaries)
	path = b.path(configFile)
	return path, os.WriteFile(path, []byte(text), 0o600)
}

// run is one way of playing everything: it names the binary for the first half of each conversation, and that for the
// rest.
type run struct {
	name        string
	first, then string // binaries
	halves      bool   // they are two processes, one after the other; else one process plays all
}

// outcome is what came of a run.
type outcome struct {
	of        run
	notes     *journal
	artifacts string // folder
}

// trial is one run that counts as right, and those that must be like it.
type trial struct {
	right  run
	tested []run
}

// trials returns the trials of a mode. Where forms are recorded a restart must not show. In the other modes what is
// decided is remembered in memory alone: a restart shows with any build, so restarts are compared with restarts.
func trials(mode string, o options) []trial {
	old, new := run{"old", o.old, o.old, false}, run{"new", o.new, o.new, false}
	goesOn := run{"old, then new", o.old, o.new, true}
	if mode == "on" {
		return []trial{{old, []run{goesOn, new}}}
	}
	return []trial{{old, []run{new}}, {run{"old, then old", o.old, o.old, true}, []run{goesOn}}}
}

// compareIn does all runs of one setting, and returns how many requests were sent.
func (b *bench) compareIn(ctx context.Context, s setting, o options) (requests int, err error) {
	begun, before, did := time.Now(), b.found, ""
	if _, err := b.configure(s); err != nil {
		return 0, err
	}
	for _, t := range trials(s.mode, o) {
		n, summary, err := b.try(ctx, t, s)
		if err != nil {
			return 0, err
		}
		requests, did = requests+n, summary
	}
	fmt.Fprintf(b.out, "%s: %d differences, %d requests in %s; of the old build's: %s\n",
		s, b.found-before, requests, time.Since(begun).Round(100*time.Millisecond), did)
	return requests, nil
}

// try does the runs of a trial and compares them. It returns how many requests were sent, and what the right run did.
func (b *bench) try(ctx context.Context, t trial, s setting) (requests int, summary string, err error) {
	right, err := b.perform(ctx, t.right)
	if err != nil {
		return 0, "", fmt.Errorf("%s: %w", t.right.name, err)
	}
	for _, r := range t.tested {
		got, err := b.perform(ctx, r)
		if err != nil {
			return 0, "", fmt.Errorf("%s: %w", r.name, err)
		}
		if err := b.differ(s, right, got); err != nil {
			return 0, "", err
		}
	}
	for k := range b.plays {
		requests += (1 + len(t.tested)) * len(b.plays[k].requests)
	}
	return requests, right.notes.summary(), os.RemoveAll(b.path(t.right.name))
}

// perform does one run. Its data folder is left under the run's name.
func (b *bench) perform(ctx context.Context, r run) (outcome, error) {
	config := b.path(configFile)
	j := newJournal(len(b.plays))
	b.upstream.notes.Store(j)
	if err := os.CopyFS(b.path(liveFolder), os.DirFS(b.path(seedFolder))); err != nil {
		return outcome{}, fmt.Errorf("cannot copy the data folder: %w", err)
	}
	half := func(n int) int { return n / 2 }
	whole := func(n int) int { return n }
	none := func(int) int { return 0 }
	var err error
	if !r.halves {
		err = b.part(ctx, part{r.first, config, j, none, whole})
	} else {
		err = b.part(ctx, part{r.first, config, j, none, half})
		if err == nil {
			err = b.part(ctx, part{r.then, config, j, half, whole})
		}
	}
	if err != nil {
		return outcome{}, err
	}
	if err := os.Rename(b.path(liveFolder), b.path(r.name)); err != nil {
		return outcome{}, err
	}
	return outcome{r, j, filepath.Join(b.path(r.name), "artifacts")}, nil
}

// part is what one process does of a run: of n requests of a play, those from from(n) up to to(n).
type part struct {
	binary   string
	config   string
	notes    *journal
	from, to func(n int) int
}

// atOnce is how many plays go on at once for each processor: epitome waits for the disk much of the time.
const atOnce = 4

// part starts the binary, plays, and stops it. Several plays go on at once; each is sent in order.
func (b *bench) part(ctx context.Context, x part) error {
	p, err := start(ctx, x.binary, b.listen, x.config)
	if err != nil {
		return err
	}
	c := newCaller(p.url, x.notes)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce * runtime.GOMAXPROCS(0))
	for k := range b.plays {
		group.Go(func() error { return b.send(ctx, c, k, x) })
	}
	err = group.Wait()
	c.client.CloseIdleConnections()
	return errors.Join(err, p.stop())
}

// send sends the part's requests of play number k.
func (b *bench) send(ctx context.Context, c *caller, k int, x part) error {
	q := b.plays[k].requests
	for turn := x.from(len(q)); turn < x.to(len(q)); turn++ {
		if err := c.send(ctx, q[turn], k, turn); err != nil {
			return fmt.Errorf("cannot play %s, request %d: %w", b.plays[k].name, turn+1, err)
		}
	}
	return nil
}

// differ prints every difference between two runs of a setting, and removes the folder of the second one.
func (b *bench) differ(s setting, old, new outcome) error {
	tell := func(d difference) {
		b.found++
		fmt.Fprintf(b.out, "%s, run %q: %s\n", s, new.of.name, d)
	}
	for k := range new.notes.tracks {
		name := "no play"
		if k < len(b.plays) {
			name = b.plays[k].name
		}
		differTracks(name, &old.notes.tracks[k], &new.notes.tracks[k], tell)
	}
	if err := differFolders(old.artifacts, new.artifacts, tell); err != nil {
		return err
	}
	return os.RemoveAll(b.path(new.of.name))
}

// differFolders calls tell with every difference between the files of two folders.
func differFolders(old, new string, tell func(difference)) error {
	a, err := contents(old)
	if err != nil {
		return err
	}
	c, err := contents(new)
	if err != nil {
		return err
	}
	for name, text := range a {
		other, found := c[name]
		if !found {
			tell(difference{where: "artifact " + name, onlyInOne: fmt.Sprintf("only with the old build: %.120q", text)})
		} else if d := differ("artifact "+name, text, other); d != nil {
			tell(*d)
		}
	}
	for name, text := range c {
		if _, found := a[name]; !found {
			tell(difference{where: "artifact " + name, onlyInOne: fmt.Sprintf("only with the new build: %.120q", text)})
		}
	}
	return nil
}

// contents returns the files of a folder by name; one that does not exist has none.
func contents(folder string) (map[string][]byte, error) {
	all := map[string][]byte{}
	entries, err := os.ReadDir(folder)
	if errors.Is(err, os.ErrNotExist) {
		return all, nil
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return nil, err
		}
		all[e.Name()] = text
	}
	return all, err
}
