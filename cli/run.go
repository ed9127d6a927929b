package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/spf13/cobra"

	"epitome/cli/agent"
	"epitome/cli/daemon"
	"epitome/config"
	"epitome/console/figure"
	"epitome/console/story"
	"epitome/internal/unit"
)

func (a *app) runCommand() *cobra.Command {
	c := &cobra.Command{Use: "run -- COMMAND [ARG...]", Short: "Run a command with its base URLs pointing at epitome",
		Long: "Run a command with its base URLs pointing at epitome, and run epitome beside it if none runs. A base URL in\n" +
			"OPENAI_BASE_URL, OPENAI_API_BASE, ANTHROPIC_BASE_URL or COPILOT_PROVIDER_BASE_URL becomes the upstream.",
		Args: atLeast(1, "a command, as in 'epitome run -- COMMAND'"),
		RunE: func(_ *cobra.Command, args []string) error { return a.run(args) }}
	c.Flags().SetInterspersed(false) // flags behind the command are its own
	return c
}

// run runs a command to its end, through a running epitome or else through one of its own. It changes only the
// command's environment and, for agents that read no base URL there, its arguments.
func (a *app) run(command []string) error {
	path, err := exec.LookPath(command[0])
	if err != nil {
		fmt.Fprintf(os.Stderr, "epitome: cannot run %s: %v\n", command[0], errors.Unwrap(err))
		if errors.Is(err, fs.ErrPermission) {
			return exitStatus(126)
		}
		return exitStatus(127)
	}
	conf, home, err := a.loadWithFolder()
	if err != nil {
		return err
	}
	targets, err := agent.Targets(conf, os.Getenv, a.flags.Upstream != "")
	if err != nil {
		return err
	}
	told := a.flags.Upstream != "" || a.file != "" || agent.HasProvider(os.Getenv)
	if !told {
		followUpstream(home, &targets[0])
	}
	way := agent.Command{Args: command, Getenv: os.Getenv, Listen: conf.Listen, Told: told,
		ChatGPT: conf.Upstreams["chatgpt"].URL}.Find()
	targets = way.Extend(targets)
	proxy, stop, err := a.findOrStart(conf, home, targets)
	if err != nil {
		return err
	}
	defer stop()

	target, tools := targets[0], ""
	if way.URL != "" {
		target = targets[len(targets)-1]
	}
	if conf.Offload.TellsTool() {
		tools = proxy.URL() + "/-/mcp"
	}
	args, said := way.Arguments(proxy.Base(target), target.URL, tools)
	if said != "" {
		fmt.Fprintln(os.Stderr, "epitome: "+said)
	}
	child := exec.Command(path, slices.Concat(args, command[1:])...)
	child.Args[0] = command[0]
	child.Env = append(os.Environ(), proxy.Environ(os.Getenv, targets)...)
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
	return passSignals(child)
}

// followUpstream points a command for which nobody has named an upstream at the one of the epitome that runs with the
// data folder.
func followUpstream(home string, target *agent.Target) {
	card, err := daemon.Read(home)
	if err != nil {
		return
	}
	state, err := card.State()
	base := strings.TrimRight(state.Upstreams[state.Upstream], "/")
	if err != nil || base == "" || base == target.URL {
		return
	}
	fmt.Fprintf(os.Stderr, "epitome: requests go to %s, the upstream of the epitome on %s; --upstream names another\n",
		base, card.Listen)
	target.URL, target.Like = base, state.Upstream
}

// findOrStart returns an epitome that reaches the targets: the one of the run around this one, the one that runs with
// the data folder unless it has another mode than the flag asks for, or else a new one within this process. One that
// speaks TLS or wants client keys is not used: the command knows neither its certificate nor a key. The caller calls
// stop when the command has ended.
func (a *app) findOrStart(
	conf config.Config, home string, targets []agent.Target,
) (proxy *agent.Proxy, stop func(), err error) {
	for _, folder := range []string{os.Getenv(agent.FolderVariable), home} {
		card, err := daemon.Read(folder)
		if folder == "" || err != nil {
			continue
		}
		state, err := card.State()
		proxy := &agent.Proxy{Listen: card.Listen, Folder: folder, Upstreams: state.Upstreams}
		otherMode := a.flags.Mode != "" && state.Mode != conf.Mode
		if err != nil || card.TLS || state.Keyed || !proxy.Serves(targets) || otherMode && folder == home {
			continue
		}
		if otherMode || a.file != "" {
			fmt.Fprintf(os.Stderr, "epitome: using the epitome on %s with its own configuration, in mode %s\n", card.Listen,
				state.Mode)
		}
		return proxy, func() { reportRun("used the epitome on " + card.Listen) }, nil
	}
	return a.startOwn(home, targets)
}

// startOwn runs an epitome within this process, in a folder of its own below home. stop ends it and reports what it
// has done.
func (a *app) startOwn(home string, targets []agent.Target) (proxy *agent.Proxy, stop func(), err error) {
	folder, unlock, err := lockRunFolder(home)
	if err != nil {
		return nil, nil, err
	}
	load := func() (config.Config, error) {
		conf, err := a.load()
		if err != nil {
			return conf, err
		}
		conf = conf.Private()
		conf.Listen, conf.Data = "127.0.0.1:0", folder
		conf.Proxy.ShutdownGrace = unit.Duration(time.Second) // the command has ended
		for _, t := range targets {
			conf.AddUpstream(t.Name, t.URL)
		}
		return conf, conf.Validate()
	}
	d, end, err := serveInside(folder, load)
	if err != nil {
		return nil, nil, errors.Join(err, unlock())
	}
	proxy = &agent.Proxy{Listen: d.Address(), Folder: folder, Upstreams: d.State().Upstreams}
	return proxy, func() {
		err := errors.Join(end(), unlock())
		text := tally(d.Totals()) + "; log: " + filepath.Join(folder, logFile)
		if err != nil {
			text += fmt.Sprintf("; it did not end well: %v", err)
		}
		reportRun(text)
	}, nil
}

// lockRunFolder takes the first folder below home that no other run uses, so that a conversation which is resumed finds
// the decisions of an earlier run.
func lockRunFolder(home string) (folder string, unlock func() error, err error) {
	for n := 1; ; n++ {
		folder = filepath.Join(home, "run", strconv.Itoa(n))
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return "", nil, fmt.Errorf("cannot make the folder %s: %w; give a data folder that can be written with --data",
				folder, config.PathCause(err))
		}
		lock := flock.New(filepath.Join(folder, "run.lock"), flock.SetPermissions(0o600))
		switch locked, err := lock.TryLock(); {
		case err != nil:
			return "", nil, fmt.Errorf("cannot lock the folder %s: %w", folder, err)
		case locked:
			return folder, lock.Close, nil
		}
		_ = lock.Close()
	}
}

// logFile is the log of an epitome that runs within a command, in its data folder.
const logFile = "epitome.log"

// serveInside runs an epitome within this process until stop is called. It writes its log into the folder.
func serveInside(folder string, load func() (config.Config, error)) (d *daemon.Daemon, stop func() error, err error) {
	log, err := os.OpenFile(filepath.Join(folder, logFile), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot write a log: %w", err)
	}
	signals := make(chan os.Signal, 1)
	d = daemon.New(slog.New(slog.NewJSONHandler(log, nil)), signals, load)
	if err := d.Start(); err != nil {
		return nil, nil, errors.Join(err, log.Close())
	}
	ended := make(chan error, 1)
	go func() { ended <- d.Serve() }()
	return d, func() error {
		signals <- os.Interrupt
		return errors.Join(<-ended, log.Close())
	}, nil
}

// passSignals runs the command to its end and hands on the signals that come for it.
func passSignals(child *exec.Cmd) error {
	signals := make(chan os.Signal, 16)
	// a signal that this process is to ignore, the command is to ignore too
	if wanted := slices.DeleteFunc(passed(), signal.Ignored); len(wanted) > 0 {
		signal.Notify(signals, wanted...)
	}
	defer signal.Stop(signals)
	if err := child.Start(); err != nil {
		return fmt.Errorf("cannot run %s: %w", child.Path, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- child.Wait() }()
	for {
		select {
		case err := <-ended:
			return err
		case s := <-signals:
			if !fromTerminal(s) {
				_ = child.Process.Signal(s)
			}
		}
	}
}

// reportRun prints a text about the run, if a person reads along.
func reportRun(text string) {
	if isTerminal(os.Stderr) {
		fmt.Fprintln(os.Stderr, "epitome: "+text)
	}
}

// tally returns one line about the requests of a run.
func tally(t story.Sums) string {
	if t.Exchanges == 0 {
		return "no request came: an agent that reads neither OPENAI_BASE_URL nor ANTHROPIC_BASE_URL needs a setting of its " +
			"own; docs/agents.md has those of many"
	}
	became := "became"
	if t.Observed.Exchanges > 0 {
		became = "would have become"
	}
	return fmt.Sprintf("%d requests, %s tokens %s %s", t.Exchanges, figure.Tokens(t.TokensBefore+t.Observed.TokensBefore),
		became, figure.Tokens(t.TokensAfter+t.Observed.TokensAfter))
}
