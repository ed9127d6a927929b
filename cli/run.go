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

	"epitome/cli/daemon"
	"epitome/config"
	"epitome/console"
	"epitome/event"
	"epitome/internal/unit"
	"epitome/proxy"
)

func (a *app) runCommand() *cobra.Command {
	c := &cobra.Command{Use: "run -- COMMAND [ARG...]", Short: "Run a command with its base URLs pointing at epitome",
		Long: "Run a command with its base URLs pointing at epitome, and run epitome beside it if none runs. A base URL\n" +
			"in OPENAI_BASE_URL, OPENAI_API_BASE, ANTHROPIC_BASE_URL or COPILOT_PROVIDER_BASE_URL becomes the upstream.",
		Args: cobra.MinimumNArgs(1),
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
	targets, err := findTargets(conf, a.flags.Upstream != "")
	if err != nil {
		return err
	}
	told := a.flags.Upstream != "" || a.file != "" || openAIURL() != ""
	found, state := findUsable(home)
	if base := trimSlash(state.Upstreams[state.Upstream]); !told && base != "" && base != targets[0].url {
		fmt.Fprintf(os.Stderr, "epitome: requests go to %s, the upstream of the epitome on %s; --upstream names another\n",
			base, found.listen)
		targets[0].url, targets[0].upstream = base, state.Upstream
	}
	launch := launchOf(command[0], conf, told)
	provider := targets[0]
	if launch.provider.url != "" {
		provider = launch.provider
		targets = append(targets, provider)
	}
	stop := func() {}
	switch {
	case found.listen == "" || !found.serves(targets) || a.flags.Mode != "" && a.flags.Mode != state.Mode:
		if found, stop, err = a.startOwn(home, targets); err != nil {
			return err
		}
	case a.file != "":
		fmt.Fprintf(os.Stderr, "epitome: using the epitome on %s with its own configuration, in mode %s\n", found.listen,
			state.Mode)
	}
	defer stop()

	tools := ""
	if conf.Offload.TellsTool() {
		tools = "http://" + found.listen + "/-/mcp"
	}
	args := launch.arguments(found.base(provider), tools)
	switch {
	case launch.refusal != "":
		fmt.Fprintln(os.Stderr, "epitome: "+launch.refusal)
	case launch.setting != "":
		fmt.Fprintf(os.Stderr, "epitome: %s is started with %s, and its requests go on to %s\n", launch.agent,
			strings.Join(args, " "), provider.url)
	case len(args) > 0:
		fmt.Fprintf(os.Stderr, "epitome: %s is started with %s\n", launch.agent, strings.Join(args, " "))
	}
	child := exec.Command(path, slices.Concat(args, command[1:])...)
	child.Args[0] = command[0]
	child.Env = append(os.Environ(), found.environ(targets)...)
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
	return passSignals(child)
}

// findUsable returns the epitome of the run around this one, or else the one that runs with the data folder. Its
// address is empty if there is none that the command can use: the command knows no certificate and no client key.
func findUsable(home string) (commandProxy, daemon.State) {
	for _, folder := range []string{os.Getenv(folderVariable), home} {
		card, err := daemon.Read(folder)
		if folder == "" || err != nil || card.TLS {
			continue
		}
		if state, err := card.State(); err == nil && !state.Keyed {
			return commandProxy{card.Listen, folder, state.Upstreams}, state
		}
	}
	return commandProxy{}, daemon.State{}
}

// startOwn runs an epitome within this process, in a folder of its own below home, where only its user reaches it. stop
// ends it and reports what it has done.
func (a *app) startOwn(home string, targets []target) (p commandProxy, stop func(), err error) {
	folder, unlock, err := lockRunFolder(home)
	if err != nil {
		return p, nil, err
	}
	load := func() (config.Config, error) {
		conf, err := a.load()
		if err != nil {
			return conf, err
		}
		conf.Listen, conf.Data, conf.Home = "127.0.0.1:0", folder, home
		conf.Clients, conf.TLS, conf.Open = nil, proxy.Certificate{}, false
		conf.Proxy.ShutdownGrace = unit.Duration(time.Second) // the command has ended
		for _, t := range targets {
			conf.AddUpstream(t.name, t.url)
		}
		return conf, conf.Validate()
	}
	d, end, err := serveInside(folder, load)
	if err != nil {
		return p, nil, errors.Join(err, unlock())
	}
	return commandProxy{d.Address(), folder, d.State().Upstreams}, func() {
		if err := errors.Join(end(), unlock()); err != nil {
			fmt.Fprintf(os.Stderr, "epitome: it did not end well: %v\n", err)
		}
		if isTerminal(os.Stderr) {
			fmt.Fprintf(os.Stderr, "epitome: %s; log: %s\n", tally(d.Totals()), filepath.Join(folder, logFile))
		}
	}, nil
}

// lockRunFolder takes the first folder below home that no other run uses, so that a conversation which is resumed finds
// the decisions of an earlier run.
func lockRunFolder(home string) (folder string, unlock func() error, err error) {
	for n := 1; ; n++ {
		folder = filepath.Join(home, "run", strconv.Itoa(n))
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return "", nil, fmt.Errorf("cannot make the folder %s: %w; give a data folder that can be written with --data",
				folder, err)
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

// tally returns one line about the requests of a run.
func tally(t event.Sums) string {
	if t.Exchanges == 0 {
		return "no request came: an agent that reads neither OPENAI_BASE_URL nor ANTHROPIC_BASE_URL needs a setting of its " +
			"own; docs/configuration.md has those of many"
	}
	return fmt.Sprintf("%d requests: %s tokens from the agent, %s after rewriting", t.Exchanges,
		console.Tokens(t.TokensBefore+t.Observed.TokensBefore), console.Tokens(t.TokensAfter+t.Observed.TokensAfter))
}
