package cli

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"
	"github.com/spf13/cobra"

	"epitome/config"
	"epitome/console"
	"epitome/daemon"
	"epitome/event/journal"
	"epitome/inject"
	"epitome/internal/unit"
	"epitome/proxy"
)

func (a *app) runCommand() *cobra.Command {
	c := &cobra.Command{Use: "run [flags] -- COMMAND [ARG...]", Short: "Run a command with its base URLs pointing at epitome",
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return a.run(args) }}
	c.Flags().SetInterspersed(false) // flags behind the command are its own
	return c
}

// run runs a command to its end, through a running epitome or else through one of its own. It changes only the
// command's environment and, for agents that read no base URL there, its arguments.
func (a *app) run(command []string) error {
	child := exec.Command(command[0])
	if child.Err != nil {
		warn("cannot run %s: %v", command[0], errors.Unwrap(child.Err))
		return exitStatus(127) // as shells report it
	}
	conf, err := a.load()
	if err != nil {
		return err
	}
	running := findRunning(conf.Data, a.flags.Listen)
	agent := strings.TrimSuffix(strings.ToLower(filepath.Base(command[0])), ".exe")
	all, err := a.providers(conf, running, agent)
	if err != nil {
		return err
	}
	r, end, err := a.proxyFor(all, running, conf.Data)
	if err != nil {
		return err
	}
	defer end()
	r.run = rand.Text()[:8]
	if r.Runtime {
		drop, err := inject.WriteRuntime(r.folder, r.run)
		if err != nil {
			return fmt.Errorf("cannot tell the agent about this machine: %w; set context.runtime = false", err)
		}
		defer drop()
	}
	args := r.arguments(agent, all, conf.Offload.TellsTool())
	child.Args = slices.Concat(command[:1], args, command[1:])
	child.Env = append(os.Environ(), r.environ(all)...)
	anthropic := all[1] // see findProviders
	_, isChosen := os.LookupEnv(toolSearch)
	if agent == "claude" && anthropic.url == "https://api.anthropic.com" && !isChosen {
		// Without it Claude Code, which sees epitome's address, would send the schemas of all tools at once.
		child.Env = append(child.Env, toolSearch+"=true")
	}
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = passSignals(child)
	r.tell(err)
	return err
}

// providers returns the providers that an agent uses. Where neither the command line nor a configuration names an
// upstream, requests go to that of the epitome that runs, and a warning says so.
func (a *app) providers(conf config.Config, running runProxy, agent string) ([]provider, error) {
	base, configured := running.Upstreams[running.Upstream], conf.Upstreams[conf.Upstream].URL
	adopts := base != "" && !conf.Named && a.file == ""
	if adopts {
		conf.AddUpstream(running.Upstream, base)
		conf.Upstream, conf.Named = running.Upstream, running.Named
	}
	all, err := findProviders(conf, a.flags.Upstream != "")
	if err != nil {
		return nil, err
	}
	moves := func(p provider) bool { return !p.isSet && p.upstream == conf.Upstream }
	if adopts && (running.Named || base != configured) && slices.ContainsFunc(all, moves) {
		which := "requests"
		if !running.Named {
			which = "requests to OpenAI's API"
		}
		warn("%s go to %s, the upstream of the epitome on %s; to send them elsewhere, add --upstream", which, base,
			running.listen)
	}
	if agent == "codex" {
		p, err := codexProvider(conf, all[0], all[0].isSet || a.file != "")
		if err != nil {
			warn("%v", err)
		} else {
			all = append(all, p)
		}
	}
	return all, nil
}

// proxyFor returns the epitome that runs, if it fits these providers, or else starts one. end ends one that was started,
// and says where what it has done can be seen.
func (a *app) proxyFor(all []provider, running runProxy, home string) (r runProxy, end func(), err error) {
	why := running.unfit(all, a.flags.Mode)
	if why == "" {
		if a.file != "" {
			warn("using the epitome on %s with its own configuration, in mode %s", running.listen, running.Mode)
		}
		return running, func() { warn("'epitome open' shows it, on %s", running.listen) }, nil
	}
	r, end, err = a.startOwn(home, all)
	if err == nil && running.listen != "" {
		warn("the epitome on %s %s, so this command has one of its own: 'epitome open --listen %s' shows it",
			running.listen, why, r.listen)
	}
	return r, end, err
}

// findRunning returns the epitome of the run around this one, or else the one that runs with the data folder. It is the
// zero value if there is none that a command can use: a command knows no certificate and no client key; or none that
// listens there, if listen is not empty.
func findRunning(home, listen string) runProxy {
	for _, folder := range []string{os.Getenv(folderVariable), home} {
		card, err := daemon.Read(folder)
		if folder == "" || err != nil || card.TLS {
			continue
		}
		if listen != "" && card.Listen != config.Reachable(listen) {
			continue
		}
		state, err := card.State()
		if err != nil {
			warn("%v", err) // else nobody knows why it is not used
		} else if !state.Keyed {
			return runProxy{State: state, listen: card.Listen, folder: folder}
		}
	}
	return runProxy{}
}

// startOwn runs an epitome within this process, in a folder of its own below home, where only its user reaches it. stop
// ends it.
func (a *app) startOwn(home string, all []provider) (r runProxy, stop func(), err error) {
	listen := cmp.Or(a.flags.Listen, "127.0.0.1:0")
	if !console.Loopback(listen) {
		return r, nil, fmt.Errorf("cannot listen on %s for one command, only on this machine; 'epitome serve' can", listen)
	}
	folder, unlock, err := lockRunFolder(home)
	if err != nil {
		return r, nil, err
	}
	load := func() (config.Config, error) {
		conf, err := a.load()
		if err != nil {
			return conf, err
		}
		conf.Listen, conf.Data = listen, folder
		conf.Clients, conf.TLS, conf.Open = nil, proxy.Certificate{}, false
		conf.ShutdownGrace = unit.Duration(time.Second) // the command has ended
		for _, p := range all {
			conf.AddUpstream(p.own, p.url)
		}
		return conf, conf.Validate()
	}
	d, end, err := serveInside(folder, load)
	if err != nil {
		return r, nil, errors.Join(err, unlock())
	}
	return runProxy{State: d.State(), listen: d.Address(), folder: folder}, func() {
		if err := errors.Join(end(), unlock()); err != nil {
			warn("cannot end: %v", err)
		}
		warn("log: %s\nIts pages, with earlier runs, in two terminals: 'epitome --data %q --listen 127.0.0.1:0' and "+
			"'epitome --data %q open'", filepath.Join(folder, logFile), folder, folder)
	}, nil
}

// lockRunFolder takes the first folder below home that no other epitome uses, so that a conversation which is resumed
// finds the decisions of an earlier run.
func lockRunFolder(home string) (folder string, unlock func() error, err error) {
	for n := 1; ; n++ {
		folder = filepath.Join(home, "run", strconv.Itoa(n))
		lock := flock.New(filepath.Join(folder, "run.lock"), flock.SetPermissions(0o600))
		isLocked := false
		err := os.MkdirAll(folder, 0o700)
		if err == nil {
			isLocked, err = lock.TryLock()
		}
		if err != nil {
			return "", nil, fmt.Errorf("cannot use the folder of a run: %w; give another data folder with --data", err)
		}
		running, _ := daemon.Read(folder) // somebody may look at an earlier run
		if isLocked && running == nil {
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
	if d, err = daemon.Start(slog.New(slog.NewJSONHandler(screen{log}, nil)), signals, load); err != nil {
		return nil, nil, errors.Join(err, log.Close())
	}
	ended := make(chan error, 1)
	go func() { ended <- d.Serve() }()
	return d, func() error {
		signals <- os.Interrupt
		return errors.Join(<-ended, log.Close())
	}, nil
}

// passSignals runs a command to its end and hands on the signals that come for it, but for those of a terminal's keys:
// the terminal sends them to both, and a second interrupt makes many agents quit.
func passSignals(child *exec.Cmd) error {
	signals := make(chan os.Signal, 16)
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) { // or else the command is to ignore it, too
			signal.Notify(signals, s)
		}
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
			if isKey := s == syscall.SIGINT || s == syscall.SIGQUIT; !isKey || !isTerminal(os.Stdin) {
				_ = child.Process.Signal(s) // which Windows cannot
			}
		}
	}
}

// tell prints what epitome has done for the command, which has ended so. In a run within a run, the outer one tells it.
func (r runProxy) tell(ended error) {
	if r.folder == os.Getenv(folderVariable) {
		return
	}
	card, err := daemon.Read(r.folder)
	var done journal.Run
	if err == nil {
		err = card.Search("/-/api/runs/"+r.run, &done)
	}
	if err != nil {
		warn("cannot tell what became of this run: %v", err)
		return
	}
	if done.Sums.Exchanges == 0 && ended != nil {
		warn("no request came before the command ended: %v", ended)
		return
	}
	if done.Sums.Exchanges == 0 {
		warn("no request came: an agent that reads neither OPENAI_BASE_URL nor ANTHROPIC_BASE_URL needs a setting of its " +
			"own; docs/agents.md has those of many")
		return
	}
	var text strings.Builder
	_ = show(&text, "run", 0, done) // memory takes it
	warn("%s", text.String())
}

// toolSearch has Claude Code send the schemas of tools as they are needed. Some of its versions only do so if they see
// Anthropic's own address, or this variable. Settings of the user's, in files or arguments, override it.
const toolSearch = "ENABLE_TOOL_SEARCH"
